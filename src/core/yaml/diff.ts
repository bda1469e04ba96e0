import { emptyRecord, isObject, type JsonValue } from "../model/json/json.ts";
import { addAll, getOrAdd } from "../model/maps.ts";

/** Keys of maps and positions in lists, from the root of a document. */
export type Path = readonly (string | number)[];

/** A change to a document. Positions in lists are those before any edit. */
export type Edit =
  /** A path that does not exist yet is created, with the maps on the way. */
  | { readonly type: "set"; readonly path: Path; readonly value: JsonValue }
  | {
      readonly type: "members";
      readonly path: Path;
      readonly removed: ReadonlySet<string>;
      readonly added: ReadonlyMap<string, JsonValue>;
      /** Added keys that are inserted before an existing one; the others go to the end. */
      readonly before: ReadonlyMap<string, string>;
    }
  | {
      readonly type: "items";
      readonly path: Path;
      readonly removed: ReadonlySet<number>;
      /** New items by the position before which they are inserted. */
      readonly inserted: ReadonlyMap<number, readonly JsonValue[]>;
    };

type ValueMap = Readonly<Record<string, JsonValue>>;

/** The value after the edits. */
export function applyEdits(value: JsonValue, edits: readonly Edit[]): JsonValue {
  return applyAt(value, edits, 0);
}

function applyAt(value: JsonValue, edits: readonly Edit[], depth: number): JsonValue {
  if (edits.length === 0) return value;
  const here = edits.filter(({ path }) => path.length === depth);
  const set = here.find((edit) => edit.type === "set");
  if (set?.type === "set") return set.value;
  const below = new Map<string | number, Edit[]>();
  for (const edit of edits) {
    const key = edit.path[depth];
    if (key !== undefined) getOrAdd(below, Array.isArray(value) ? Number(key) : key, () => []).push(edit);
  }
  const child = (key: string | number, member: JsonValue = null): JsonValue => applyAt(member, below.get(key) ?? [], depth + 1);
  if (Array.isArray(value)) return applyToList(value, here, child);
  if (!isObject(value) && value !== null) return value;
  const map = applyToMap((value ?? {}) as ValueMap, here, child);
  for (const key of below.keys()) if (!Object.hasOwn(map, key)) map[key] = child(key, undefined);
  return map;
}

type Child = (key: string | number, member: JsonValue | undefined) => JsonValue;

function applyToList(list: readonly JsonValue[], here: readonly Edit[], child: Child): JsonValue {
  const items = here.find((edit) => edit.type === "items");
  const result: JsonValue[] = [];
  for (let index = 0; index <= list.length; index++) {
    addAll(result, items?.inserted.get(index) ?? []);
    if (index < list.length && items?.removed.has(index) !== true) result.push(child(index, list[index]));
  }
  return result;
}

function applyToMap(map: ValueMap, here: readonly Edit[], child: Child): Record<string, JsonValue> {
  const members = here.find((edit) => edit.type === "members");
  const result = emptyRecord<JsonValue>();
  const add = (next: string | undefined): void => {
    for (const [key, added] of members?.added ?? []) if (members?.before.get(key) === next) result[key] = added;
  };
  for (const key of Object.keys(map)) {
    add(key);
    if (members?.removed.has(key) !== true) result[key] = child(key, map[key]);
  }
  add(undefined);
  return result;
}
