import { objectAddress, schemasKind } from "../../../model/address.ts";
import { changeCount as changesIn, eachChange } from "../../../model/changes.ts";
import { isObject } from "../../../model/json/json.ts";
import type { Action, Attribution, Item } from "../../../model/plan.ts";
import type { PlannedRequest } from "../../../model/service.ts";
import { grouped } from "../../../text/lists.ts";
import { commonTrace, type Traced } from "../attribution.ts";
import { isAlarm, type Words } from "../words.ts";
import { type ChangeLine, changeLines } from "./changes.ts";
import { changesByRule, integrationOf, type RuleChanges } from "./rules.ts";

/** One block of the main part: an item, or many similar ones. */
export type ReportGroup = ItemGroup | RulesGroup | NamesGroup;

interface Head {
  readonly action: Action;
  /** "Schemas/orders", or "Schemas" for several integrations; raw. */
  readonly address: string;
  readonly liveName?: string | undefined;
  readonly liveId?: string | undefined;
  /** The address that the object had before; raw. */
  readonly renamedFrom?: string | undefined;
  readonly calls: readonly Call[];
  /** Columns that become readable; 0 in a drift report. */
  readonly exposed: number;
}

/** One item with its changes. */
export interface ItemGroup extends Head {
  readonly type: "item";
  /** The resource of a tag relation; raw. */
  readonly on?: RelationTarget | undefined;
  readonly lines: readonly ChangeLine[];
  /** How many changes the lines leave out. */
  readonly left: number;
  /** Whether the head says everything. */
  readonly isShort: boolean;
  /** Addresses of items that run first; raw. */
  readonly after: readonly string[];
}

export interface RelationTarget {
  /** "on Integration"; "missing on Integration" in a drift report. */
  readonly text: string;
  /** As in the manifests; "" if only the id is known. */
  readonly name: string;
  readonly id: string;
}

/** The changes of rules in schemas, for one integration or for all together. */
export interface RulesGroup extends Head {
  readonly type: "rules";
  readonly integrations: readonly string[];
  readonly rules: readonly RuleChanges[];
  /** "shop-00 (3)": where columns become readable. */
  readonly exposedBy: readonly string[];
}

/** Relations of one tag, or ids to record. */
export interface NamesGroup extends Head {
  readonly type: "names";
  /** "12 relations", "40 ids to record" */
  readonly title: string;
  /** Raw. */
  readonly names: readonly string[];
  /** What all have in common. */
  readonly trace: Traced;
}

/** Requests with the same method and path. */
export interface Call {
  readonly method: string;
  /** Raw; "" for requests to many paths. */
  readonly path: string;
  readonly requests: readonly PlannedRequest[];
}

// This many changes or more are grouped.
const groupedFrom = 30;
// Fewer relations or ids than this are listed.
const fewestNames = 4;
// Requests to more paths than this are counted by method.
const mostPaths = 3;

/** Recording an id is not a change. */
export const changeCount = (items: readonly Item[]): number =>
  items.reduce((sum, item) => sum + (item.action === "bind" ? 0 : Math.max(1, changesIn(item))), 0);

/** How many changes have the highlighted risk. */
export const alarmsIn = (items: readonly Item[]): number => items.reduce((sum, item) => sum + changesIn(item, isAlarm), 0);

/** Whether changes are shown by rule, and many ids to record are counted. */
export const isGrouped = (items: readonly Item[], verbose: boolean): boolean =>
  !verbose && (changeCount(items) >= groupedFrom || items.length >= groupedFrom);

interface ItemGroupOptions {
  /** The items that these may depend on. */
  readonly all?: readonly Item[];
  /** At most this many changes of an item are listed; a create is always listed whole. */
  readonly most?: number;
}

/** Every item with its changes. */
export function itemGroups(items: readonly Item[], words: Words, { all = items, most }: ItemGroupOptions = {}): readonly ItemGroup[] {
  const addresses = new Map(all.map(({ id, address }) => [id, address]));
  return items.map((item) => itemGroup(item, addresses, { words, most }));
}

/** The items in their order. Similar items are grouped at the position of the first. */
export function reportGroups(items: readonly Item[], words: Words, byRule: boolean): readonly ReportGroup[] {
  if (!byRule) return itemGroups(items, words);
  return grouped(items, groupKey).flatMap((group): readonly ReportGroup[] => {
    if (isSchemaChange(group[0])) return [rulesGroup(group, words)];
    return group.length < fewestNames ? itemGroups(group, words, { all: items }) : [namesGroup(group, words)];
  });
}

