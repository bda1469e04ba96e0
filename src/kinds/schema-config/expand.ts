import { emptyRecord, own } from "../../model/json.ts";
import type { LiveSchemas, LiveTable } from "../../model/live.ts";
import type { ColumnTree, SchemaTree, TableTree } from "../../model/resource.ts";
import type { Program } from "./compiled-config.ts";
import { newVerdict, resolve, type Says } from "./resolve-rules.ts";
import { type Case, type Context, caseOf, namedIn } from "./rule-cache.ts";
import type { Depth } from "./tree.ts";
import { literalColumnMaps, literalSchemas, literalTables } from "./tree.ts";

/**
 * Everything that is managed of an integration as one literal tree, rules and `unmatched` worked out over what is live (`render --expand`). As the
 * `schemas` of a manifest without rules it would manage the same, as long as the account has the same names. Names are in order.
 */
export function expand(program: Program, live: LiveSchemas): SchemaTree {
  const verdict = newVerdict();
  const wanted = ({ spoken }: Case, says: Says | undefined, depth: Depth): ColumnTree => {
    resolve(verdict, spoken, says, program.layers, depth);
    const enabled = verdict.enabled ?? byDefault(program, depth, verdict.covered || verdict.ignored);
    return { ...(enabled === undefined ? {} : { enabled }), ...(verdict.hashed === undefined ? {} : { hashed: verdict.hashed }) };
  };

  const columnsOf = (
    context: Context,
    table: LiveTable,
    maps: ReturnType<typeof literalColumnMaps>,
  ): Readonly<Record<string, ColumnTree>> => {
    const columns = emptyRecord<ColumnTree>();
    for (const column of Object.keys(table.columns ?? {}).sort()) {
      const node = own(table.columns, column);
      if (node === undefined) continue;
      const met = caseOf(context, namedIn(context, column), node, table.syncMode);
      const says = maps?.map((map) => own(map, column));
      const entry = wanted(met, says, 2);
      if (Object.keys(entry).length > 0) columns[column] = entry;
    }
    return columns;
  };

  const schemas = emptyRecord<SchemaTree[string]>();
  for (const schema of Object.keys(live).sort()) {
    const liveSchema = own(live, schema);
    if (liveSchema === undefined) continue;
    const says = literalSchemas(program.layers, schema);
    const met = caseOf(program.root, namedIn(program.root, schema), liveSchema, undefined);
    const entry = wanted(met, says, 0);
    const tables = emptyRecord<TableTree>();
    for (const table of Object.keys(liveSchema.tables).sort()) {
      const liveTable = own(liveSchema.tables, table);
      if (liveTable === undefined) continue;
      const tableSays = literalTables(says, table);
      const tableMet = caseOf(met.child, namedIn(met.child, table), liveTable, liveTable.syncMode);
      const tableEntry = wanted(tableMet, tableSays, 1);
      const columns = columnsOf(tableMet.child, liveTable, literalColumnMaps(tableSays));
      const whole = { ...tableEntry, ...(Object.keys(columns).length === 0 ? {} : { columns }) };
      if (Object.keys(whole).length > 0) tables[table] = whole;
    }
    const whole = { ...entry, ...(Object.keys(tables).length === 0 ? {} : { tables }) };
    if (Object.keys(whole).length > 0) schemas[schema] = whole;
  }
  return schemas;
}

function byDefault({ unmatched }: Program, depth: Depth, isCovered: boolean): boolean | undefined {
  const mode = isCovered ? undefined : unmatched[depth]?.mode;
  return mode === undefined || mode === "error" ? undefined : mode === "enable";
}
