import { guards } from "../findings.ts";
import type { Problem, SourceLocation } from "../problem.ts";
import type { ConfigFile, NotifySettings, WrittenGuards } from "../specs.generated.d.ts";
import type { SecretReference } from "./secret.ts";

export type { NotifySettings } from "../specs.generated.d.ts";

/** dimsync.yaml for one target with all defaults. Names say the units of times. */
export interface Settings {
  /** The name of the target; "default" without a config file. */
  readonly target: string;
  /** The names of all targets of the config. */
  readonly targets: readonly string[];
  /** Present if the config has other targets: then commands must name this one. */
  readonly severalTargets?: true;
  /** https, http on loopback, or `embedded:FILE`. */
  readonly baseUrl: string;
  /** Present if the embedded service answers as the public descriptions show. */
  readonly observed?: boolean;
  /** Present if the target says that its service has more requests than the interface document (`service.extended`). */
  readonly extended?: true;
  /** Present if the target says that the lists of its service have no pages (`service.lists`). */
  readonly completeLists?: true;
  /** Resolved only when a client is made. Absent for an embedded service in this process. */
  readonly apiKey: SecretReference | undefined;
  /** In dimsync.yaml; absent for a key of the environment. */
  readonly apiKeyPlace?: SourceLocation;
  /** Of `records` in dimsync.yaml; absent without it. */
  readonly recordsPlace?: SourceLocation;
  readonly protected: boolean;
  readonly defaults: { readonly taggedBy: string | undefined };
  readonly guards: Guards;
  /** Where dimsync.yaml sets them. */
  readonly guardPlaces?: Readonly<Partial<Record<keyof Guards, SourceLocation>>>;
  /** Of the config file; absent without one. */
  readonly place?: SourceLocation;
  readonly review: ReviewMode;
  readonly client: ClientSettings;
  readonly ignore: readonly IgnoreEntry[];
  readonly allow: readonly AllowEntry[];
  /** Absolute path. */
  readonly bindingsFile: string;
  /** Absolute path; absent if columns are not reviewed. */
  readonly catalogFile?: string;
  /**
   * Absolute path of the folder with dimsync.yaml (or the working directory): journal, lock and
   * secret paths are relative to it.
   */
  readonly folder: string;
  /** A webhook that `drift` and the controller post to when the differences change. */
  readonly notify?: NotifySettings;
  /** Where the records are kept. */
  readonly records: RecordsSettings;
  /** Present if the controller checks the target continuously. */
  readonly controller?: ControllerSettings;
}

/** What the controller may do: only read, or send changes that protect, within the guards. */
export type ControllerMode = "report" | "protect";

export interface ControllerSettings {
  readonly everyMs: number;
  readonly mode: ControllerMode;
  readonly labels: Readonly<Record<string, string>>;
}

/** Where the records are kept. */
export type RecordsSettings = FolderRecordsSettings | GitRecordsSettings | PostgresRecordsSettings | UnusableRecordsSettings;

/** Files beside dimsync.yaml, which other machines do not see. */
export interface FolderRecordsSettings {
  readonly store: "folder";
}

/** Whether only this machine sees the records. */
export const isLocal = (records: RecordsSettings): records is FolderRecordsSettings => records.store === "folder";

/** Settings with errors: neither these records are opened nor others in their place. */
export interface UnusableRecordsSettings {
  readonly store: "unusable";
  readonly problems: readonly Problem[];
  /** Present if only the id is missing: `records init` creates this store. */
  readonly named?: Omit<GitRecordsSettings, "id"> | Omit<PostgresRecordsSettings, "id">;
}

/** A ref in the remote of the project's repository. */
export interface GitRecordsSettings {
  readonly store: "git";
  readonly remote: string;
  /** "refs/dimsync/prod" */
  readonly ref: string;
  /** Identity of the store: another one is refused. */
  readonly id: string;
  /** How long a run keeps its lease without renewing it: `ttls`, except in tests. */
  readonly ttlMs: number;
}

/** The time-to-live of a lease in each shared store, in milliseconds. */
export const ttls = { git: 300_000, postgres: 60_000 } as const;

/** Tables in a PostgreSQL database. */
export interface PostgresRecordsSettings {
  readonly store: "postgres";
  readonly url: SecretReference;
  readonly schema: string;
  /** Identity of the store: another one is refused. */
  readonly id: string;
  /** How long a run keeps its lease without renewing it. */
  readonly ttlMs: number;
}

export type Guards = Required<WrittenGuards>;
/** Whether a plan is refused for what a pull request loosens, for what it would undo of others, and for existing policy violations. */
type ReviewMode = NonNullable<ConfigFile["review"]>;

export interface ClientSettings {
  readonly concurrency: number;
  /** The same for reads of one table's columns, whose responses are small. Default: 128, or `concurrency` if that is set. */
  readonly columnConcurrency: number;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly settleMs: number;
  readonly schemaWaitMs: number;
  /** What a PATCH of schemas sends: the members that change, or complete entries with the live values of the others. */
  readonly entries: "changed" | "complete";
  /** Maximum number of requests started per second. Default: no limit. */
  readonly rate?: number;
}

/** An entry of a list in dimsync.yaml, with its place; a flag has none. */
type Placed<Entry> = Entry & { readonly place?: SourceLocation };
export type IgnoreEntry = Placed<NonNullable<ConfigFile["ignore"]>[number]>;
export type AllowEntry = Placed<NonNullable<ConfigFile["allow"]>[number]>;

export const defaultGuards = Object.fromEntries(
  Object.entries(guards).flatMap(([name, setting]) => Object.values(setting).map((value) => [name, value])),
) as unknown as Guards; // a guard with a setting has one member

export const defaultClient: ClientSettings = {
  concurrency: 8,
  columnConcurrency: 128,
  timeoutMs: 30_000,
  retries: 4,
  settleMs: 30_000,
  schemaWaitMs: 600_000,
  entries: "changed",
};

/** The environment variable for the API key of a target of a project with this many targets, unless dimsync.yaml names another one. */
export const keyVariable = (target: string, targets: number): string =>
  targets === 1 ? "DIMSYNC_API_KEY" : `${target.toUpperCase().replaceAll(/[^A-Z0-9]/gu, "_")}_API_KEY`;

/**
 * The location of an account, as in plans: the origin of the base URL, without path or credentials,
 * or `embedded:FILE`.
 */
export function accountName(baseUrl: string): string {
  return URL.canParse(baseUrl) && !baseUrl.startsWith("embedded:") ? new URL(baseUrl).origin : baseUrl;
}
