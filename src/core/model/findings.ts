import type { Address } from "./address.ts";
import type { Pointer } from "./json/pointer.ts";
import type { Severity } from "./problem.ts";

/** A violation of a policy. */
export interface PolicyFinding {
  readonly policy: string;
  readonly severity: Severity;
  /**
   * `new`: the plan causes it; `existing`: it is there before and after apply; `fixed`: the plan removes it. A drift report
   * has existing findings only.
   */
  readonly state: "new" | "existing" | "fixed";
  readonly address: Address;
  readonly path: Pointer;
  readonly message: string;
  /** The value at `path`, and the one that the policy requires. Absent for findings of a module, and for expired rules. */
  readonly actual?: boolean;
  readonly required?: boolean;
  readonly file?: string;
  readonly line?: number;
}

/** An exemption that lets violations of its policy pass. */
export interface UsedExemption {
  /** The name of the policy. */
  readonly policy: string;
  readonly reason: string;
  readonly approvedBy?: string;
  /** Its last day, YYYY-MM-DD. */
  readonly expires: string;
  /** The values that would be findings. Not empty. */
  readonly places: readonly { readonly address: Address; readonly path: Pointer }[];
  readonly file?: string;
  readonly line?: number;
}

/** How many of the live schemas, tables and columns of an integration change. */
export interface ChangedNodes {
  /** "Schemas/shop-01" */
  readonly address: Address;
  readonly changed: number;
  readonly population: number;
}

/** The guards, in the order of their findings. */
export const guardNames = [
  "maxCreates",
  "maxExposedColumns",
  "maxChangedPercent",
  "exposureWindow",
  "policy",
  "unreviewed",
  "outsideChanges",
  "loosened",
  "planDiffers",
] as const;

export type GuardName = (typeof guardNames)[number];

/** A refusal that users can lift with `--allow NAME="reason"`. */
export interface GuardFinding {
  readonly guard: GuardName;
  readonly message: string;
  readonly limit?: number;
  /** For `maxChangedPercent`, the highest percentage above the limit, rounded up to one decimal. */
  readonly actual?: number;
  /** For `maxChangedPercent`: the target's nodes and fields that change, and all that were compared. */
  readonly changed?: number;
  readonly population?: number;
  /** For `maxChangedPercent`: the integrations that are above the limit, most changed nodes first. */
  readonly integrations?: readonly ChangedNodes[];
  /** For `exposureWindow`: the integration that would be created. */
  readonly address?: Address;
  /** Present if it was lifted: the reason. */
  readonly allowed?: string;
  /** Present if entries of `allow` lifted it: the last day of the one that ends first, YYYY-MM-DD. */
  readonly until?: string;
}
