import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { nearest } from "../model/suggest.ts";

/** Names of the schemas, as `dimsync schema NAME` takes them: kinds, and the documents that dimsync reads and writes. */
export const schemaNames = [
  "Asset",
  "Integration",
  "Tag",
  "SchemaConfig",
  "RuleSet",
  "Policy",
  "Manifest",
  "Config",
  "Plan",
  "Result",
  "Drift",
  "Validation",
  "Event",
] as const;

/** The file of a schema: `SchemaConfig` -> `schema-config.schema.json`. */
const fileOf = (name: string) => `${name.replaceAll(/(?<=[a-z])(?=[A-Z])/gu, "-").toLowerCase()}.schema.json`;

/**
 * The text of a JSON Schema as shipped, of all manifests where no name is given. Names in any case, with or without hyphens and a plural s.
 * Undefined for an unknown name.
 */
export function schemaText(name = "Manifest"): string | undefined {
  const wanted = name.toLowerCase().replaceAll("-", "");
  const known = schemaNames.find((candidate) => wanted === candidate.toLowerCase() || wanted === `${candidate.toLowerCase()}s`);
  return known === undefined ? undefined : readFileSync(join(packageFolder(), "schema", fileOf(known)), "utf8");
}

/** The schema name that was probably meant. */
export const nearestSchemaName = (name: string): string | undefined => nearest(name, schemaNames);

/** The folder that holds package.json: this file runs from src/manifests and, bundled, from dist/lib. */
function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json")) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
