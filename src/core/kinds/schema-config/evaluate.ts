import type { LiveColumn, LiveSchemas } from "../../base/model/live.ts";
import type { ColumnTree } from "../../base/model/manifest.ts";
import { comparePaths, type Depth, isEnabled, isReadable } from "../../base/model/schema-tree.ts";
import {
  checkColumnChanges,
  checkExpectations,
  collectSwitchedOff,
  collectTexts,
  collectValue,
  type DecideLeaf,
  type Evaluation,
  isSwitchedOff,
  newEvaluation,
  type TableState,
} from "./evaluation.ts";
import { type Keeper, newKeeper } from "./keeping.ts";
import { literalColumnMaps, literalColumns, literalSchemas, literalTables, memberOf } from "./literal-trees.ts";
import { type Literals, newResolution, type Place, type Resolution, resolve } from "./rules/resolve-rules.ts";
import { type CachedMatch, hasNoRules, matchIn, type RuleCache } from "./rules/rule-cache.ts";
import { countMatch, countScope, countUnknownColumns } from "./rules/rule-stats.ts";

// Compares the SchemaConfigs of one integration with its live schemas. This is the hot loop: a fleet has millions of
// columns, few different names and even fewer differences, so it has its own walk, in which a column without a difference
// costs one look-up (rule-cache.ts) and allocates nothing.

/** A walk in progress. */
interface Walk extends Evaluation {
  /** By depth. One resolution per depth is enough: it is read before the next node of that depth is resolved. */
  readonly resolutions: readonly [Resolution, Resolution, Resolution];
  readonly places: readonly [Place, Place, Place];
  readonly switchedOff: NewColumns | undefined;
}

/** The names of new columns by schema and table. */
export type NewColumns = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

interface EvaluateOptions {
  readonly decide?: DecideLeaf;
  /** New columns that must stay switched off until someone has reviewed them. */
  readonly switchedOff?: NewColumns | undefined;
  /** Whether to collect what manifests keep unreadable. */
  readonly isKeeping?: boolean;
}

export function evaluate(
  cache: RuleCache,
  live: LiveSchemas,
  { decide = () => "send", switchedOff, isKeeping = false }: EvaluateOptions = {},
): Evaluation {
  const { program, root } = cache;
  const { layers } = program;
  const walk: Walk = Object.assign(newEvaluation(cache, { decide, keeper: isKeeping ? newKeeper(program) : undefined }), {
    resolutions: [newResolution(), newResolution(), newResolution()] as const,
    places: [0, 1, 2].map((depth) => ({ layers, depth })) as unknown as Walk["places"],
    switchedOff,
  });
  countScope(walk.stats, root);
  for (const schema of Object.keys(live)) {
    const liveSchema = live[schema];
    if (liveSchema === undefined) continue;
    walk.liveNodes++;
    const path = [schema] as const;
    const literals = literalSchemas(program.literalTrees, schema);
    const match = matchIn(root, schema, liveSchema, undefined);
    const resolution = resolveNode(walk, match, literals, 0);
    const enabled = collectValue(walk, { path, key: "enabled", before: liveSchema.enabled }, resolution);
    walk.keeper?.end(schema, undefined);
    checkExpectations(walk, match, path, liveSchema);
    evaluateTables(walk, { schema, live: liveSchema, enabled: enabled !== false, match, literals });
  }
  // Schemas and tables are counted one by one, columns by table.
  walk.liveNodes += walk.liveColumns;
  walk.changes.sort((a, b) => comparePaths(a.path, b.path) || (a.key < b.key ? -1 : 1));
  return walk;
}

interface SchemaState {
  readonly schema: string;
  readonly live: LiveSchemas[string];
  readonly enabled: boolean;
  readonly match: CachedMatch;
  readonly literals: ReturnType<typeof literalSchemas>;
}

