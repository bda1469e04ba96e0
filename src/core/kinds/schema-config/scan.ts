import type { LiveColumn, LiveSchema, LiveSchemas, LiveTable } from "../../base/model/live.ts";
import type { NodePath } from "../../base/model/nodes.ts";
import {
  type ColumnPath,
  type Depth,
  entriesIn,
  type Field,
  type LiveNode,
  nodesAt,
  type SchemaPath,
  type TablePath,
  type WalkOrder,
} from "../../base/model/schema-tree.ts";
import { type ColumnLabel, columnLabels, enterLabels, type LabelScope } from "../patterns/labels.ts";
import { type ModeSource, makeRuleProgram } from "./compiled-config.ts";
import { literalColumnMaps, literalColumns, literalSchemas, literalTables } from "./literal-trees.ts";
import { type Literals, newResolution, type Resolution, resolve } from "./rules/resolve-rules.ts";
import { type CachedMatch, matchIn, newRuleCache, type RuleCache, type RuleScope } from "./rules/rule-cache.ts";

// One walk over the schemas of an integration, in which questions are asked about each node: policies, labels, the register, what rules
// manage. Only the comparison of values has a loop of its own (evaluate.ts), because it has to be fast for nodes that nobody asks about.

/** A value; undefined: unknown. */
export type Known = boolean | undefined;

/** What a node is at one time. */
export interface NodeState {
  readonly enabled: Known;
  /** Of a column. */
  readonly hashed: Known;
  /** Whether it and the nodes above are enabled. */
  readonly replicated: Known;
}

export interface ScannedNode<Live = LiveNode, Path = unknown, Managed = ManagedNode> {
  readonly live: Live;
  readonly path: Path;
  readonly now: NodeState;
  /** After the plan; the same object as `now` if no plan is given. */
  readonly next: NodeState;
  /** Of the nodes below; undefined if the scan has no labels. */
  readonly labels: LabelScope | undefined;
  /** What manifests set; without rules, nothing. */
  readonly managed: Managed;
}

export type ScannedSchema = ScannedNode<LiveSchema, SchemaPath, ManagedSchema>;
export type ScannedTable = ScannedNode<LiveTable, TablePath, ManagedTable>;
export type ScannedColumn = ScannedNode<LiveColumn, ColumnPath>;

/** Asked about each node of a level. Returning false leaves out the nodes below, for this question. */
export interface Question {
  readonly schema?: (schema: ScannedSchema) => boolean | undefined;
  readonly table?: (table: ScannedTable, schema: ScannedSchema) => boolean | undefined;
  readonly column?: (column: ScannedColumn, table: ScannedTable, schema: ScannedSchema) => void;
}

export interface ScanOptions {
  /** The rules and literal trees of the integration. */
  readonly rules?: RuleCache | undefined;
  /** The scope of its labels. */
  readonly labels?: LabelScope | undefined;
  /** The value after the plan. */
  readonly next?: ((path: SchemaPath | TablePath | ColumnPath, key: Field, now: Known) => Known) | undefined;
  /** Whether a value that the tree lacks is unknown: true for a literal tree. What the service does not show counts as enabled (`isEnabled`). */
  readonly isLiteral?: boolean;
  readonly order?: WalkOrder;
}

/** Visits each schema, then its tables, and after each table the table's columns, as far as a question asks for them. */
export function scan(tree: LiveSchemas, questions: readonly Question[], options: ScanOptions = {}): void {
  const { rules, order } = options;
  for (const [name, live] of entriesIn(tree, order)) {
    const path = [name] as const;
    const labels = options.labels && enterLabels(options.labels, name, live.nameInDestination);
    const managed = rules === undefined ? unmanaged : managedSchema(rules, { name, live });
    const { now, next } = statesOf(options, live, path, undefined);
    const schema: ScannedSchema = { live, path, now, next, labels, managed };
    const ofTables = questions.filter((one) => one.schema?.(schema) !== false && (one.table ?? one.column) !== undefined);
    if (ofTables.length === 0) continue;
    for (const [tableName, liveTable] of entriesIn(live.tables, order)) {
      const table = scannedTable(options, schema, { name: tableName, live: liveTable });
      const ofColumns = ofTables.filter((one) => one.table?.(table, schema) !== false && one.column !== undefined);
      if (ofColumns.length === 0) continue;
      for (const [columnName, liveColumn] of entriesIn(liveTable.columns ?? {}, order)) {
        const column = scannedColumn(options, table, { name: columnName, live: liveColumn });
        for (const one of ofColumns) one.column?.(column, table, schema);
      }
    }
  }
}

/** The labels of a column. */
export const labelsOfColumn = ({ labels, path, live }: ScannedColumn): readonly ColumnLabel[] =>
  labels === undefined ? [] : columnLabels(labels, path[2], live.nameInDestination);

const mayHaveLabels = ({ labels }: ScannedNode): boolean => labels !== undefined && labels.possible.size > 0;

/** Of a question about labelled columns. */
export const whereLabelsAre = { schema: mayHaveLabels, table: mayHaveLabels } satisfies Question;

interface Named<Live> {
  readonly name: string;
  readonly live: Live;
}

function scannedTable(options: ScanOptions, schema: ScannedSchema, { name, live }: Named<LiveTable>): ScannedTable {
  const { rules } = options;
  const path = [schema.path[0], name] as const;
  const labels = schema.labels && enterLabels(schema.labels, name, live.nameInDestination);
  const managed = rules === undefined ? unmanaged : managedTable(rules, schema.managed, { name, live, syncMode: live.syncMode });
  const { now, next } = statesOf(options, live, path, schema);
  return { live, path, now, next, labels, managed };
}

