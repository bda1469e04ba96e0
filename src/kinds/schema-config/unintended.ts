import { own } from "../../model/json.ts";
import type { LiveColumn, LiveSchemas } from "../../model/live.ts";
import type { Pointer } from "../../model/pointer.ts";
import { type NodePath, nodePointer } from "./node.ts";

/**
 * Leaves that were read before a PATCH and are different, or gone, in its answer, beside the ones that were sent. Nodes that appear meanwhile
 * were discovered by the service, not changed by the call; columns that either reading leaves out are unknown, not different.
 */
export function unintendedChanges(before: LiveSchemas, after: LiveSchemas, sent: ReadonlySet<Pointer>): readonly Pointer[] {
  const found: Pointer[] = [];
  const compare = <T extends object>(path: NodePath, was: T, is: T | undefined, keys: readonly (keyof T & string)[]): void => {
    for (const key of keys) {
      if (was[key] === is?.[key] || was[key] === undefined) continue;
      const pointer = nodePointer(path, key);
      if (!sent.has(pointer)) found.push(pointer);
    }
  };
  for (const schema of Object.keys(before)) {
    const was = own(before, schema);
    const is = own(after, schema);
    if (was === undefined) continue;
    compare([schema], was, is, ["enabled", "nameInDestination"]);
    for (const table of Object.keys(was.tables)) {
      const wasTable = own(was.tables, table);
      const isTable = own(is?.tables, table);
      if (wasTable === undefined) continue;
      compare([schema, table], wasTable, isTable, ["enabled", "nameInDestination", "syncMode", "cursorField"]);
      if (wasTable.columns === undefined || isTable?.columns === undefined) continue;
      for (const column of Object.keys(wasTable.columns)) {
        const wasColumn = own<LiveColumn>(wasTable.columns, column);
        if (wasColumn !== undefined)
          compare([schema, table, column], wasColumn, own<LiveColumn>(isTable.columns, column), [
            "enabled",
            "hashed",
            "nameInDestination",
            "isPrimaryKey",
          ]);
      }
    }
  }
  return found;
}