function groupKey(item: Item): string {
  if (item.action === "bind") return "bind";
  if (item.action === "relate") return `relate ${objectAddress(item.address)} ${attributionOf(item)?.actor ?? ""}`;
  return isSchemaChange(item) ? "schemas" : item.id;
}

/** Whether its changes come from rules. */
export const isSchemaChange = ({ kind, action }: Item): boolean => kind === schemasKind && action === "update";

function itemGroup(
  item: Item,
  addresses: ReadonlyMap<string, string>,
  { words, most }: { readonly words: Words; readonly most: number | undefined },
): ItemGroup {
  const { action, address, liveName, liveId, renamedFrom, dependsOn } = item;
  const lines = changeLines(item, words, most);
  return {
    type: "item",
    ...{ action, address, liveName, liveId, renamedFrom },
    on: relationTarget(item, words),
    lines,
    left: Math.max(0, changesIn(item) - lines.length),
    isShort: action === "bind" || (action === "relate" && changesIn(item) <= 1),
    after: dependsOn.map((id) => addresses.get(id) ?? id),
    calls: callsOf([item], words),
    exposed: exposedOf([item], words),
  };
}

function rulesGroup(group: readonly [Item, ...Item[]], words: Words): RulesGroup {
  const [first, second] = group;
  const exposed = exposedOf(group, words);
  return {
    type: "rules",
    action: "update",
    address: second === undefined ? first.address : schemasKind,
    ...(second === undefined ? { liveName: first.liveName, liveId: first.liveId } : {}),
    integrations: group.map(({ address }) => integrationOf(address)),
    rules: changesByRule(group, words),
    calls: callsOf(group, words),
    exposed,
    exposedBy: group.flatMap(({ address, exposedColumns = 0 }) =>
      exposedColumns > 0 && exposed > 0 ? [`${integrationOf(address)} (${exposedColumns})`] : [],
    ),
  };
}

function namesGroup(group: readonly [Item, ...Item[]], words: Words): NamesGroup {
  const [{ action, address }] = group;
  const isBind = action === "bind";
  return {
    type: "names",
    action,
    address: isBind ? "" : objectAddress(address),
    title: isBind ? `${group.length} ids to record` : `${group.length} ${words.kind === "DriftReport" ? "missing relations" : "relations"}`,
    names: group.map((item) => (isBind ? item.address : relationName(item))),
    trace: isBind ? {} : commonTrace(group.flatMap((item) => [...eachChange(item)])),
    calls: [],
    exposed: 0,
  };
}

const attributionOf = (item: Item): Attribution | undefined => item.changes[0]?.attribution;

function callsOf(items: readonly Item[], words: Words): readonly Call[] {
  if (words.kind === "DriftReport") return [];
  const requests = items.flatMap((item) => item.requests);
  const byPath = grouped(requests, ({ method, path }) => `${method} ${path}`);
  const isShort = byPath.length <= mostPaths;
  return (isShort ? byPath : grouped(requests, ({ method }) => method)).map((same): Call => {
    const [{ method, path }] = same;
    return { method, path: isShort ? path : "", requests: same };
  });
}

const exposedOf = (items: readonly Item[], words: Words): number =>
  words.kind === "DriftReport" ? 0 : items.reduce((sum, { exposedColumns = 0 }) => sum + exposedColumns, 0);

/** The resource of a tag relation: its type and id as in the request, and its name. */
export function relationTarget({ action, requests, changes }: Item, { kind }: Pick<Words, "kind">): ItemGroup["on"] {
  if (action !== "relate") return undefined;
  const { resourceType: type, resourceId: id } = requests[0]?.body ?? {};
  if (typeof type !== "string" || typeof id !== "string") return undefined;
  const [change] = changes;
  const after = change !== undefined && "after" in change ? change.after : undefined;
  const name = isObject(after) ? after["name"] : undefined;
  const isMissing = kind === "DriftReport";
  return { text: `${isMissing ? "missing on" : "on"} ${type}`, name: typeof name === "string" && name !== id ? name : "", id };
}

/** "orders (8f1c)" */
const relationName = (item: Item): string => {
  const { name = "", id = item.address.slice(item.address.indexOf("#") + 1) } = relationTarget(item, { kind: "Plan" }) ?? {};
  return name === "" ? id : `${name} (${id})`;
};
