import { tableKey } from "../labels/dbt.ts";
import { isObject, own } from "../model/json/json.ts";
import { toPointer } from "../model/json/pointer.ts";
import { getOrAdd } from "../model/maps.ts";
import type { Impact, Reader } from "../model/plan.ts";
import { columnUse, sqlTokens } from "./sql-columns.ts";

// The lineage of a dbt manifest: source table → models, snapshots and tests → exposures. `depends_on` of the nodes is read;
// child_map and parent_map say the same.

/** A node of dbt that reads another one. */
interface LineageNode {
  readonly id: string;
  /** The `resource_type` of dbt: "model". */
  readonly kind: string;
  readonly name: string;
  readonly path: string;
  readonly owner: string | undefined;
  /** Names of the relation in SQL, in lower case. */
  readonly relations: readonly string[];
  /** "" if the manifest does not contain it. */
  readonly sql: string;
  readonly isPython: boolean;
  readonly parents: readonly string[];
  readonly test: ColumnTest | undefined;
}

/** A test of dbt on a column. Names in lower case. */
interface ColumnTest {
  readonly column: string;
  /** The node that has the column, if there are several parents. */
  readonly attached: string | undefined;
  /** The column of the other node in a `relationships` test. */
  readonly field: string | undefined;
  /** What makes a test of dbt itself fail: hashed values are neither null nor equal. Undefined: nobody knows. */
  readonly fails: "if it changes" | "if it is gone" | undefined;
}

interface SourceTable {
  readonly id: string;
  /** "shop.customers" */
  readonly name: string;
  readonly relations: readonly string[];
}

