import { kindNames, manifestOfSchemas } from "../../../kinds/manifests.ts";
import { kindOf, objectAddress } from "../../../model/address.ts";
import type { ReadyStep } from "../../../model/plan.ts";
import { grouped } from "../../../text/lists.ts";
import type { ChangeBlock } from "../../blocks.ts";
import { actorText } from "../attribution.ts";
import type { Words } from "../words.ts";
import { alarmsIn, changeCount, itemBlocks } from "./groups.ts";

/** All changes of one live object: an integration with its schemas, a tag with its relations, an asset. */
export interface ReportObject {
  /** "Integration orders"; raw. */
  readonly title: string;
  readonly liveId: string | undefined;
  readonly blocks: readonly ChangeBlock[];
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
export function objectsOf(all: readonly ReadyStep[], words: Words): readonly ReportObject[] {
  const items = all.filter(({ verb }) => verb !== "bind");
  const most = changeCount(items) > mostListed ? Math.max(fewestOfItem, Math.floor(mostListed / items.length)) : undefined;
  const ofItem = itemBlocks(all, words, most);
  const objects = grouped(items, ({ address }) => ownerOf(address)).map((group) => {
    const address = ownerOf(group[0].address);
    const blocks = group.map(ofItem);
    const users = group
      .flatMap(({ changes }) => changes)
      .flatMap(({ attribution }) => (attribution === undefined ? [] : [actorText(attribution)]));
    const object: ReportObject = {
      title: address.replace("/", " "),
      liveId: group.find(({ liveId }) => liveId !== undefined)?.liveId,
      blocks,
      changes: blocks.reduce((sum, { lines, left }) => sum + lines.length + left, 0),
      alarms: alarmsIn(group),
      users: [...new Set(users)].filter((user) => user !== ""),
    };
    return { object, rank: kindOf(address) === kindNames.integration ? 0 : 1 };
  });
  return objects.sort((a, b) => a.rank - b.rank || b.object.alarms - a.object.alarms).map(({ object }) => object);
}

/** The object that an item is part of: the integration of its schemas, the tag of a relation. */
const ownerOf = (address: string): string => manifestOfSchemas(address) ?? objectAddress(address);
