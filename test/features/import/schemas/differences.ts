import { own } from "../../../../src/core/base/model/json/json.ts";
import type { LiveSchemas } from "../../../../src/core/base/model/live.ts";
import type { ColumnTree, SchemaTree } from "../../../../src/core/base/model/manifest.ts";
import type { NodePath } from "../../../../src/core/base/model/nodes.ts";
import { type Field, walk } from "../../../../src/core/base/model/schema-tree.ts";

/** A leaf that is managed and has this other value live. */
interface LeafDifference {
  readonly path: NodePath;
  readonly key: Field;
  readonly value: boolean;
}

export function differences(desired: SchemaTree, live: LiveSchemas): readonly LeafDifference[] {
  const found: LeafDifference[] = [];
  const compare = (
    path: NodePath,
    wanted: ColumnTree,
    node: { readonly enabled?: boolean; readonly hashed?: boolean } | undefined,
  ): void => {
    if (node === undefined) return;
    for (const key of ["enabled", "hashed"] as const) {
      const value = node[key];
      if (wanted[key] !== undefined && value !== undefined && wanted[key] !== value) found.push({ path, key, value });
    }
  };
  walk(desired, {
    schema(wanted, path) {
      compare(path, wanted, own(live, path[0]));
      return true;
    },
    table(wanted, path) {
      compare(path, wanted, own(own(live, path[0])?.tables, path[1]));
      return true;
    },
    column: (wanted, path) => compare(path, wanted, own(own(own(live, path[0])?.tables, path[1])?.columns, path[2])),
  });
  return found;
}
