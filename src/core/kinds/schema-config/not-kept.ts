import type { Binding } from "../../model/address.ts";
import { isObject, own, sameJson } from "../../model/json/json.ts";
import type { Pointer } from "../../model/json/pointer.ts";
import type { LiveSchemas, LiveTable } from "../../model/live.ts";
import { nodePointer } from "../../model/nodes.ts";
import type { NotKept } from "../../model/plan.ts";
import { nodesAt, riskOf } from "../../model/schema-tree.ts";
import type { AccountView } from "../kind.ts";
import { leafDigests } from "../leaves.ts";
import type { IsLeftOut, NodeChange } from "./evaluation.ts";
import type { SchemaConfigUnit } from "./units.ts";

/** Whether the service says that requests change nothing of the table: a nested list of another table, for example. */
const isFixed = ({ enabledPatchSettings: settings }: Pick<LiveTable, "enabledPatchSettings">): boolean =>
  isObject(settings) && own(settings, "allowed") === false;

/**
 * Leaves out what the service does not keep, so that it is not sent again and again: nodes that it calls fixed, and values that an earlier run
 * sent in vain, until the manifest or the account changes there. Adds it to `found`. A value that protects is never left out.
 */
export function leavingOut(
  { address }: Pick<SchemaConfigUnit, "address">,
  tree: LiveSchemas,
  account: AccountView,
): { readonly isLeftOut: IsLeftOut; readonly found: readonly NotKept[] } {
  const known = account.notKept.get(address);
  const found: NotKept[] = [];
  const isLeftOut: IsLeftOut = (path, key, change) => {
    const pointer = nodePointer(path, key);
    if (account.ignored(address, pointer)) return true;
    if (change === undefined) return false;
    const { before, after: wanted } = change;
    const { table } = nodesAt(tree, path);
    const live = before ?? null;
    if (table !== undefined && isFixed(table)) found.push({ address, path: pointer, wanted, live });
    else {
      const earlier = known?.get(pointer);
      if (earlier === undefined || !sameJson([earlier.wanted, earlier.live], [wanted, live])) return false;
      found.push({ address, path: pointer, wanted, live, since: earlier.since });
    }
    return typeof wanted !== "boolean" || riskOf(key === "hashed" ? "hashed" : "enabled", wanted) !== "protects";
  };
  return { isLeftOut, found };
}

// A value that protects is sent although the service does not show whether the account has it. It is sent once: the records keep one
// digest of all such values of an integration. Afterwards they are unverifiable.

interface Unshown {
  readonly changes: readonly NodeChange[];
  /** What an earlier run has sent, and no read shows. */
  readonly sentBefore: readonly Pointer[];
  /** What to record when the changes are sent; absent if all of their live values are known. */
  readonly record?: Omit<Binding, "id">;
}

const recordedAt = "/schemas";

/** Leaves out what was sent before, according to the records. */
export function withoutSent(changes: readonly NodeChange[], recorded: Binding | undefined): Unshown {
  const unknown = changes.filter(({ before }) => before === undefined);
  if (unknown.length === 0) return { changes, sentBefore: [] };
  const values = unknown.map(({ path, key, after }) => [nodePointer(path, key), after] as const);
  const sent = leafDigests(values, recordedAt);
  if (recorded?.sent?.[recordedAt] !== sent[recordedAt])
    return { changes, sentBefore: [], record: { sent: { ...recorded?.sent, ...sent } } };
  return { changes: changes.filter(({ before }) => before !== undefined), sentBefore: values.map(([pointer]) => pointer) };
}
