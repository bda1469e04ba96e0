import type { Address, Binding, Bindings } from "../base/model/address.ts";
import type { CreatedEntry, Intent, OpenIntent, Settlement } from "./history.ts";
import type { HolderProcess } from "./process-identity.ts";
import type { Facts, Memory } from "./remembered.ts";
import type { RecordsContent } from "./shared/store.ts";

// Records are what must survive a run of one target: the lease, the journal of creates, bindings,
// applied plans and what is kept unreadable. Three stores implement this interface (folder, git,
// postgres) and pass the same tests (test/core/records/suite.ts).
//
// Rules for every store:
// - A read that fails throws. It never returns "no records": an object whose record is missing
//   would be created twice.
// - Reading needs no lease and no permission to write.
// - `intend` resolves only when the intents are in the shared store. `settle`, `bind` and `unbind`
//   resolve when a kill of this process can't lose them; they reach the shared store soon
//   afterwards, and with `release` at the latest.
// - A run that lost its lease sends nothing more. It may still add facts about its own calls:
//   `settle`, and `bind` for objects that it created.
// - The outcome of a write is determined by reading the store again, never by the text of an error.

export type StoreName = "folder" | "git" | "postgres";

/** The records of one target. Opening makes no connection and writes nothing. */
export interface Records {
  readonly store: StoreName;
  /** For messages: "refs/dimsync/prod of origin". Never a URL with credentials. */
  readonly place: string;
  /**
   * Reads the current records. Throws E_RECORDS_GONE (exit 1) if the store is missing or has
   * another id than the config names, E_RECORDS_MOVED (exit 1) if its records were moved to another
   * store, and E_RECORDS_READ (exit 1) if it can't be reached or understood. The folder store also throws E_BINDINGS_FILE and
   * E_DUPLICATE_BINDING (exit 1).
   */
  readonly read: () => Promise<RecordsState>;
  /** Everything that is known of the target. Throws as `read` does. */
  readonly content: () => Promise<RecordsContent>;
  /**
   * Replaces everything but the lease by `content`, in one write, if `isReplaceable` what is there. False if it is not. Throws E_LOCKED
   * (exit 6) while a run holds the lease, E_RECORDS_REFUSED and E_RECORDS_UNCLEAR (exit 4), and what `read` throws.
   */
  readonly replace: (content: RecordsContent, isReplaceable: (found: RecordsContent) => boolean) => Promise<boolean>;
  /** The first application of a saved plan, if any. Throws as `read` does. */
  readonly wasApplied: (planId: string) => Promise<AppliedPlan | undefined>;
  /**
   * Who holds the lease; undefined if it is free. An expired lease counts as held until another run
   * takes it over; in a folder, it is free as soon as its process is gone. Throws as `read` does.
   */
  readonly lease: () => Promise<Lease | undefined>;
  /**
   * Starts a run that writes. Waits while another run holds the lease. It is taken with the first
   * `take` or `intend`, so that a run without changes writes nothing.
   * Throws E_LOCKED (exit 6) if another run still holds the lease after `waitMs`, what `read`
   * throws, and the reason of an aborted signal.
   */
  readonly begin: (options: BeginOptions) => Promise<RecordsRun>;
  /**
   * Takes a lease for maintenance, which needs no heartbeat: it ends with `unlock` or at
   * `until`. Replaces a maintenance lease with the same `runId`. Throws E_LOCKED (exit 6) if the lease is held, and E_RECORDS_REFUSED or
   * E_RECORDS_UNCLEAR (exit 4) if it can't be written.
   */
  readonly lock: (hold: MaintenanceHold) => Promise<void>;
  /**
   * Ends any lease and returns it; undefined if the lease was free. The run that held it is then
   * listed in `RecordsState.unlocked`. Throws E_RECORDS_REFUSED or E_RECORDS_UNCLEAR (exit 4).
   */
  readonly unlock: () => Promise<Lease | undefined>;
  /**
   * The newest writes, newest first; none in the folder store, which has no history. Throws as `read` does.
   */
  readonly history: (limit: number) => Promise<readonly PastWrite[]>;
  /** Closes connections. Call it after each run was released. */
  readonly close: () => Promise<void>;
}

/** The condition of a store that can be read, for `dimsync doctor`. */
export interface StoreCondition {
  /** What was read, in sentences. */
  readonly found: string;
  readonly faults: readonly StoreFault[];
}

/** `what` is wrong, in sentences. A fatal one keeps every run from reading or writing. */
export interface StoreFault {
  readonly what: string;
  readonly fix: string;
  readonly isFatal?: boolean;
}

/** The first application of a saved plan. */
export interface AppliedPlan {
  readonly planId: string;
  readonly runId: string;
  /** ISO 8601 */
  readonly at: string;
}

/** One write to the records. */
export interface PastWrite {
  /** ISO 8601, by the clock of the writer (PostgreSQL: of the database). */
  readonly at: string;
  readonly runId: string;
}

/** A snapshot: later writes don't change it. */
export interface RecordsState extends Memory {
  /** Identifies what was read, for display: a commit id in git, "" in a folder. */
  readonly version: string;
  readonly bindings: Bindings;
  /** Intents whose outcome is not final, oldest first. */
  readonly open: readonly OpenIntent[];
  /**
   * By address, the object that was created last and not forgotten since. It shows that an object
   * exists although its binding was lost.
   */
  readonly created: ReadonlyMap<Address, CreatedEntry>;
  /** Ids of created objects that the user unbound. */
  readonly forgotten: readonly string[];
  /** Runs whose lease was ended early, oldest first. */
  readonly unlocked: readonly UnlockedRun[];
}