function evaluateTables(walk: Walk, { schema, live, enabled: schemaEnabled, match: { below }, literals: ofSchema }: SchemaState): void {
  countScope(walk.stats, below);
  for (const table of Object.keys(live.tables)) {
    const liveTable = live.tables[table];
    if (liveTable === undefined) continue;
    walk.liveNodes++;
    if (liveTable.syncMode !== undefined) walk.stats.modes.add(liveTable.syncMode);
    const path = [schema, table] as const;
    const literals = literalTables(ofSchema, table);
    const match = matchIn(below, table, liveTable, liveTable.syncMode);
    const resolution = resolveNode(walk, match, literals, 1);
    const enabled = collectValue(walk, { path, key: "enabled", before: liveTable.enabled }, resolution) !== false;
    const { texts } = resolution;
    if (texts !== undefined) collectTexts(walk, { path, live: liveTable, texts });
    checkExpectations(walk, match, path, liveTable);
    const state: TableState = {
      path,
      live: liveTable,
      enabled,
      replicated: schemaEnabled && enabled,
      wasReplicated: isEnabled(live) && isEnabled(liveTable),
      cursor: texts?.cursorField?.value,
      scope: match.below,
      literals: literalColumnMaps(literals),
      switchedOff: walk.switchedOff?.get(schema)?.get(table),
    };
    const isUnruled = hasNoRules(state.scope) && state.switchedOff === undefined;
    evaluateColumns(walk, state, isUnruled);
    walk.keeper?.end(schema, table);
  }
}

function evaluateColumns(walk: Walk, table: TableState, isUnruled: boolean): void {
  const { scope, literals, replicated, wasReplicated } = table;
  const { columns } = table.live;
  const isExposing = replicated && !wasReplicated;
  if (columns === undefined) {
    if (isExposing) walk.exposedColumns++;
    countUnknownColumns(walk.stats, scope);
    return;
  }
  countScope(walk.stats, scope);
  // Nothing to do for a table without rules and literals.
  if (isUnruled && literals === undefined && !isExposing) {
    const count = Object.keys(columns).length;
    walk.unmanagedColumns += count;
    walk.liveColumns += count;
    return;
  }
  // Nor if the literal tree of the only layer sets the live values.
  const asWritten = isUnruled && literals?.length === 1 && !isExposing ? countAsWritten(literals[0], columns) : undefined;
  if (asWritten === undefined) {
    compareColumns(walk, table, columns);
    return;
  }
  walk.liveColumns += asWritten;
  const { keeper } = walk;
  const [layer] = walk.program.layers;
  if (keeper === undefined || layer === undefined) return;
  for (const [name, { enabled, hashed }] of Object.entries(literals?.[0] ?? {})) {
    const column = hashed === true || enabled === false ? columns[name] : undefined;
    if (column === undefined) continue;
    keepColumn(keeper, name, { column, resolution: { enabled, enabledBy: layer, hashed, hashedBy: layer } });
  }
}

type Columns = Readonly<Record<string, LiveColumn>>;

function compareColumns(walk: Walk, table: TableState, columns: Columns): void {
  const loop: ColumnLoop = { walk, table, position: 0, literalCount: 0, entries: [] };
  // Responses are plain JSON and inherit nothing that could be listed here; this form of loop is three times as fast as the others.
  for (const name in columns) {
    const column = columns[name];
    if (column !== undefined) compareOne(loop, name, column);
  }
  endColumns(loop);
}

interface ColumnLoop {
  readonly walk: Walk;
  readonly table: TableState;
  position: number;
  literalCount: number;
  readonly entries: (ColumnTree | undefined)[];
}

