import { newPacker, type PackedLeaves } from "../../model/json/packed-leaves.ts";
import { escaped } from "../../model/json/pointer.ts";
import { type Field, type NodePath, nodePointer } from "./tree.ts";

/** Collects values of nodes. Equal values are one value to the result if they are the same object or scalar. */
export function newNodeLeaves<T>(): {
  readonly add: (path: NodePath, key: Field, value: T) => void;
  readonly packed: () => PackedLeaves<T>;
} {
  const packer = newPacker<T>();
  const kinds: Readonly<Record<Field, Map<T, number>>> = { enabled: new Map(), hashed: new Map() };
  const parentOf = newParents();
  return {
    add: (path, key, value) => {
      const kind = kinds[key].get(value) ?? packer.kind(`/${key}`, value);
      kinds[key].set(value, kind);
      packer.add(parentOf(path), escaped(path[2] ?? path[1] ?? path[0]), kind);
    },
    packed: packer.packed,
  };
}

/** The pointer before the last name of a path. Columns of one table follow each other, so it is made once for each table. */
function newParents(): (path: NodePath) => string {
  let last: NodePath = [""];
  let parent = "";
  return (path) => {
    const [schema, table, column] = path;
    const isSame =
      last.length === path.length && (table === undefined || last[0] === schema) && (column === undefined || last[1] === table);
    last = path;
    if (parent === "" || !isSame) {
      if (table === undefined) parent = "/schemas/";
      else parent = column === undefined ? `${nodePointer([schema])}/tables/` : `${nodePointer([schema, table])}/columns/`;
    }
    return parent;
  };
}
