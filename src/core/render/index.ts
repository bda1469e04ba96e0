import type { Renderer } from "./document.ts";
import { renderHtml } from "./html/index.ts";
import { renderGithub } from "./machine/github.ts";
import { renderJson } from "./machine/json.ts";
import { renderMarkdown } from "./markdown/index.ts";
import { renderHuman } from "./terminal/index.ts";

export type { Document, RenderOptions } from "./document.ts";

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
