import { isObject, own } from "../../base/model/json/json.ts";
import { isKeptAs } from "../../base/model/kept.ts";
import type { LiveSchemas, LiveTable } from "../../base/model/live.ts";
import { nodePointer } from "../../base/model/nodes.ts";
import { nodesAt } from "../../base/model/schema-tree.ts";
import type { Account, Overlay } from "../kind.ts";
import type { DecideLeaf } from "./evaluation.ts";
import type { SchemaConfigUnit } from "./units.ts";

/** Whether the service says that requests change nothing of the table: a nested list of another table, for example. */
export const isFixed = ({ enabledPatchSettings: settings }: Pick<LiveTable, "enabledPatchSettings">): boolean =>
  isObject(settings) && own(settings, "allowed") === false;

/** The overlay of the schemas, asked by node. A flag that an apply has kept was sent, also if the service never shows it. */
export function overlayOf(
  { address, liveId }: Pick<SchemaConfigUnit, "address" | "liveId">,
  tree: LiveSchemas,
  account: Account,
): { readonly decide: DecideLeaf; readonly steps: Overlay["steps"] } {
  const overlay = account.overlay(address);
  const kept = account.kept.get(liveId)?.schemas;
  const decide: DecideLeaf = (path, key, change) => {
    const pointer = nodePointer(path, key);
    if (change === undefined) return account.ignored(address, pointer) ? "leave" : "send";
    const { wanted, live, risk } = change;
    const { table } = nodesAt(tree, path);
    // Without a spread, which would take twice as long.
    return overlay.decide({
      path: pointer,
      wanted,
      live,
      risk,
      isFixed: table !== undefined && isFixed(table),
      wasSent: live === undefined && isKeptAs(kept, path, key === "hashed" ? "hashed" : "disabled"),
    });
  };
  return { decide, steps: overlay.steps };
}
