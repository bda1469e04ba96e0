import type { Action } from "../model/plan.ts";
import type { Severity } from "../model/problem.ts";
import type { Outcome } from "../model/result.ts";

/** One character for each action, outcome and severity, the same in every text format. */
export const actionSigns: Readonly<Record<Action, string>> = { create: "+", update: "~", relate: "→", unrelate: "-", bind: "=" };

export const outcomeSigns: Readonly<Record<Outcome, string>> = {
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
