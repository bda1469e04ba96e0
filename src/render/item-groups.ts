import { manifestAddress } from "../model/address.ts";
import type { Item } from "../model/plan.ts";

// Fewer than this are listed one by one; of schema configurations, two already say the same of two integrations.
const fewest = 4;
const fewestConfigs = 2;

/**
 * The items in their order, where many are alike as one group in the place of the first: the relations of one tag, the ids to record, and the changes
 * of schema configurations, which rules make in many integrations at once. All others are groups of one.
 */
export function groupItems(items: readonly Item[]): readonly (readonly [Item, ...Item[]])[] {
  const groups = new Map<string, [Item, ...Item[]]>();
  for (const item of items) {
    const key = groupOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()].flatMap((group): readonly (readonly [Item, ...Item[]])[] =>
    group.length < (isSchemaChange(group[0]) ? fewestConfigs : fewest) ? group.map((item) => [item] as const) : [group],
  );
}

function groupOf(item: Item): string {
  if (item.action === "bind") return "bind";
  if (item.action === "relate") return `relate ${manifestAddress(item.address)}`;
  return isSchemaChange(item) ? "schemas" : item.id;
}

/** Whether rules made its changes, which are then told by rule over all integrations. */
export function isSchemaChange({ kind, action }: Item): boolean {
  return kind === "SchemaConfig" && action === "update";
}

/** "12 relations" of a tag, "40 ids to record", "9 integrations", and what to call the members. */
export function groupText(group: readonly [Item, ...Item[]]): { readonly title: string; readonly names: readonly string[] } {
  const [first] = group;
  if (first.action === "bind") return { title: `${group.length} ids to record`, names: group.map(({ address }) => address) };
  if (isSchemaChange(first)) return { title: `${group.length} integrations`, names: group.map(({ address }) => address) };
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
