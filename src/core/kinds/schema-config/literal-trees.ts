import { own } from "../../base/model/json/json.ts";
import type { ColumnTree, SchemaTree, TableTree } from "../../base/model/manifest.ts";
import { groupBy } from "../../base/model/maps.ts";
import { composed, isAscii } from "../patterns/glob.ts";

// The literal trees of all layers, entered side by side while a live tree is walked. Most nodes
// have no literal entry in any layer, so the functions return undefined for them instead of an
// empty list.

type SchemaEntry = SchemaTree[string];
type ColumnMap = Readonly<Record<string, ColumnTree>>;
/** By layer; undefined if the layer's tree has no entry. */
type ByLayer<T> = readonly (T | undefined)[];

function anyOf<T>(entries: ByLayer<T>): ByLayer<T> | undefined {
  return entries.some((entry) => entry !== undefined) ? entries : undefined;
}

export const literalSchemas = (trees: ByLayer<SchemaTree>, schema: string): ByLayer<SchemaEntry> | undefined =>
  anyOf(trees.map((tree) => tree && ownForm(tree, schema)));

export const literalTables = (schemas: ByLayer<SchemaEntry> | undefined, table: string): ByLayer<TableTree> | undefined =>
  schemas && anyOf(schemas.map((entry) => entry?.tables && ownForm(entry.tables, table)));

/** The column maps of the layers; an empty map counts as none. */
export const literalColumnMaps = (tables: ByLayer<TableTree> | undefined): ByLayer<ColumnMap> | undefined =>
  tables && anyOf(tables.map((entry) => (entry?.columns === undefined || isEmpty(entry.columns) ? undefined : entry.columns)));

const isEmpty = (map: object): boolean => Object.keys(map).length === 0;

/** The entries for one column. `into` is reused for the next column, because there are millions. */
export function literalColumns(
  maps: ByLayer<ColumnMap>,
  column: string,
  into: (ColumnTree | undefined)[] = [],
): ByLayer<ColumnTree> | undefined {
  let any = false;
  for (let layer = 0; layer < maps.length; layer++) {
    const entry = memberOf(maps[layer], column);
    into[layer] = entry;
    any ||= entry !== undefined;
  }
  return any ? into : undefined;
}

/** The same as `ownForm`, in half the time: entries are objects, and what objects inherit are functions, except `__proto__`. */
export function memberOf<T extends object>(map: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  const member: unknown = map?.[name];
  if (member === undefined) return map === undefined || isAscii(name) ? undefined : ownForm(map, name);
  return typeof member === "object" && name !== "__proto__" ? (member as T) : own(map, name);
}

/** The member of this name, else the one whose name is the same in another Unicode form. */
export function ownForm<T>(map: Readonly<Record<string, T>>, name: string): T | undefined {
  const exact = own(map, name);
  return exact !== undefined || isAscii(name) ? exact : own(map, formsIn(map, name)[0] ?? name);
}

const known = new WeakMap<object, ReadonlyMap<string, readonly string[]>>();

/** The names in a map that are the same as this one, in any Unicode form. */
export function formsIn(map: object, name: string): readonly string[] {
  const forms = known.get(map) ?? groupBy(Object.keys(map), composed);
  known.set(map, forms);
  return forms.get(composed(name)) ?? [];
}
