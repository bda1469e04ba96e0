import type { ColumnLabels, LabelledColumn, LabelOrigin, LabelPatterns } from "../../base/model/columns.ts";
import type { LiveSchemas } from "../../base/model/live.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import { type ColumnPath, nodesAt } from "../../base/model/schema-tree.ts";
import { composed, foldText } from "./glob.ts";
import { namesMatcher } from "./names.ts";
import { matchesName, type NodePatterns, nodePatterns } from "./nodes.ts";

// The labels of live columns. Like rules (schema-config/rules/rule-cache.ts), they are looked up in scopes: a scope is a
// part of the tree in which the same labels are possible. Tables in which no file labels a column share one scope, in any
// integration; a table that dbt describes has a scope of its own. In a scope, a name has the same labels every time, so
// they are computed once. The scopes hold nothing but results of pure functions; they are dropped with their `LabelRoots`.

/** A label of a column. The same object whenever it is found again. */
export interface ColumnLabel {
  readonly label: string;
  readonly origin: LabelOrigin;
  /** Position among all patterns and columns of the project: those of files first. */
  readonly index: number;
  /** Absent for patterns. */
  readonly describedBy?: string;
}

/** An integration, as far as labels depend on it. */
interface LabelledIntegration {
  /** Manifest name and live name. */
  readonly names: readonly string[];
  /** The schema in the destination, for schemas for which the service returns none. */
  readonly destinationSchema?: string | undefined;
}

/** The scope of the schemas of an integration. */
export type LabelRoots = (integration: LabelledIntegration) => LabelScope;

/** A part of the tree in which the same labels are possible. */
export interface LabelScope {
  /** Unique among the scopes of one `LabelRoots`. */
  readonly id: number;
  readonly depth: 0 | 1 | 2;
  /** The labels that columns below can have. */
  readonly possible: ReadonlySet<string>;
  /** Whether names in the destination matter. */
  readonly readsDestination: boolean;
  readonly patterns: readonly CompiledPatterns[];
  readonly files: readonly FileNode[];
  readonly destinationSchema: string | undefined;
  readonly memo: Memo;
  readonly below: Known<LabelScope>;
  readonly columns: Known<readonly ColumnLabel[]>;
}

/** Results by name, and by the name in the destination if it matters. */
type Known<T> = Map<string, readonly { readonly destination: string; readonly found: T }[]>;

interface CompiledPatterns {
  readonly nodes: NodePatterns;
  readonly found: ColumnLabel;
}

/** The columns that files label, by schema, table and column. */
interface FileNode {
  readonly side: LabelledColumn["side"];
  readonly id: number;
  readonly below: Map<string, FileNode>;
  /** Of a column. */
  readonly found: ColumnLabel[];
  /** Of a table: the labels of every column but those that describe themselves. */
  readonly every: { readonly found: ColumnLabel; readonly except: ReadonlySet<string> }[];
  readonly possible: Set<string>;
}

interface Memo {
  readonly scopes: Map<string, LabelScope>;
  next: number;
}

/** Limits that keep memory flat, whatever the account contains. */
const maxNames = 20_000;
const maxVariants = 100;
const maxScopes = 50_000;

export function labelRoots(labels: ColumnLabels): LabelRoots {
  const files = fileTrees(labels.columns);
  const patterns = labels.patterns.map((one, index) => compiled(one, labels.columns.length + index));
  const memo: Memo = { scopes: new Map(), next: 0 };
  return ({ names, destinationSchema }) =>
    scopeOf(memo, {
      depth: 0,
      patterns,
      files: files.filter(({ matches }) => matches(names)).map(({ root }) => root),
      destinationSchema,
    });
}

const compiled = ({ label, origin, match }: LabelPatterns, index: number): CompiledPatterns => ({
  nodes: nodePatterns(
    [match.schema, match.table, match.column].map((name) => (name === undefined ? undefined : { name, ignoreCase: match.ignoreCase })),
  ),
  found: { label, origin, index },
});

/** Names in the destination are compared without their case, which warehouses fold. */
const keyOn = (side: LabelledColumn["side"], name: string): string => (side === "destination" ? foldText(composed(name)) : composed(name));

/** One tree for each side and glob for integrations. */
function fileTrees(columns: readonly LabelledColumn[]) {
  const trees = new Map<string, { readonly root: FileNode; readonly matches: (names: readonly string[]) => boolean }>();
  let next = 0;
  const newNode = (side: LabelledColumn["side"]): FileNode => ({
    side,
    id: next++,
    below: new Map(),
    found: [],
    every: [],
    possible: new Set(),
  });
  for (const [index, { side, integration, schema, table, column, except = [], label, origin, describedBy }] of columns.entries()) {
    let node = getOrAdd(trees, `${side} ${integration ?? ""}`, () => ({
      root: newNode(side),
      matches: integration === undefined ? () => true : namesMatcher(integration),
    })).root;
    node.possible.add(label);
    for (const name of [schema, table, ...(column === undefined ? [] : [column])]) {
      node = getOrAdd(node.below, keyOn(side, name), () => newNode(side));
      node.possible.add(label);
    }
    const found: ColumnLabel = { label, origin, index, describedBy };
    if (column === undefined) node.every.push({ found, except: new Set(except.map((name) => keyOn(side, name))) });
    else node.found.push(found);
  }
  return [...trees.values()];
}

