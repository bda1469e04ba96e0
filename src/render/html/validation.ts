import type { Validation } from "../../model/result.ts";
import { diagnosticsTotal } from "../report/totals.ts";
import { chip, escaped } from "./escape.ts";
import { diagnosticList } from "./findings.ts";
import type { Page } from "./page.ts";

/** Every diagnostic with its source line. */
export function validationPage(validation: Validation): Page {
  const { diagnostics } = validation;
  const isValid = diagnostics.every(({ severity }) => severity !== "error");
  return {
    title: "Validation",
    lead: `<p class="verdict">${chip(isValid ? "valid" : "invalid", isValid ? "good" : "bad")} <span>${escaped(diagnosticsTotal(validation))}</span></p>`,
    parts: [{ id: "diagnostics", title: "Diagnostics", count: diagnostics.length, html: diagnosticList(diagnostics) }],
    footer: "<p>dimsync validate</p>",
  };
}
