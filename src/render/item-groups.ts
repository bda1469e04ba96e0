import { manifestAddress } from "../model/address.ts";
import type { Item } from "../model/plan.ts";

// Fewer than this are listed one by one.
const fewest = 4;

/**
 * The items in their order, where many are alike as one group in the place of the first: the relations of one tag, and the ids to record. All
 * others are groups of one.
 */
export function groupItems(items: readonly Item[]): readonly (readonly [Item, ...Item[]])[] {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) {
    const key = item.action === "bind" ? "bind" : item.action === "relate" ? `relate ${manifestAddress(item.address)}` : item.id;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()].flatMap((group): readonly (readonly [Item, ...Item[]])[] =>
    group.length < fewest ? group.map((item) => [item] as const) : [group],
  );
}

/** "12 relations" of a tag, "40 ids to record", and what to call the members. */
export function groupText(group: readonly [Item, ...Item[]]): { readonly title: string; readonly names: readonly string[] } {
  const [first] = group;
  if (first.action === "bind") return { title: `${group.length} ids to record`, names: group.map(({ address }) => address) };
  return { title: `${group.length} relations`, names: group.map(({ address }) => address.slice(address.indexOf("#") + 1)) };
}

/** Whether an item is told in one line: it says nothing beyond its header. */
export function isOneLine({ action, changes }: Item): boolean {
  return action === "bind" || (action === "relate" && changes.length <= 1);
}

/** What a relation attaches its tag to, by the request's own words (interface §2.5): "on Integration 8f1c"; undefined for all else. */
export function relationTarget({ action, requests }: Item): { readonly type: string; readonly id: string } | undefined {
  const { resourceType: type, resourceId: id } = requests[0]?.body ?? {};
  return action === "relate" && typeof type === "string" && typeof id === "string" ? { type, id } : undefined;
}
