import { byText } from "../model/address.ts";
import { own } from "../model/json.ts";
import type { LiveColumn, LiveSchema } from "../model/live.ts";
import type { ColumnTree } from "../model/resource.ts";
import { escapeGlob } from "./escape-glob.ts";

// What columns are, put so that it can be said of names instead of columns.

export type State = "clear" | "hashed" | "off" | "off-hashed";
/** Of states that are equally frequent the one that protects most is the rule. */
const states: readonly State[] = ["off-hashed", "off", "hashed", "clear"];
const stateOf = ({ enabled, hashed }: LiveColumn): State => (enabled ? (hashed ? "hashed" : "clear") : hashed ? "off-hashed" : "off");
export const setFor: Readonly<Record<State, Required<ColumnTree>>> = {
  clear: { enabled: true, hashed: false },
  hashed: { enabled: true, hashed: true },
  off: { enabled: false, hashed: false },
  "off-hashed": { enabled: false, hashed: true },
};

/** Whether the table's columns replicate: it is on, and its schema is. */
export const flows = (schema: LiveSchema, table: string): boolean => schema.enabled && own(schema.tables, table)?.enabled === true;

/** What is said of a schema's columns. */
export interface ColumnProfile {
  /** By column name, for all tables of the schema. */
  readonly byColumn: ReadonlyMap<string, State>;
  /** By table name, for all its columns. */
  readonly byTable: ReadonlyMap<string, State>;
  /** Columns of tables that don't replicate are not spoken of. */
  readonly leavesOut: boolean;
}

/** `globs` false: no table is spoken of as a whole. */
export function columnProfile(schema: LiveSchema, globs: boolean): ColumnProfile {
  const leavesOut = globs && isMostlyOff(Object.values(schema.tables).map(({ enabled }) => enabled));
  const byTable = globs ? uniformTables(schema) : new Map<string, State>();
  return { byColumn: majorities(schema, byTable, leavesOut), byTable, leavesOut };
}

/** Tables all of whose columns are off, or all hashed: one rule says that. */
function uniformTables(schema: LiveSchema): ReadonlyMap<string, State> {
  const uniform = new Map<string, State>();
  for (const table of Object.keys(schema.tables).sort(byText)) {
    if (!flows(schema, table)) continue;
    const named = own(schema.tables, table)?.columns ?? {};
    const columns = Object.values(named);
    const [first] = columns;
    if (first === undefined || columns.length < 2 || [table, ...Object.keys(named)].some((name) => escapeGlob(name) === undefined))
      continue;
    const state = stateOf(first);
    if (state !== "clear" && columns.every((column) => stateOf(column) === state)) uniform.set(table, state);
  }
  return uniform;
}

/** Where most tables are off, off is said of all of them, and their columns are left alone: nobody wants to read those. */
export const isMostlyOff = (enabled: readonly boolean[]): boolean => {
  const off = enabled.filter((one) => !one).length;
  return off > 3 && off > enabled.length - off;
};

/** The most frequent state of each column name, in the order of names. */
function majorities(schema: LiveSchema, uniform: ReadonlyMap<string, State>, leavesOut: boolean): ReadonlyMap<string, State> {
  const counts = new Map<string, Map<State, number>>();
  const listed = new Set<string>();
  for (const table of Object.keys(schema.tables)) {
    if (uniform.has(table)) continue;
    const isListed = !leavesOut || flows(schema, table);
    const columns = own(schema.tables, table)?.columns ?? {};
    for (const name of Object.keys(columns)) {
      const column = own(columns, name);
      if (column === undefined || name === "") continue;
      if (isListed) listed.add(name);
      // What isn't listed has a say all the same: the rule speaks of it too.
      const ofName = counts.get(name) ?? new Map<State, number>();
      counts.set(name, ofName);
      ofName.set(stateOf(column), (ofName.get(stateOf(column)) ?? 0) + 1);
    }
  }
  const majority = (ofName: ReadonlyMap<State, number>): State =>
    states.reduce((best, state) => ((ofName.get(state) ?? 0) > (ofName.get(best) ?? 0) ? state : best));
  return new Map(
    [...counts]
      .filter(([name]) => listed.has(name))
      .sort(([a], [b]) => byText(a, b))
      .map(([name, ofName]) => [name, majority(ofName)]),
  );
}
