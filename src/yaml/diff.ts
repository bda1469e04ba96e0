import { canonicalJson, emptyRecord, isObject, type JsonValue, own, sameJson } from "../model/json.ts";
import { escapeReferences } from "./print.ts";

/** Keys of maps and positions in lists, from the root of a document. */
export type Path = readonly (string | number)[];

/**
 * What makes one value of another, as small as can be. Positions in lists are those before any
 * edit.
 */
export type Edit =
  | { readonly type: "set"; readonly path: Path; readonly value: JsonValue }
  | { readonly type: "members"; readonly path: Path; readonly removed: ReadonlySet<string>; readonly added: ReadonlyMap<string, JsonValue> }
  | {
      readonly type: "items";
      readonly path: Path;
      readonly removed: ReadonlySet<number>;
      /** New items by the position that they are to stand before. */
      readonly inserted: ReadonlyMap<number, readonly JsonValue[]>;
    };

type ValueMap = Readonly<Record<string, JsonValue>>;

/** Items of a list that have an `id` are the same item whatever else they hold. */
const keyOf = (item: JsonValue): string => {
  const id = isObject(item) ? own(item, "id") : undefined;
  return typeof id === "string" ? `id ${id}` : canonicalJson(item);
};

export function valueEdits(before: JsonValue, after: JsonValue, path: Path = []): readonly Edit[] {
  if (sameJson(before, after)) return [];
  if (isObject(before) && isObject(after) && Object.keys(after).length > 0) return mapEdits(before as ValueMap, after as ValueMap, path);
  if (Array.isArray(before) && Array.isArray(after) && after.length > 0 && before.length > 0) return listEdits(before, after, path);
  return [{ type: "set", path, value: after }];
}

function mapEdits(before: ValueMap, after: ValueMap, path: Path): readonly Edit[] {
  const edits: Edit[] = [];
  const removed = new Set(Object.keys(before).filter((key) => !Object.hasOwn(after, key)));
  for (const key of Object.keys(before)) {
    const next = own(after, key);
    if (next !== undefined) edits.push(...valueEdits(before[key] ?? null, next, [...path, key]));
  }
  const added = new Map(Object.keys(after).flatMap((key) => (Object.hasOwn(before, key) ? [] : [[key, after[key] ?? null] as const])));
  if (removed.size > 0 && removed.size === Object.keys(before).length) return [{ type: "set", path, value: after }];
  if (removed.size > 0 || added.size > 0) edits.push({ type: "members", path, removed, added });
  return edits;
}

function listEdits(before: readonly JsonValue[], after: readonly JsonValue[], path: Path): readonly Edit[] {
  const stays = positionsThatStay(before.map(keyOf), after.map(keyOf));
  if (stays.size === 0) return [{ type: "set", path, value: after }];
  const kept = new Set(stays.values());
  const removed = new Set(before.flatMap((_, position) => (kept.has(position) ? [] : [position])));
  const inserted = new Map<number, JsonValue[]>();
  const edits: Edit[] = [];
  let next = 0;
  for (const [index, item] of after.entries()) {
    const position = stays.get(index);
    if (position === undefined) inserted.set(next, [...(inserted.get(next) ?? []), item]);
    else {
      edits.push(...valueEdits(before[position] ?? null, item, [...path, position]));
      next = position + 1;
    }
  }
  if (removed.size > 0 || inserted.size > 0) edits.push({ type: "items", path, removed, inserted });
  return edits;
}

interface Stay {
  readonly index: number;
  readonly position: number;
  readonly before: Stay | undefined;
}

/**
 * Old positions by new ones of as many items as can stay where they are; those that have moved past
 * them are taken out and put in again. It is the longest rising run of old positions: the chains of
 * each length that end lowest are kept, and each item lengthens one of them.
 */
function positionsThatStay(oldKeys: readonly string[], newKeys: readonly string[]): ReadonlyMap<number, number> {
  const positions = new Map<string, number[]>();
  for (const [position, key] of [...oldKeys.entries()].reverse()) positions.set(key, [...(positions.get(key) ?? []), position]);
  const chains: Stay[] = [];
  for (const [index, key] of newKeys.entries()) {
    const position = positions.get(key)?.pop();
    if (position === undefined) continue;
    let [low, high] = [0, chains.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((chains[middle]?.position ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    chains[low] = { index, position, before: chains[low - 1] };
  }
  const stays = new Map<number, number>();
  for (let stay = chains.at(-1); stay !== undefined; stay = stay.before) stays.set(stay.index, stay.position);
  return stays;
}

/** The edits as they are written down: `${` in a value becomes `$${`. */
export function escapeEdits(edits: readonly Edit[]): readonly Edit[] {
  return edits.map((edit) => {
    if (edit.type === "items")
      return { ...edit, inserted: new Map([...edit.inserted].map(([at, items]) => [at, items.map(escapeReferences)])) };
    if (edit.type === "members") return { ...edit, added: new Map([...edit.added].map(([key, value]) => [key, escapeReferences(value)])) };
    return { ...edit, value: escapeReferences(edit.value) };
  });
}

/** The value with the edits made; those that lead nowhere change nothing. */
export function applyEdits(value: JsonValue, edits: readonly Edit[]): JsonValue {
  return applyAt(value, edits, 0);
}

function applyAt(value: JsonValue, edits: readonly Edit[], depth: number): JsonValue {
  if (edits.length === 0) return value;
  const here = edits.filter(({ path }) => path.length === depth);
  const set = here.find((edit) => edit.type === "set");
  if (set?.type === "set") return set.value;
  const below = (key: string | number): readonly Edit[] => edits.filter(({ path }) => path.length > depth && path[depth] === key);
  if (Array.isArray(value)) {
    const items = here.find((edit) => edit.type === "items");
    const result: JsonValue[] = [];
    for (let index = 0; index <= value.length; index++) {
      if (items?.type === "items") result.push(...(items.inserted.get(index) ?? []));
      if (index < value.length && !(items?.type === "items" && items.removed.has(index)))
        result.push(applyAt(value[index] ?? null, below(index), depth + 1));
    }
    return result;
  }
  if (!isObject(value)) return value;
  const map = value as ValueMap;
  const result = emptyRecord<JsonValue>();
  const members = here.find((edit) => edit.type === "members");
  for (const key of Object.keys(map))
    if (members?.type !== "members" || !members.removed.has(key)) result[key] = applyAt(map[key] ?? null, below(key), depth + 1);
  if (members?.type === "members") for (const [key, added] of members.added) result[key] = added;
  return result;
}
