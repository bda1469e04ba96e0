import type { ErrorObject } from "ajv";
import { isObject, type JsonValue } from "../model/json.ts";
import { atPointer, fromPointer, type Pointer } from "../model/pointer.ts";
import { readNumber } from "./read-number.ts";

/**
 * Flags and environment variables are text. Where a whole scalar is one reference to such a text and the schema asks for a number or for
 * true and false, the text is read as that. Undefined where there is nothing to read so.
 */
export function coerceTexts(
  value: JsonValue,
  errors: readonly ErrorObject[],
  texts: ReadonlySet<Pointer>,
  base: Pointer = "",
): JsonValue | undefined {
  let coerced: JsonValue | undefined;
  for (const { keyword, instancePath, params } of errors) {
    const pointer = base + instancePath;
    if (keyword !== "type" || !texts.has(pointer)) continue;
    const text = atPointer(value, pointer);
    const types = (Array.isArray(params["type"]) ? params["type"] : [params["type"]]).map(String);
    const read = typeof text === "string" ? readAs(text, types) : undefined;
    if (read !== undefined) coerced = replaceAt(coerced ?? value, fromPointer(pointer), read);
  }
  return coerced;
}

function readAs(text: string, types: readonly string[]): number | boolean | undefined {
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  if (types.includes("number")) return readNumber(text, "number");
  return types.includes("integer") ? readNumber(text, "integer") : undefined;
}

function replaceAt(value: JsonValue, path: readonly string[], next: JsonValue): JsonValue {
  const [first, ...rest] = path;
  if (first === undefined) return next;
  if (Array.isArray(value)) return value.map((item: JsonValue, index) => (String(index) === first ? replaceAt(item, rest, next) : item));
  if (!isObject(value)) return value;
  // The spread makes `first` an own member, whatever its name.
  const copy: Record<string, JsonValue> = { ...(value as Readonly<Record<string, JsonValue>>) };
  const member = copy[first];
  if (Object.hasOwn(copy, first) && member !== undefined) copy[first] = replaceAt(member, rest, next);
  return copy;
}
