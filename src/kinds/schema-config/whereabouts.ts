import { own } from "../../model/json.ts";
import type { LiveSchemas } from "../../model/live.ts";
import type { Pointer } from "../../model/pointer.ts";
import { nearest } from "../../model/suggest.ts";
import { levelNames, type NodePath, nodePointer, nodeText } from "./node.ts";

/** Why a live node can't be shown; undefined where it can: it isn't there (with what may have been meant), or its columns are unknown. */
export function absenceOf(live: LiveSchemas, [schema, table, column]: NodePath): string | undefined {
  const liveSchema = own(live, schema);
  if (liveSchema === undefined) return notThere([schema], Object.keys(live));
  if (table === undefined) return undefined;
  const liveTable = own(liveSchema.tables, table);
  if (liveTable === undefined) return notThere([schema, table], Object.keys(liveSchema.tables));
  if (column === undefined) return undefined;
  if (liveTable.columns === undefined) return `unknown: the service does not tell the columns of ${nodeText([schema, table])}`;
  return Object.hasOwn(liveTable.columns, column) ? undefined : notThere([schema, table, column], Object.keys(liveTable.columns));
}

function notThere(path: NodePath, known: readonly string[]): string {
  const found = nearest(path.at(-1) ?? "", [...known].sort());
  const meant = found === undefined ? "" : ` Did you mean ${nodeText([...path.slice(0, -1), found] as unknown as NodePath)}?`;
  return `not in the account: there is no ${levelNames[path.length - 1]} ${nodeText(path)}.${meant}`;
}

/** The node above that keeps this one from being replicated once the changes are made: pointer of a leaf to its new value; undefined where none does. */
export function stoppedBy(
  live: LiveSchemas,
  [schema, table, column]: NodePath,
  after: ReadonlyMap<Pointer, unknown>,
): NodePath | undefined {
  const above: readonly NodePath[] = table === undefined ? [] : column === undefined ? [[schema]] : [[schema], [schema, table]];
  return above.find((node) => {
    const liveSchema = own(live, node[0]);
    const entry = node[1] === undefined ? liveSchema : own(liveSchema?.tables, node[1]);
    return entry !== undefined && (after.get(nodePointer(node, "enabled")) ?? entry.enabled) === false;
  });
}
