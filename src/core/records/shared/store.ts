import type { LeaseClock } from "../lease.ts";
import type { AppliedPlan, Lease, PastWrite, RecordsState } from "../records.ts";
import type { StorePlace } from "../store-errors.ts";

// A store is a chain of versions. Each write is made on one version and is stored only if that version is still
// the newest one (compare and swap). So nobody writes without having read everything that was written before. The
// content of a version, the lease, the journal and all rules about who may write what are the same for every store
// (text.ts, writer.ts, run.ts, begin.ts); a store only reads a version, and swaps it for the next one.

/** The content of one version of the records. */
export interface RecordsContent {
  /** Incremented each time the lease is taken. */
  readonly epoch: number;
  readonly lease: Lease | undefined;
  readonly state: RecordsState;
  /** By plan id. */
  readonly applied: ReadonlyMap<string, AppliedPlan>;
}

export interface Version {
  /** Identifies the version: a commit id in git, a number in PostgreSQL, a digest in a folder. */
  readonly version: string;
  readonly content: RecordsContent;
  /** When it was read, by the clock of the store; absent if the store has none. */
  readonly nowMs?: number;
}

/** The next version, and what it changes in words. */
export interface Next {
  readonly content: RecordsContent;
  readonly runId: string;
  readonly runUrl: string | undefined;
  /** "Begin 2 creates" */
  readonly subject: string;
  /** One line per object: "bind Asset/lake=d-7". */
  readonly changes: readonly string[];
}

/** The outcome of a write. */
export type WriteOutcome =
  /** `newest` is the newest version: the written one, or a later one. */
  | { readonly outcome: "stored"; readonly newest: string }
  /** Another version was written first. `isGone`: the store no longer exists. */
  | { readonly outcome: "lost"; readonly isGone: boolean }
  /** The store did not change. `words` are the server's. */
  | { readonly outcome: "refused" | "unclear"; readonly words: string };

export interface SharedStore<V extends Version> extends StorePlace {
  readonly folder: string;
  readonly clock: LeaseClock;
  readonly ttlMs: number;
  /** How long an outcome waits for the next write, so that several are written together. */
  readonly gatherMs: number;
  /** How many intents are worth gathering for one write. */
  readonly waveSize: number;
  /**
   * Reads the newest version; "write": from where it will be written, if that has another address.
   * Throws E_RECORDS_GONE and E_RECORDS_READ (exit 1).
   */
  readonly read: (purpose: "read" | "write", known?: V) => Promise<V>;
  /** The version that can be swapped for `parent`. Nothing is sent. Throws E_RECORDS_REFUSED (exit 4). */
  readonly prepare: (parent: V, next: Next) => Promise<V>;
  /** Writes a prepared version if `parent` is still the newest, until the outcome is known or the time limit is reached. */
  readonly swap: (next: V, parent: V) => Promise<WriteOutcome>;
  /**
   * Finds the outcome of a write later, by reading. "unchanged": `parent` is still the newest
   * version. "unreadable": try again.
   */
  readonly outcomeOf: (next: V, parent: V) => Promise<WriteOutcome | "unchanged" | "unreadable">;
  /**
   * Whether the holder of the lease is gone, so that the lease may be taken over. `unmovedMs`: how
   * long this machine has seen the version, by its monotonic clock.
   */
  readonly isAbandoned: (version: V, unmovedMs: number) => boolean;
  /**
   * Why the lease is free although it was not released, as a clause about its holder. Absent in stores of several
   * machines: there it is held until another run takes it over.
   */
  readonly whyGone?: (version: V) => string | undefined;
  /** How often to look whether the lease is free, in milliseconds. Default: by its time-to-live. */
  readonly pollMs?: number;
  /**
   * Whether the store can be reached, as far as is known without asking: a run sends nothing that it could
   * not record. Default: yes.
   */
  readonly isReachable?: () => boolean;
  /** See `Records.history`. */
  readonly history: (limit: number) => Promise<readonly PastWrite[]>;
  readonly close: () => Promise<void>;
}
