import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { AccountState } from "../../src/embedded/index.ts";
import { startEmbeddedService } from "../../src/embedded/index.ts";
import { apply, loadProject, type Project, type Result } from "../../src/index.ts";
import { manifestsOf, type World } from "./world.ts";

/** Runs `use` in a folder with these files, which is removed afterwards. */
async function inFolder<T>(files: Readonly<Record<string, string>>, use: (folder: string) => Promise<T> | T): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "dimsync-promise-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const configOf = ({ entries, maxExposedColumns }: Pick<World, "entries" | "maxExposedColumns">, target: object): string =>
  JSON.stringify({
    ...{ apiVersion: "dimsync/v1", kind: "Config", manifests: ["manifests"], targets: { prod: target } },
    client: { entries, retries: 0 },
    guards: { maxExposedColumns, maxChangedPercent: 100 },
  });

export interface InProcess {
  readonly project: Project;
  readonly env: Readonly<Record<string, string>>;
  readonly account: () => AccountState;
}

/** Runs `use` with the project of a generated world, and a service with its account. */
export async function withLibrary<T>(given: World, use: (running: InProcess) => Promise<T>): Promise<T> {
  const service = await startEmbeddedService({
    state: given.account,
    ...(given.form === "observed" ? { observed: true } : {}),
  });
  const extended = given.form === "observed" ? { service: { extended: true } } : {};
  const target = { baseUrl: service.url, apiKey: { $secret: { env: "KEY" } }, ...extended };
  const env = { KEY: service.apiKey };
  try {
    return await inFolder({ "dimsync.yaml": configOf(given, target), "manifests/all.yaml": manifestsOf(given) }, async (cwd) =>
      use({ project: await loadProject({ cwd, env }), env, account: service.state }),
    );
  } finally {
    await service.close();
  }
}

/** What the controller sends in mode `protect`, by the operation that it uses. `repairByController` runs the controller itself. */
export const repair = ({ project, env }: InProcess): Promise<Result> => apply(project, { env, protectOnly: true });

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Processes {
  /** Runs the built command line. */
  readonly run: (...args: readonly string[]) => Ran;
  readonly read: (file: string) => string;
  readonly account: () => AccountState;
}

// DIMSYNC_TEST_DIST selects another build.
export const builtCli = join(process.env["DIMSYNC_TEST_DIST"] ?? fileURLToPath(new URL("../../dist/", import.meta.url)), "bin.cjs");

/** As `withLibrary`, for whole runs of the built command line. Between them, the account is a file. */
export async function withCommandLine<T>(given: World, use: (processes: Processes) => Promise<T> | T): Promise<T> {
  if (!existsSync(builtCli)) throw new Error(`${builtCli} does not exist. Run npm run build first.`);
  const target = { baseUrl: "embedded:account.json", ...(given.form === "observed" ? { observed: true } : {}) };
  const files = {
    "dimsync.yaml": configOf(given, target),
    "manifests/all.yaml": manifestsOf(given),
    "account.json": JSON.stringify(given.account),
  };
  return inFolder(files, (cwd) => {
    const env = { PATH: process.env["PATH"] ?? "", GITHUB_STEP_SUMMARY: join(cwd, "summary.md") };
    const read = (file: string): string => readFileSync(join(cwd, file), "utf8");
    return use({
      run: (...args) => {
        const { status, stdout, stderr } = spawnSync(process.execPath, [builtCli, ...args], { cwd, env, encoding: "utf8" });
        return { code: status, stdout, stderr };
      },
      read,
      // The file is the account as the embedded service stores it.
      account: () => JSON.parse(read("account.json")) as AccountState,
    });
  });
}

/** What `dimsync controller` logs of its first check, after any repair: a process with its embedded database. */
export async function checkedByController(cwd: string, env: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn(process.execPath, [builtCli, "controller", "--listen", "127.0.0.1:0"], { cwd, env });
  const ended = once(child, "exit");
  let log = "";
  child.stderr.on("data", (chunk) => {
    log += chunk;
  });
  while (!/prod: (?!Repairs)/u.test(log) && child.exitCode === null) await sleep(50);
  child.kill("SIGTERM");
  const [code] = await ended;
  if (code !== 0) throw new Error(`The controller ended with ${code}:\n${log}`);
  return log;
}

/** The account after `dimsync controller` has checked it once in mode `protect`. */
export async function repairByController(given: World): Promise<AccountState> {
  const service = await startEmbeddedService({ state: given.account });
  const target = { baseUrl: service.url, apiKey: { $secret: { env: "KEY" } }, controller: { every: "1m", mode: "protect" } };
  try {
    return await inFolder({ "dimsync.yaml": configOf(given, target), "manifests/all.yaml": manifestsOf(given) }, async (cwd) => {
      const env = { PATH: process.env["PATH"] ?? "", KEY: service.apiKey };
      const log = await checkedByController(cwd, env);
      if (!log.includes("prod: 0 exposed")) throw new Error(`The controller has repaired nothing:\n${log}`);
      return service.state();
    });
  } finally {
    await service.close();
  }
}
