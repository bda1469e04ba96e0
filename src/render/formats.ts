import type { Document, Renderer, RenderOptions } from "./document.ts";
import type { Format } from "./index.ts";

/** A text, or its pieces in order: what can be longer than a string can be. */
export type Text = string | Iterable<string>;

/** One text for all documents of a command, one per target. */
export type RenderAll = (documents: readonly Document[], options: RenderOptions) => Text;

type Join = (documents: readonly Document[], options: RenderOptions, render: Renderer) => string;

/** By the name in `-o`. Loads only the renderer of that format. */
export const formats = {
  human: async () => {
    const { renderHuman, renderHumanAll } = await import("./terminal/index.ts");
    return oneOrAll(renderHuman, renderHumanAll);
  },
  json: async (): Promise<RenderAll> => {
    const { documentListPieces, documentPieces } = await import("./machine/json.ts");
    return (documents) => {
      const [only, second] = documents;
      return only !== undefined && second === undefined ? documentPieces(only) : documentListPieces(documents);
    };
  },
  ndjson: async (): Promise<RenderAll> => {
    const { ndjsonPieces } = await import("./machine/ndjson.ts");
    return (documents) => piecesOf(documents, ndjsonPieces);
  },
  markdown: async () => {
    const { renderMarkdown, renderMarkdownAll } = await import("./markdown/index.ts");
    return oneOrAll(renderMarkdown, renderMarkdownAll);
  },
  sarif: async () => {
    const { renderSarif, renderSarifAll } = await import("./machine/sarif.ts");
    return oneOrAll(renderSarif, renderSarifAll);
  },
  junit: async () => {
    const { renderJunit, renderJunitAll } = await import("./machine/junit.ts");
    return oneOrAll(renderJunit, renderJunitAll);
  },
  github: async () => {
    const { renderGithub, renderGithubAll } = await import("./machine/github.ts");
    return oneOrAll(renderGithub, renderGithubAll);
  },
  html: async () => {
    const { renderHtml, renderHtmlAll } = await import("./html/index.ts");
    return oneOrAll(renderHtml, renderHtmlAll);
  },
} as const satisfies Readonly<Record<Format, () => Promise<RenderAll>>>;

function* piecesOf(documents: readonly Document[], pieces: (document: Document) => Iterable<string>): Generator<string> {
  for (const document of documents) yield* pieces(document);
}

const oneOrAll =
  (render: Renderer, join: Join) =>
  (documents: readonly Document[], options: RenderOptions): string => {
    const [only, second] = documents;
    return only !== undefined && second === undefined ? render(only, options) : join(documents, options, render);
  };
