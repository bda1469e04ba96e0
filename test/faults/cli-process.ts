import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { cp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";
import { withCompileCache } from "../support/compile-cache.ts";
import { withoutPrograms } from "../support/without-programs.ts";

/**
 * Copies the built command line into the folder, since dist/ may be rebuilt at any time, and
 * returns the program's path.
 */
async function copyBuiltCli(folder: string): Promise<string> {
  // DIMSYNC_DIST: another build, while this one changes.
  const dist = process.env["DIMSYNC_DIST"] ?? fileURLToPath(new URL("../../dist", import.meta.url));
  await cp(dist, folder, { recursive: true });
  const program = join(folder, "bin.cjs");
  if (!existsSync(program)) throw new Error("There is no dist/bin.cjs: run npm run build first.");
  return program;
}

/**
 * A copy for all tests of a file, with an empty PATH, so that a run finds no other program. Returns
 * the program's path once the tests have begun.
 */
export function copyForAll(): () => string {
  withoutPrograms();
  let folder = "";
  let program = "";
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "dimsync-cli-"));
    program = await copyBuiltCli(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return () => program;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** Starts the command line in its own process, with only the environment `env` and a folder for compiled code. */
export function startCli(
  program: string,
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  nodeArgs: readonly string[] = [],
): Started {
  const child = spawn(process.execPath, [...nodeArgs, program, ...argv], {
    cwd,
    env: withCompileCache(env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = once(child, "close").then(
    ([code, signal]: readonly unknown[]): Ended => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
      stdout,
      stderr,
    }),
  );
  return { process: child, ended };
}

/** The operations that kill-at.mjs lists at the end of a process, such as "rename dimsync.bindings.yaml.*.tmp". */
export const operationsIn = (stderr: string): readonly string[] =>
  [...stderr.matchAll(/^operation: (.*)$/gmu)].map(([, operation = ""]) =>
    operation.replaceAll(/[0-9a-f]{16}/gu, "*").replace(/dimsync-test-.*/u, "folder"),
  );