type ScopeParts = Pick<LabelScope, "depth" | "patterns" | "files" | "destinationSchema">;

function scopeOf(memo: Memo, parts: ScopeParts): LabelScope {
  const { depth, patterns, files } = parts;
  const key = `${depth}|${patterns.map(({ found }) => found.index).join()}|${files.map(({ id }) => id).join()}|${parts.destinationSchema ?? ""}`;
  const known = memo.scopes.get(key);
  if (known !== undefined) return known;
  if (memo.scopes.size >= maxScopes) memo.scopes.clear();
  const scope: LabelScope = {
    ...parts,
    id: memo.next++,
    possible: new Set([...patterns.map(({ found }) => found.label), ...files.flatMap(({ possible }) => [...possible])]),
    readsDestination: files.some(({ side }) => side === "destination"),
    memo,
    below: new Map(),
    columns: new Map(),
  };
  memo.scopes.set(key, scope);
  return scope;
}

interface Node {
  readonly name: string;
  readonly destination: string;
}

/** What is known of a node, or what `find` finds. */
function known<T>(results: Known<T>, { readsDestination }: LabelScope, { name, destination }: Node, find: () => T): T {
  const all = results.get(name) ?? [];
  for (const one of all) if (!readsDestination || one.destination === destination) return one.found;
  const found = find();
  if (results.size >= maxNames) results.clear();
  results.set(name, [...(all.length < maxVariants ? all : []), { destination, found }]);
  return found;
}

/** The scope below a schema or table. `destination`: its name there, as the service returns it. */
export function enterLabels(scope: LabelScope, name: string, destination?: string): LabelScope {
  const there = destination ?? (scope.depth === 0 ? scope.destinationSchema : undefined) ?? name;
  return known(scope.below, scope, { name, destination: there }, () =>
    scopeOf(scope.memo, {
      depth: scope.depth === 0 ? 1 : 2,
      patterns: scope.patterns.filter(({ nodes }) => matchesName(nodes, scope.depth, name)),
      files: filesBelow(scope, name, there),
      destinationSchema: undefined,
    }),
  );
}

const filesBelow = ({ files }: LabelScope, name: string, destination: string): readonly FileNode[] =>
  files.flatMap((node) => node.below.get(keyOn(node.side, node.side === "destination" ? destination : name)) ?? []);

const ofTable = ({ files }: LabelScope, name: string, destination: string): readonly ColumnLabel[] =>
  files.flatMap(({ side, every }) =>
    every.flatMap(({ found, except }) => (except.has(keyOn(side, side === "destination" ? destination : name)) ? [] : [found])),
  );

const none: readonly ColumnLabel[] = [];

/** The labels of a column of the table whose scope this is: those of files first, then those of patterns. */
export function columnLabels(scope: LabelScope, name: string, destination = name): readonly ColumnLabel[] {
  if (scope.possible.size === 0) return none;
  return known(scope.columns, scope, { name, destination }, () => {
    const fromFiles =
      scope.files.length === 0
        ? none
        : [...filesBelow(scope, name, destination).flatMap(({ found }) => found), ...ofTable(scope, name, destination)];
    const fromPatterns = scope.patterns.filter(({ nodes }) => matchesName(nodes, 2, name)).map(({ found }) => found);
    return fromFiles.length + fromPatterns.length === 0 ? none : [...fromFiles, ...fromPatterns];
  });
}

/** The positions of the labels that the columns of a table can have. `scope`: that of the table. */
export const indicesIn = ({ patterns, files }: LabelScope): readonly number[] => [
  ...patterns.map(({ found }) => found.index),
  ...files.flatMap(({ every }) => every.map(({ found }) => found.index)),
  ...files.flatMap(({ below }) => [...below.values()].flatMap(({ found }) => found.map(({ index }) => index))),
];

/** The labels of one column. To label many columns, enter each schema and table once instead. */
export function labelsOf(root: LabelScope, live: LiveSchemas, path: ColumnPath): readonly ColumnLabel[] {
  const { schema, table, column } = nodesAt(live, path);
  const inTable = enterLabels(enterLabels(root, path[0], schema?.nameInDestination), path[1], table?.nameInDestination);
  return columnLabels(inTable, path[2], column?.nameInDestination);
}

/** The label of a column that a rule or policy with these labels matches by; undefined if it has none of them. */
export const labelAmong = (labels: readonly ColumnLabel[], wanted: readonly string[]): ColumnLabel | undefined =>
  labels.find(({ label }) => wanted.includes(label));

/** `label` of a match as a list. */
export const wantedLabels = (label: string | readonly string[] | undefined): readonly string[] | undefined =>
  typeof label === "string" ? [label] : label;
