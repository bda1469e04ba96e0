import { isObject, type JsonObject, type JsonValue } from "../model/json.ts";
import { type Pointer, toPointer } from "../model/pointer.ts";

/** The value without what stands at the given places; the root itself is never left out, but becomes a map. */
export function withoutFaulty(value: JsonValue, faulty: readonly Pointer[]): JsonObject {
  const unwanted = new Set(faulty);
  const visit = (node: JsonValue, path: readonly string[]): JsonValue => {
    const keep = (key: string) => !unwanted.has(toPointer([...path, key]));
    if (Array.isArray(node)) {
      return node.flatMap((item: JsonValue, index) => (keep(String(index)) ? [visit(item, [...path, String(index)])] : []));
    }
    if (!isObject(node)) return node;
    const kept = Object.entries(node as JsonObject).filter(([key]) => keep(key));
    return Object.fromEntries(kept.map(([key, member]) => [key, visit(member, [...path, key])]));
  };
  const whole = unwanted.size === 0 ? value : visit(value, []);
  return isObject(whole) ? (whole as JsonObject) : {};
}
