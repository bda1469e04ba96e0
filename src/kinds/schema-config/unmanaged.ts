import type { LiveSchemas } from "../../model/live.ts";
import type { UnmanagedTable } from "../../model/plan.ts";
import { caseOf, namedIn } from "./context.ts";
import { literalColumnMaps, literalColumns, literalSchemas, literalTables } from "./literals.ts";
import type { Program } from "./program.ts";
import { newVerdict, resolve } from "./verdict.ts";

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
