import { type Address, byText } from "./address.ts";
import { defined, emptyRecord, sameJson } from "./json/json.ts";
import { getOrAdd } from "./maps.ts";
import { type NodePath, nodePath } from "./nodes.ts";

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
  /** Digests of the names beside it: of the schemas, the tables of its schema, the columns of its table (`namesDigest`). What is new there may have replaced it. */
  readonly among?: readonly string[];
  /** In a plan: the account does not show it yet, and the plan sends it. */
  readonly isPlanned?: true;
  /** An apply has sent it, and the account has never shown it. What it has shown once is not taken on trust any more. */
  readonly isUnseen?: true;
}

export type KeptTable = readonly KeptNodes[];

/** What is kept of an integration, by schema and table. Undefined in place of a table: the schema itself. */
export type KeptSchemas = BySchema<KeptTable>;

type BySchema<T> = ReadonlyMap<string, ReadonlyMap<string | undefined, T>>;

/** What is kept of one integration. */
export interface KeptIntegration {
  /** Its name, the name and type of its source, and the id of its destination: one that is created again has the same. */
  readonly identity: readonly string[];
  readonly schemas: KeptSchemas;
}

/** By live id. */
export type KeptById = ReadonlyMap<string, KeptIntegration>;

/** All of it as JSON. */
export interface KeptJson {
  readonly tables: readonly KeptTable[];
  readonly integrations: readonly KeptIntegrations[];
}

