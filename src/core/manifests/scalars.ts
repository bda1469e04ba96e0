import { isObject, type JsonValue } from "../model/json/json.ts";
import { atPointer, fromPointer, type Pointer } from "../model/json/pointer.ts";
import type { SchemaError } from "./schema/schema-error.ts";

/**
 * The number of a text in decimal notation; undefined for anything else, and for a number that is
 * too large to be exact.
 */
function readNumber(text: string, as: "integer" | "number"): number | undefined {
  const pattern = as === "integer" ? /^[+-]?[0-9]+$/u : /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/u;
  const number = pattern.test(text) ? Number(text) : Number.NaN;
  return (as === "integer" ? Number.isSafeInteger(number) : Number.isFinite(number)) ? number : undefined;
}

const secondsPerUnit: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/**
 * Milliseconds of `30`, `"30s"`, `"5m"`, `"2h"` or `"1d"`; a number is seconds. Undefined for
 * anything else.
 */
export function durationMs(value: unknown): number | undefined {
  if (typeof value === "number") return value >= 0 ? Math.round(value * 1000) : undefined;
  const [, amount, unit = ""] = (typeof value === "string" && /^([0-9]+(?:\.[0-9]+)?)([smhd])$/u.exec(value)) || [];
  return amount === undefined ? undefined : Math.round(Number(amount) * (secondsPerUnit[unit] ?? 1) * 1000);
}

/**
 * Flags and environment variables are text. If a whole scalar is one reference to such a text and
 * the schema requires a number or a boolean, the text is converted. Undefined if nothing needs to
 * be converted.
 */
export function coerceTexts(
  value: JsonValue,
  errors: readonly SchemaError[],
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
