import { own } from "../../model/json.ts";
import type { LiveSchemas } from "../../model/live.ts";
import type { UnmanagedTable } from "../../model/plan.ts";
import type { TableTest } from "../kind.ts";
import type { Program } from "./compiled-config.ts";
import { newVerdict, resolve } from "./resolve-rules.ts";
import { type Context, caseOf, namedIn } from "./rule-cache.ts";
import { type Depth, literalColumnMaps, literalColumns, literalSchemas, literalTables } from "./tree.ts";

/**
 * The columns that `evaluate` counts as unmanaged, by name and in order: a walk of its own, since it is taken only where somebody asks. Of an enabled
 * table whose columns the service did not tell nobody knows; it stands in the list without columns.
 */
export function unmanagedTables(program: Program, live: LiveSchemas): readonly Omit<UnmanagedTable, "address">[] {
  const mode = program.unmatched[2]?.mode;
  if (mode !== undefined && mode !== "error") return [];
  const verdict = newVerdict();
  const found: Omit<UnmanagedTable, "address">[] = [];
  for (const schema of Object.keys(live).sort()) {
    const liveSchema = live[schema];
    if (liveSchema === undefined) continue;
    const says = literalSchemas(program.layers, schema);
    const inSchema = caseOf(program.root, namedIn(program.root, schema), liveSchema, undefined).child;
    for (const table of Object.keys(liveSchema.tables).sort()) {
      const liveTable = liveSchema.tables[table];
      if (liveTable === undefined) continue;
      const { columns, syncMode } = liveTable;
      const context = caseOf(inSchema, namedIn(inSchema, table), liveTable, syncMode).child;
      if (columns === undefined) {
        // Of a table that is ignored every column is: what a later rule sets again is managed, the rest left to others.
        if (liveTable.enabled && context.above.length === 0) found.push({ schema, table });
        continue;
      }
      const maps = literalColumnMaps(literalTables(says, table));
      const names = Object.keys(columns).filter((column) => {
        const node = columns[column];
        if (node === undefined) return false;
        const { spoken } = caseOf(context, namedIn(context, column), node, syncMode);
        resolve(verdict, spoken, maps === undefined ? undefined : literalColumns(maps, column, []), program.layers, 2);
        return !verdict.covered && !verdict.ignored;
      });
      if (names.length > 0) found.push({ schema, table, columns: names.sort() });
    }
  }
  return found;
}

/**
 * Tables whose columns the answer left out although they are needed: a rule, literal, assertion or `unmatched.columns` speaks of them, and the table
 * is or will be enabled (product §3.1). Nothing else is read column by column, unless it is `judged` by a policy and may flow.
 */
export function tablesToRead(
  program: Program,
  live: LiveSchemas,
  judged: TableTest | undefined,
): readonly (readonly [schema: string, table: string])[] {
  const wanted: (readonly [string, string])[] = [];
  const verdict = newVerdict();
  const unmatchedMode = (depth: Depth) => (verdict.covered || verdict.ignored ? undefined : program.unmatched[depth]?.mode);
  for (const schema of Object.keys(live)) {
    const liveSchema = live[schema];
    if (liveSchema === undefined) continue;
    const says = literalSchemas(program.layers, schema);
    const { spoken: ofSchema, child: inSchema } = caseOf(program.root, namedIn(program.root, schema), liveSchema, undefined);
    resolve(verdict, ofSchema, says, program.layers, 0);
    const mayFlow = liveSchema.enabled || (verdict.enabled ?? unmatchedMode(0) === "enable");
    for (const table of Object.keys(liveSchema.tables)) {
      const liveTable = liveSchema.tables[table];
      if (liveTable === undefined || liveTable.columns !== undefined) continue;
      const { syncMode } = liveTable;
      const { spoken, child } = caseOf(inSchema, namedIn(inSchema, table), liveTable, syncMode);
      const tableSays = literalTables(says, table);
      resolve(verdict, spoken, tableSays, program.layers, 1);
      const enabled = liveTable.enabled || (verdict.enabled ?? unmatchedMode(1) === "enable");
      if (!enabled) continue;
      const asked = asksForColumns(child, syncMode);
      const uncovered = program.unmatched[2] !== undefined && child.above.length === 0;
      if (asked || (mayFlow && judged?.(schema, table, syncMode) === true) || uncovered || literalColumnMaps(tableSays) !== undefined)
        wanted.push([schema, table]);
    }
  }
  return wanted;
}

/** Whether a rule or an assertion speaks of columns in here, and is not forgotten because a later rule ignores the table or its schema. */
function asksForColumns({ rules, above }: Context, syncMode: string | undefined): boolean {
  const forgotten = above.at(-1)?.index ?? -1;
  return rules.some(
    ({ ignores, where, expected, minMatches = 0, index }) =>
      !ignores &&
      (where?.syncMode === undefined || where.syncMode === syncMode) &&
      (index > forgotten || expected !== undefined || minMatches > 0),
  );
}

/** Enabled tables whose columns the answer left out, as far as a policy judges them: what is read where no configuration decides anything. */
export function policyTablesWithoutColumns(live: LiveSchemas, judged: TableTest): readonly (readonly [schema: string, table: string])[] {
  return Object.keys(live).flatMap((schema) => {
    const liveSchema = own(live, schema);
    if (liveSchema?.enabled !== true) return [];
    return Object.keys(liveSchema.tables).flatMap((table) => {
      const entry = own(liveSchema.tables, table);
      const isUnread = entry?.enabled === true && entry.columns === undefined;
      return isUnread && judged(schema, table, entry.syncMode) ? [[schema, table] as const] : [];
    });
  });
}