/** Who reads the tables that dbt sources describe. */
export interface Lineage {
  /** By `tableKey`. */
  readonly sources: ReadonlyMap<string, readonly SourceTable[]>;
  readonly nodes: ReadonlyMap<string, LineageNode>;
  readonly children: ReadonlyMap<string, readonly string[]>;
  /** Ids of nodes that depend on themselves, in their order; empty in what dbt writes. */
  readonly cycle: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

const textAt = (node: Json, key: string): string | undefined => {
  const value = own(node, key);
  return typeof value === "string" && value !== "" ? value : undefined;
};
const objectAt = (node: Json, key: string): Json => {
  const value = own(node, key);
  return isObject(value) ? value : {};
};

/** The lineage of a manifest of a version that dimsync reads. What it does not understand is left out. `databases`: only these sources; undefined is any. */
export function lineageOf(manifest: Json, databases: readonly (string | undefined)[] = [undefined]): Lineage {
  const sources = new Map<string, SourceTable[]>();
  const wanted = new Set(databases.map((one) => one?.toLowerCase()));
  for (const [id, source] of Object.entries(objectAt(manifest, "sources"))) {
    if (!isObject(source)) continue;
    const [schema = "", name = ""] = [textAt(source, "schema"), textAt(source, "name")];
    if (!wanted.has(undefined) && !wanted.has(textAt(source, "database")?.toLowerCase() ?? "")) continue;
    const identifier = textAt(source, "identifier") ?? name;
    const key = tableKey(schema, identifier);
    const table = { id, name: `${textAt(source, "source_name") ?? schema}.${name}`, relations: lowered([name, identifier]) };
    getOrAdd(sources, key, () => []).push(table);
  }
  const all = new Map<string, LineageNode>();
  const groups = objectAt(manifest, "groups");
  for (const member of ["nodes", "exposures", "metrics", "semantic_models", "saved_queries"])
    for (const [id, node] of Object.entries(objectAt(manifest, member))) if (isObject(node)) all.set(id, nodeOf(id, node, groups));
  const children = new Map<string, string[]>();
  for (const { id, parents } of all.values()) for (const parent of parents) getOrAdd(children, parent, () => []).push(id);
  const tables = [...sources.values()].flat().map(({ id }) => id);
  // A manifest can have 100 MB. Only what reads a source stays in memory.
  const reached = reachedFrom(tables, children);
  const nodes = new Map([...all].filter(([id]) => reached.has(id)));
  return { sources, nodes, children: new Map([...children].filter(([id]) => reached.has(id))), cycle: cycleIn(nodes, children) };
}

function reachedFrom(start: readonly string[], children: Lineage["children"]): ReadonlySet<string> {
  const reached = new Set(start);
  for (const id of reached) for (const child of children.get(id) ?? []) reached.add(child);
  return reached;
}

const lowered = (names: readonly (string | undefined)[]): readonly string[] => [
  ...new Set(names.flatMap((name) => (name === undefined ? [] : [name.toLowerCase()]))),
];

function nodeOf(id: string, node: Json, groups: Json): LineageNode {
  const name = textAt(node, "name") ?? id;
  const parents = own(objectAt(node, "depends_on"), "nodes");
  return {
    id,
    kind: textAt(node, "resource_type") ?? id.split(".")[0] ?? "",
    name,
    path: textAt(node, "original_file_path") ?? "",
    owner: ownerOf(node) ?? ownerOf(objectAt(groups, `group.${textAt(node, "package_name")}.${textAt(node, "group")}`)),
    relations: lowered([name, textAt(node, "alias"), textAt(node, "identifier")]),
    sql: textAt(node, "compiled_code") ?? textAt(node, "raw_code") ?? "",
    isPython: textAt(node, "language") === "python",
    parents: Array.isArray(parents) ? [...new Set(parents.filter((one): one is string => typeof one === "string"))] : [],
    test: testOf(node),
  };
}

/** The e-mail address, or else the name. */
function ownerOf(node: Json): string | undefined {
  const owner = objectAt(node, "owner");
  const email = own(owner, "email");
  return (
    (Array.isArray(email) ? email.filter((one) => typeof one === "string").join(", ") : textAt(owner, "email")) || textAt(owner, "name")
  );
}

const builtIn: ReadonlyMap<string, ColumnTest["fails"]> = new Map([
  ["not_null", "if it is gone"],
  ["unique", "if it is gone"],
  ["accepted_values", "if it changes"],
  ["relationships", "if it changes"],
]);

function testOf(node: Json): ColumnTest | undefined {
  const metadata = objectAt(node, "test_metadata");
  const kwargs = objectAt(metadata, "kwargs");
  const column = textAt(node, "column_name") ?? textAt(kwargs, "column_name");
  return column === undefined
    ? undefined
    : {
        column: unquoted(column),
        attached: textAt(node, "attached_node"),
        field: textAt(kwargs, "field") === undefined ? undefined : unquoted(textAt(kwargs, "field") ?? ""),
        fails: textAt(metadata, "namespace") === undefined ? builtIn.get(textAt(metadata, "name") ?? "") : undefined,
      };
}

const unquoted = (name: string): string => name.replaceAll(/["`]/gu, "").toLowerCase();

/** Of these ids, those of which all parents come before them, in that order. The others depend on a cycle. */
function parentsFirst(ids: ReadonlySet<string>, { nodes, children }: Pick<Lineage, "nodes" | "children">): ReadonlySet<string> {
  const parentsIn = (id: string): number => (nodes.get(id)?.parents ?? []).filter((parent) => ids.has(parent)).length;
  const waiting = new Map([...ids].map((id) => [id, parentsIn(id)]));
  const ready = new Set([...waiting].flatMap(([id, parents]) => (parents === 0 ? [id] : [])));
  for (const id of ready)
    for (const child of children.get(id) ?? []) {
      const left = (waiting.get(child) ?? 0) - 1;
      waiting.set(child, left);
      if (left === 0) ready.add(child);
    }
  return ready;
}

/** The nodes of a cycle in their order; empty if there is none. */
function cycleIn(nodes: Lineage["nodes"], children: Lineage["children"]): readonly string[] {
  const ordered = parentsFirst(new Set(nodes.keys()), { nodes, children });
  const left = [...nodes.keys()].filter((id) => !ordered.has(id));
  const isLeft = new Set(left);
  // What only depends on the cycle is not a part of it.
  const path = new Set<string>();
  for (let id = left[0]; id !== undefined; id = nodes.get(id)?.parents.find((parent) => isLeft.has(parent))) {
    if (path.has(id)) return [...path].slice([...path].indexOf(id)).reverse();
    path.add(id);
  }
  return [];
}

/** At most this many readers are listed; the others are counted. */
const mostReaders = 100;

/** The same object for the same question. */
export type Readers = Pick<Impact, "readers" | "moreReaders" | "tableReaders">;

/** A table or column in the destination, and whether it goes away: otherwise its values change. */
interface Affected {
  readonly schema: string;
  readonly table: string;
  readonly column?: string | undefined;
  readonly isGone: boolean;
}

/** Who reads a column; without one, who reads the table. Undefined if no dbt source describes the table, or nobody reads it. */
export type ReadersOf = (affected: Affected) => Readers | undefined;

/** A lineage that is made when it is needed: a manifest can have 100 MB, and few commands ask for readers. */
export interface LazyLineage {
  /** The keys of the tables that its sources describe; undefined if they are not known yet. */
  readonly tables: ReadonlySet<string> | undefined;
  /** Undefined if the manifest cannot be read. */
  readonly lineage: () => Lineage | undefined;
}

/** Remembers what it found: integrations often share tables, and columns are asked for one by one. */
export function readersIn(files: readonly LazyLineage[]): ReadersOf {
  const known = new Map<string, Readers | undefined>();
  const tokens = new Map<LineageNode, readonly string[]>();
  // The words of thousands of models are the same ones: as one string each, they take less than half of the memory.
  const words = new Map<string, string>();
  const tokensOf = (node: LineageNode): readonly string[] =>
    getOrAdd(tokens, node, () => sqlTokens(node.sql, node.isPython).map((word) => getOrAdd(words, word, () => word)));
  const find = ({ schema, table, column, isGone }: Affected): Readers | undefined => {
    const key = tableKey(schema, table);
    const tables = files.flatMap((file) => {
      const lineage = file.tables?.has(key) === false ? undefined : file.lineage();
      return lineage === undefined ? [] : (lineage.sources.get(key) ?? []).map((source) => ({ lineage, source }));
    });
    return tables.length === 0 ? undefined : listed(tables.flatMap((one) => readersOf({ ...one, column, isGone, tokensOf })));
  };
  return (affected) => {
    const { schema, table, column, isGone } = affected;
    const key = `${isGone} ${toPointer(column === undefined ? [schema, table] : [schema, table, column])}`;
    if (!known.has(key)) known.set(key, find(affected));
    return known.get(key);
  };
}

interface Asked extends Pick<Affected, "column" | "isGone"> {
  readonly lineage: Lineage;
  readonly source: SourceTable;
  readonly tokensOf: (node: LineageNode) => readonly string[];
}

type Certainty = Reader["certainty"] | "table";

interface Found {
  readonly node: Pick<LineageNode, "kind" | "name" | "path" | "owner">;
  readonly via: string;
  /** "table": it reads the table, but not the column as far as its SQL shows. */
  readonly certainty: Certainty;
  readonly distance: number;
  /** The names of the column in its result. */
  readonly names: ReadonlySet<string>;
  readonly relations: readonly string[];
}

/** Everything below a source table; each node after its parents. */
function readersOf({ lineage, source, column, isGone, tokensOf }: Asked): readonly Found[] {
  const below = order(source.id, lineage);
  const start: Found = {
    node: { kind: "source", name: source.name, path: "", owner: undefined },
    via: "",
    certainty: "mentions",
    distance: 0,
    names: new Set(column === undefined ? [] : [column.toLowerCase()]),
    relations: source.relations,
  };
  const found = new Map<string, Found>([[source.id, start]]);
  for (const node of below) {
    const parents = node.parents.flatMap((id) => found.get(id) ?? []).sort((a, b) => a.distance - b.distance);
    const [nearest] = parents;
    if (nearest === undefined) continue;
    const use = column === undefined ? tableUse(node, nearest, isGone) : useOf(node, { parents, found, isGone, tokensOf });
    const via = (parents.find(({ certainty }) => certainty !== "table") ?? nearest).node.name;
    found.set(node.id, { ...use, node, via, distance: nearest.distance + 1, relations: node.relations });
  }
  found.delete(source.id);
  return [...found.values()];
}

/** The nodes below a source in an order in which parents come first; in a cycle, in any order. */
function order(source: string, lineage: Lineage): readonly LineageNode[] {
  const reached = reachedFrom([source], lineage.children);
  return [...new Set([...parentsFirst(reached, lineage), ...reached])].flatMap((id) => lineage.nodes.get(id) ?? []);
}

interface UseInput {
  readonly parents: readonly Found[];
  readonly found: ReadonlyMap<string, Found>;
  readonly isGone: boolean;
  readonly tokensOf: Asked["tokensOf"];
}

type Use = Pick<Found, "names" | "certainty">;

const noNames: ReadonlySet<string> = new Set();

/** Everything below the table changes; without it, the tests of its columns fail. */
const tableUse = ({ test }: LineageNode, { distance }: Found, isGone: boolean): Use => ({
  certainty: distance > 0 ? "mayRead" : failing(test, isGone),
  names: noNames,
});

const failing = (test: ColumnTest | undefined, isGone: boolean): "certain" | "mentions" =>
  test?.fails === "if it changes" || (test?.fails === "if it is gone" && isGone) ? "certain" : "mentions";

function useOf(node: LineageNode, input: UseInput): Use {
  const { parents, tokensOf } = input;
  const names = new Set(parents.flatMap((parent) => [...parent.names]));
  const isReading = parents.some(({ certainty }) => certainty !== "table");
  if (node.test !== undefined) return { certainty: testCertainty(node, node.test, input), names: noNames };
  // An exposure, metric or query names no columns.
  if (!["model", "snapshot", "test", "analysis", "operation"].includes(node.kind))
    return { certainty: isReading ? "mayRead" : "table", names };
  if (names.size === 0) return { certainty: "table", names };
  if (node.sql === "") return { certainty: "unknown", names };
  const relations = new Map(parents.flatMap((parent) => parent.relations.map((relation) => [relation, parent.names] as const)));
  const tokens = tokensOf(node);
  const { use, names: after } = columnUse(tokens, relations);
  // The SQL is what a macro returns.
  if (use === undefined && !node.isPython && !tokens.includes("select")) return { certainty: "unknown", names };
  return { certainty: use ?? "table", names: use === undefined ? noNames : after };
}

function testCertainty({ parents: ids }: LineageNode, test: ColumnTest, { found, isGone }: UseInput): Certainty {
  const isOn = ids.some((id) => {
    const tested = test.attached === undefined || ids.length === 1 || id === test.attached ? test.column : test.field;
    return tested !== undefined && found.get(id)?.names.has(tested) === true;
  });
  return isOn ? failing(test, isGone) : "table";
}

const shownKinds = ["test", "model", "snapshot", "exposure"] as const;

/** Tests that fail first, because they are certain; then the nearest. */
function listed(all: readonly Found[]): Readers | undefined {
  const tableReaders = all.filter(({ certainty, node }) => certainty === "table" && node.kind === "model").length;
  const readers = all
    .flatMap(({ node: { kind, name, path, owner }, via, certainty, distance }) => {
      const shown = shownKinds.find((one) => one === kind);
      if (shown === undefined || certainty === "table") return [];
      const reader: Reader = { kind: shown, name, path, ...(owner === undefined ? {} : { owner }), via, certainty };
      return [{ reader, distance: certainty === "certain" ? 0 : distance }];
    })
    .sort((a, b) => a.distance - b.distance)
    .map(({ reader }) => reader);
  if (readers.length + tableReaders === 0) return undefined;
  return {
    readers: readers.slice(0, mostReaders),
    ...(readers.length > mostReaders ? { moreReaders: readers.length - mostReaders } : {}),
    ...(tableReaders > 0 ? { tableReaders } : {}),
  };
}
