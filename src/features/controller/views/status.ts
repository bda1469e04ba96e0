import type { Exit } from "../../../core/model/exit.ts";
import type { Attribution, CallCounts, Cause, Plan } from "../../../core/model/plan.ts";
import type { Result } from "../../../core/model/result.ts";
import type { ControllerMode } from "../../../core/model/settings/config.ts";

/** Worst first. "exposed": data is readable that the manifests protect, or a policy of severity error is violated. */
export const accountStates = ["exposed", "drifted", "failing", "stale", "suspended", "in-sync", "pending"] as const;
export type AccountState = (typeof accountStates)[number];

/** What a comparison has found. */
export interface Counts {
  /** Values that protect less than the manifests. */
  readonly exposedColumns: number;
  readonly differences: number;
  readonly manual: number;
  /** Violations of policies of severity error. */
  readonly policyViolations: number;
}

/** With the counts of the last finished comparison. All times are ISO 8601 in UTC. */
export interface AccountSummary extends Counts {
  /** The target, or SOURCE/TARGET if several sources have that target: unique, and what commands and paths of the page use. */
  readonly name: string;
  readonly source: string;
  readonly target: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly state: AccountState;
  readonly mode: ControllerMode;
  readonly everyMs: number;
  /** The current interval: `everyMs`, or more while the service responds with 429 or 5xx. */
  readonly intervalMs: number;
  /** The end of the last finished comparison. */
  readonly lastCheckedAt?: string;
  readonly nextCheckAt: string;
  /** Not checked within three intervals. Other states than "stale" can have it too. */
  readonly isStale: boolean;
  /** Why the last run failed. The counts are then those of the last finished comparison. */
  readonly error?: AccountError;
  readonly suspension?: Suspension;
  /** Present if it is no longer under control. The rest is as it was then. */
  readonly removed?: Removal;
  /** What is reported and not sent again, as long as it holds. */
  readonly acknowledged?: Acknowledgement;
  /** Its notifications wait. */
  readonly silence?: Pick<Suspension, "reason" | "until" | "by">;
  readonly lastRun?: string;
  readonly running?: { readonly run: string; readonly worker: string; readonly since: string };
  /** The bundle to compare with; absent with --watch. */
  readonly digest?: string;
  /** The git commit of the bundle. `dirty`: its files had uncommitted changes. */
  readonly commit?: string;
  readonly dirty?: true;
  /** False if a push was not compared yet. */
  readonly isCurrent: boolean;
}

/** A suspended account can be exposed too. */
export const isExposed = ({ state, exposedColumns, policyViolations }: AccountSummary): boolean =>
  state === "exposed" || exposedColumns + policyViolations > 0;

/** Why a run failed. */
export interface RunError {
  readonly code: string;
  readonly message: string;
}

interface AccountError extends RunError {
  /** The first failed run after the last finished comparison; absent if that run is what failed. */
  readonly since?: string;
}

/** A push, or a change of the watched project, that ended the account. */
export interface Removal {
  readonly at: string;
  /** Absent with --watch. */
  readonly by?: string;
  readonly commit?: string;
}

export interface Acknowledgement {
  /** What it is about: "exposed". */
  readonly events: readonly string[];
  readonly by: string;
  readonly reason: string;
  readonly at: string;
  /** When what it is about was over. */
  readonly endedAt?: string;
}

export interface Suspension {
  readonly reason: string;
  readonly until: string;
  readonly by: string;
  readonly at: string;
  /** Present if a user resumed it. */
  readonly resumedAt?: string;
  readonly resumedBy?: string;
}

export interface AccountDetail extends AccountSummary {
  /** Open findings, exposed first. */
  readonly findings: readonly Finding[];
  /** 90 days, oldest first; days without a check are missing. */
  readonly timeline: readonly Day[];
  /** The newest 50, newest first. */
  readonly runs: readonly RunSummary[];
  /** The newest 20, newest first. */
  readonly suspensions: readonly Suspension[];
  /** The newest 20, newest first. */
  readonly acknowledgements: readonly Acknowledgement[];
  /** The newest 100, newest first. */
  readonly events: readonly FindingEvent[];
}

