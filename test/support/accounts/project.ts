import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Context } from "../../../src/cli/context.ts";
import type { GlobalFlags } from "../../../src/cli/flags.ts";
import { reportError } from "../../../src/cli/report-error.ts";
import type { AccountState } from "../../../src/embedded/index.ts";
import { runImport } from "../../../src/features/import/command.ts";
import type { ImportFlags } from "../../../src/features/import/index.ts";
import type { ImportReport } from "../../../src/features/import/report.ts";
import { capturedIo } from "../captured-io.ts";
import { startService, type TestService } from "../service.ts";

/** A service with an account, and a project folder that has only a config. */
export interface AccountProject {
  readonly service: TestService;
  readonly folder: string;
  /** Runs a command with these flags. Returns its output and exit code. */
  readonly run: <Flags extends GlobalFlags>(
    command: (context: Context<Flags>, args: readonly string[]) => Promise<number>,
    flags: Omit<Flags, keyof GlobalFlags> & Partial<GlobalFlags>,
    args?: readonly string[],
    env?: Readonly<Record<string, string>>,
  ) => Promise<Ran>;
  readonly runImport: (flags?: Partial<ImportFlags>, addresses?: readonly string[], env?: Readonly<Record<string, string>>) => Promise<Ran>;
  readonly importJson: (
    flags?: Partial<ImportFlags>,
    addresses?: readonly string[],
    env?: Readonly<Record<string, string>>,
  ) => Promise<ImportReport>;
  /** The text of a file. */
  readonly read: (file: string) => Promise<string>;
  readonly write: (file: string, text: string) => Promise<void>;
  /** Text by path, without the state folder. */
  readonly files: () => Promise<Readonly<Record<string, string>>>;
  readonly close: () => Promise<void>;
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export const noFlags = {
  target: [],
  var: [],
  varFile: [],
  only: [],
  exclude: [],
  allowPath: [],
  output: [],
  color: false,
  quiet: true,
} as const;

export async function openAccountProject(
  state?: AccountState | (() => AccountState),
  options: Parameters<typeof startService>[0] = {},
): Promise<AccountProject> {
  const service = await startService({ ...options, ...(state === undefined ? {} : { state }) });
  const folder = await mkdtemp(join(tmpdir(), "dimsync-project-"));
  await writeFile(
    join(folder, "dimsync.yaml"),
    `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets:\n  prod: { baseUrl: "${service.url}", apiKey: { $secret: { env: DIMSYNC_API_KEY } } }\n`,
  );
  const run: AccountProject["run"] = async (command, flags, args = [], env = {}) => {
    const { io, printed } = capturedIo({ env: { DIMSYNC_API_KEY: service.apiKey, ...env }, cwd: folder });
    // The command's own flags and all global ones.
    const context = { io, flags: { ...noFlags, ...flags } as never, cwd: folder };
    const ran = (code: number): Ran => ({ code, out: printed().stdout, err: printed().stderr });
    try {
      return ran(await command(context, args));
    } catch (error) {
      return ran(reportError(context, error));
    }
  };
  const runImportHere: AccountProject["runImport"] = (flags = {}, addresses = [], env = {}) => run(runImport, flags, addresses, env);
  return {
    service,
    folder,
    run,
    runImport: runImportHere,
    importJson: async (flags = {}, addresses = [], env = {}) => {
      const { out, err } = await runImportHere({ ...flags, output: ["json"] }, addresses, env);
      if (out === "") throw new Error(err);
      return JSON.parse(out) as ImportReport;
    },
    read: (file) => readFile(join(folder, file), "utf8"),
    write: async (file, text) => {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text);
    },
    files: () => filesIn(folder),
    close: async () => {
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function filesIn(folder: string): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const entry of (await readdir(folder, { recursive: true, withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !path.includes(".dimsync/")) found[path.slice(folder.length + 1)] = await readFile(path, "utf8");
  }
  return found;
}
