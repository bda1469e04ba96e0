import type { Document, RenderOptions } from "../document.ts";
import { renderHumanPlan } from "./plan.ts";
import { renderHumanResult } from "./result.ts";
import { renderHumanValidation } from "./validation.ts";

/** For a terminal. */
export function renderHuman(document: Document, options: RenderOptions): string {
  if (document.kind === "Result") return renderHumanResult(document, options);
  return document.kind === "Validation" ? renderHumanValidation(document, options) : renderHumanPlan(document, options);
}
