import type { LiveNode } from "../../../model/schema-tree.ts";

/** A number for each combination of the attributes that `where` compares, without syncMode. */
export function attributesKey(node: LiveNode | undefined): number {
  if (node === undefined) return 0;
  const { hashed, isPrimaryKey } = node;
  return (
    1 +
    (node.enabled ? 1 : 0) +
    2 * (hashed === undefined ? 2 : hashed ? 1 : 0) +
    6 * (isPrimaryKey === undefined ? 2 : isPrimaryKey ? 1 : 0)
  );
}
