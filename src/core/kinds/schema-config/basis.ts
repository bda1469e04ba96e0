import { createHash } from "node:crypto";
import type { LiveSchemas } from "../../model/live.ts";
import { eachNode, type NodePath } from "../../model/nodes.ts";
import type { ChangeFacts, ChangeGroup, DraftFacts } from "../../model/plan.ts";
import { isStep, type Steps } from "../../model/runtime/event-loop.ts";
import { nodesAt, walkInSteps } from "../../model/schema-tree.ts";
import type { ObservedSchemas } from "./read.ts";

/**
 * A digest of the live values that the changes do not set and that decide what they expose: whether the nodes above are enabled, the
 * other value of the column, and everything below a schema or table that becomes enabled. Undefined: nothing exposes. Columns that were
 * read table by table are left out below it, because a later read need not have them.
 */
export function* basisOf(
  changes: readonly (ChangeGroup<DraftFacts> | ChangeGroup<ChangeFacts>)[],
  { tree, apart }: Pick<ObservedSchemas, "tree" | "apart">,
): Steps<string | undefined> {
  const lines = new Set<string>();
  const add = (path: NodePath, ...values: readonly (boolean | undefined)[]): void => void lines.add(JSON.stringify([path, values]));
  for (const entry of changes) {
    if (entry.risk !== "exposes" || "path" in entry) continue;
    for (const path of eachNode(entry.nodes)) {
      if (isStep(lines.size)) yield;
      const { schema, table, column } = nodesAt(tree, path);
      add(path, schema?.enabled, table?.enabled, column?.enabled, column?.hashed);
      yield* walkInSteps<LiveSchemas[string]>(below(tree, path), {
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
