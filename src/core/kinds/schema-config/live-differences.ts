import { createHash } from "node:crypto";
import { own } from "../../base/model/json/json.ts";
import type { Pointer } from "../../base/model/json/pointer.ts";
import type { LiveColumn, LiveSchema, LiveSchemas, LiveTable } from "../../base/model/live.ts";
import type { SchemaTree } from "../../base/model/manifest.ts";
import { everyName } from "../../base/model/maps.ts";
import { eachNode, type NodePath, nodePointer } from "../../base/model/nodes.ts";
import type { ChangeFacts, ChangeGroup, DraftFacts } from "../../base/model/plan.ts";
import { isEnabled, nodesAt, walk } from "../../base/model/schema-tree.ts";
import type { ObservedSchemas } from "./read.ts";

// The differences between two reads of the schemas of an integration. Columns that one of them leaves out are unknown, not different.

const ofSchema = everyName<Exclude<keyof LiveSchema, "tables">>({ enabled: true, nameInDestination: true });
const ofTable = everyName<Exclude<keyof LiveTable, "columns" | "enabledPatchSettings">>({
  enabled: true,
  nameInDestination: true,
  syncMode: true,
  cursorField: true,
});
const ofColumn = everyName<keyof LiveColumn>({ enabled: true, hashed: true, nameInDestination: true, isPrimaryKey: true });

/**
 * Leaves that were read before a PATCH and that its response shows with another value or not at all, except those that
 * were sent. Nodes that are new in the response were discovered by the service, not changed by the request.
 */
export function unintendedChanges(before: LiveSchemas, after: LiveSchemas, sent: SchemaTree): readonly Pointer[] {
  const found: Pointer[] = [];
  const compare = <T extends object>(
    path: NodePath,
    [was, is, ofBody]: readonly [T, T | undefined, object | undefined],
    keys: readonly (keyof T & string)[],
  ): void => {
    for (const key of keys)
      if (was[key] !== is?.[key] && was[key] !== undefined && (ofBody === undefined || !Object.hasOwn(ofBody, key)))
        found.push(nodePointer(path, key));
  };
  for (const schema of Object.keys(before)) {
    const [was, is, ofBody] = [own(before, schema), own(after, schema), own(sent, schema)];
    if (was === undefined) continue;
    compare([schema], [was, is, ofBody], ofSchema);
    for (const table of Object.keys(was.tables)) {
      const [wasTable, isTable, tableOfBody] = [own(was.tables, table), own(is?.tables, table), own(ofBody?.tables, table)];
      if (wasTable === undefined) continue;
      // Whether the cursor is shown depends on the mode.
      const isNewMode = tableOfBody?.syncMode !== undefined;
      compare([schema, table], [wasTable, isTable, tableOfBody], isNewMode ? ofTable.filter((key) => key !== "cursorField") : ofTable);
      if (isTable?.columns === undefined) continue;
      for (const column of Object.keys(wasTable.columns ?? {})) {
        const wasColumn = own(wasTable.columns, column);
        if (wasColumn !== undefined)
          compare([schema, table, column], [wasColumn, own(isTable.columns, column), own(tableOfBody?.columns, column)], ofColumn);
      }
    }
  }
  return found;
}

/** Columns that are replicated and not hashed, in schemas, tables and columns that the tree before did not have. */
export function appearedColumns(before: LiveSchemas, after: LiveSchemas): readonly Pointer[] {
  const found: Pointer[] = [];
  for (const [schema, is] of Object.entries(after)) {
    const was = own(before, schema);
    for (const [table, isTable] of Object.entries(is.tables)) {
      const wasTable = own(was?.tables, table);
      const { columns = {} } = isTable;
      // The columns of a table may not have been read. With as many columns as before it has the same ones: one that is
      // gone is an unintended change, which is looked for first.
      const isKnown = wasTable !== undefined && (wasTable.columns === undefined || sizeOf(wasTable.columns) === sizeOf(columns));
      if (isKnown || !isEnabled(is) || !isEnabled(isTable)) continue;
      for (const [column, { enabled, hashed }] of Object.entries(columns)) {
        if (enabled !== false && hashed !== true && own(wasTable?.columns, column) === undefined)
          found.push(nodePointer([schema, table, column]));
      }
    }
  }
  return found;
}

const sizeOf = (columns: object): number => Object.keys(columns).length;

/**
 * A digest of the live values that the changes do not set and that decide what they expose: whether the nodes above are enabled, the
 * other value of the column, and everything below a schema or table that becomes enabled. Undefined: nothing exposes. Columns that were
 * read table by table are left out below it, because a later read need not have them.
 */
export function basisOf(
  changes: readonly (ChangeGroup<DraftFacts> | ChangeGroup<ChangeFacts>)[],
  { tree, apart }: Pick<ObservedSchemas, "tree" | "apart">,
): string | undefined {
  const lines = new Set<string>();
  const add = (path: NodePath, ...values: readonly (boolean | undefined)[]): void => void lines.add(JSON.stringify([path, values]));
  for (const entry of changes) {
    if (entry.risk !== "exposes" || "path" in entry) continue;
    for (const path of eachNode(entry.nodes)) {
      const { schema, table, column } = nodesAt(tree, path);
      add(path, schema?.enabled, table?.enabled, column?.enabled, column?.hashed);
      walk<LiveSchemas[string]>(below(tree, path), {
        table(live, at) {
          add(at, live.enabled);
          return apart?.has(live) !== true;
        },
        column: ({ enabled, hashed }, at) => add(at, enabled, hashed),
      });
    }
  }
  if (lines.size === 0) return undefined;
  const hash = createHash("sha256");
  for (const line of [...lines].sort()) hash.update(`${line}\n`);
  return `sha256:${hash.digest("hex")}`;
}

/** The schema or table alone; nothing below a column. */
function below(tree: LiveSchemas, path: NodePath): LiveSchemas {
  const [schemaName, tableName, columnName] = path;
  const { schema, table } = nodesAt(tree, path);
  if (schema === undefined || columnName !== undefined) return {};
  if (tableName === undefined) return { [schemaName]: schema };
  return table === undefined ? {} : { [schemaName]: { ...schema, tables: { [tableName]: table } } };
}