function scannedColumn(options: ScanOptions, table: ScannedTable, { name, live }: Named<LiveColumn>): ScannedColumn {
  const { rules } = options;
  const path = [table.path[0], table.path[1], name] as const;
  const managed = rules === undefined ? unmanaged : managedColumn(rules, table.managed, { name, live, syncMode: table.live.syncMode });
  const { now, next } = statesOf(options, live, path, table);
  return { live, path, now, next, labels: table.labels, managed };
}

function statesOf(
  { isLiteral = false, next: valueAfter }: ScanOptions,
  live: LiveNode,
  path: SchemaPath | TablePath | ColumnPath,
  above: Pick<ScannedNode, "now" | "next"> | undefined,
): Pick<ScannedNode, "now" | "next"> {
  const enabled = live.enabled ?? (isLiteral ? undefined : true);
  const now = { enabled, hashed: live.hashed, replicated: above === undefined ? enabled : and(above.now.replicated, enabled) };
  if (valueAfter === undefined) return { now, next: now };
  const after = valueAfter(path, "enabled", enabled);
  return {
    now,
    next: {
      enabled: after,
      hashed: path.length === 3 ? valueAfter(path, "hashed", live.hashed) : undefined,
      replicated: above === undefined ? after : and(above.next.replicated, after),
    },
  };
}

/** False if one is false, whatever is unknown. */
const and = (one: Known, other: Known): Known =>
  one === false || other === false ? false : one === undefined || other === undefined ? undefined : true;

/** A node, live or not, with what rules and literal trees set for it. */
export interface ManagedNode {
  readonly depth: Depth;
  /** The scope in which its name is matched. */
  readonly scope: RuleScope;
  readonly match: CachedMatch;
  readonly literals: Literals | undefined;
  readonly resolution: Resolution;
  /** What `unmatched` does with the node, if nothing covers it. */
  readonly unmatched: ModeSource | undefined;
}

interface ManagedSchema extends ManagedNode {
  readonly literals: ReturnType<typeof literalSchemas>;
}

interface ManagedTable extends ManagedNode {
  /** The literal entries of its columns. */
  readonly columnLiterals: ReturnType<typeof literalColumnMaps>;
}

/** `live` undefined: the account has no such node. */
interface Sought {
  readonly name: string;
  readonly live: LiveNode | undefined;
  readonly syncMode?: string | undefined;
}

function managedSchema(rules: RuleCache, one: Sought): ManagedSchema {
  const literals = literalSchemas(rules.program.literalTrees, one.name);
  return { ...managedIn(rules, one, { scope: rules.root, literals, depth: 0 }), literals };
}

function managedTable(rules: RuleCache, { match, literals: ofSchema }: ManagedSchema, one: Sought): ManagedTable {
  const literals = literalTables(ofSchema, one.name);
  return { ...managedIn(rules, one, { scope: match.below, literals, depth: 1 }), columnLiterals: literalColumnMaps(literals) };
}

export function managedColumn(rules: RuleCache, { match, columnLiterals }: ManagedTable, one: Sought): ManagedNode {
  const literals = columnLiterals && literalColumns(columnLiterals, one.name);
  return managedIn(rules, one, { scope: match.below, literals, depth: 2 });
}

type Place = Pick<ManagedNode, "scope" | "literals" | "depth">;

function managedIn({ program }: RuleCache, { name, live, syncMode }: Sought, { scope, literals, depth }: Place): ManagedNode {
  const match = matchIn(scope, name, live, syncMode);
  const resolution = literals === undefined ? match.resolution : newResolution();
  if (literals !== undefined) resolve(resolution, match.applied, literals, { layers: program.layers, depth });
  const unmatched = resolution.covered || resolution.ignored ? undefined : program.unmatched[depth];
  return { depth, scope, match, literals, resolution, unmatched };
}

/** A node of a path. It need not be live. */
export function managedAt(rules: RuleCache, tree: LiveSchemas, path: NodePath): ManagedNode {
  const [schema, table, column] = path;
  const live = nodesAt(tree, path);
  if (table === undefined) return managedSchema(rules, { name: schema, live: live.schema });
  const ofTable = managedTableAt(rules, tree, [schema, table]);
  return column === undefined
    ? ofTable
    : managedColumn(rules, ofTable, { name: column, live: live.column, syncMode: live.table?.syncMode });
}

export function managedTableAt(rules: RuleCache, tree: LiveSchemas, path: TablePath): ManagedTable {
  const [schema, table] = path;
  const live = nodesAt(tree, path);
  const ofSchema = managedSchema(rules, { name: schema, live: live.schema });
  return managedTable(rules, ofSchema, { name: table, live: live.table, syncMode: live.table?.syncMode });
}

const nothing = newRuleCache(makeRuleProgram([]));
const unmanaged: ManagedSchema & ManagedTable = {
  ...managedIn(nothing, { name: "", live: undefined }, { scope: nothing.root, literals: undefined, depth: 0 }),
  literals: undefined,
  columnLiterals: undefined,
};

/** Whether nothing covers or ignores a node, and `unmatched` sets nothing for it. */
export const isUncovered = ({ resolution, unmatched }: ManagedNode): boolean =>
  !resolution.covered && !resolution.ignored && (unmatched === undefined || unmatched.mode === "error");

/** The value of `enabled` that manifests set, with what `unmatched` sets; undefined if it stays as it is. */
export function managedEnabled({ resolution, unmatched }: ManagedNode): boolean | undefined {
  if (resolution.enabled !== undefined) return resolution.enabled;
  return unmatched === undefined || unmatched.mode === "error" ? undefined : unmatched.mode === "enable";
}
