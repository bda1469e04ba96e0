import type { LiveColumn, LiveSchemas, LiveTable } from "../../model/live.ts";
import type { ColumnTree } from "../../model/resource.ts";
import type { Program } from "./compiled-config.ts";
import { type Judgement, newJudgement } from "./evaluation.ts";
import { newVerdict, resolve, type Says, type Verdict } from "./resolve-rules.ts";
import { type Case, type Context, caseOf, isSilent, namedAt, namedIn } from "./rule-cache.ts";
import { countNode, countPlace, countUnknown } from "./rule-stats.ts";
import {
  comparePaths,
  type Depth,
  type Field,
  literalColumnMaps,
  literalColumns,
  literalSchemas,
  literalTables,
  memberOf,
  type NodeChange,
  type NodePath,
} from "./tree.ts";

// What the configurations of one integration make of its live schemas. The walk follows the live tree and allocates only where something differs:
// a fleet has millions of columns, few different names, and fewer differences.

export interface Evaluation extends Pick<Judgement, "unmet" | "unmatched" | "refused" | "tally"> {
  /** In the order of names, whatever the order in the answer. */
  readonly changes: readonly NodeChange[];
  /** Live columns that nothing covers. */
  readonly unmanagedColumns: number;
  /** Columns that would flow, or flow in clear, after the changes and do not now. */
  readonly exposedColumns: number;
  /** Whether literal trees name columns that a live table lacks. */
  readonly isIncomplete: boolean;
}

/** One verdict a depth is enough for a walk: it is read before the next node of that depth is judged. */
type Scratch = readonly [Verdict, Verdict, Verdict];

/** `ignored`: leaves that stay as they are because the project's config leaves them to others. */
export function evaluate(program: Program, live: LiveSchemas, ignored: (path: NodePath, key: Field) => boolean = () => false): Evaluation {
  const judgement = newJudgement(program, ignored);
  const scratch: Scratch = [newVerdict(), newVerdict(), newVerdict()];
  const { tally } = judgement;
  const counts: Counts = { unmanaged: 0, exposed: 0, isIncomplete: false };
  countPlace(tally, program.root);
  for (const schema of Object.keys(live)) {
    const liveSchema = live[schema];
    if (liveSchema === undefined) continue;
    const says = literalSchemas(program.layers, schema);
    const met = caseOf(program.root, namedIn(program.root, schema), liveSchema, undefined);
    const verdict = judge(judgement, scratch, met, says, 0);
    const schemaOn = judgement.settle([schema], 0, "enabled", liveSchema.enabled, verdict);
    judgement.compare([schema], met, liveSchema);
    const inSchema = met.child;
    countPlace(tally, inSchema);
    for (const table of Object.keys(liveSchema.tables)) {
      const liveTable = liveSchema.tables[table];
      if (liveTable === undefined) continue;
      const tableSays = literalTables(says, table);
      const tableMet = caseOf(inSchema, namedIn(inSchema, table), liveTable, liveTable.syncMode);
      const tableVerdict = judge(judgement, scratch, tableMet, tableSays, 1);
      const path: NodePath = [schema, table];
      const tableOn = judgement.settle(path, 1, "enabled", liveTable.enabled, tableVerdict);
      judgement.compare(path, tableMet, liveTable);
      const place: Place = {
        schema,
        table,
        liveTable,
        tableOn,
        flows: schemaOn && tableOn,
        flowed: liveSchema.enabled && liveTable.enabled,
        context: tableMet.child,
        maps: literalColumnMaps(tableSays),
      };
      evaluateColumns(program, judgement, scratch, place, counts);
    }
  }
  return {
    changes: judgement.changes.sort((a, b) => comparePaths(a.path, b.path) || (a.key < b.key ? -1 : 1)),
    unmet: judgement.unmet,
    unmatched: judgement.unmatched,
    refused: judgement.refused,
    tally,
    unmanagedColumns: counts.unmanaged,
    exposedColumns: counts.exposed,
    isIncomplete: counts.isIncomplete,
  };
}

interface Counts {
  unmanaged: number;
  exposed: number;
  isIncomplete: boolean;
}

interface Place {
  readonly schema: string;
  readonly table: string;
  readonly liveTable: LiveTable;
  readonly tableOn: boolean;
  /** Whether the table's data flows after the changes, and before. */
  readonly flows: boolean;
  readonly flowed: boolean;
  readonly context: Context;
  readonly maps: readonly (Readonly<Record<string, ColumnTree>> | undefined)[] | undefined;
}

