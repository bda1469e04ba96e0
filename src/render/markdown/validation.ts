import type { Validation } from "../../model/result.ts";
import type { RenderOptions } from "../document.ts";
import { diagnosticsTotal } from "../report/totals.ts";
import { fitted, shortenedText } from "./budget.ts";
import { diagnosticsSection } from "./findings.ts";

const shorterForms = {
  "by rule": "Source lines are left out.",
  "by object": "Source lines are left out.",
  counts: "Only the totals are shown.",
};

/** Every diagnostic, within the budget. */
export function renderMarkdownValidation(validation: Validation, { budget }: RenderOptions): string {
  const { diagnostics } = validation;
  return fitted((detail) => {
    const blocks = [
      "## Validation",
      `**${diagnosticsTotal(validation)}**`,
      shortenedText(detail, shorterForms, "dimsync validate"),
      diagnosticsSection(diagnostics, detail),
    ];
    return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
  }, budget);
}
