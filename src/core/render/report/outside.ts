import { changeCount, eachChange, isOutside } from "../../model/changes.ts";
import type { Item, Plan } from "../../model/plan.ts";
import { counted } from "../../text/counts.ts";
import { andMore, joinParts } from "../../text/lists.ts";
import { wholePath } from "../../text/paths.ts";
import type { Section } from "../blocks.ts";
import { attributionText } from "./attribution.ts";

/**
 * What the manifests did not change since the base. If the base is the commit that was applied last, someone changed the account; the base
 * of a review may never have been applied. Empty for a drift report, which has nothing else.
 */
export function outsideSection({ kind, items, loosened }: Plan): Section {
  const count = kind === "Plan" ? items.reduce((sum, item) => sum + changeCount(item, isOutside), 0) : 0;
  const lines = count === 0 ? [] : items.flatMap(outsideLines);
  const [is, does, them] = count === 1 ? ["is", "does", "it"] : ["are", "do", "them"];
  const isReview = loosened !== undefined;
  const note = isReview
    ? `${counted(count, "change")} ${is} not from this pull request: the manifests at the base ask for ${them}, too. Someone changed the account, or nobody applied the base. Apply will send ${them}.`
    : `${counted(count, "change")} ${does} not come from the manifests: someone changed the account, and apply will undo ${them}.`;
  return {
    id: "outside",
    title: isReview ? "Not from this pull request" : "Changed in the account",
    count: lines.length,
    part: "attention",
    isPlain: true,
    isVital: true,
    entries: count === 0 ? [] : [{ head: [[note]], rows: lines.map((text) => [[text]]) }],
  };
}

/** "Schemas/orders: public.users.email hashed; dana@example.com, 2026-03-03 07:55 UTC", for each user. */
function outsideLines(item: Item): readonly string[] {
  const byActor = new Map<string, string[]>();
  for (const change of eachChange(item)) {
    if (!isOutside(change)) continue;
    const who = attributionText(change.attribution);
    byActor.set(who, [...(byActor.get(who) ?? []), wholePath(change.path)]);
  }
  return [...byActor].map(([who, nodes]) => joinParts([`${item.address}: ${andMore(nodes)}`, who], "; "));
}
