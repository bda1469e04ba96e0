import type { Validation } from "../../model/plan.ts";
import { diagnosticsTotal } from "../diagnostics-total.ts";
import type { RenderOptions } from "../document.ts";
import { diagnosticLines } from "./diagnostics.ts";
import { apart, stacked } from "./plan.ts";
import { screenOf } from "./screen.ts";

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
