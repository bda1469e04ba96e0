import type { Document, Renderer, RenderOptions } from "./document.ts";
import { renderGithubAll } from "./github.ts";
import { renderHtmlAll } from "./html/index.ts";
import { renderJunitAll } from "./junit.ts";
import { renderSarifAll } from "./sarif.ts";

type Joiner = (documents: readonly Document[], options: RenderOptions, render: Renderer) => string;

/** How the documents of several targets become one text, in the formats where it is not one after the other with an empty line between. */
const joiners: ReadonlyMap<string, Joiner> = new Map<string, Joiner>([
  ["json", (documents, options, render) => `[\n${documents.map((document) => render(document, options).trimEnd()).join(",\n")}\n]\n`],
  ["ndjson", (documents, options, render) => documents.map((document) => render(document, options)).join("")],
  ["sarif", renderSarifAll],
  ["junit", renderJunitAll],
  ["github", renderGithubAll],
  ["html", renderHtmlAll],
]);

/** One text of all documents of a command, one per target. A single document is what its renderer makes of it. */
export function renderSeveral(format: string, render: Renderer, documents: readonly Document[], options: RenderOptions): string {
  const [only, second] = documents;
  if (only !== undefined && second === undefined) return render(only, options);
  const join = joiners.get(format);
  return join === undefined ? documents.map((document) => render(document, options)).join("\n") : join(documents, options, render);
}
