import type { AccountState, AccountSummary } from "./status.generated.d.ts";

export type * from "./status.generated.d.ts";

/** Worst first. "exposed": data is readable that the manifests protect, or a policy of severity error is violated. */
export const accountStates = [
  "exposed",
  "drifted",
  "failing",
  "stale",
  "suspended",
  "in-sync",
  "pending",
] as const satisfies readonly AccountState[];

/** What a comparison has found. */
export type Counts = Pick<AccountSummary, "exposedColumns" | "differences" | "manual" | "policyViolations">;

/** A suspended account can be exposed too. */
export const isExposed = ({ state, exposedColumns, policyViolations }: AccountSummary): boolean =>
  state === "exposed" || exposedColumns + policyViolations > 0;

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
