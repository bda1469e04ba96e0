import { emptyRecord, isObject } from "../../../src/core/base/model/json/json.ts";
import { toPointer } from "../../../src/core/base/model/json/pointer.ts";
import type { Document } from "../../../src/core/render/document.ts";

// Members with values of dimsync, not of a user or of the service.
const ours = new Set([
  "origin",
  "confidence",
  "kind",
  "verb",
  "standing",
  "risk",
  "severity",
  "outcome",
  "method",
  "formatVersion",
  "id",
  "waitsFor",
  "dependsOn",
]);
const pointers = new Set(["path", "paths"]);

/**
 * The document with `name` in every text that comes from a manifest, the account or a message, and
 * in the keys of its maps.
 */
export function withName<T extends Document>(document: T, name: string): T {
  return replaced(document, "", name) as T;
}

function replaced(value: unknown, key: string, name: string): unknown {
  if (typeof value === "string") {
    if (ours.has(key)) return value;
    return pointers.has(key) && value.startsWith("/schemas")
      ? toPointer(["schemas", name, "tables", name, "columns", name, "hashed"])
      : `${value}${name}`;
  }
  if (Array.isArray(value)) return value.map((element) => replaced(element, key, name));
  if (!isObject(value)) return value;
  const result = emptyRecord<unknown>();
  for (const [member, content] of Object.entries(value)) {
    result[key === "bindings" || key === "tables" ? `${member}${name}` : member] = replaced(content, member, name);
  }
  return result;
}
