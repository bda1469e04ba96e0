import type { Address } from "../model/address.ts";
import type { Binding } from "../model/binding.ts";
import type { LiveIntegration } from "../model/live.ts";
import type { ItemResult } from "../model/plan.ts";
import type { OnProgress } from "../model/progress.ts";
import type { Secret } from "../model/secret.ts";
import type { Reads, SendableRequest, WriteAnswer, WriteDecoder } from "../model/service.ts";
import type { Journal } from "../records/journal.ts";

/** What executing items takes: the only values in the engine through which anything is written. */
export interface Run {
  readonly runId: string;
  /** Reads afresh, and to the end: nothing is remembered between two calls, and `stop` does not cut them off. */
  readonly reads: Reads;
  readonly send: (request: SendableRequest) => Promise<WriteAnswer>;
  readonly decode: WriteDecoder;
  readonly journal: JournalWriter;
  /** Throws DimsyncError E_BINDINGS_WRITE. */
  readonly bind: (address: Address, binding: Binding) => Promise<void>;
  readonly bindingOf: (address: Address) => Binding | undefined;
  /** Resolved secrets by the canonical JSON of their references. */
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly settleMs: number;
  /** How often a PUT or PATCH is sent again, after reading that its values aren't there. */
  readonly retries: number;
  readonly concurrency: number;
  readonly failFast: boolean;
  /** Aborted: nothing new is started, what is under way ends. */
  readonly stop: AbortSignal;
  readonly clock: Clock;
  readonly remember: (integration: LiveIntegration) => void;
  readonly onProgress: OnProgress | undefined;
}

export interface Clock {
  now(): Date;
  /** Resolves early when the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The journal as far as a run uses it. */
export type JournalWriter = Pick<Journal, "intend" | "settle" | "open" | "created">;

/** What became of one item, before its place in the result. */
export type Ending = Pick<ItemResult, "outcome"> & Partial<Pick<ItemResult, "code" | "message" | "liveId">>;
