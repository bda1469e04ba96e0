import { type Address, byText } from "./address.ts";
import { emptyRecord } from "./json/json.ts";
import type { LiveSchemas } from "./live.ts";
import { getOrAdd } from "./maps.ts";
import type { NodePath } from "./nodes.ts";

// Obligations: what manifests keep unreadable, and since when the account shows it. A fleet has millions of columns in few different
// tables, so equal tables are stored once, and integrations whose tables are all equal share one entry.

/** Nodes with everything else in common. */
interface KeptNodes {
  readonly as: "hashed" | "disabled";
  /** The SchemaConfig that keeps them. */
  readonly by: Address;
  /** ISO 8601: when a run found them kept first. */
  readonly since: string;
  /** Columns, sorted. Absent: the schema or table itself. */
  readonly columns?: readonly string[];
}

export type KeptTable = readonly KeptNodes[];

/** What is kept of an integration, by schema and table. Undefined in place of a table: the schema itself. */
export type KeptSchemas = BySchema<KeptTable>;

type BySchema<T> = ReadonlyMap<string, ReadonlyMap<string | undefined, T>>;

/** By live id. */
export type KeptById = ReadonlyMap<string, KeptSchemas>;

/** All of it as JSON. */
export interface Kept {
  readonly tables: readonly KeptTable[];
  readonly integrations: readonly KeptIntegrations[];
}

/** Integrations of which the same is kept. Numbers are positions in `tables`. */
export interface KeptIntegrations {
  /** Live ids, sorted. */
  readonly ids: readonly string[];
  readonly schemas: Readonly<Record<string, { readonly itself?: number; readonly tables: Readonly<Record<string, number>> }>>;
}

export const nothingKept: Kept = { tables: [], integrations: [] };

/** Equal content gives equal JSON. */
export function keptJson(byId: KeptById): Kept {
  const numbers = new Map<KeptTable, number>();
  const numbersByText = new Map<string, number>();
  const tables: KeptTable[] = [];
  const numberOf = (table: KeptTable): number =>
    getOrAdd(numbers, table, () => getOrAdd(numbersByText, JSON.stringify(table), () => tables.push(table) - 1));
  const groups = new Map<string, { readonly ids: string[]; readonly schemas: KeptIntegrations["schemas"] }>();
  const known = new Map<KeptSchemas, string[]>();
  for (const [id, kept] of [...byId].sort(byKey)) {
    const ids = getOrAdd(known, kept, () => {
      const schemas = schemasJson(kept, numberOf);
      return getOrAdd(groups, JSON.stringify(schemas), () => ({ ids: [], schemas })).ids;
    });
    ids.push(id);
  }
  return { tables, integrations: [...groups.values()] };
}

function schemasJson(kept: KeptSchemas, numberOf: (table: KeptTable) => number): KeptIntegrations["schemas"] {
  const schemas = emptyRecord<KeptIntegrations["schemas"][string]>();
  for (const [schema, ofSchema] of [...kept].sort(byKey)) {
    const tables = emptyRecord<number>();
    const itself = ofSchema.get(undefined);
    for (const [table, nodes] of [...ofSchema].sort(byKey)) if (table !== undefined) tables[table] = numberOf(nodes);
    schemas[schema] = { ...(itself === undefined ? {} : { itself: numberOf(itself) }), tables };
  }
  return schemas;
}

const byKey = ([a = ""]: readonly [string | undefined, unknown], [b = ""]: readonly [string | undefined, unknown]): number => byText(a, b);

/** Integrations that share an entry share one value. */
export function keptById({ tables, integrations }: Kept): KeptById {
  const tableAt = (position: number): KeptTable => tables[position] ?? [];
  const byId = new Map<string, KeptSchemas>();
  for (const { ids, schemas } of integrations) {
    const kept = new Map(
      Object.entries(schemas).map(([schema, { itself, tables: ofSchema }]) => [
        schema,
        new Map<string | undefined, KeptTable>([
          ...(itself === undefined ? [] : [[undefined, tableAt(itself)] as const]),
          ...Object.entries(ofSchema).map(([table, position]) => [table, tableAt(position)] as const),
        ]),
      ]),
    );
    for (const id of ids) byId.set(id, kept);
  }
  return byId;
}

/** Nodes that manifests keep. */
export interface KeepingNodes extends Pick<KeptNodes, "as" | "by"> {
  /** Whether the account shows it. */
  readonly isKept: boolean;
  /** Absent: the schema or table itself. */
  readonly columns?: readonly string[];
}

/** What manifests keep of an integration. */
type Keeping = BySchema<readonly KeepingNodes[]>;

/** A node that was kept before. */
export interface KeptBefore extends Pick<KeptNodes, "as"> {
  readonly path: NodePath;
  /** Whether manifests still keep it, although the account does not show it. */
  readonly isWanted: boolean;
}

interface Judgement extends Pick<KeptNodes, "since"> {
  /** Whether the node is not kept any more, because someone decided so: not because it cannot be seen. */
  readonly isGivenUp: (node: KeptBefore) => boolean;
}

/**
 * What is kept of an integration now: what manifests keep and the account shows, and what was kept before and is not given up. A node
 * stays kept since the same time. The same value if nothing changes.
 */
