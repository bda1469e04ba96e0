import { relative, sep } from "node:path";
import { repositoryTop } from "../base/git/process.ts";
import { DimsyncError, ProblemsError } from "../base/model/errors.ts";
import type { JsonObject } from "../base/model/json/json.ts";
import {
  type FolderRecordsSettings,
  type GitRecordsSettings,
  type PostgresRecordsSettings,
  type RecordsSettings,
  type Settings,
  ttls,
} from "../base/model/settings/config.ts";
import type { Environment } from "../base/model/settings/env.ts";
import { type SecretReference, secretKey } from "../base/model/settings/secret.ts";
import { openFolderRecords } from "../records/folder/index.ts";
import { type Records, type RecordsState, refuseTrackedState, type StoreCondition, type StoreName } from "../records/index.ts";
import { resolveAll } from "./account.ts";

// The registry of stores for records. Adding one: its settings (model/settings/config.ts, manifests/config), its
// `SharedStore` (records/), and an entry here.

interface SettingsByStore {
  readonly folder: FolderRecordsSettings;
  readonly git: GitRecordsSettings;
  readonly postgres: PostgresRecordsSettings;
}

/** A store that need not exist yet. */
type Choice<N extends StoreName> = Omit<SettingsByStore[N], "id" | "ttlMs">;
export type StoreChoice = Choice<"folder"> | Choice<"git"> | Choice<"postgres">;

export interface CreatedStore {
  readonly settings: RecordsSettings;
  /** The member `records` of the target in dimsync.yaml; undefined: none. */
  readonly config: JsonObject | undefined;
  /** Notes about the new store. */
  readonly notes: readonly string[];
}

/** The target whose records these are. */
interface StoreOwner {
  readonly settings: Settings;
  readonly env: Environment;
}

interface Store<N extends StoreName> {
  /** What `--to` names; `option` is what follows the name and a colon. Undefined if it is not valid. */
  readonly parse: (option: string | undefined, owner: Pick<Settings, "target" | "folder">) => Choice<N> | undefined;
  /** Makes no connection and writes nothing. Throws ProblemsError if a secret is missing. */
  readonly open: (records: SettingsByStore[N], owner: StoreOwner) => Promise<Records>;
  /** Creates an empty store, which proves that it can be written. Throws E_RECORDS_EXIST, E_RECORDS_READ, E_RECORDS_REFUSED and E_RECORDS_UNCLEAR. */
  readonly create: (choice: Choice<N>, owner: StoreOwner) => Promise<CreatedStore>;
  /** For `dimsync doctor`: the condition of records that were read at `version`. Writes nothing. Throws as `Records.read` does. */
  readonly probe: (records: SettingsByStore[N], owner: StoreOwner, version: string) => Promise<StoreCondition>;
}

const folder: Store<"folder"> = {
  parse: (option) => (option === undefined ? { store: "folder" } : undefined),
  open: async (_, { settings }) => openFolderRecords(settings),
  create: async () => ({ settings: { store: "folder" }, config: undefined, notes: [] }),
  async probe(_, { env: { GITHUB_ACTIONS: github, GITLAB_CI: gitlab } }) {
    const found = "Files on this machine. Other machines do not see them.";
    if (github !== "true" && gitlab !== "true") return { found, faults: [] };
    return {
      found,
      faults: [{ what: "A job that is killed can lead to a second create.", fix: "Move them: dimsync records migrate --to git" }],
    };
  },
};

