import type { Renderer } from "./document.ts";
import { renderGithub } from "./github.ts";
import { renderHtml } from "./html/index.ts";
import { renderHuman } from "./human/index.ts";
import { renderJson } from "./json.ts";
import { renderJunit } from "./junit.ts";
import { renderMarkdown } from "./markdown/index.ts";
import { renderNdjson } from "./ndjson.ts";
import { renderSarif } from "./sarif.ts";

export type { Document, HistoryPoint, Renderer, RenderOptions, ReportHistory } from "./document.ts";
export { renderSeveral } from "./several.ts";

/** By the name given to `-o`. A new format is one file and one line here. */
export const renderers = {
  human: renderHuman,
  json: renderJson,
  ndjson: renderNdjson,
  markdown: renderMarkdown,
  sarif: renderSarif,
  junit: renderJunit,
  github: renderGithub,
  html: renderHtml,
} as const satisfies Readonly<Record<string, Renderer>>;

export type Format = keyof typeof renderers;
