import type { Action, StepEnd } from "../model/plan.ts";
import type { Severity } from "../model/problem.ts";

/** One character for each verb, outcome and severity, the same in every text format. */
export const actionSigns: Readonly<Record<Action, string>> = { create: "+", update: "~", relate: "→", unrelate: "-", bind: "=" };

export const outcomeSigns: Readonly<Record<StepEnd, string>> = {
  done: "✓",
  recovered: "✓",
  failed: "✗",
  unknown: "?",
  skipped: "-",
  blocked: "✗",
  deferred: "…",
  "not-converged": "≠",
};

export const severitySigns: Readonly<Record<Severity, string>> = { error: "✗", warning: "⚠", info: "i" };

/** From the highest to the lowest. */
export const severities: readonly Severity[] = ["error", "warning", "info"];

/** Sorted by severity, the order of each severity unchanged. */
export function errorsFirst<T extends { readonly severity: Severity }>(all: readonly T[]): readonly T[] {
  return severities.flatMap((severity) => all.filter((one) => one.severity === severity));
}
