import type { Renderer } from "./document.ts";
import { renderHuman } from "./human/index.ts";
import { renderJson } from "./json.ts";
import { renderMarkdown } from "./markdown/index.ts";

export type { Document, Renderer, RenderOptions } from "./document.ts";

/** By the name given to `-o`. A new format is one file and one line here. */
export const renderers = {
  human: renderHuman,
  json: renderJson,
  markdown: renderMarkdown,
} as const satisfies Readonly<Record<string, Renderer>>;

export type Format = keyof typeof renderers;
