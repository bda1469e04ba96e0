import { emptyRecord, isObject, type JsonValue } from "../model/json/json.ts";

// `${…}` in the strings of a file is a reference, and `$${` a literal `${`
// (docs/manifests.md#variables). Keys hold no references.

/** The value as it must be written so that nothing in it becomes a reference. */
export function escapeReferences(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.replaceAll("${", () => "$${");
  if (Array.isArray(value)) return value.map(escapeReferences);
  if (!isObject(value)) return value;
  const escaped = emptyRecord<JsonValue>();
  for (const [key, member] of Object.entries(value as Readonly<Record<string, JsonValue>>)) escaped[key] = escapeReferences(member);
  return escaped;
}

/** The first reference in a string, as written. */
export function referenceIn(text: string): string | undefined {
  return text.replaceAll("$${", "").match(/\$\{[^}]*\}?/u)?.[0];
}
