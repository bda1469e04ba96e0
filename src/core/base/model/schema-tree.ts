import { byText } from "./address.ts";
import { emptyRecord, own } from "./json/json.ts";
import type { Pointer } from "./json/pointer.ts";
import type { LiveColumn, LiveSchema, LiveSchemas } from "./live.ts";
import type { ColumnTree, TableTexts } from "./manifest.ts";
import { everyName } from "./maps.ts";
import { type NodePath, nodePointer } from "./nodes.ts";
import type { DraftFacts, Risk } from "./plan.ts";

/** How deep a node is: schemas 0, tables 1, columns 2. */
export type Depth = 0 | 1 | 2;

export const levelNames = ["schema", "table", "column"] as const;

export type SchemaPath = readonly [schema: string];
export type TablePath = readonly [schema: string, table: string];
export type ColumnPath = readonly [schema: string, table: string, column: string];

/** The attributes of a live node that a rule's `where` can compare, whatever the node is. */
export type LiveNode = LiveColumn;

export type Field = "enabled" | "hashed";

/** What a PATCH can change of a table beside `enabled`, if the target says that its service can. */
export const tableTexts = everyName<keyof TableTexts>({ syncMode: true, cursorField: true });

export type NodeField = Field | keyof TableTexts;

export type NodeCause = NonNullable<DraftFacts["cause"]>;

export const riskOf = (key: Field, after: boolean): Risk => ((key === "hashed") === after ? "protects" : "exposes");

/**
 * The members that `walk` needs. A live tree has all of them, a literal tree those that its
 * manifest sets.
 */
interface SchemaEntryLike {
  readonly tables?: Readonly<Record<string, { readonly columns?: Readonly<Record<string, object>> }>>;
}
type TableOf<Schema extends SchemaEntryLike> = NonNullable<Schema["tables"]>[string];
type ColumnOf<Schema extends SchemaEntryLike> = NonNullable<TableOf<Schema>["columns"]>[string];

/** Called for each node of its level. Returning false leaves out the nodes below. */
interface Visitor<Schema extends SchemaEntryLike> {
  readonly schema?: (entry: Schema, path: SchemaPath) => boolean | undefined;
  readonly table?: (entry: TableOf<Schema>, path: TablePath, schema: Schema) => boolean | undefined;
  readonly column?: (entry: ColumnOf<Schema>, path: ColumnPath, table: TableOf<Schema>, schema: Schema) => void;
}

/** Whether the node is enabled and not hashed. What is not known counts as readable. */
export const isReadable = ({
  enabled,
  hashed,
}: {
  readonly enabled?: boolean | undefined;
  readonly hashed?: boolean | undefined;
}): boolean => enabled !== false && hashed !== true;

/** Whether a node may be enabled. What is not known counts as enabled, so that its columns are protected. */
export const isEnabled = ({ enabled }: { readonly enabled?: boolean }): boolean => enabled !== false;

/** Whether the table and its schema may be enabled, so that its enabled columns are replicated. */
export function isReplicated(schema: LiveSchema, table: string): boolean {
  const entry = own(schema.tables, table);
  return entry !== undefined && isEnabled(schema) && isEnabled(entry);
}

/** The schema, table and column of a path, as far as the tree has them. */
export function nodesAt(live: LiveSchemas, [schema, table, column]: NodePath) {
  const ofSchema = own(live, schema);
  const ofTable = table === undefined ? undefined : own(ofSchema?.tables, table);
  return { schema: ofSchema, table: ofTable, column: column === undefined ? undefined : own(ofTable?.columns, column) };
}

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
  for (const [schema, entry] of entriesIn(tree, order)) {
    if (visitor.schema?.(entry, [schema]) === false || (visitor.table ?? visitor.column) === undefined) continue;
    // The type of the tables is that of `Schema`; the constraint of the type parameter drops it.
    for (const [table, tableEntry] of entriesIn((entry.tables ?? {}) as Record<string, TableOf<Schema>>, order)) {
      if (visitor.table?.(tableEntry, [schema, table], entry) === false || visitor.column === undefined) continue;
      for (const [column, columnEntry] of entriesIn((tableEntry.columns ?? {}) as Record<string, ColumnOf<Schema>>, order)) {
        visitor.column(columnEntry, [schema, table, column], tableEntry, entry);
      }
    }
  }
}

/** The entries of a map of nodes in this order. */
export function entriesIn<T>(nodes: Readonly<Record<string, T>>, order: WalkOrder = "as-given"): readonly (readonly [string, T])[] {
  const entries = Object.entries(nodes);
  return order === "by-name" ? entries.sort(([a], [b]) => byText(a, b)) : entries;
}

/** Into the manifest: "/spec/schemas/public/tables/users/enabled". */
export const literalPointer = (path: NodePath, key?: string): Pointer => `/spec${nodePointer(path, key)}`;

/** A node of a literal tree that is being built. */
export interface WritableNode extends TableTexts {
  enabled?: boolean;
  hashed?: boolean;
  tables?: Record<string, WritableNode>;
  columns?: Record<string, WritableNode>;
}

/** Sets fields of a node of a literal tree made with `emptyRecord`, which gets the nodes above. Without fields, nothing changes. */
export function setFields(tree: Record<string, WritableNode>, [schema, table, column]: NodePath, fields: ColumnTree & TableTexts): void {
  if (Object.keys(fields).length === 0) return;
  tree[schema] ??= {};
  let node = tree[schema];
  for (const [map, name] of [
    ["tables", table],
    ["columns", column],
  ] as const) {
    if (name === undefined) break;
    node[map] ??= emptyRecord();
    node[map][name] ??= {};
    node = node[map][name];
  }
  Object.assign(node, fields);
}

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