const git: Store<"git"> = {
  parse(option, { target, folder }) {
    // Two projects of a repository may have targets of the same name.
    const below = relative(repositoryTop(folder) ?? folder, folder);
    const name = [...below.split(sep).filter((part) => part !== ""), target].join("-").replaceAll(/[^A-Za-z0-9._-]/gu, "-");
    const ref = option ?? `refs/dimsync/${name}`;
    const isRef = /^refs\/[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)+$/u.test(ref);
    return isRef ? { store: "git", ref, remote: "origin" } : undefined;
  },
  async open(records, owner) {
    const { openGitRecords } = await import("../records/git/index.ts");
    return openGitRecords({ ...records, ...inGit(owner) });
  },
  async create({ ref, remote }, owner) {
    const { initGitRecords } = await import("../records/git/index.ts");
    const settings = { remote, ref, ttlMs: ttls.git };
    const id = await initGitRecords({ ...settings, ...inGit(owner) }).catch((error: unknown) => {
      throw withBranch(error, ref);
    });
    return {
      settings: { store: "git", ...settings, id },
      config: { git: { ref, ...(remote === "origin" ? {} : { remote }), id } },
      notes: [`The records are in ${ref} of the remote ${remote}.`],
    };
  },
  async probe(records, owner) {
    const { probeGit } = await import("../records/git/index.ts");
    return await probeGit({ ...records, ...inGit(owner) });
  },
};

const inGit = ({ settings: { target, folder }, env }: StoreOwner) => ({
  target,
  folder,
  env,
  key: env["DIMSYNC_DIGEST_KEY"] || undefined,
});

/** The error, which suggests a branch if a server refused another ref. */
function withBranch(error: unknown, ref: string): unknown {
  const isRefused = error instanceof DimsyncError && error.code === "E_RECORDS_REFUSED";
  if (!isRefused || ref.startsWith("refs/heads/")) return error;
  return new DimsyncError(error.code, `${error.message} If the server only accepts branches, use one:`, {
    exit: error.exit,
    cause: error,
    command: `dimsync records init --to git:${ref.replace(/^refs\//u, "refs/heads/")}`,
  });
}

const databaseVariable = "DIMSYNC_DATABASE_URL";

const postgres: Store<"postgres"> = {
  parse: (option) =>
    option === undefined ? { store: "postgres", url: { $secret: { env: databaseVariable } }, schema: "dimsync" } : undefined,
  async open(records, owner) {
    const [{ openPostgresRecords }, url] = await Promise.all([import("../records/postgres/index.ts"), databaseUrl(records.url, owner)]);
    const { folder, target } = owner.settings;
    return openPostgresRecords({ ...records, folder, target, url });
  },
  async create(choice, owner) {
    const { schema } = choice;
    if (choice.url.$secret.env === databaseVariable && (owner.env[databaseVariable] ?? "") === "")
      throw new DimsyncError(
        "E_USAGE",
        `Set ${databaseVariable} to the URL of the database, such as postgres://user:password@db.example.com/dimsync.`,
      );
    const { initPostgresRecords } = await import("../records/postgres/index.ts");
    const { target } = owner.settings;
    const { id, synchronousCommit } = await initPostgresRecords({ target, schema, url: await databaseUrl(choice.url, owner) });
    return {
      settings: { ...choice, id, ttlMs: ttls.postgres },
      config: { postgres: { url: { $secret: choice.url.$secret }, ...(schema === "dimsync" ? {} : { schema }), id } },
      notes: [
        `Every run needs the URL of the database from now on. In CI, give it to the jobs that plan, apply and report drift.`,
        ...(synchronousCommit === "off"
          ? [
              "The server has synchronous_commit = off. dimsync turns it on for its own transactions; other programs may lose commits in a crash.",
            ]
          : []),
      ],
    };
  },
  async probe({ schema, url }, owner, version) {
    const [{ probePostgres }, resolved] = await Promise.all([import("../records/postgres/index.ts"), databaseUrl(url, owner)]);
    const place = `schema ${schema} in PostgreSQL`;
    return await probePostgres({ url: resolved, schema }, version, { target: owner.settings.target, place });
  },
};

