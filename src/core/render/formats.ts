import type { Document, RenderOptions } from "./document.ts";
import type { Format } from "./index.ts";

/** A text, or its pieces in order: what can be longer than a string can be. */
export type Text = string | Iterable<string>;

/** One text for all documents of a command, one per target. */
type RenderAll = (documents: readonly Document[], options: RenderOptions) => Text;

/** By the name in `-o`. Loads only the renderer of that format. */
export const formats = {
  human: async () => (await import("./terminal/index.ts")).renderHumanAll,
  json: async (): Promise<RenderAll> => (await import("./machine/index.ts")).jsonOfAll,
  markdown: async () => (await import("./markdown/index.ts")).renderMarkdownAll,
  github: async () => (await import("./machine/index.ts")).renderGithub,
  html: async () => (await import("./html/index.ts")).renderHtmlAll,
} as const satisfies Readonly<Record<Format, () => Promise<RenderAll>>>;
