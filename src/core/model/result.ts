import type { Address } from "./address.ts";
import type { Exit } from "./exit.ts";
import type { GuardFinding, PolicyFinding } from "./findings.ts";
import type { Action, CallCounts, ChangeGroup, Held, Manual, NotKept } from "./plan.ts";
import type { Diagnostic } from "./problem.ts";

/** How one item of an apply ended. */
export type Outcome = "done" | "recovered" | "failed" | "unknown" | "skipped" | "blocked" | "deferred" | "not-converged";

export interface ItemResult {
  /** The item's id in its plan; absent if it never became an item. */
  readonly id?: string;
  readonly address: Address;
  readonly kind: string;
  readonly action?: Action;
  readonly outcome: Outcome;
  readonly liveId?: string;
  readonly code?: string;
  /** The reason, if it is not "done". */
  readonly message?: string;
  /** A command to run, on its own line. */
  readonly command?: string;
  readonly changes?: readonly ChangeGroup[];
}

/** The result of `apply`. */
export interface Result {
  readonly formatVersion: "2.0";
  readonly kind: "Result";
  readonly runId: string;
  readonly planId: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly tool: { readonly name: "dimsync"; readonly version: string };
  readonly target: string;
  /** As in the plan. */
  readonly severalTargets?: true;
  readonly account: string;
  readonly items: readonly ItemResult[];
  /** Present if only protecting changes were sent (`--protect-only`). */
  readonly held?: readonly Held[];
  /** Desired values that the service does not keep, as far as runs have noticed. Present if there are any. */
  readonly notKept?: readonly NotKept[];
  readonly manual: readonly Manual[];
  readonly guards: readonly GuardFinding[];
  readonly policy: readonly PolicyFinding[];
  readonly diagnostics: readonly Diagnostic[];
  /** The number of requests of the whole run, by method. */
  readonly calls: CallCounts;
  /** Every address that has an id, as recorded. */
  readonly bindings: Readonly<Record<Address, string>>;
  readonly exit: Exit;
}

/** What `validate` prints. */
export interface Validation {
  readonly kind: "Validation";
  /** Present if several targets were checked. */
  readonly targets?: readonly string[];
  /** How many manifests were read, from how many files. */
  readonly manifests: number;
  readonly files: number;
  readonly diagnostics: readonly Diagnostic[];
  readonly exit: Exit;
}
