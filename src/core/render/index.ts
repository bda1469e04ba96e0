import type { Renderer } from "./document.ts";
import { renderHtml } from "./html/index.ts";
import { renderGithub, renderJson } from "./machine/index.ts";
import { renderMarkdown } from "./markdown/index.ts";
import { renderHuman } from "./terminal/index.ts";

export {
  code,
  type Entry,
  type Line,
  muted,
  name,
  type Section,
  type Span,
  type Table,
  type Tone,
  textEntries,
  textTable,
  titled,
  untitled,
  word,
} from "./blocks.ts";
export type { Document, DriftLinks, RenderOptions } from "./document.ts";
export { formats, type Text } from "./formats.ts";
export { annotationsOf } from "./report/annotations.ts";
export { actorText, attributionText, timeText } from "./report/attribution.ts";
export { differenceText, labelText } from "./report/change-words.ts";
export { targetPlace } from "./report/from-root.ts";
export { notKeptText } from "./report/not-kept.ts";
export { hasChanges, isEmpty, summaryLine } from "./report/totals.ts";
export { unmanagedCounts } from "./report/unmanaged.ts";

/**
 * By the name in `-o`, all loaded. A new format needs one file, one line here, and one in
 * formats.ts, which the commands use.
 */
export const renderers = {
  human: renderHuman,
  json: renderJson,
  markdown: renderMarkdown,
  github: (document, options) => renderGithub([document], options),
  html: renderHtml,
} as const satisfies Readonly<Record<string, Renderer>>;

export type Format = keyof typeof renderers;
