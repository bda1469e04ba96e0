import type { JsonObject } from "./json.ts";
import type { SourceLocation } from "./problem.ts";
import type { SecretReference } from "./secret.ts";

/** dimsync.yaml (product §2.1) for one target, all defaults filled in. Times in the unit that the name says. */
export interface Settings {
  /** The target's name; "default" where there is no config file. */
  readonly target: string;
  /** https, http on loopback, or `embedded:FILE`. */
  readonly baseUrl: string;
  /** Resolved only when a client is made. Absent for an embedded service in this process. */
  readonly apiKey: SecretReference | undefined;
  readonly protected: boolean;
  readonly defaults: { readonly taggedBy: string | undefined };
  readonly guards: Guards;
  readonly policies: PolicySettings;
  readonly client: ClientSettings;
  readonly ignore: readonly IgnoreEntry[];
  /** Absolute path. */
  readonly bindingsFile: string;
  /** Absolute path of the folder that holds dimsync.yaml (or the working directory): journal, lock and secret paths are relative to it. */
  readonly folder: string;
  /** Told by `drift` where what differs has changed. */
  readonly notify?: NotifySettings;
  /** Where the records are kept. */
  readonly records: RecordsSettings;
  /** JSON Schema per connector type for connection objects. */
  readonly connectors: Readonly<Record<string, JsonObject>>;
}

/** records/records.ts; "folder": beside dimsync.yaml. */
export type RecordsSettings = { readonly store: "folder" } | GitRecordsSettings | PostgresRecordsSettings;

/** A ref in the remote of the project's repository. */
export interface GitRecordsSettings {
  readonly store: "git";
  readonly remote: string;
  /** "refs/dimsync/prod" */
  readonly ref: string;
  /** Identity of the store: another one is refused. */
  readonly id: string;
  /** How long a run that is silent keeps its lease. */
  readonly ttlMs: number;
}

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

export interface Guards {
  readonly maxCreates: number;
  readonly maxExposedColumns: number;
  readonly maxChangedPercent: number;
  readonly minPopulation: number;
}

export interface PolicySettings {
  /** Whether findings that a plan does not cause refuse it, too. */
  readonly existing: "report" | "refuse";
}

export interface ClientSettings {
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly settleMs: number;
  readonly schemaWaitMs: number;
  /** Columns of so many tables may be read one request each, in a run. */
  readonly maxColumnReads: number;
  /** A PATCH of schemas with a larger body is split between tables; absent: 8 MiB. */
  readonly maxBodyBytes?: number;
  /** Requests begun per second, at most; absent: no limit. */
  readonly rate?: number;
}

/** A webhook. Whoever has its URL can write to it, so it is a secret like a key. */
export interface NotifySettings {
  readonly url: SecretReference;
  readonly format?: "slack" | "json";
}

/** product §2.1 `ignore`. `until` is a day, YYYY-MM-DD. */
export interface IgnoreEntry {
  readonly address: string;
  readonly path: string;
  readonly reason: string;
  readonly until: string | undefined;
  /** In dimsync.yaml; absent for one of a flag. */
  readonly place?: SourceLocation;
}

export const defaultGuards: Guards = { maxCreates: 5, maxExposedColumns: 50, maxChangedPercent: 30, minPopulation: 10 };

export const defaultClient: ClientSettings = {
  concurrency: 8,
  timeoutMs: 30_000,
  retries: 4,
  settleMs: 30_000,
  schemaWaitMs: 600_000,
  maxColumnReads: 20_000,
};

/** Where an account is, as plans name it: the origin of the base URL, without path or credentials, or `embedded:FILE`. */
export function accountName(baseUrl: string): string {
  return URL.canParse(baseUrl) && !baseUrl.startsWith("embedded:") ? new URL(baseUrl).origin : baseUrl;
}
