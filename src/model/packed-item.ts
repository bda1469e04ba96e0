import { isObject, type JsonObject, type JsonValue, own } from "./json/json.ts";
import { addLazy, isLazy, type KeyOrder, type Members, merged, readOnce, sourceAt, without } from "./json/lazy.ts";
import { countLeaves, firstLeaves, newIntern, type PackedLeaves, packLeaves, sortedLeaves, unpacked } from "./json/packed-leaves.ts";
import type { Pointer } from "./json/pointer.ts";
import type { Change, DraftChange, Observed } from "./plan.ts";
import type { PlannedRequest } from "./service.ts";

/** A change without its path. */
export type Facts<C extends Change | DraftChange = Change> = Omit<C, "path">;

interface WithChanges<C extends Change | DraftChange> {
  readonly changes: readonly C[];
}

/** Items with fewer changes are not packed, because lists are simpler to look at. */
export const packedFrom = 8;

/** The object with these changes. */
export const addChanges = <T extends object, F extends Facts<Change | DraftChange>>(object: T, changes: PackedLeaves<F>) =>
  addLazy(object, "changes", { source: changes, make: unpackChanges<F>, members: changeMembers });

const changeMembers = (changes: PackedLeaves<object>): Members => ({
  isList: true,
  leaves: changes,
  make: (path, facts) => [undefined, Object.assign({ path }, facts)],
});

export const unpackChanges = <F extends object>(changes: PackedLeaves<F>): readonly (F & { readonly path: Pointer })[] =>
  unpacked(changes, (path, facts) => ({ path, ...facts }));

/** The changes of anything that has some, packed. */
export function changesOf<C extends Change | DraftChange>(object: WithChanges<C>): PackedLeaves<Facts<C>> {
  const source = packedChanges(object);
  if (source !== undefined) return source;
  return packLeaves(
    object.changes.map(({ path, ...facts }) => [path, facts] as const),
    newIntern(),
  );
}

/** Only if they are packed already. */
export const packedChanges = <C extends Change | DraftChange>(object: WithChanges<C>): PackedLeaves<Facts<C>> | undefined =>
  // `addChanges` is what makes changes lazy.
  sourceAt(object, "changes") as PackedLeaves<Facts<C>> | undefined;

/** The item with other changes at the same paths. Packed changes are packed again. */
export function withMappedChanges<C extends Change | DraftChange, T extends WithChanges<C>>(item: T, map: (change: C) => C): T {
  const packed = packedChanges<C>(item);
  if (packed === undefined) return { ...item, changes: item.changes.map(map) };
  const leaves = unpacked(packed, (path, facts) => {
    // `addChanges` makes changes of the facts in the same way.
    const { path: _, ...mapped } = map({ path, ...facts } as unknown as C);
    return [path, mapped] as const;
  });
  // Changes without their paths are facts, although the compiler does not see it in a type parameter.
  const changes = packLeaves(leaves, newIntern()) as unknown as PackedLeaves<Facts>;
  return merged(item, addChanges({}, changes)) as unknown as T;
}

/** The first changes. */
export function firstChanges<C extends Change | DraftChange>(object: WithChanges<C>, most: number): readonly C[] {
  const packed = packedChanges(object);
  // `addChanges` makes changes of the facts.
  return packed === undefined ? object.changes.slice(0, most) : (unpackChanges(firstLeaves(packed, most)) as unknown as readonly C[]);
}

/** The object with the changes of an item. */
export function withChangesOf<T extends object, C extends Change | DraftChange>(item: WithChanges<C>, object: T): T & WithChanges<C> {
  const packed = packedChanges(item);
  // `addChanges` makes changes of the facts.
  return packed === undefined ? { ...object, changes: item.changes } : (addChanges({ ...object }, packed) as unknown as T & WithChanges<C>);
}

export const changeCount = <C extends Change | DraftChange>(object: WithChanges<C>): number =>
  packedChanges(object)?.length ?? object.changes.length;

export function countChanges<C extends Change | DraftChange>(object: WithChanges<C>, test: (facts: Facts<C>) => boolean): number {
  const packed = packedChanges(object);
  return packed === undefined ? object.changes.filter(test).length : countLeaves(packed, test);
}

