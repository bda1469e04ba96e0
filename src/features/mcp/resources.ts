import type { Context } from "../../cli/context.ts";
import { loadAnyProjects } from "../../cli/project.ts";
import { packageText, schemaNames, schemaText } from "../../core/manifests/schema/lookup.ts";
import { byText } from "../../core/model/address.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import { placeText } from "../../core/model/problem.ts";

/** A document that clients can read. */
export interface ResourceEntry {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: string;
}

const glossary = "dimsync://glossary";
const schemas = "dimsync://schemas/";
export const manifests = "dimsync://manifests/";

/** The glossary, the JSON Schemas, and the manifests of the project. Without a usable config there are no manifests; the tools say why. */
export async function resourceEntries(context: Context): Promise<readonly ResourceEntry[]> {
  const fixed = [
    { uri: glossary, name: "glossary", description: "The words of plans, manifests and messages", mimeType: "text/markdown" },
    ...schemaNames.map((name) => ({
      uri: `${schemas}${name}`,
      name: `schema ${name}`,
      description: `JSON Schema of ${name}`,
      mimeType: "application/schema+json",
    })),
  ];
  return [...fixed, ...(await manifestEntries(context))];
}

async function manifestEntries(context: Context): Promise<readonly ResourceEntry[]> {
  const projects = await loadAnyProjects(context, { interruptible: true }).catch((error: unknown) => {
    if (error instanceof DimsyncError) return [];
    throw error;
  });
  const byAddress = new Map(
    projects.flatMap(({ resources, locate }) =>
      resources.map(({ address, place }) => {
        const { file, line } = locate(place);
        return [address, placeText({ file, line })] as const;
      }),
    ),
  );
  return [...byAddress]
    .sort(([a], [b]) => byText(a, b))
    .map(([address, where]) => ({
      uri: `${manifests}${address}`,
      name: address,
      description: `Manifest at ${where}`,
      mimeType: "application/yaml",
    }));
}

/** The text of a resource that is part of the package; undefined for another one. */
export function packagedText(uri: string): { readonly text: string; readonly mimeType: string } | undefined {
  if (uri === glossary) return { text: packageText("docs/glossary.md"), mimeType: "text/markdown" };
  const text = uri.startsWith(schemas) ? schemaText(uri.slice(schemas.length)) : undefined;
  return text === undefined ? undefined : { text, mimeType: "application/schema+json" };
}
