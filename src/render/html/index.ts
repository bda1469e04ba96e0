import type { Document, RenderOptions } from "../document.ts";
import { type Page, page } from "./page.ts";
import { planPage } from "./plan.ts";
import { resultPage } from "./result.ts";
import { validationPage } from "./validation.ts";

/** For a browser: one file that loads nothing and runs nothing. */
export function renderHtml(document: Document, options: RenderOptions): string {
  return page(pageOf(document, options));
}

/** The documents of several targets as one page, one after the other. */
export function renderHtmlAll(documents: readonly Document[], options: RenderOptions): string {
  const pages = documents.map((document) => pageOf(document, options));
  return page({
    title: [...new Set(pages.map(({ title }) => title))].join(", "),
    lead: "",
    parts: pages.flatMap(({ title, lead, parts, footer }, index) => [
      { id: `target-${index + 1}`, title, html: `${lead}\n${footer}` },
      ...parts.map((part) => ({ ...part, id: `target-${index + 1}-${part.id}`, title: `${title}: ${part.title}` })),
    ]),
    footer: "<p>dimsync</p>",
  });
}

function pageOf(document: Document, options: RenderOptions): Page {
  if (document.kind === "Result") return resultPage(document);
  return document.kind === "Validation" ? validationPage(document) : planPage(document, options);
}