export const addObserved = <T extends object>(object: T, observed: PackedLeaves<JsonValue>) =>
  addLazy(object, "observed", { source: observed, make: unpackObserved, members: observedMembers });

const observedMembers = (observed: PackedLeaves<JsonValue>, order: KeyOrder): Members => ({
  isList: false,
  leaves: order === "given" ? observed : sortedLeaves(observed),
  make: (pointer, value) => [pointer, value],
});

export function unpackObserved(leaves: PackedLeaves<JsonValue>): Observed {
  const observed: Record<Pointer, JsonValue> = {};
  unpacked(leaves, (pointer, value) => {
    observed[pointer] = value;
  });
  return observed;
}

/**
 * An item that was read from a file, with everything long packed. An item that is not one, or has few changes, is returned as it is. `intern` is shared by
 * the items of a file.
 */
export function packItem(item: unknown, intern: (text: string) => string): unknown {
  if (!isObject(item) || !Array.isArray(item["changes"]) || item["changes"].length < packedFrom) return item;
  const { changes, observed, requests, ...others } = item;
  const leaves = (changes as readonly unknown[]).flatMap((change) => {
    if (!isObject(change) || typeof change["path"] !== "string" || !isPointer.test(change["path"])) return [];
    const { path, ...facts } = change;
    return [[change["path"], facts as Omit<Change, "path">] as const];
  });
  const values = isObject(observed) ? Object.entries(observed as JsonObject) : [];
  if (leaves.length < changes.length || !values.every(([pointer]) => pointer.startsWith("/"))) return item;
  const withRequests = { ...others, ...(requests === undefined ? {} : { requests: packRequests(requests) }) };
  const packed = addChanges(withRequests, packLeaves(leaves, intern));
  return isObject(observed) ? addObserved(packed, packLeaves(values, intern)) : merged(packed, observed === undefined ? {} : { observed });
}

/** As in the JSON Schemas. */
const isPointer = /^(\/.*)?$/u;

/**
 * A packed item in short, for the check against the JSON Schema: with one change and one observed value of each kind, at the end of their pointers, and
 * without what is in bodies. The schema says the same about all of a kind, and `packItem` has checked the pointers and that bodies are maps.
 */
export const sampleOf = (item: object): object => Object.fromEntries(Object.keys(item).map((key) => [key, sampleAt(item, key)]));

function sampleAt(item: object, key: string): unknown {
  // Changes and observed values are what `packItem` packs.
  const kinds = (sourceAt(item, key) as PackedLeaves<object> | undefined)?.kinds;
  if (kinds !== undefined)
    return key === "changes"
      ? kinds.map(({ suffix, value }) => ({ path: suffix, ...value }))
      : Object.fromEntries(kinds.map(({ suffix, value }, index) => [`/${index}${suffix}`, value]));
  const member: unknown = own(item as JsonObject, key);
  return key === "requests" && Array.isArray(member) ? member.map(withoutBodyText) : member;
}

/** Only the bodies that are maps are kept as text. */
const withoutBodyText = (request: unknown): unknown =>
  isObject(request) && isLazy(request) ? { ...without(request, ["body"]), body: {} } : request;

const packRequests = (requests: unknown): unknown =>
  !Array.isArray(requests)
    ? requests
    : requests.map((request: unknown) => {
        if (!isObject(request) || !isObject(request["body"])) return request;
        const { body, ...others } = request;
        return addBodyText(others, JSON.stringify(body));
      });

/** A request whose body is kept as the JSON that is sent. */
export const withBodyText = (request: Omit<PlannedRequest, "body">, text: string): PlannedRequest => addBodyText({ ...request }, text);

const addBodyText = <T extends object>(request: T, text: string) =>
  addLazy(request, "body", { source: text, make: (json: string) => JSON.parse(json) as JsonObject, json: (json) => json });

/** The body of a request, for one reader. */
export const bodyOf = (request: PlannedRequest): JsonObject => readOnce(request, "body");