function evaluateColumns(program: Program, judgement: Judgement, scratch: Scratch, place: Place, counts: Counts): void {
  const { schema, table, liveTable, flows, flowed, context, maps } = place;
  const { tally } = judgement;
  const columns = liveTable.columns;
  const silent = isSilent(context);
  if (columns === undefined) {
    if (flows && !flowed) counts.exposed++;
    countUnknown(tally, context);
    if (!place.tableOn) judgement.pointless(place, undefined);
    return;
  }
  countPlace(tally, context);
  const unmatched = program.unmatched[2];
  // The fast way through tables that nobody speaks of.
  if (silent && maps === undefined && unmatched === undefined && !(flows && !flowed)) {
    counts.unmanaged += Object.keys(columns).length;
    return;
  }
  if (!place.tableOn && (!silent || maps !== undefined)) judgement.pointless(place, Object.keys(columns));
  // And through those of which one literal tree alone speaks, and says what is so already.
  if (silent && maps?.length === 1 && !(flows && !flowed) && isAsWritten(maps[0], columns)) return;
  const { changes } = judgement;
  const entries: (ColumnTree | undefined)[] = [];
  let position = 0;
  let named = 0;
  // Answers are plain JSON and inherit nothing that could be listed here; this form of loop is three times as fast as the others.
  for (const column in columns) {
    const liveColumn = columns[column];
    if (liveColumn === undefined) continue;
    const before = changes.length;
    const met = caseOf(context, namedAt(context, position++, column), liveColumn, liveTable.syncMode);
    const says = maps === undefined ? undefined : literalColumns(maps, column, entries);
    if (says !== undefined) for (let layer = 0; layer < says.length; layer++) if (says[layer] !== undefined) named++;
    const verdict = judge(judgement, scratch, met, says, 2);
    const { enabled, hashed } = verdict;
    const covered = verdict.covered || verdict.ignored;
    const differs = (enabled !== undefined && enabled !== liveColumn.enabled) || (hashed !== undefined && hashed !== liveColumn.hashed);
    if (differs || (!covered && unmatched !== undefined)) {
      const path: NodePath = [schema, table, column];
      judgement.settle(path, 2, "enabled", liveColumn.enabled, verdict);
      if (hashed !== undefined && hashed !== liveColumn.hashed) judgement.settle(path, 2, "hashed", liveColumn.hashed, verdict);
      if (changes.length > before) judgement.lookAt(path, liveColumn, place, before);
    }
    if (!covered && (unmatched === undefined || unmatched.mode === "error")) counts.unmanaged++;
    if ((changes.length > before || (flows && !flowed)) && isExposed(changes, before, liveColumn, flows, flowed)) counts.exposed++;
    if (met.expectations.length > 0) judgement.compare([schema, table, column], met, liveColumn);
  }
  for (const map of maps ?? []) if (map !== undefined) named -= Object.keys(map).length;
  if (named !== 0) counts.isIncomplete = true;
}

/** Whether the literal tree names the same columns, and sets nothing that is otherwise. */
function isAsWritten(map: Readonly<Record<string, ColumnTree>> | undefined = {}, columns: Readonly<Record<string, LiveColumn>>): boolean {
  let more = 0;
  for (const column in columns) {
    const live = columns[column];
    const entry = memberOf(map, column);
    if (live === undefined || entry === undefined) return false;
    const { enabled, hashed } = entry;
    if ((enabled !== undefined && enabled !== live.enabled) || (hashed !== undefined && hashed !== live.hashed)) return false;
    more--;
  }
  for (const _ in map) more++;
  return more === 0;
}

/** Whether the column would flow, or flow in clear, and does not now. Its changes are those from `since` on. */
function isExposed(changes: readonly NodeChange[], since: number, column: LiveColumn, flows: boolean, flowed: boolean): boolean {
  let { enabled, hashed } = column;
  for (let index = since; index < changes.length; index++) {
    const change = changes[index];
    if (change?.key === "enabled") enabled = change.after;
    else if (change !== undefined) hashed = change.after;
  }
  const appears = flows && enabled && !(flowed && column.enabled);
  const clears = flows && enabled && !hashed && !(flowed && column.enabled && !column.hashed);
  return appears || clears;
}

function judge(judgement: Judgement, scratch: Scratch, met: Case, says: Says | undefined, depth: Depth): Verdict {
  countNode(judgement.tally, met);
  if (says === undefined) {
    met.plain = true;
    return met.verdict;
  }
  const verdict = scratch[depth];
  resolve(verdict, met.spoken, says, judgement.program.layers, depth);
  if (met.spoken.length > 0) judgement.countSpecial(met, says, depth);
  return verdict;
}
