import { kindNames, manifestOfSchemas } from "../../../kinds/manifests.ts";
import { kindOf, objectAddress } from "../../../model/address.ts";
import type { Item } from "../../../model/plan.ts";
import { grouped } from "../../../text/lists.ts";
import { actorText } from "../attribution.ts";
import type { Words } from "../words.ts";
import { alarmsIn, changeCount, type ItemGroup, itemGroups } from "./groups.ts";

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

/** If there are more changes than this, each item lists only its share of them: a browser takes seconds to lay out more. */
const mostListed = 20_000;
const fewestOfItem = 3;

/**
 * Integrations first, those with the most highlighted changes before the others. Without ids to
 * record.
 */
export function objectsOf(all: readonly Item[], words: Words): readonly ReportObject[] {
  const items = all.filter(({ action }) => action !== "bind");
  const isLong = changeCount(items) > mostListed;
  const shown = itemGroups(items, words, {
    all,
    ...(isLong ? { most: Math.max(fewestOfItem, Math.floor(mostListed / items.length)) } : {}),
  });
  const byGroup = new Map(shown.map((group, index) => [group, items[index]]));
  const objects = grouped(shown, ({ address }) => ownerOf(address)).map((group): ReportObject => {
    const [{ address }] = group;
    const members = group.flatMap((one) => byGroup.get(one) ?? []);
    const users = members
      .flatMap(({ changes }) => changes)
      .flatMap(({ attribution }) => (attribution === undefined ? [] : [actorText(attribution)]));
    return {
      title: ownerOf(address).replace("/", " "),
      address: ownerOf(address),
      liveId: group.find(({ liveId }) => liveId !== undefined)?.liveId,
      items: group,
      changes: group.reduce((sum, { lines, left }) => sum + lines.length + left, 0),
      alarms: alarmsIn(members),
      users: [...new Set(users)].filter((user) => user !== ""),
    };
  });
  const isOther = ({ address }: ReportObject): number => (kindOf(address) === kindNames.integration ? 0 : 1);
  return objects.sort((a, b) => isOther(a) - isOther(b) || b.alarms - a.alarms);
}

/** The object that an item is part of: the integration of its schemas, the tag of a relation. */
export const ownerOf = (address: string): string => manifestOfSchemas(address) ?? objectAddress(address);
