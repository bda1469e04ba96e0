import type { Validation } from "../../model/result.ts";
import type { RenderOptions } from "../document.ts";
import { diagnosticsTotal } from "../report/totals.ts";
import { diagnosticLines } from "./diagnostics.ts";
import { screenOf } from "./layout.ts";
import { apart, stacked } from "./plan.ts";

/** Every diagnostic, then how many. */
export function renderHumanValidation(validation: Validation, options: RenderOptions): string {
  const { diagnostics } = validation;
  const screen = screenOf(options);
  const { paint } = screen;
  const isValid = diagnostics.every(({ severity }) => severity !== "error");
  const verdict = diagnosticsTotal(validation);
  return stacked([
    ...diagnostics.map((diagnostic) => apart(diagnosticLines(diagnostic, screen))),
    apart([paint.bold(isValid ? paint.green(verdict) : paint.red(verdict))]),
  ]);
}
