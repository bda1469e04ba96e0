import type { Bindings } from "../model/binding.ts";
import type { IgnoreEntry, Settings } from "../model/config.ts";
import type { CallCounts, Plan } from "../model/plan.ts";
import type { Locate, Problem } from "../model/problem.ts";
import type { OnProgress } from "../model/progress.ts";
import type { Resource } from "../model/resource.ts";
import type { Reads } from "../model/service.ts";
import type { CreatedEntry, OpenIntent } from "../records/journal.ts";
import type { ListsSeen } from "../records/lists-seen.ts";
import type { PolicyFunction } from "./policy-functions.ts";
import type { Clock } from "./run.ts";
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
  readonly bindings: () => Bindings;
  /** POSTs of earlier runs whose outcome is not final. */
  readonly openIntents: () => readonly OpenIntent[];
  /** What earlier runs on this machine created, by address, as the journal has it. */
  readonly created: () => ReadonlyMap<string, CreatedEntry>;
  /** How long lists were for earlier runs (records/lists-seen.ts). */
  readonly longestSeen: ListsSeen;
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
