import type { Document, Renderer, RenderOptions } from "./document.ts";
import type { Format } from "./index.ts";

/** One text for all documents of a command, one per target. */
export type RenderAll = (documents: readonly Document[], options: RenderOptions) => string;

type Join = (documents: readonly Document[], options: RenderOptions, render: Renderer) => string;

/** By the name in `-o`. Loads only the renderer of that format. */
export const formats: Readonly<Record<Format, () => Promise<RenderAll>>> = {
  human: async () => {
    const { renderHuman, renderHumanAll } = await import("./terminal/index.ts");
    return oneOrAll(renderHuman, renderHumanAll);
  },
  json: async () =>
    oneOrAll(
      (await import("./machine/json.ts")).renderJson,
      (documents, options, render) => `[\n${documents.map((document) => render(document, options).trimEnd()).join(",\n")}\n]\n`,
    ),
  ndjson: async () =>
    oneOrAll((await import("./machine/ndjson.ts")).renderNdjson, (documents, options, render) =>
      documents.map((document) => render(document, options)).join(""),
    ),
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
};

const oneOrAll =
  (render: Renderer, join: Join): RenderAll =>
  (documents, options) => {
    const [only, second] = documents;
    return only !== undefined && second === undefined ? render(only, options) : join(documents, options, render);
  };