function compareOne(loop: ColumnLoop, name: string, column: LiveColumn): void {
  const { walk, table } = loop;
  const { scope, literals: maps, replicated, wasReplicated, switchedOff } = table;
  loop.position++;
  const match = matchIn(scope, name, column, table.live.syncMode);
  const literals = maps === undefined ? undefined : literalColumns(maps, name, loop.entries);
  if (literals !== undefined) loop.literalCount += countEntries(literals);
  countMatch(walk.stats, match);
  const resolution = literals === undefined ? match.resolution : resolveLiterals(walk, match, literals, 2);
  const { enabled, hashed } = resolution;
  if (!resolution.covered && !resolution.ignored) walk.unmanagedColumns++;
  if (walk.keeper !== undefined && (hashed === true || enabled === false)) keepColumn(walk.keeper, name, { column, resolution });
  const differs = (enabled !== undefined && enabled !== column.enabled) || (hashed !== undefined && hashed !== column.hashed);
  if (differs || (replicated && !wasReplicated) || match.expectations.length > 0 || switchedOff?.has(name) === true)
    compareColumn(walk, table, { name, column, match, resolution });
}

function keepColumn(
  keeper: Keeper,
  name: string,
  {
    column,
    resolution: { enabled, enabledBy, hashed, hashedBy },
  }: { readonly column: LiveColumn; readonly resolution: Pick<Resolution, "enabled" | "enabledBy" | "hashed" | "hashedBy"> },
): void {
  if (hashed === true && hashedBy !== undefined) keeper.add(name, "hashed", column.hashed === true, hashedBy);
  if (enabled === false && enabledBy !== undefined) keeper.add(name, "enabled", column.enabled === false, enabledBy);
}

function endColumns({ walk, table: { literals }, position, literalCount }: ColumnLoop): void {
  walk.liveColumns += position;
  const entries = (literals ?? []).reduce((sum, map) => sum + (map === undefined ? 0 : Object.keys(map).length), 0);
  if (literalCount !== entries) walk.hasMissingColumns = true;
}

interface ColumnState {
  readonly name: string;
  readonly column: LiveColumn;
  readonly match: CachedMatch;
  readonly resolution: Resolution;
}

function compareColumn(walk: Walk, table: TableState, { name, column, match, resolution }: ColumnState): void {
  const path = [table.path[0], table.path[1], name] as const;
  const since = walk.changes.length;
  const enabled = isSwitchedOff(table.switchedOff, name, { column, table: table.live })
    ? collectSwitchedOff(walk, path, column.enabled)
    : collectValue(walk, { path, key: "enabled", before: column.enabled }, resolution);
  const hashed = collectValue(walk, { path, key: "hashed", before: column.hashed }, resolution);
  checkColumnChanges(walk, walk.changes.slice(since), { column, table });
  if (table.replicated && isReadable({ enabled, hashed }) && !(table.wasReplicated && isReadable(column))) walk.exposedColumns++;
  checkExpectations(walk, match, path, column);
}

function countEntries(literals: Literals): number {
  let count = 0;
  for (let layer = 0; layer < literals.length; layer++) if (literals[layer] !== undefined) count++;
  return count;
}

/** The number of columns, if the literal map names the same ones and sets nothing that differs. */
function countAsWritten(
  map: Readonly<Record<string, ColumnTree>> | undefined = {},
  columns: Readonly<Record<string, LiveColumn>>,
): number | undefined {
  let count = 0;
  for (const column in columns) {
    const live = columns[column];
    const entry = memberOf(map, column);
    if (live === undefined || entry === undefined) return undefined;
    const { enabled, hashed } = entry;
    if ((enabled !== undefined && enabled !== live.enabled) || (hashed !== undefined && hashed !== live.hashed)) return undefined;
    count++;
  }
  let entries = 0;
  for (const _ in map) entries++;
  return entries === count ? count : undefined;
}

function resolveNode(walk: Walk, match: CachedMatch, literals: Literals | undefined, depth: Depth): Resolution {
  countMatch(walk.stats, match);
  return literals === undefined ? match.resolution : resolveLiterals(walk, match, literals, depth);
}

/** The result for a node with literal entries. Read it before the next node of this depth. */
function resolveLiterals(walk: Walk, match: CachedMatch, literals: Literals, depth: Depth): Resolution {
  const resolution = walk.resolutions[depth];
  resolve(resolution, match.applied, literals, walk.places[depth]);
  return resolution;
}
