import { own } from "../../model/json.ts";
import type { LiveSchemas } from "../../model/live.ts";
import type { TableTest } from "../kind.ts";
import { type Context, caseOf, namedIn } from "./context.ts";
import { literalColumnMaps, literalSchemas, literalTables } from "./literals.ts";
import type { Depth } from "./node.ts";
import type { Program } from "./program.ts";
import { newVerdict, resolve } from "./verdict.ts";

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
export function judgedTablesWithoutColumns(live: LiveSchemas, judged: TableTest): readonly (readonly [schema: string, table: string])[] {
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
