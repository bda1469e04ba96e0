import type { Address } from "../base/model/address.ts";
import type { ColumnReview } from "../base/model/columns.ts";
import type { CallCounts, Plan } from "../base/model/plan.ts";
import type { Clock } from "../base/model/runtime/clock.ts";
import type { OnProgress } from "../base/model/runtime/progress.ts";
import type { ExtendedCall, Reads, SendableRequest, WriteAnswer, WriteDecoder } from "../base/model/service.ts";
import type { Environment } from "../base/model/settings/env.ts";
import type { Secret, SecretReference } from "../base/model/settings/secret.ts";
import type { Project } from "../manifests/index.ts";
import type { RecordsRun, RecordsState } from "../records/index.ts";
import type { Counted } from "./checks/guards.ts";
import type { BaseProject } from "./loosened/entry.ts";
import type { RunReads } from "./reads/cached-reads.ts";
import type { Scope } from "./scope.ts";

/** One run against one account: what plan, drift and apply work with. Only apply has a writer. */
export interface Run {
  readonly project: Project;
  readonly options: PlanOptions;
  /** "Plan" compares to change the account, "DriftReport" to describe it. */
  readonly kind: Plan["kind"];
  /** What is planned: all that the caller asked for; in a later round of an apply, what waited. */
  readonly scope: Scope;
  /** Refuses anything but GET before a socket is opened. */
  readonly reads: RunReads;
  /** How many requests were sent so far, per method. */
  readonly calls: () => CallCounts;
  /** The extended requests that the service turned out not to have in this run; absent if none may be sent. */
  readonly missing?: Set<ExtendedCall> | undefined;
  /** The records as they are now: in a run that writes, with what it has recorded so far. */
  readonly records: () => RecordsState;
  /** Only a plan contains it, so it may still be running while the account is read. Never rejects. */
  readonly git: Promise<Plan["git"]>;
  readonly version: string;
  readonly newId: () => string;
  readonly env: Environment;
  readonly clock: Clock;
  /** The day of the run, YYYY-MM-DD. */
  readonly today: string;
  /** Aborted: nothing new is started; what is in flight is completed. */
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress | undefined;
  /** Which columns someone has reviewed. Absent if the project does not ask for it. */
  readonly review?: ColumnReview | undefined;
  /** What earlier rounds of an apply did. */
  readonly rounds: EarlierRounds;
  readonly writer?: Writer;
}

/** What earlier rounds of an apply did, which a later one must know. */
interface EarlierRounds {
  /** Ids of integrations that this run has created; their schemas may still grow. */
  readonly fresh: ReadonlySet<string>;
  /** For guards, which count the whole run. */
  readonly counted: readonly Counted[];
  /** The addresses of items that were not sent successfully. */
  readonly failed: ReadonlySet<Address>;
}

export const noRounds: EarlierRounds = { fresh: new Set(), counted: [], failed: new Set() };

/** Everything through which apply writes: to the account and to the records. */
interface Writer {
  /** Reads the same account as the run, without a cache, and is not stopped by its signal. */
  readonly reads: Reads;
  readonly send: (request: SendableRequest) => Promise<WriteAnswer>;
  readonly decode: WriteDecoder;
  readonly records: RecordsRun;
  /** Larger bodies were refused in this run (413). */
  readonly bodyLimit: { bytes: number };
  /**
   * The values of the secrets that `addresses` need, by the canonical JSON of their references.
   * Throws if one is missing. Called before the first write, never later.
   */
  readonly resolveSecrets: (
    references: readonly SecretReference[],
    addresses: ReadonlySet<Address>,
  ) => Promise<ReadonlyMap<string, Secret>>;
}

export type WriteRun = Run & { readonly writer: Writer };

/** What the user asked for on the command line or in code. */
export interface PlanOptions {
  readonly scope?: Scope;
  /** Reasons by guard name. */
  readonly allow?: ReadonlyMap<string, string>;
  /** Sends only changes that protect; the others are `held`. */
  readonly protectOnly?: boolean;
  /** Lists the unmanaged columns by name instead of only counting them. Needs memory for each. */
  readonly listUnmanaged?: boolean;
  /** The project at a base ref; with it, each difference has an origin. */
  readonly base?: BaseProject;
  /** Before a merge (the base is reviewed) or after it (the base was applied): the plan says what the manifests give up since the base. */
  readonly review?: "before merge" | "after merge";
  /** Whether the caller records what the plan finds kept. A run that writes does. */
  readonly isRecording?: boolean;
}
