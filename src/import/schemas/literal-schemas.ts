import { emptyRecord } from "../../model/json/json.ts";
import type { LiveSchemas } from "../../model/live.ts";
import type { SchemaTree } from "../../model/resource.ts";
import { setFields, type WritableNode, walk } from "../../model/schema-tree.ts";

/** The live state of all nodes as a literal tree, by name. */
export function literalSchemas(live: LiveSchemas): SchemaTree {
  const tree = emptyRecord<WritableNode>();
  walk(
    live,
    {
      schema: ({ enabled }, path) => void setFields(tree, path, { enabled }),
      table: ({ enabled }, path) => void setFields(tree, path, { enabled }),
      column: ({ enabled, hashed }, path) => void setFields(tree, path, { enabled, hashed }),
    },
    "by-name",
  );
  return tree;
}