export interface Finding {
  readonly id: number;
  readonly kind: "change" | "manual" | "policy" | "blocked";
  readonly address: string;
  /** JSON Pointer; "" is the object. */
  readonly path: string;
  /** Of a policy: its severity. */
  readonly risk: "exposed" | "stricter" | "neutral" | "error" | "warning" | "info";
  /** What groups it with findings of other accounts: the rule and its file, or the address. */
  readonly cause: string;
  readonly detail: FindingDetail;
  readonly openedAt: string;
  readonly openedRun: string;
  /** When the change was made, from the audit log; else when it was first seen. */
  readonly since: string;
  /** When a value or the user changed last. */
  readonly changedAt?: string;
  /** The user who made the change, if the audit log names one. */
  readonly actor?: string;
  /** Present while it is not sent again. */
  readonly acknowledged?: Acknowledgement;
}

export interface FindingDetail {
  /** In the account: `actual`; in the manifests: `desired`. As text; secrets are references. */
  readonly actual?: unknown;
  readonly desired?: unknown;
  readonly cause?: Cause;
  /** Of a manual step: what to do; of a policy: its message. */
  readonly text?: string;
  readonly policy?: string;
  readonly attribution?: {
    readonly actor?: string;
    readonly at: string;
    readonly confidence: Attribution["confidence"];
    readonly event: string;
  };
}

export interface FindingEvent extends Pick<Finding, "actor" | "kind" | "address" | "path" | "risk" | "detail"> {
  readonly finding: number;
  readonly event: "opened" | "changed" | "closed";
  readonly at: string;
  readonly run: string;
}

/** One day (UTC): the greatest counts, and sums of the rest. */
export interface Day {
  /** "2026-03-01" */
  readonly day: string;
  readonly checks: number;
  readonly failures: number;
  readonly exposedColumns: number;
  readonly differences: number;
  readonly manual: number;
  readonly opened: number;
  readonly closed: number;
  readonly changesSent: number;
  readonly durationMs: number;
}

export interface RunSummary extends Counts {
  readonly id: string;
  readonly account: string;
  /** Why it ran. */
  readonly reason: "schedule" | "push" | "check" | "retry";
  readonly mode: ControllerMode;
  readonly worker: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly exit: Exit;
  /** Items that it sent and verified. */
  readonly changesSent: number;
  readonly error?: RunError;
  /** It sends changes now; the counts are those of the comparison before. */
  readonly isSending?: true;
  readonly digest?: string;
  readonly commit?: string;
  readonly dirty?: true;
  readonly calls: CallCounts;
}

export interface RunDetail extends RunSummary {
  /** A DriftReport; absent if the run failed before it had one. */
  readonly report?: Plan;
  /** Present if the run applied something. */
  readonly result?: Result;
}

export interface BundleDetail {
  readonly digest: string;
  readonly source: string;
  readonly commit?: string;
  readonly dirty?: true;
  readonly toolVersion: string;
  readonly pushedBy?: string;
  readonly pushedAt: string;
  /** Compressed. */
  readonly bytes: number;
  /** Accounts that are compared with it now. */
  readonly accounts: readonly string[];
  /** Paths are relative to the project's folder. Secrets are references. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

/** Which entries of a long list to read. */
export interface Range {
  readonly offset: number;
  readonly limit: number;
}

/** The entries in a range, and how many the list has. */
export interface Part<T> {
  readonly items: readonly T[];
  readonly total: number;
}

/** Open findings of all accounts with one cause. */
export interface CauseGroup {
  readonly cause: string;
  readonly kind: Finding["kind"];
  /** The worst one. */
  readonly risk: Finding["risk"];
  readonly findings: number;
  /** Names of accounts, sorted. */
  readonly accounts: readonly string[];
  readonly openedAt: string;
  /** When the first change was made, from the audit log; else when it was first seen. */
  readonly since: string;
  /** The users who made the changes, as far as the audit log names them; sorted. */
  readonly actors: readonly string[];
  readonly example: Pick<Finding, "address" | "path" | "detail">;
}

/** Closed findings of all accounts with one cause. */
export interface ClosedGroup extends CauseGroup {
  /** When the last of them was closed. */
  readonly closedAt: string;
  readonly closedRun: string;
  /** Whether that run was interrupted. The next check and the audit log have shown what it did. */
  readonly isInterrupted?: true | null;
  /** How long they were open together, and the one that was open the longest. */
  readonly openMs: number;
  readonly longestOpenMs: number;
  /** Whether dimsync closed them; else the account or its manifests changed. */
  readonly isRepaired: boolean;
}
