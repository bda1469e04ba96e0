import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isObject, memberAt, own } from "../../base/model/json/json.ts";
import { atPointer, fromPointer, type Pointer } from "../../base/model/json/pointer.ts";
import { nearest } from "../../base/text/suggest.ts";
import { manifestKinds } from "../../kinds/index.ts";

/** A JSON Schema that is a map. */
export type Schema = Readonly<Record<string, unknown>>;

/**
 * The parts of a schema that apply to the value at a path, with `$ref`, `allOf`, `then` and `else`
 * resolved. They are looked up along the value, because an ajv error identifies its schema only
 * relative to a function that ajv compiled.
 */
export function schemaParts(root: unknown, pointer: Pointer): readonly Schema[] {
  let parts = open(root, root);
  for (const segment of fromPointer(pointer)) {
    // A part that lists the member by name is more specific than one that accepts any member.
    const naming = parts.filter((part) => Object.hasOwn(propertiesOf(part), segment));
    parts = (naming.length > 0 ? naming : parts).flatMap((part) => open(step(part, segment), root));
  }
  return parts;
}

function open(schema: unknown, root: unknown): readonly Schema[] {
  if (!isObject(schema)) return [];
  const reference = own(schema, "$ref");
  const referred = typeof reference === "string" && reference.startsWith("#") ? open(atPointer(root, reference.slice(1)), root) : [];
  const all = own(schema, "allOf");
  const branches = [own(schema, "then"), own(schema, "else"), ...(Array.isArray(all) ? all : [])];
  return [schema, ...referred, ...branches.flatMap((branch) => open(branch, root))];
}

function step(part: Schema, segment: string): unknown {
  const properties = propertiesOf(part);
  if (Object.hasOwn(properties, segment)) return properties[segment];
  const items = own(part, "items");
  return items !== undefined && /^[0-9]+$/u.test(segment) ? items : own(part, "additionalProperties");
}

/** Names that a closed map may have, and the names of a part that lists them. */
export function propertiesOf(part: Schema): Schema {
  const properties = own(part, "properties");
  return isObject(properties) ? properties : {};
}

/** The names among which `oneOf` or `anyOf` chooses by `required`. */
export function alternatives(parts: readonly Schema[], keyword: "oneOf" | "anyOf"): readonly string[] {
  const branches = parts.flatMap((part) => {
    const found = own(part, keyword);
    return Array.isArray(found) ? found : [];
  });
  return branches.flatMap((branch: unknown) => {
    const required = memberAt(branch, "required");
    return Array.isArray(required) ? required.map(String) : [];
  });
}

/** Names of the schemas, as `dimsync schema NAME` takes them: kinds, and the documents that dimsync reads and writes. */
export const schemaNames: readonly string[] = [
  ...manifestKinds.map(({ name }) => name),
  "Manifest",
  "Config",
  "Plan",
  "Result",
  "Drift",
  "Validation",
];

/** The file of a schema: `SchemaConfig` -> `schema-config.schema.json`. */
const fileOf = (name: string) => `${name.replaceAll(/(?<=[a-z])(?=[A-Z])/gu, "-").toLowerCase()}.schema.json`;

/**
 * The text of a shipped JSON Schema; without a name, the one for all manifests. Names in any case,
 * with or without hyphens and a plural s. Undefined for an unknown name.
 */
export function schemaText(name = "Manifest"): string | undefined {
  const wanted = name.toLowerCase().replaceAll("-", "");
  const known = schemaNames.find((candidate) => wanted === candidate.toLowerCase() || wanted === `${candidate.toLowerCase()}s`);
  return known === undefined ? undefined : packageText(`schema/${fileOf(known)}`);
}

/** The text of a file that the package contains. */
export const packageText = (path: string): string => readFileSync(join(packageFolder(), path), "utf8");

/** The schema name that the user probably wanted. */
export const nearestSchemaName = (name: string): string | undefined => nearest(name, schemaNames);

/** The folder that holds package.json: this file runs from src/core/manifests and, bundled, from dist/lib. */
function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json")) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