/** Integrations of which the same is kept. Numbers are positions in `tables`. */
export interface KeptIntegrations {
  /** By live id, sorted: `identity`. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
  readonly schemas: Readonly<Record<string, KeptTables>>;
}

/** Of a schema. */
interface KeptTables {
  readonly itself?: number;
  /** Sorted. Each is one digit of base 36, how many characters it has in common with the one before, and the others. */
  readonly names: readonly string[];
  /** Of each table; the last one of all that follow, too. */
  readonly nodes: readonly number[];
}

export const nothingKept: KeptJson = { tables: [], integrations: [] };

/** Equal content gives equal JSON. */
export function keptJson(byId: KeptById): KeptJson {
  const numbers = new Map<KeptTable, number>();
  const numbersByText = new Map<string, number>();
  const tables: KeptTable[] = [];
  const numberOf = (table: KeptTable): number =>
    getOrAdd(numbers, table, () => getOrAdd(numbersByText, JSON.stringify(table), () => tables.push(table) - 1));
  const groups = new Map<string, { readonly ids: Record<string, readonly string[]> } & Omit<KeptIntegrations, "ids">>();
  const known = new Map<KeptSchemas, { readonly schemas: KeptIntegrations["schemas"]; readonly text: string }>();
  for (const [id, { identity, schemas: kept }] of [...byId].sort(byKey)) {
    const { schemas, text } = getOrAdd(known, kept, () => {
      const json = schemasJson(kept, numberOf);
      return { schemas: json, text: JSON.stringify(json) };
    });
    const group = getOrAdd(groups, text, () => ({ ids: emptyRecord<readonly string[]>(), schemas }));
    group.ids[id] = identity;
  }
  return { tables, integrations: [...groups.values()] };
}

function schemasJson(kept: KeptSchemas, numberOf: (table: KeptTable) => number): KeptIntegrations["schemas"] {
  const schemas = emptyRecord<KeptTables>();
  for (const [schema, ofSchema] of [...kept].sort(byKey)) {
    const itself = ofSchema.get(undefined);
    const tables = [...ofSchema].sort(byKey).flatMap(([name, nodes]) => (name === undefined ? [] : [{ name, nodes: numberOf(nodes) }]));
    const last = tables.at(-1)?.nodes;
    const nodes = tables.map((table) => table.nodes);
    schemas[schema] = {
      ...(itself === undefined ? {} : { itself: numberOf(itself) }),
      names: frontCoded(tables.map(({ name }) => name)),
      nodes: nodes.slice(0, nodes.findLastIndex((one) => one !== last) + 2),
    };
  }
  return schemas;
}

const maxShared = 35;

function frontCoded(names: readonly string[]): readonly string[] {
  let last = "";
  return names.map((name) => {
    let shared = 0;
    while (shared < maxShared && shared < name.length && name[shared] === last[shared]) shared++;
    last = name;
    return shared.toString(36) + name.slice(shared);
  });
}

function wholeNames(coded: readonly string[]): readonly string[] {
  let last = "";
  return coded.map((text) => {
    last = last.slice(0, Number.parseInt(text.slice(0, 1), 36)) + text.slice(1);
    return last;
  });
}

const byKey = ([a = ""]: readonly [string | undefined, unknown], [b = ""]: readonly [string | undefined, unknown]): number => byText(a, b);

/** Integrations that share an entry share one value. */
export function keptById({ tables, integrations }: KeptJson): KeptById {
  const tableAt = (position: number): KeptTable => tables[position] ?? [];
  const byId = new Map<string, KeptIntegration>();
  for (const { ids, schemas } of integrations) {
    const kept = new Map(
      Object.entries(schemas).map(([schema, { itself, names, nodes }]) => [
        schema,
        new Map<string | undefined, KeptTable>([
          ...(itself === undefined ? [] : [[undefined, tableAt(itself)] as const]),
          ...wholeNames(names).map((table, index) => [table, tableAt(nodes[index] ?? nodes.at(-1) ?? -1)] as const),
        ]),
      ]),
    );
    for (const [id, identity] of Object.entries(ids)) byId.set(id, { identity, schemas: kept });
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

interface Judgement extends Pick<KeptNodes, "since"> {
  /** The digests of the names beside a node of the table. */
  readonly among?: (schema: string, table: string | undefined) => readonly string[];
  /** Whether the node is not kept any more, because someone decided so: not because it cannot be seen. */
  readonly isGivenUp: (path: NodePath, as: KeptNodes["as"]) => boolean;
}

/**
 * What is kept of an integration now: what manifests keep and the account shows, and what was kept before and is not given up. A node
 * stays kept since the same time. The same value if nothing changes.
 */
export function keptNow(before: KeptSchemas | undefined, keeping: Keeping, judgement: Judgement): KeptSchemas {
  const known: KeptSchemas = before ?? new Map();
  const next = new Map<string, ReadonlyMap<string | undefined, KeptTable>>();
  let isSame = before !== undefined;
  // Equal tables that are first seen share one value.
  const first = new Map<readonly KeepingNodes[], KeptTable>();
  const firstTable = (keeping: readonly KeepingNodes[], path: readonly [string, string | undefined]): KeptTable => {
    const known = first.get(keeping);
    if (known !== undefined && known[0]?.among === judgement.among?.(path[0], path[1])) return known;
    const made = tableNow(path, { before: [], keeping }, judgement);
    first.set(keeping, made);
    return made;
  };
  for (const schema of keysOf(known, keeping)) {
    const [ofKnown = noTables, ofKeeping = noKeeping] = [known.get(schema), keeping.get(schema)];
    const tables = new Map<string | undefined, KeptTable>();
    for (const table of keysOf<string | undefined>(ofKnown, ofKeeping)) {
      const was = ofKnown.get(table);
      const ofTable = ofKeeping.get(table) ?? [];
      const nodes =
        was === undefined ? firstTable(ofTable, [schema, table]) : tableNow([schema, table], { before: was, keeping: ofTable }, judgement);
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
  { since, among: amongOf, isGivenUp }: Judgement,
): KeptTable {
  const among = amongOf?.(schema, table);
  if (before.length === keeping.length && before.every((nodes, index) => isUnchanged(nodes, keeping[index], among))) return before;
  const [only, another] = keeping;
  // Nearly all tables are like this when they are first seen.
  if (before.length === 0 && another === undefined && only !== undefined) {
    const { isKept, ...nodes } = only;
    return [{ ...nodes, since, ...defined({ among }), ...planned(isKept) }];
  }
  const isOver = (column: string | undefined, as: KeptNodes["as"]): boolean => isGivenUp(nodePath(schema, table, column), as);
  const known = new Map<string, KeptNodes>();
  for (const nodes of before) for (const column of columnsOf(nodes)) known.set(keyOf(nodes.as, column), nodes);
  const found = newGroups();
  for (const nodes of keeping)
    for (const column of columnsOf(nodes)) {
      const { as, by, isKept } = nodes;
      const was = known.get(keyOf(as, column));
      known.delete(keyOf(as, column));
      if (isKept || was === undefined) found.add(column, { since: was?.since ?? since, as, by, ...defined({ among }), ...planned(isKept) });
      else if (!isOver(column, as)) found.add(column, was);
    }
  for (const nodes of before)
    for (const column of columnsOf(nodes)) if (known.has(keyOf(nodes.as, column)) && !isOver(column, nodes.as)) found.add(column, nodes);
  return found.table();
}

const planned = (isKept: boolean): Pick<KeptNodes, "isPlanned"> => (isKept ? {} : { isPlanned: true });

const isUnchanged = (nodes: KeptNodes, keeping: KeepingNodes | undefined, among: readonly string[] | undefined): boolean =>
  keeping?.isKept === true &&
  nodes.isUnseen === undefined &&
  sameJson(nodes.among, among) &&
  nodes.as === keeping.as &&
  nodes.by === keeping.by &&
  nodes.columns?.length === keeping.columns?.length &&
  (nodes.columns ?? []).every((column, index) => column === keeping.columns?.[index]);

const columnsOf = ({ columns }: Pick<KeptNodes, "columns">): readonly (string | undefined)[] => columns ?? [undefined];

const keyOf = (as: KeptNodes["as"], column: string | undefined): string => (column === undefined ? as : `${as} ${column}`);

function newGroups() {
  const groups = new Map<string, { readonly facts: Omit<KeptNodes, "columns">; readonly columns: string[] | undefined }>();
  return {
    add(column: string | undefined, { as, by, since, among, isPlanned, isUnseen }: Omit<KeptNodes, "columns">): void {
      const facts = { as, by, since, ...defined({ among, isPlanned, isUnseen }) };
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

/** How the node is kept in this way. Undefined: it is not. */
export const keptAs = (kept: KeptSchemas | undefined, [schema, table, column]: NodePath, as: KeptNodes["as"]): KeptNodes | undefined =>
  kept
    ?.get(schema)
    ?.get(table)
    ?.find((nodes) => nodes.as === as && columnsOf(nodes).includes(column));

/** "unseen": the account did not show the value before it was sent, so it may never show it. */
export type Sent = "shown" | "unseen";

/** The nodes that a run has protected, or that were protected before it: what else a plan wanted to send is not kept. */
export function withoutPlanned(schemas: KeptSchemas, sentOf: (path: NodePath, as: KeptNodes["as"]) => Sent | undefined): KeptSchemas {
  if (![...schemas.values()].some((tables) => [...tables.values()].some((nodes) => nodes.some(({ isPlanned }) => isPlanned === true))))
    return schemas;
  return mapTables(schemas, (all, [schema, table]) => {
    const found = newGroups();
    for (const nodes of all) {
      const { isPlanned, ...kept } = nodes;
      for (const column of columnsOf(nodes)) {
        const sent = isPlanned === true ? sentOf(nodePath(schema, table, column), nodes.as) : "shown";
        if (sent !== undefined) found.add(column, sent === "unseen" ? { ...kept, isUnseen: true } : kept);
      }
    }
    return found.table();
  });
}

/** Without a node and those below it; without a path, nothing is left. */
export function withoutNodes(schemas: KeptSchemas, path: NodePath | undefined): KeptSchemas {
  const [schema, table, column] = path ?? [];
  return mapTables(schemas, (all, [inSchema, inTable]) => {
    if ((schema !== undefined && inSchema !== schema) || (table !== undefined && inTable !== table)) return all;
    if (column === undefined) return [];
    return all.flatMap((nodes) => {
      const columns = nodes.columns?.filter((one) => one !== column);
      return columns?.length === 0 ? [] : [{ ...nodes, ...defined({ columns }) }];
    });
  });
}

/** With other nodes in each table. Tables and schemas without nodes are left out. */
function mapTables(
  schemas: KeptSchemas,
  nodesOf: (nodes: KeptTable, path: readonly [schema: string, table: string | undefined]) => KeptTable,
): KeptSchemas {
  const next = new Map<string, ReadonlyMap<string | undefined, KeptTable>>();
  for (const [schema, ofSchema] of schemas) {
    const tables = new Map([...ofSchema].map(([table, nodes]) => [table, nodesOf(nodes, [schema, table])] as const));
    for (const [table, nodes] of tables) if (nodes.length === 0) tables.delete(table);
    if (tables.size > 0) next.set(schema, tables);
  }
  return next;
}

/** How many nodes are kept. */
export function countKept(schemas: KeptSchemas = new Map()): number {
  let count = 0;
  for (const tables of schemas.values()) for (const all of tables.values()) for (const { columns } of all) count += columns?.length ?? 1;
  return count;
}

/** The number and the sum of hashes of names: it tells which one name was added or replaced, and takes no more space for more of them. */
export const namesDigest = (names: readonly string[]): string => `${names.length.toString(36)}.${(sumOf(names) >>> 0).toString(36)}`;

const sumOf = (names: readonly string[]): number => names.reduce((sum, name) => sum + hashOf(name), 0);

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/**
 * The names that are new since a digest from which `gone` are gone. If others are gone, too, or several are new, it is unknown which: then all of them may be.
 */
export function newNames(
  digest: string | undefined,
  { live, gone }: { readonly live: readonly string[]; readonly gone: readonly string[] },
): { readonly names: readonly string[]; readonly isExact: boolean } {
  if (digest === undefined) return { names: live, isExact: false };
  const [count = 0, sum = 0] = digest.split(".").map((part) => Number.parseInt(part, 36));
  const added = live.length + gone.length - count;
  const difference = (sumOf(live) + sumOf(gone) - sum) >>> 0;
  if (added === 0 && difference === 0) return { names: [], isExact: true };
  const found = added === 1 ? live.filter((name) => hashOf(name) === difference) : [];
  return found.length === 1 ? { names: found, isExact: true } : { names: live, isExact: false };
}