/** Who may write at the moment. */
export interface Lease {
  /** Random. No two leases have the same. */
  readonly token: string;
  readonly runId: string;
  /** The page of the CI job. */
  readonly runUrl: string | undefined;
  /** ISO 8601, for display: from the holder's clock (PostgreSQL: from the database's). */
  readonly since: string;
  readonly ttlMs: number;
  /** Incremented each time the lease is taken. */
  readonly epoch: number;
  /** Present for maintenance leases. */
  readonly reason: string | undefined;
  /** ISO 8601. Present for maintenance leases with an end. */
  readonly until: string | undefined;
  /** More about the holder for messages, "process 812 on runner-3"; "" if nothing is known. */
  readonly holder: string;
  /** The process of a run, if it is known. */
  readonly process?: HolderProcess | undefined;
}

/**
 * A run whose lease was ended before its time-to-live was over: by `unlock`, or because its job or its
 * process has ended. A frozen process of it may still send requests.
 */
export interface UnlockedRun {
  readonly runId: string;
  /** ISO 8601: when the lease was ended. */
  readonly at: string;
  /** How long after `at` the run may still begin to send: half of its lease's time-to-live, or 0 if its process is gone. */
  readonly graceMs: number;
}

export interface BeginOptions {
  readonly runId: string;
  /** How long to wait for another run to end, in milliseconds; 0: not at all. */
  readonly waitMs: number;
  readonly runUrl?: string;
  readonly signal?: AbortSignal;
  /**
   * Whether the CI job that holds the lease has certainly ended, so that the lease may be taken over at
   * once. Shared stores call it from time to time while they wait.
   */
  readonly hasEnded?: (lease: Lease) => Promise<boolean>;
  /** Called from time to time while another run holds the lease. */
  readonly onWait?: () => void;
}

export interface MaintenanceHold {
  readonly runId: string;
  readonly reason: string;
  readonly until?: Date;
}

/**
 * A run that may write. Its methods may be called concurrently; calls made while a write is in
 * progress are written together.
 */
export interface RecordsRun {
  readonly runId: string;
  /** Present if the lease of another run was or will be taken over: a sentence for the user. */
  readonly notice: string | undefined;
  /** How many intents are worth gathering for one `intend`. 1: gathering saves nothing. */
  readonly waveSize: number;
  /**
   * What was read at the beginning, with all facts of this run, including those that have not
   * reached the shared store yet.
   */
  readonly state: () => RecordsState;
  /**
   * Aborted when this run has lost its lease: send nothing more. The reason is a DimsyncError
   * E_LOCKED (exit 6).
   */
  readonly lost: AbortSignal;
  /**
   * Notes that a saved plan is being applied; stored before, or together with, the next `take` or
   * `intend`. Throws E_PLAN_APPLIED (exit 5) if the plan was applied before. If two runs apply the
   * plan at once, `take` or `intend` may throw it.
   */
  readonly markApplied: (planId: string) => Promise<void>;
  /**
   * Takes the lease, if this run doesn't hold it yet. Await it before the first request that writes. Throws:
   * - E_LOCKED (exit 6): another run was first.
   * - E_RECORDS_CHANGED (exit 4): since `begin`, another run changed bindings or the journal.
   *   `state` is up to date; plan again, then call `take` again.
   * - E_RECORDS_REFUSED, E_RECORDS_UNCLEAR (exit 4): the lease could not be written, or it is not
   *   known whether it was.
   * - E_RECORDS_GONE, E_RECORDS_READ (exit 1).
   */
  readonly take: () => Promise<void>;
  /**
   * Renews the lease, if the last write is older than a third of its time-to-live. The run's own
   * heartbeat calls it. Throws nothing.
   */
  readonly renew: () => Promise<void>;
  /**
   * Call it immediately before each request that writes; throws if this run may no longer send:
   * E_LOCKED (exit 6) if it has no lease or lost it, and E_RECORDS_UNCLEAR (exit 4) if the store
   * cannot be reached, or the run's last write is older than half the time-to-live, by the monotonic
   * or the wall clock.
   */
  readonly fence: () => void;
  /**
   * Stores the intents of POSTs, all or none, and takes the lease if this run doesn't hold it yet.
   * Resolves with the ids of the entries, in order, when they are in the shared store. Throws what
   * `take` throws: then send nothing.
   */
  readonly intend: (intents: readonly Intent[]) => Promise<readonly string[]>;
  /** Stores the outcome of an intent. Throws E_JOURNAL_WRITE (exit 4); the entry then stays open. */
  readonly settle: (entryId: string, settlement: Settlement) => Promise<void>;
  /**
   * Records an id. Throws E_DUPLICATE_BINDING (exit 1) if another address of the kind has the id.
   */
  readonly bind: (address: Address, binding: Binding) => Promise<void>;
  /** Removes a binding; does nothing if there is none. Throws nothing. */
  readonly unbind: (address: Address) => Promise<void>;
  /**
   * Remembers what this run has learned, with the next write: what is kept, the commit, and for each address in the other parts its values in place of the known ones (an empty map removes the address).
   * `state` has them at once, and so does `Records.read` of later runs. A run that writes nothing else writes them when it is
   * released; if another run has the lease then, they are dropped. Throws nothing.
   */
  readonly remember: (facts: Facts) => void;
  /**
   * Writes what is queued without waiting for the next `intend`: for an id that can't be found
   * again by reading. Throws nothing.
   */
  readonly flush: () => void;
  /**
   * The last write: everything that is queued, and the end of the lease. Writes nothing if nothing
   * was queued and no lease was taken. Call it in any case; a second call does nothing. Throws
   * E_RECORDS_REFUSED or E_RECORDS_UNCLEAR (exit 4) with the ids that did not reach the store and
   * the local file that keeps them.
   */
  readonly release: () => Promise<void>;
}
