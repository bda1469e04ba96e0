import { changeCount, eachChange, isOutside } from "../../model/changes.ts";
import type { Plan } from "../../model/plan.ts";
import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import { andMore, joinParts } from "../../text/lists.ts";
import { pathText } from "../../text/paths.ts";
import { attributionText } from "./attribution.ts";

/** What someone changed in the account, and a plan would undo; without control characters. */
export interface Outside {
  /** "2 changes do not come from the manifests: …"; "" if there are none. */
  readonly note: string;
  /** "Schemas/orders: public.users.email hashed; dana@example.com, 2026-03-03 07:55 UTC", by object and user. */
  readonly lines: readonly string[];
}

/** Empty for a drift report, which has nothing else. */
export function outsideOf({ kind, items }: Plan): Outside {
  const count = kind === "Plan" ? items.reduce((sum, item) => sum + changeCount(item, isOutside), 0) : 0;
  if (count === 0) return { note: "", lines: [] };
  const isOne = count === 1;
  const note = `${counted(count, "change")} ${isOne ? "does" : "do"} not come from the manifests: someone changed the account, and apply will undo ${isOne ? "it" : "them"}.`;
  const lines = items.flatMap((item) => {
    const byActor = new Map<string, string[]>();
    for (const change of eachChange(item)) {
      if (!isOutside(change)) continue;
      const who = attributionText(change.attribution);
      const { node, leaf } = pathText(change.path);
      byActor.set(who, [...(byActor.get(who) ?? []), joinParts([node, leaf], " ")]);
    }
    return [...byActor].map(([who, nodes]) => joinParts([`${visible(item.address)}: ${andMore(nodes, { shown: mostNodes })}`, who], "; "));
  });
  return { note, lines };
}

const mostNodes = 3;
