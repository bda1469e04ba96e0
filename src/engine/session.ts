import type { Address } from "../model/address.ts";
import type { Binding } from "../model/binding.ts";
import type { IgnoreEntry, Settings } from "../model/config.ts";
import type { LiveIntegration } from "../model/live.ts";
import type { CallCounts, ItemResult, Plan } from "../model/plan.ts";
import type { Locate, Problem } from "../model/problem.ts";
import type { OnProgress } from "../model/progress.ts";
import type { Resource } from "../model/resource.ts";
import type { Secret } from "../model/secret.ts";
import type { Reads, SendableRequest, WriteAnswer, WriteDecoder } from "../model/service.ts";
import type { PolicyFunction } from "../policies/script.ts";
import type { Intent } from "../records/journal-line.ts";
import type { RecordsRun, RecordsState } from "../records/records.ts";
import type { Scope } from "./scope.ts";

/** Manifests and settings, read and checked (manifests/project.ts). */
export interface LoadedProject {
  readonly settings: Settings;
  readonly resources: readonly Resource[];
  readonly problems: readonly Problem[];
  readonly locate: Locate;
  readonly manifestDigest: string;
}

/** What planning works with: a project, and one account that can be read. */
export interface Session {
  readonly project: LoadedProject;
  /** Refuses anything but GET before a socket is opened. */
  readonly reads: Reads;
  /** Requests put on the wire so far, per method. */
  readonly calls: () => CallCounts;
  /** The records as they are now: in a run that writes, with what it has recorded so far. */
  readonly records: () => RecordsState;
  readonly git: Plan["git"];
  /** When the snapshot was taken that stands for the account; undefined for a live one. */
  readonly snapshot?: string;
  readonly version: string;
  readonly newId: () => string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress | undefined;
}

/** What a person asked for on the command line, or a library user in code. */
export interface PlanOptions {
  readonly scope?: Scope;
  readonly writeSecrets?: (address: string) => boolean;
  /** Reasons by guard name. */
  readonly allow?: ReadonlyMap<string, string>;
  readonly assumeCompleteLists?: boolean;
  /** Names the columns that nothing covers instead of only counting them: as much memory as there are such columns. */
  readonly listUnmanaged?: boolean;
  /** The manifests at a base ref: every difference then tells its origin. */
  readonly base?: Pick<LoadedProject, "resources">;
  /** Ignored in this run, besides the config's entries. */
  readonly ignore?: readonly IgnoreEntry[];
  /** Policies in JavaScript, by policy address. */
  readonly policyFunctions?: ReadonlyMap<string, PolicyFunction>;
}

/** What executing items takes: the only values in the engine through which anything is written. */
export interface Run {
  readonly runId: string;
  /** Reads afresh, and to the end: nothing is remembered between two calls, and `stop` does not cut them off. */
  readonly reads: Reads;
  readonly send: (request: SendableRequest) => Promise<WriteAnswer>;
  readonly decode: WriteDecoder;
  readonly records: RunRecords;
  readonly bindingOf: (address: Address) => Binding | undefined;
  /** Resolved secrets by the canonical JSON of their references. */
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly settleMs: number;
  /** How often a PUT or PATCH is sent again, after reading that its values aren't there. */
  readonly retries: number;
  readonly concurrency: number;
  /** How many creates may prepare their intents at a time. */
  readonly waveSize: number;
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

/** The records as far as items use them. */
export interface RunRecords extends Pick<RecordsRun, "settle" | "bind" | "state" | "flush" | "take"> {
  /** Stores one intent, perhaps together with those of other items. Throws as `RecordsRun.intend` does. */
  readonly intend: (intent: Intent) => Promise<string>;
  /** Runs one item that will store an intent, so that it is known whose intents are still to come. */
  readonly during: <T>(work: () => Promise<T>) => Promise<T>;
}

/** What became of one item, before its place in the result. */
export type Ending = Pick<ItemResult, "outcome"> & Partial<Pick<ItemResult, "code" | "message" | "liveId">>;
