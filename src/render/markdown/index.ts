import type { Document, RenderOptions } from "../document.ts";
import { renderMarkdownPlan } from "./plan.ts";
import { renderMarkdownResult } from "./result.ts";
import { renderMarkdownValidation } from "./validation.ts";

/** For pull requests, issues and job summaries (GitHub-flavoured). */
export function renderMarkdown(document: Document, options: RenderOptions): string {
  if (document.kind === "Result") return renderMarkdownResult(document, options);
  return document.kind === "Validation" ? renderMarkdownValidation(document, options) : renderMarkdownPlan(document, options);
}
