import { isObject, own } from "../../base/model/json/json.ts";
import { isKeptAs, type KeptSchemas } from "../../base/model/kept.ts";
import type { LiveSchemas, LiveTable } from "../../base/model/live.ts";
import { nodePointer } from "../../base/model/nodes.ts";
import type { NotKept } from "../../base/model/plan.ts";
import { nodesAt, riskOf } from "../../base/model/schema-tree.ts";
import { sentInVain } from "../fields.ts";
import type { Account } from "../kind.ts";
import type { IsLeftOut, NodeChange } from "./evaluation.ts";
import type { SchemaConfigUnit } from "./units.ts";

/** Whether the service says that requests change nothing of the table: a nested list of another table, for example. */
export const isFixed = ({ enabledPatchSettings: settings }: Pick<LiveTable, "enabledPatchSettings">): boolean =>
  isObject(settings) && own(settings, "allowed") === false;

/**
 * Leaves out what the service does not keep, so that it is not sent again and again: nodes that it calls fixed, and values that an earlier run
 * sent in vain, until the manifest or the account changes there. Adds it to `found`. A value that protects is never left out.
 */
export function leavingOut(
  { address }: Pick<SchemaConfigUnit, "address">,
  tree: LiveSchemas,
  account: Account,
): { readonly isLeftOut: IsLeftOut; readonly found: readonly NotKept[] } {
  const found: NotKept[] = [];
  const isLeftOut: IsLeftOut = (path, key, change) => {
    const pointer = nodePointer(path, key);
    if (account.ignored(address, pointer)) return true;
    if (change === undefined) return false;
    const { before, after: wanted } = change;
    const { table } = nodesAt(tree, path);
    const fixed = table !== undefined && isFixed(table) ? { address, path: pointer, wanted, live: before ?? null } : undefined;
    const inVain = fixed ?? sentInVain({ address, path: pointer, wanted, live: before }, account);
    if (inVain === undefined) return false;
    found.push(inVain);
    return typeof wanted !== "boolean" || riskOf(key === "hashed" ? "hashed" : "enabled", wanted) !== "protects";
  };
  return { isLeftOut, found };
}

/**
 * Changes whose live value the service does not show, and that the manifests have kept since an apply sent them: they are unseen. A
 * value that was given up meanwhile is sent again.
 */
export const isSentBefore =
  (kept: KeptSchemas | undefined) =>
  ({ path, key, before }: NodeChange): boolean =>
    before === undefined && isKeptAs(kept, path, key === "hashed" ? "hashed" : "disabled");
