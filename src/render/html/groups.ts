import { manifestAddress, parseAddress } from "../../model/address.ts";
import type { Change, Item, Plan } from "../../model/plan.ts";

/** What differs about one live object that people know: an integration with its schema configuration, a tag with its relations, an asset. */
export interface Group {
  /** "Integration/orders" */
  readonly key: string;
  /** "Integration orders" */
  readonly title: string;
  readonly liveId: string | undefined;
  readonly items: readonly Item[];
  /** How many changes have the risk that stands out. */
  readonly alarms: number;
}

/** The items by object: integrations first, and among them the one with most that is alarming. Ids to record are left out. */
export function groupsOf(items: Plan["items"], alarm: Change["risk"]): readonly Group[] {
  const byKey = new Map<string, Item[]>();
  for (const item of items) {
    if (item.action === "bind") continue;
    const parts = parseAddress(item.address);
    const key = parts?.on === undefined ? manifestAddress(item.address) : `Integration/${parts.on}`;
    const known = byKey.get(key);
    if (known === undefined) byKey.set(key, [item]);
    else known.push(item);
  }
  const groups = [...byKey].map(([key, members]): Group => {
    const on = members.map(({ address }) => parseAddress(address)?.on).find((label) => label !== undefined);
    return {
      key,
      title: on === undefined ? key.replace("/", " ") : `Integration ${on}`,
      liveId: members.find(({ liveId }) => liveId !== undefined)?.liveId,
      items: members,
      alarms: members.flatMap(({ changes }) => changes).filter(({ risk }) => risk === alarm).length,
    };
  });
  const isIntegration = ({ key }: Group): number => (key.startsWith("Integration/") ? 0 : 1);
  return groups.sort((a, b) => isIntegration(a) - isIntegration(b) || b.alarms - a.alarms);
}
