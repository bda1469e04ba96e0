import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { onTestFinished } from "vitest";

/** A folder that is removed with its test. */
export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "dimsync-records-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Compiles the TypeScript text, whose imports start at src/core/records, and returns the program's path.
 * Node 20 does not run TypeScript.
 */
export async function compileProgram(folder: string, source: string): Promise<string> {
  const outfile = join(folder, "program.mjs");
  await build({
    stdin: { contents: source, loader: "ts", resolveDir: fileURLToPath(new URL("../../../src/core/records", import.meta.url)) },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "error",
  });
  return outfile;
}

export interface Program {
  readonly process: ChildProcess;
  /**
   * The whole stdout after its end. Fails the test with stderr if the exit code is not 0 and no
   * signal ended it.
   */
  readonly ended: Promise<string>;
}

/** Starts a compiled program, which is killed when the test ends. */
export function start(program: string, args: readonly string[]): Program {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["pipe", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  const ended = once(child, "close").then(([code, signal]) => {
    if (code !== 0 && signal === null) throw new Error(`The program ended with ${String(code)}: ${err}`);
    return out;
  });
  ended.catch(() => undefined);
  return { process: child, ended };
}
