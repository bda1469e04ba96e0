import { byText } from "../../model/address.ts";
import { own } from "../../model/json/json.ts";
import type { Pointer } from "../../model/json/pointer.ts";
import type { LiveColumn, LiveSchema } from "../../model/live.ts";
import { type NodePath, nodePointer } from "../../model/nodes.ts";
import type { DraftFacts, Risk } from "../../model/plan.ts";
import type { ColumnTree, SchemaTree, TableTree } from "../../model/resource.ts";
import { nameText } from "../../text/paths.ts";

/** How deep a node is: schemas 0, tables 1, columns 2. */
export type Depth = 0 | 1 | 2;

export const levelNames = ["schema", "table", "column"] as const;

export type SchemaPath = readonly [schema: string];
export type TablePath = readonly [schema: string, table: string];
export type ColumnPath = readonly [schema: string, table: string, column: string];

/** The attributes of a live node that a rule's `where` can compare, whatever the node is. */
export type LiveNode = Pick<LiveColumn, "enabled" | "nameInDestination"> & { readonly hashed?: boolean; readonly isPrimaryKey?: boolean };

export type Field = "enabled" | "hashed";

export type NodeCause = NonNullable<DraftFacts["cause"]>;

export const riskOf = (key: Field, after: boolean): Risk => ((key === "hashed") === after ? "protects" : "exposes");

/**
 * The members that `walk` needs. A live tree has all of them, a literal tree those that its
 * manifest sets.
 */
interface SchemaEntryLike {
  readonly tables?: Readonly<Record<string, { readonly columns?: Readonly<Record<string, object>> }>>;
}
export type TableOf<Schema extends SchemaEntryLike> = NonNullable<Schema["tables"]>[string];
export type ColumnOf<Schema extends SchemaEntryLike> = NonNullable<TableOf<Schema>["columns"]>[string];

/** Called for each node of its level. Returning false leaves out the nodes below. */
export interface Visitor<Schema extends SchemaEntryLike> {
  readonly schema?: (entry: Schema, path: SchemaPath) => boolean | undefined;
  readonly table?: (entry: TableOf<Schema>, path: TablePath, schema: Schema) => boolean | undefined;
  readonly column?: (entry: ColumnOf<Schema>, path: ColumnPath, table: TableOf<Schema>, schema: Schema) => void;
}

/** Whether the table and its schema are enabled, so that its enabled columns are replicated. */
export const isReplicated = (schema: LiveSchema, table: string): boolean => schema.enabled && own(schema.tables, table)?.enabled === true;

export type WalkOrder = "as-given" | "by-name";

/**
 * Visits each schema, then its tables, and after each table the table's columns: in the order of the keys, or by name for
 * output that must not depend on the order of a response. Columns that are unknown are not visited.
 */
export function walk<Schema extends SchemaEntryLike>(
  tree: Readonly<Record<string, Schema>>,
  visitor: Visitor<Schema>,
  order: WalkOrder = "as-given",
): void {
  const entriesOf = order === "by-name" ? sortedEntries : Object.entries;
  for (const [schema, entry] of entriesOf<Schema>(tree)) {
    if (visitor.schema?.(entry, [schema]) === false || (visitor.table ?? visitor.column) === undefined) continue;
    // The type of the tables is that of `Schema`; the constraint of the type parameter drops it.
    for (const [table, tableEntry] of entriesOf((entry.tables ?? {}) as Record<string, TableOf<Schema>>)) {
      if (visitor.table?.(tableEntry, [schema, table], entry) === false || visitor.column === undefined) continue;
      for (const [column, columnEntry] of entriesOf((tableEntry.columns ?? {}) as Record<string, ColumnOf<Schema>>))
        visitor.column(columnEntry, [schema, table, column], tableEntry, entry);
    }
  }
}

const sortedEntries = <T>(record: Readonly<Record<string, T>>): [string, T][] => Object.entries(record).sort(([a], [b]) => byText(a, b));

/** Into the manifest: "/spec/schemas/public/tables/users/enabled". */
export const literalPointer = (path: NodePath, key?: string): Pointer => `/spec${nodePointer(path, key)}`;

/** For messages: public.users.email; unusual names are quoted. */
export const nodeText = (path: readonly (string | undefined)[]): string => namesOf(path).map(nameText).join(".");

/** The names of a path, without the levels that it does not have. */
const namesOf = (path: readonly (string | undefined)[]): readonly string[] => path.filter((name) => name !== undefined);

/** By name, level by level, so that the order does not depend on a response. */
export function comparePaths(a: NodePath, b: NodePath): number {
  for (let depth = 0; depth < 3; depth++) {
    const [one, other] = [a[depth], b[depth]];
    if (one === other) continue;
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return 0;
}

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
  anyOf(trees.map((tree) => own(tree, schema)));

export const literalTables = (schemas: ByLayer<SchemaEntry> | undefined, table: string): ByLayer<TableTree> | undefined =>
  schemas && anyOf(schemas.map((entry) => own(entry?.tables, table)));

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

/** The same as `own`, in half the time: entries are objects, and what objects inherit are functions, except `__proto__`. */
export function memberOf<T extends object>(map: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  const member: unknown = map?.[name];
  if (member === undefined) return undefined;
  return typeof member === "object" && name !== "__proto__" ? (member as T) : own(map, name);
}
