import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Ran, runCommand } from "../support/command.ts";
import { writeProject } from "../support/project-folder.ts";

/** The shipped command line. DIMSYNC_TEST_DIST selects another build. */
export const builtCli = join(process.env["DIMSYNC_TEST_DIST"] ?? fileURLToPath(new URL("../../dist/", import.meta.url)), "bin.cjs");

export const repository = fileURLToPath(new URL("../../", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd?: string;
  /** Except for PATH, the test's own environment is not passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the shipped one. */
  readonly program?: string;
  readonly nodeArgs?: readonly string[];
}

/** Starts the built command line; `ended` collects its output. */
export function startCli(args: readonly string[], { cwd, env, program = builtCli, nodeArgs = [] }: CliOptions = {}): ChildProcess {
  if (!existsSync(program)) throw new Error(`${program} does not exist. Run npm run build first.`);
  return spawn(process.execPath, [...nodeArgs, program, ...args], {
    cwd: cwd ?? emptyFolder(),
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Resolves when the process has ended and all its output was read. */
export function ended(child: ChildProcess): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on("data", (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

/** Runs the built command line and waits for its end. */
export async function dimsync(args: readonly string[], options: CliOptions = {}): Promise<Ended> {
  return ended(startCli(args, options));
}

/** A new folder for the current test, with these files. */
export const emptyFolder = (files: Readonly<Record<string, string>> = {}): string => writeProject(files);

/** A copy of examples/quickstart, whose account is a file in it. */
export function quickstart(): string {
  const folder = emptyFolder();
  for (const name of ["dimsync.yaml", "manifests"])
    cpSync(join(repository, "examples/quickstart", name), join(folder, name), { recursive: true });
  return folder;
}

/** The secrets in the quick start's manifests. */
export const quickstartSecrets = { LAKE_SECRET_KEY: "a lake's key", RETURNS_DB_PASSWORD: "a database's password" } as const;

/** Like `dimsync`, but in this process, from the sources: for tests of what is printed. It takes a tenth of the time. */
export const dimsyncHere = (args: readonly string[], { cwd, env }: CliOptions = {}): Promise<Ran> =>
  runCommand(args, cwd ?? emptyFolder(), { PATH: process.env["PATH"] ?? "", ...env });