export function keptNow(before: KeptSchemas | undefined, keeping: Keeping, judgement: Judgement): KeptSchemas {
  const known: KeptSchemas = before ?? new Map();
  const next = new Map<string, ReadonlyMap<string | undefined, KeptTable>>();
  let isSame = before !== undefined;
  for (const schema of keysOf(known, keeping)) {
    const [ofKnown = noTables, ofKeeping = noKeeping] = [known.get(schema), keeping.get(schema)];
    const tables = new Map<string | undefined, KeptTable>();
    for (const table of keysOf<string | undefined>(ofKnown, ofKeeping)) {
      const was = ofKnown.get(table);
      const nodes = tableNow([schema, table], { before: was ?? [], keeping: ofKeeping.get(table) ?? [] }, judgement);
      if (nodes !== was) isSame = false;
      if (nodes.length > 0) tables.set(table, nodes);
    }
    if (tables.size > 0) next.set(schema, tables);
  }
  return isSame ? known : next;
}

const noTables: ReadonlyMap<string | undefined, KeptTable> = new Map();
const noKeeping: ReadonlyMap<string | undefined, readonly KeepingNodes[]> = new Map();

/** The keys of both. */
function* keysOf<K>(one: ReadonlyMap<K, unknown>, other: ReadonlyMap<K, unknown>): Generator<K> {
  yield* one.keys();
  for (const key of other.keys()) if (!one.has(key)) yield key;
}

function tableNow(
  [schema, table]: readonly [string, string | undefined],
  { before, keeping }: { readonly before: KeptTable; readonly keeping: readonly KeepingNodes[] },
  { since, isGivenUp }: Judgement,
): KeptTable {
  if (before.length === keeping.length && before.every((nodes, index) => isUnchanged(nodes, keeping[index]))) return before;
  const [only, another] = keeping;
  // Nearly all tables are like this when they are first seen.
  if (before.length === 0 && another === undefined && only?.isKept === true) {
    const { isKept: _, ...nodes } = only;
    return [{ ...nodes, since }];
  }
  const isOver = (column: string | undefined, as: KeptNodes["as"], isWanted: boolean): boolean =>
    isGivenUp({ path: pathOf(schema, table, column), as, isWanted });
  const known = new Map<string, KeptNodes>();
  for (const nodes of before) for (const column of columnsOf(nodes)) known.set(keyOf(nodes.as, column), nodes);
  const found = newGroups();
  for (const nodes of keeping)
    for (const column of columnsOf(nodes)) {
      const { as, by, isKept } = nodes;
      const was = known.get(keyOf(as, column));
      known.delete(keyOf(as, column));
      if (isKept || (was !== undefined && !isOver(column, as, true))) found.add(column, { since: was?.since ?? since, as, by });
    }
  for (const nodes of before)
    for (const column of columnsOf(nodes))
      if (known.has(keyOf(nodes.as, column)) && !isOver(column, nodes.as, false)) found.add(column, nodes);
  return found.table();
}

const isUnchanged = (nodes: KeptNodes, keeping: KeepingNodes | undefined): boolean =>
  keeping?.isKept === true &&
  nodes.as === keeping.as &&
  nodes.by === keeping.by &&
  nodes.columns?.length === keeping.columns?.length &&
  (nodes.columns ?? []).every((column, index) => column === keeping.columns?.[index]);

const columnsOf = ({ columns }: Pick<KeptNodes, "columns">): readonly (string | undefined)[] => columns ?? [undefined];

const keyOf = (as: KeptNodes["as"], column: string | undefined): string => (column === undefined ? as : `${as} ${column}`);

const pathOf = (schema: string, table: string | undefined, column: string | undefined): NodePath =>
  table === undefined ? [schema] : column === undefined ? [schema, table] : [schema, table, column];

function newGroups() {
  const groups = new Map<string, { readonly facts: Omit<KeptNodes, "columns">; readonly columns: string[] | undefined }>();
  return {
    add(column: string | undefined, { as, by, since }: Omit<KeptNodes, "columns">): void {
      const facts = { as, by, since };
      const key = JSON.stringify([column === undefined, facts]);
      const group = getOrAdd(groups, key, () => ({ facts, columns: column === undefined ? undefined : [] }));
      if (column !== undefined) group.columns?.push(column);
    },
    table: (): KeptTable =>
      [...groups]
        .sort(byKey)
        .map(([, { facts, columns }]) => (columns === undefined ? facts : { ...facts, columns: columns.sort(byText) })),
  };
}

/** Whether the node is kept in this way. */
export const isKeptAs = (kept: KeptSchemas | undefined, [schema, table, column]: NodePath, as: KeptNodes["as"]): boolean =>
  kept
    ?.get(schema)
    ?.get(table)
    ?.some((nodes) => nodes.as === as && columnsOf(nodes).includes(column)) === true;

/** Whether the tree has the node. Undefined: that is not known, because the service did not return the columns of its table. */
export function hasNode(tree: LiveSchemas, [schema, table, column]: NodePath): boolean | undefined {
  const ofSchema = Object.hasOwn(tree, schema) ? tree[schema] : undefined;
  if (ofSchema === undefined || table === undefined) return ofSchema !== undefined;
  const ofTable = Object.hasOwn(ofSchema.tables, table) ? ofSchema.tables[table] : undefined;
  if (ofTable === undefined || column === undefined) return ofTable !== undefined;
  return ofTable.columns === undefined ? undefined : Object.hasOwn(ofTable.columns, column);
}
