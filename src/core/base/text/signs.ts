import { byText } from "../model/address.ts";
import type { Action, StepEnd } from "../model/plan.ts";
import type { Diagnostic, Severity } from "../model/problem.ts";

/** One character for each verb, outcome and severity, the same in every text format. */
export const actionSigns: Readonly<Record<Action, string>> = { create: "+", update: "~", relate: "→", unrelate: "-", bind: "=" };

export const outcomeSigns: Readonly<Record<StepEnd, string>> = {
  done: "✓",
  recovered: "✓",
  failed: "✗",
  unknown: "?",
  skipped: "-",
  blocked: "✗",
  waits: "…",
  "not-converged": "≠",
};

export const severitySigns: Readonly<Record<Severity, string>> = { error: "✗", warning: "⚠", info: "i" };

/** From the highest to the lowest. */
export const severities: readonly Severity[] = ["error", "warning", "info"];

/** Sorted by severity, the order of each severity unchanged. */
export function errorsFirst<T extends { readonly severity: Severity }>(all: readonly T[]): readonly T[] {
  return severities.flatMap((severity) => all.filter((one) => one.severity === severity));
}

/** By severity, then place, code and message. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return [...diagnostics].sort(
    (a, b) =>
      severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
      byText(a.file ?? "", b.file ?? "") ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0) ||
      byText(a.rule, b.rule) ||
      byText(a.message, b.message),
  );
}
