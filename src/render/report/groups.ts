import { byText, manifestAddress, parseAddress } from "../../model/address.ts";
import { canonicalJson } from "../../model/json.ts";
import type { Change, Item, UnmanagedTable } from "../../model/plan.ts";
import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import { nameText, pathText } from "../../text/paths.ts";

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

/** Changes that one rule makes in the same way, at least one. */
export interface ChangeGroup {
  readonly first: Change;
  readonly changes: readonly Change[];
}

/**
 * The changes by rule, member, old and new value; what a manifest says literally, by file in place of the rule. Exposing ones first, since they
 * are what a reviewer must not miss, otherwise in the order of the first of each.
 */
export function groupByRule(changes: readonly Change[]): readonly ChangeGroup[] {
  const groups = new Map<string, [Change, ...Change[]]>();
  for (const change of changes) {
    const { rule, file, line } = change.cause ?? {};
    const key = canonicalJson([
      rule ?? null,
      file ?? null,
      rule === undefined ? null : (line ?? null),
      pathText(change.path).leaf,
      change.before === undefined ? [] : [change.before],
      change.after === undefined ? [] : [change.after],
      change.risk,
    ]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [change]);
    else group.push(change);
  }
  const all = [...groups.values()].map((group) => ({ first: group[0], changes: group }));
  return [...all.filter(exposes), ...all.filter((group) => !exposes(group))];
}

function exposes({ first: { risk } }: ChangeGroup): boolean {
  return risk === "exposes" || risk === "exposed";
}

/** Tables of one name that lack rules for the same columns: alike in most integrations of a fleet, so that the odd one shows. */
export interface UnmanagedGroup {
  /** "public.orders" */
  readonly table: string;
  /** "id, note"; or that they are unknown. */
  readonly columns: string;
  /** What people call the integrations, in order. */
  readonly integrations: readonly string[];
}

export function unmanagedGroups(tables: readonly UnmanagedTable[]): readonly UnmanagedGroup[] {
  const groups = new Map<string, { readonly table: string; readonly columns: string; readonly integrations: string[] }>();
  for (const { address, schema, table, columns } of tables) {
    const key = JSON.stringify([schema, table, columns]);
    const group = groups.get(key) ?? {
      table: `${nameText(schema)}.${nameText(table)}`,
      columns: columns === undefined ? "(its columns were not read)" : columns.map(nameText).join(", "),
      integrations: [],
    };
    groups.set(key, group);
    group.integrations.push(visible(parseAddress(address)?.on ?? address));
  }
  return [...groups.values()].sort((a, b) => byText(a.table, b.table) || byText(a.columns, b.columns));
}

/** "shop-01", or "9 integrations: shop-01, shop-02, shop-03 and 6 more"; all of them where `inFull`. */
export function integrationsText(names: readonly string[], inFull = false): string {
  const [only, second] = names;
  if (only !== undefined && second === undefined) return only;
  const shown = inFull ? names : names.slice(0, 3);
  return `${counted(names.length, "integration")}: ${shown.join(", ")}${names.length > shown.length ? ` and ${names.length - shown.length} more` : ""}`;
}
