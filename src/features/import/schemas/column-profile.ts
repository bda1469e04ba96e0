import { byText } from "../../../core/model/address.ts";
import { own } from "../../../core/model/json/json.ts";
import type { LiveColumn, LiveSchema } from "../../../core/model/live.ts";
import { getOrAdd } from "../../../core/model/maps.ts";
import type { ColumnTree } from "../../../core/model/resource.ts";
import { isEnabled, isReplicated } from "../../../core/model/schema-tree.ts";
import { escapeGlob } from "./escape-glob.ts";

// The states of a schema's columns, summarised by column name, so that rules can be written about names instead of single columns.

/** "clear" is enabled and unhashed; rule ids such as `live-columns-clear` contain these words. */
export type ColumnState = "clear" | "hashed" | "off" | "off-hashed";

/** Of equally frequent states, the one that protects most becomes the rule. */
const states: readonly ColumnState[] = ["off-hashed", "off", "hashed", "clear"];

/** Undefined if the service does not show it. */
const stateOf = ({ enabled, hashed }: LiveColumn): ColumnState | undefined => {
  if (enabled === undefined || hashed === undefined) return undefined;
  if (enabled) return hashed ? "hashed" : "clear";
  return hashed ? "off-hashed" : "off";
};

export const setFor: Readonly<Record<ColumnState, Required<ColumnTree>>> = {
  clear: { enabled: true, hashed: false },
  hashed: { enabled: true, hashed: true },
  off: { enabled: false, hashed: false },
  "off-hashed": { enabled: false, hashed: true },
};

export interface ColumnProfile {
  /** The state for a column name, in all tables of the schema. */
  readonly byColumn: ReadonlyMap<string, ColumnState>;
  /** The state of all columns of a table, by table name. */
  readonly byTable: ReadonlyMap<string, ColumnState>;
  /** True if columns of tables that are not replicated stay unmanaged. */
  readonly leavesOut: boolean;
}

/** If `globs` is false, no rule is written for a table as a whole. */
export function columnProfile(schema: LiveSchema, globs: boolean): ColumnProfile {
  const leavesOut = globs && isMostlyOff(Object.values(schema.tables).map(isEnabled));
  const byTable = globs ? uniformTables(schema) : new Map<string, ColumnState>();
  return { byColumn: mostFrequent(schema, byTable, leavesOut), byTable, leavesOut };
}

/** Tables whose columns are all off, or all hashed: one rule covers them. */
function uniformTables(schema: LiveSchema): ReadonlyMap<string, ColumnState> {
  const uniform = new Map<string, ColumnState>();
  for (const table of Object.keys(schema.tables).sort(byText)) {
    if (!isReplicated(schema, table)) continue;
    const columns = own(schema.tables, table)?.columns ?? {};
    const [first, second] = Object.values(columns);
    const hasPattern = [table, ...Object.keys(columns)].every((name) => escapeGlob(name) !== undefined);
    if (first === undefined || second === undefined || !hasPattern) continue;
    const state = stateOf(first);
    if (state !== undefined && state !== "clear" && Object.values(columns).every((column) => stateOf(column) === state))
      uniform.set(table, state);
  }
  return uniform;
}

/** If most tables are off, one rule turns all of them off and their columns are not listed. */
export const isMostlyOff = (enabled: readonly boolean[]): boolean => {
  const off = enabled.filter((one) => !one).length;
  return off > 3 && off > enabled.length - off;
};

/** The most frequent state of each column name, by name. */
function mostFrequent(schema: LiveSchema, uniform: ReadonlyMap<string, ColumnState>, leavesOut: boolean): ReadonlyMap<string, ColumnState> {
  const counts = new Map<string, Map<ColumnState, number>>();
  const listed = new Set<string>();
  for (const table of Object.keys(schema.tables)) {
    if (uniform.has(table)) continue;
    const isListed = !leavesOut || isReplicated(schema, table);
    for (const [name, column] of Object.entries(own(schema.tables, table)?.columns ?? {})) {
      const state = stateOf(column);
      if (name === "" || state === undefined) continue;
      if (isListed) listed.add(name);
      // Counted even if not listed: the rule for the name matches this column too.
      const ofName = getOrAdd(counts, name, () => new Map<ColumnState, number>());
      ofName.set(state, (ofName.get(state) ?? 0) + 1);
    }
  }
  const winner = (ofName: ReadonlyMap<ColumnState, number>): ColumnState =>
    states.reduce((best, state) => ((ofName.get(state) ?? 0) > (ofName.get(best) ?? 0) ? state : best));
  return new Map(
    [...counts]
      .filter(([name]) => listed.has(name))
      .sort(([a], [b]) => byText(a, b))
      .map(([name, ofName]) => [name, winner(ofName)]),
  );
}
