import { canonicalJson, isObject, type JsonValue, own, sameJson } from "../../../src/core/model/json/json.ts";
import { addAll, getOrAdd } from "../../../src/core/model/maps.ts";
import type { Edit, Path } from "../../../src/core/yaml/diff.ts";

type ValueMap = Readonly<Record<string, JsonValue>>;

/** List items with the same `id` are the same item, whatever else they contain. */
const keyOf = (item: JsonValue): string => {
  const id = isObject(item) ? own(item, "id") : undefined;
  return typeof id === "string" ? `id ${id}` : canonicalJson(item);
};

/** The smallest edits that turn one value into the other. */
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
    if (next !== undefined) addAll(edits, valueEdits(before[key] ?? null, next, [...path, key]));
  }
  const added = new Map(Object.keys(after).flatMap((key) => (Object.hasOwn(before, key) ? [] : [[key, after[key] ?? null] as const])));
  if (removed.size > 0 && removed.size === Object.keys(before).length) return [{ type: "set", path, value: after }];
  if (removed.size > 0 || added.size > 0) edits.push({ type: "members", path, removed, added, before: keysAfter(before, after) });
  return edits;
}

/** For each new key, the next key that existed before. */
function keysAfter(before: ValueMap, after: ValueMap): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let next: string | undefined;
  for (const key of Object.keys(after).reverse()) {
    if (Object.hasOwn(before, key)) next = key;
    else if (next !== undefined) found.set(key, next);
  }
  return found;
}

function listEdits(before: readonly JsonValue[], after: readonly JsonValue[], path: Path): readonly Edit[] {
  const equal = keptItems(before.map(keyOf), after.map(keyOf));
  const kept = before.length === after.length ? withChangedMaps(before, after, equal) : equal;
  if (kept.size === 0) return [{ type: "set", path, value: after }];
  const keptPositions = new Set(kept.values());
  const removed = new Set(before.flatMap((_, position) => (keptPositions.has(position) ? [] : [position])));
  const inserted = new Map<number, JsonValue[]>();
  const edits: Edit[] = [];
  let next = 0;
  for (const [index, item] of after.entries()) {
    const position = kept.get(index);
    if (position === undefined) getOrAdd(inserted, next, () => []).push(item);
    else {
      addAll(edits, valueEdits(before[position] ?? null, item, [...path, position]));
      next = position + 1;
    }
  }
  if (removed.size > 0 || inserted.size > 0) edits.push({ type: "items", path, removed, inserted });
  return edits;
}

/**
 * In a list that keeps its length, a map that changes at its place is the same item, so that the comments and the other values in
 * it stay. Items with an `id` are the same only if it is equal.
 */
function withChangedMaps(
  before: readonly JsonValue[],
  after: readonly JsonValue[],
  kept: ReadonlyMap<number, number>,
): ReadonlyMap<number, number> {
  const found = new Map(kept);
  let [index, position] = [-1, -1];
  for (const [nextIndex, nextPosition] of [...[...kept].sort(([a], [b]) => a - b), [after.length, before.length] as const]) {
    if (nextIndex - index === nextPosition - position)
      for (let step = 1; index + step < nextIndex; step++) {
        const [old, changed] = [before[position + step], after[index + step]];
        if (isObject(old) && isObject(changed) && own(old, "id") === own(changed, "id")) found.set(index + step, position + step);
      }
    [index, position] = [nextIndex, nextPosition];
  }
  return found;
}

interface Kept {
  readonly index: number;
  readonly position: number;
  readonly before: Kept | undefined;
}

/**
 * Old positions by new ones, of as many items as can stay in place; items that moved past them are
 * removed and inserted again. This is the longest increasing subsequence of old positions: of the
 * chains of each length, the one that ends lowest is kept, and each item extends one of them.
 */
function keptItems(oldKeys: readonly string[], newKeys: readonly string[]): ReadonlyMap<number, number> {
  const positions = new Map<string, number[]>();
  for (const [position, key] of [...oldKeys.entries()].reverse()) getOrAdd(positions, key, () => []).push(position);
  const chains: Kept[] = [];
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
  const kept = new Map<number, number>();
  for (let one = chains.at(-1); one !== undefined; one = one.before) kept.set(one.index, one.position);
  return kept;
}
