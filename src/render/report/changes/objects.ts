import { integrationAddress, kindNames } from "../../../kinds/manifests.ts";
import { kindOf, manifestAddress, parseAddress } from "../../../model/address.ts";
import type { Item } from "../../../model/plan.ts";
import { actorText } from "../attribution.ts";
import type { Words } from "../words.ts";
import { grouped } from "./grouped.ts";
import { type ItemGroup, itemGroups } from "./groups.ts";

/** All changes of one live object: an integration with its schemas, a tag with its relations, an asset. */
export interface ReportObject {
  /** "Integration orders"; raw. */
  readonly title: string;
  /** The address of the item that is the object itself. */
  readonly address: string;
  readonly liveId: string | undefined;
  readonly items: readonly ItemGroup[];
  readonly changes: number;
  /** Changes with the highlighted risk. */
  readonly alarms: number;
  /** Users who made the changes, according to the audit log. */
  readonly users: readonly string[];
}

/**
 * Integrations first, those with the most highlighted changes before the others. Without ids to
 * record.
 */
export function objectsOf(items: readonly Item[], words: Words): readonly ReportObject[] {
  const shown = itemGroups(items, words).filter(({ action }) => action !== "bind");
  const objects = grouped(shown, ({ address }) => objectAddress(address)).map((group): ReportObject => {
    const [{ address }] = group;
    const lines = group.flatMap((item) => item.lines);
    const users = lines.flatMap(({ trace: { attribution } }) => (attribution === undefined ? [] : [actorText(attribution)]));
    return {
      title: objectAddress(address).replace("/", " "),
      address: objectAddress(address),
      liveId: group.find(({ liveId }) => liveId !== undefined)?.liveId,
      items: group,
      changes: lines.length,
      alarms: lines.filter(({ isAlarm }) => isAlarm).length,
      users: [...new Set(users)].filter((user) => user !== ""),
    };
  });
  const isOther = ({ address }: ReportObject): number => (kindOf(address) === kindNames.integration ? 0 : 1);
  return objects.sort((a, b) => isOther(a) - isOther(b) || b.alarms - a.alarms);
}

function objectAddress(address: string): string {
  const on = parseAddress(address)?.on;
  return on === undefined ? manifestAddress(address) : integrationAddress(on);
}