/** Throws ProblemsError, at `records` in dimsync.yaml, if it is missing. */
async function databaseUrl(reference: SecretReference, { settings, env }: StoreOwner): Promise<string> {
  const { recordsPlace: place, target } = settings;
  const secrets = await resolveAll([reference], settings, env, undefined).catch((error: unknown) => {
    if (!(error instanceof ProblemsError)) throw error;
    const what = `It is the URL of the records of target ${JSON.stringify(target)}.`;
    throw new ProblemsError(
      error.problems.map((problem) => ({ ...problem, message: `${problem.message} ${what}`, ...(place === undefined ? {} : { place }) })),
    );
  });
  return secrets.get(secretKey(reference))?.reveal() ?? "";
}

const stores: { readonly [N in StoreName]: Store<N> } = { folder, git, postgres };

export const storeNamed = <N extends StoreName>(name: N): Store<N> => stores[name];

/** `folder`, `git`, `git:REF` or `postgres`. Throws E_USAGE. */
export function parseStore(text: string | undefined, owner: Pick<Settings, "target" | "folder">): StoreChoice {
  const [name = "", option] = (text ?? "git").split(/:(.*)/su);
  const choice = isStoreName(name) ? stores[name].parse(option, owner) : undefined;
  if (choice !== undefined) return choice;
  throw new DimsyncError("E_USAGE", `${JSON.stringify(text)} is not a store: use folder, git, git:refs/dimsync/prod or postgres.`);
}

const isStoreName = (name: string): name is StoreName => Object.hasOwn(stores, name);

/** The store that the settings name. Opening makes no connection and writes nothing. Throws ProblemsError if its URL is missing, and E_STATE_TRACKED. */
export async function openRecords(settings: Settings, env: Environment): Promise<Records> {
  await refuseTrackedState(settings.folder, env);
  const records = usable(settings);
  return await storeNamed(records.store).open(records, { settings, env });
}

/** Runs `work` with the store that the settings name, and closes it. Throws as `openRecords` does. */
export async function withRecords<T>(settings: Settings, env: Environment, work: (records: Records) => Promise<T>): Promise<T> {
  const records = await openRecords(settings, env);
  try {
    return await work(records);
  } finally {
    await records.close();
  }
}

/** Throws ProblemsError. */
function usable({ records }: Settings): Exclude<Settings["records"], { readonly store: "unusable" }> {
  if (records.store === "unusable") throw new ProblemsError(records.problems);
  return records;
}

/** Reads the records once. Throws as `Records.read` does. */
export const readRecords = (settings: Settings, { env, onRecords }: RecordsReader): Promise<RecordsState> =>
  withRecords(settings, env, async (records) => {
    const state = await records.read();
    if (state.version !== "") onRecords?.(versionText("read", records, state));
    return state;
  });

/** The condition of the records for `dimsync doctor`; writes nothing. Throws as `Records.read` does, and ProblemsError if the URL of a database is missing. */
export async function probeStore(settings: Settings, env: Environment): Promise<StoreCondition> {
  const { version } = await readRecords(settings, { env });
  const records = usable(settings);
  return await storeNamed(records.store).probe(records, { settings, env }, version);
}

interface RecordsReader {
  readonly env: Environment;
  /** See RunEnvironment. */
  readonly onRecords?: ((text: string) => void) | undefined;
}

/** "Records read: refs/dimsync/prod of origin at 3afd97dfca22". */
export const versionText = (
  what: "read" | "written",
  { place }: Pick<Records, "place">,
  { version }: Pick<RecordsState, "version">,
): string => `Records ${what}: ${place} at ${version.slice(0, 12)}`;

/**
 * The page of the CI job that this process runs in, if any. It is shown to users who find the
 * target locked.
 */
export function jobUrl(env: Environment): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run, CI_JOB_URL: job } = env;
  if (server !== undefined && repository !== undefined && run !== undefined) {
    const attempt = env["GITHUB_RUN_ATTEMPT"] || undefined;
    return `${server}/${repository}/actions/runs/${run}${attempt === undefined ? "" : `/attempts/${attempt}`}`;
  }
  return job === undefined || job === "" ? undefined : job;
}
