import { isObject, type JsonObject, type JsonValue } from "../model/json/json.ts";
import { fromPointer, type Pointer, toPointer } from "../model/json/pointer.ts";
import { getOrAdd } from "../model/maps.ts";
import type { Problem } from "../model/problem.ts";
import type { Resource } from "../model/resource.ts";
import { type SchemaContext, schemaProblems } from "./schema/validate.ts";
import type { Validator } from "./validators.generated.js";

// A manifest with errors is still checked for references, rules and policies: without the parts that have them. The items of its lists
// have other indexes then, so the problems that are found get the pointers of the whole manifest back.

/** A manifest without its parts that have errors. Only to find more problems in the rest: nothing is planned with it. */
export interface PartialManifest {
  readonly resource: Resource;
  /** The pointer in the whole manifest. */
  readonly wholePointer: (pointer: Pointer) => Pointer;
}

/** A value without some of its parts. */
interface PartialValue {
  readonly value: JsonValue;
  readonly wholePointer: (pointer: Pointer) => Pointer;
}

/** The indexes that the items of a list had before others were removed. */
type Indexes = Map<JsonValue, readonly number[]>;

// A value is removed, then what cannot be without it: `hashed`, `set`, the rule.
const mostRounds = 6;
const indispensable: readonly Pointer[] = ["", "/apiVersion", "/kind", "/metadata", "/metadata/name", "/spec"];

/** The value without the parts that have problems; undefined if the rest is not valid. */
export function withoutBroken(
  whole: JsonValue,
  problems: readonly Problem[],
  { validator, context }: { readonly validator: Validator; readonly context: SchemaContext },
): PartialValue | undefined {
  const indexes: Indexes = new Map();
  let value = whole;
  let broken = pointersOf(problems);
  for (let round = 0; round < mostRounds; round += 1) {
    if (broken.some((pointer) => indispensable.includes(pointer))) return undefined;
    value = without(value, broken.map(fromPointer), indexes);
    const rest = value;
    if (validator(rest)) return { value, wholePointer: (pointer) => wholePointer(rest, pointer, indexes) };
    broken = pointersOf(schemaProblems(validator.errors ?? [], { ...context, value, known: new Set() }));
  }
  return undefined;
}

const pointersOf = (problems: readonly Problem[]): readonly Pointer[] => problems.map(({ place }) => place?.pointer ?? "");

/** The value without the parts at the paths, none of which is empty. Notes in `indexes` where the items of lists were. */
export function without(value: JsonValue, paths: readonly (readonly string[])[], indexes: Indexes = new Map()): JsonValue {
  if (!Array.isArray(value) && !isObject(value)) return value;
  const below = new Map<string, (readonly string[])[]>();
  const removed = new Set<string>();
  for (const [first = "", ...more] of paths) {
    if (more.length === 0) removed.add(first);
    else getOrAdd(below, first, () => []).push(more);
  }
  const entries = Object.entries(value as JsonObject)
    .filter(([key]) => !removed.has(key))
    .map(([key, member]) => [key, below.has(key) ? without(member, below.get(key) ?? [], indexes) : member] as const);
  if (!Array.isArray(value)) return Object.fromEntries(entries);
  const items = entries.map(([, item]) => item);
  const before = indexes.get(value);
  const kept = entries.map(([index]) => before?.[Number(index)] ?? Number(index));
  indexes.set(items, kept);
  return items;
}

function wholePointer(value: JsonValue, pointer: Pointer, indexes: Indexes): Pointer {
  let at: JsonValue | undefined = value;
  return toPointer(
    fromPointer(pointer).map((segment) => {
      const index = at === undefined ? undefined : indexes.get(at)?.[Number(segment)];
      at = Array.isArray(at) || isObject(at) ? (at as JsonObject)[segment] : undefined;
      return index === undefined ? segment : String(index);
    }),
  );
}

/** Problems that were found with partial manifests, at their places in the whole ones. */
export function atWholePlaces(problems: readonly Problem[], partial: readonly PartialManifest[]): readonly Problem[] {
  if (partial.length === 0) return problems;
  const byAddress = new Map(partial.map((one) => [one.resource.address, one]));
  return problems.map((problem) => {
    const { address, place } = problem;
    const found = address === undefined ? undefined : byAddress.get(address);
    const isIts = place?.file === found?.resource.place.file && place?.document === found?.resource.place.document;
    return found === undefined || place === undefined || !isIts
      ? problem
      : { ...problem, place: { ...place, pointer: found.wholePointer(place.pointer) } };
  });
}
