import { byText } from "../../model/address.ts";
import { own } from "../../model/json.ts";
import type { LiveColumn } from "../../model/live.ts";
import type { DraftChange, Risk } from "../../model/plan.ts";
import { type Pointer, toPointer } from "../../model/pointer.ts";
import type { ColumnTree, SchemaTree, TableTree } from "../../model/resource.ts";
import type { Layer, Speaker } from "./compiled-config.ts";

/** How deep a node is: schemas 0, tables 1, columns 2. */
export type Depth = 0 | 1 | 2;

export const levelNames = ["schema", "table", "column"] as const;

/** Names from the schema down, as deep as the node is. */
export type NodePath = readonly [schema: string, table?: string, column?: string];
export type SchemaPath = readonly [schema: string];
export type TablePath = readonly [schema: string, table: string];
export type ColumnPath = readonly [schema: string, table: string, column: string];

/** What `walk` needs of a tree: a live tree has all members, a literal one those that its manifest sets. */
interface SchemaEntryLike {
  readonly tables?: Readonly<Record<string, { readonly columns?: Readonly<Record<string, object>> }>>;
}
type TableOf<Schema extends SchemaEntryLike> = NonNullable<Schema["tables"]>[string];
type ColumnOf<Schema extends SchemaEntryLike> = NonNullable<TableOf<Schema>["columns"]>[string];

/** Called for each node of its level. Returning false leaves out the nodes below. */
export interface Visitor<Schema extends SchemaEntryLike> {
  readonly schema?: (entry: Schema, path: SchemaPath) => boolean | undefined;
  readonly table?: (entry: TableOf<Schema>, path: TablePath, schema: Schema) => boolean | undefined;
  readonly column?: (entry: ColumnOf<Schema>, path: ColumnPath, table: TableOf<Schema>, schema: Schema) => void;
}

/**
 * Visits each schema, then its tables, and after each table the table's columns: in the order of the keys, or by name for
 * output that must not depend on the order of a response. Columns that are unknown are not visited.
 */
export function walk<Schema extends SchemaEntryLike>(
  tree: Readonly<Record<string, Schema>>,
  visitor: Visitor<Schema>,
  order: "as-given" | "by-name" = "as-given",
): void {
  const entriesOf = order === "by-name" ? sortedEntries : Object.entries;
  for (const [schema, entry] of entriesOf<Schema>(tree)) {
    if (visitor.schema?.(entry, [schema]) === false || (visitor.table ?? visitor.column) === undefined) continue;
    // The tables of a `Schema` are what its type says; the constraint of the type parameter forgets it.
    for (const [table, tableEntry] of entriesOf((entry.tables ?? {}) as Record<string, TableOf<Schema>>)) {
      if (visitor.table?.(tableEntry, [schema, table], entry) === false || visitor.column === undefined) continue;
      for (const [column, columnEntry] of entriesOf((tableEntry.columns ?? {}) as Record<string, ColumnOf<Schema>>))
        visitor.column(columnEntry, [schema, table, column], tableEntry, entry);
    }
  }
}

const sortedEntries = <T>(record: Readonly<Record<string, T>>): [string, T][] => Object.entries(record).sort(([a], [b]) => byText(a, b));

/** The attributes of a live node that rules may ask for, whatever it is. */
export type LiveNode = Pick<LiveColumn, "enabled"> & { readonly hashed?: boolean; readonly isPrimaryKey?: boolean };

export type Field = "enabled" | "hashed";

export type NodeCause = NonNullable<DraftChange["cause"]>;

/** One boolean of one node that is to change. */
export interface NodeChange {
  readonly path: NodePath;
  readonly key: Field;
  readonly before: boolean;
  readonly after: boolean;
  readonly risk: Risk;
  readonly cause: NodeCause;
  readonly by: Speaker;
}

export const riskOf = (key: Field, after: boolean): Risk => ((key === "hashed") === after ? "protects" : "exposes");

function below(root: readonly string[], [schema, table, column]: NodePath, key: string | undefined): Pointer {
  const tables = table === undefined ? [] : ["tables", table];
  const columns = column === undefined ? [] : ["columns", column];
  return toPointer([...root, schema, ...tables, ...columns, ...(key === undefined ? [] : [key])]);
}

/** Into the live object: "/schemas/public/tables/users/columns/email/hashed", without a key the node itself. */
export const nodePointer = (path: NodePath, key?: string): Pointer => below(["schemas"], path, key);

/** Into the manifest: "/spec/schemas/public/tables/users/enabled". */
export const literalPointer = (path: NodePath, key?: string): Pointer => below(["spec", "schemas"], path, key);

/** For people: public.users.email; a name that would blur the dots stands in quotes. */
export function nodeText(path: NodePath): string {
  return path.map((name) => (name !== undefined && /^[\p{L}\p{N}_$-]+$/u.test(name) ? name : JSON.stringify(name))).join(".");
}

/** An order that doesn't depend on the order of an answer's keys. */
export function comparePaths(a: NodePath, b: NodePath): number {
  for (let depth = 0; depth < 3; depth++) {
    const [one, other] = [a[depth], b[depth]];
    if (one === other) continue;
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return 0;
}

// The literal trees of all layers side by side while a walk goes down. Undefined instead of a list of nothing: most places have no literal.

type SchemaEntry = SchemaTree[string];

function anyOf<T>(entries: readonly (T | undefined)[]): readonly (T | undefined)[] | undefined {
  return entries.some((entry) => entry !== undefined) ? entries : undefined;
}

export const literalSchemas = (layers: readonly Layer[], schema: string): readonly (SchemaEntry | undefined)[] | undefined =>
  anyOf(layers.map(({ config }) => own(config.spec.schemas, schema)));

export const literalTables = (
  schemas: readonly (SchemaEntry | undefined)[] | undefined,
  table: string,
): readonly (TableTree | undefined)[] | undefined => schemas && anyOf(schemas.map((entry) => own(entry?.tables, table)));

/** The maps of columns; a map that is there and empty counts as none. */
export const literalColumnMaps = (
  tables: readonly (TableTree | undefined)[] | undefined,
): readonly (Readonly<Record<string, ColumnTree>> | undefined)[] | undefined =>
  tables &&
  anyOf(tables.map((entry) => (entry?.columns === undefined || Object.keys(entry.columns).length === 0 ? undefined : entry.columns)));

/** What each layer's literal tree says of the column, in a list that is used again for the next one. */
export function literalColumns(
  maps: readonly (Readonly<Record<string, ColumnTree>> | undefined)[],
  column: string,
  into: (ColumnTree | undefined)[],
): readonly (ColumnTree | undefined)[] | undefined {
  let any = false;
  for (let layer = 0; layer < maps.length; layer++) {
    const entry = memberOf(maps[layer], column);
    into[layer] = entry;
    any ||= entry !== undefined;
  }
  return any ? into : undefined;
}

/** The same as `own`, in half the time: entries are objects, and what objects inherit are functions, but for `__proto__`. */
export function memberOf<T extends object>(map: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  const member: unknown = map?.[name];
  if (member === undefined) return undefined;
  return typeof member === "object" && name !== "__proto__" ? (member as T) : own(map, name);
}
