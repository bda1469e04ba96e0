import { type KeepingNodes, type Kept, keptById, keptJson, keptNow } from "../model/kept.ts";
import { getOrAdd } from "../model/maps.ts";
import { eachNode } from "../model/nodes.ts";
import type { Item, ItemResult } from "../model/plan.ts";
import { isGood } from "./step.ts";

interface KeptRun {
  /** What the plans of the rounds found kept. */
  readonly found: readonly Kept[];
  readonly items: readonly Pick<ItemResult, "outcome" | "address" | "liveId" | "changes">[];
  /** The manifests of each address. */
  readonly manifestsOf: ReadonlyMap<string, Item["manifests"]>;
  /** ISO 8601 */
  readonly at: string;
}

/** What is kept after a run: what its plans found, what it has protected, and what is known of other integrations. */
export function keptAfter(known: Kept, { found, items, manifestsOf, at }: KeptRun): Kept {
  const byId = new Map(keptById(known));
  for (const kept of found) for (const [id, schemas] of keptById(kept)) byId.set(id, schemas);
  for (const { outcome, address, liveId, changes } of items) {
    if (!isGood(outcome) || liveId === undefined) continue;
    const keeping = protectedIn(changes, manifestsOf.get(address)?.at(-1) ?? address);
    if (keeping.size > 0) byId.set(liveId, keptNow(byId.get(liveId), keeping, { since: at, isGivenUp: () => false }));
  }
  return keptJson(new Map([...byId].filter(([, schemas]) => schemas.size > 0)));
}

/** The nodes of the changes that protect. */
function protectedIn(changes: ItemResult["changes"], by: string): ReadonlyMap<string, Map<string | undefined, KeepingNodes[]>> {
  const keeping = new Map<string, Map<string | undefined, KeepingNodes[]>>();
  for (const entry of changes ?? []) {
    if ("path" in entry || entry.risk !== "protects") continue;
    const as = entry.field === "hashed" ? "hashed" : "disabled";
    for (const [schema, table, column] of eachNode(entry.nodes)) {
      const tables = getOrAdd(keeping, schema, () => new Map<string | undefined, KeepingNodes[]>());
      getOrAdd(tables, table, () => []).push({ as, by, isKept: true, ...(column === undefined ? {} : { columns: [column] }) });
    }
  }
  return keeping;
}
