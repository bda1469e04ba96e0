import { kindOf, objectAddress, schemasKind } from "../../../model/address.ts";
import { changeCount as changesIn, eachChange } from "../../../model/changes.ts";
import { isObject } from "../../../model/json/json.ts";
import { type Action, type Attribution, isOfRelation, type ReadyStep } from "../../../model/plan.ts";
import { andMore, grouped, joinParts } from "../../../text/lists.ts";
import { actionSigns } from "../../../text/signs.ts";
import { type CallGroup, type ChangeBlock, code, id, type Line, muted, name, ref, type Tone } from "../../blocks.ts";
import { attributionText, commonTrace } from "../attribution.ts";
import { exposedText, isAlarm, riskCount, type Words } from "../words.ts";
import { causeText, changeLines } from "./changes.ts";
import { changesByRule, integrationOf } from "./rules.ts";

// This many changes or more are grouped.
const groupedFrom = 30;
// Fewer relations or ids than this are listed.
const fewestNames = 4;
// Requests to more paths than this are counted by method.
const mostPaths = 3;
// Integrations where columns become readable.
const mostExposing = 10;

/** Recording an id is not a change. */
export const changeCount = (items: readonly ReadyStep[]): number =>
  items.reduce((sum, item) => sum + (item.verb === "bind" ? 0 : Math.max(1, changesIn(item))), 0);

/** How many changes have the highlighted risk. */
export const alarmsIn = (items: readonly ReadyStep[]): number => items.reduce((sum, item) => sum + changesIn(item, isAlarm), 0);

/** `rule`: changes are shown by rule, and many ids to record are counted. `equal`: only items with equal changes are one. */
export type Grouping = "none" | "equal" | "rule";

export function groupingOf(items: readonly ReadyStep[], verbose: boolean): Grouping {
  if (verbose) return "none";
  if (changeCount(items) >= groupedFrom || items.length >= groupedFrom) return "rule";
  return grouped(items, equalKey).some(({ length }) => length >= fewestNames) ? "equal" : "none";
}

/** The items in their order. Similar items are one block at the position of the first. */
export function changeBlocks(items: readonly ReadyStep[], words: Words, grouping: Grouping): readonly ChangeBlock[] {
  const ofItem = itemBlocks(items, words);
  if (grouping === "none") return items.map(ofItem);
  return grouped(items, grouping === "equal" ? equalKey : groupKey).flatMap((group): readonly ChangeBlock[] => {
    const isFew = group.length < fewestNames;
    if (isSchemaChange(group[0])) return isFew && grouping === "equal" ? group.map(ofItem) : [rulesBlock(group, words)];
    return isFew ? group.map(ofItem) : [namesBlock(group, words)];
  });
}

/** Relations and ids to record take one line each. */
const equalKey = (item: ReadyStep): string =>
  isSchemaChange(item) ? JSON.stringify(item.changes.map(({ attribution: _, ...change }) => change)) : item.id;

function groupKey(item: ReadyStep): string {
  if (item.verb === "bind") return "bind";
  if (isOfRelation(item)) return `${item.verb} ${objectAddress(item.address)} ${attributionOf(item)?.actor ?? ""}`;
  return isSchemaChange(item) ? "schemas" : item.id;
}

const attributionOf = (item: ReadyStep): Attribution | undefined => item.changes[0]?.attribution;

/** Whether its changes come from rules. */
const isSchemaChange = ({ address, verb }: ReadyStep): boolean => kindOf(address) === schemasKind && verb === "update";

/**
 * Makes the block of one of these items, with at most this many changes; a create is always listed whole. `all`: those that it
 * may depend on.
 */
export function itemBlocks(all: readonly ReadyStep[], words: Words, most?: number): (item: ReadyStep) => ChangeBlock {
  const addresses = new Map(all.map((item) => [item.id, item.address]));
  return (item) => {
    const { verb, address, liveName = "", liveId = "", renamedFrom, dependsOn = [], exposedColumns = 0 } = item;
    const lines = changeLines(item, words, most);
    const isShort = verb === "bind" || (verb === "relate" && changesIn(item) <= 1);
    const [only] = isShort ? lines : [];
    const renamed: Line = renamedFrom === undefined ? [] : [", renamed from", id(renamedFrom)];
    // Without a spread: it makes the page of 14,000 objects 25 % slower.
    return {
      verb,
      address,
      isSummary: false,
      names: none,
      noun: "",
      rules: none,
      sign: actionSigns[verb],
      tone: tones[verb],
      label: labelOf(verb, words),
      head: [[name(address)], [id(liveName), ref(liveId), ...renamed]],
      target: targetLine(item, words),
      isShort,
      trace: only?.trace ?? {},
      event: eventText([item], words),
      cause: only === undefined ? "" : causeText(only),
      reason: only?.reason ?? "",
      lines,
      left: Math.max(0, changesIn(item) - lines.length),
      alert: alertText(exposedColumns, [], words),
      calls: callsOf([item], words),
      // An object can have an item for its id and one for its values.
      after: [...new Set(dependsOn.map((one) => addresses.get(one) ?? one))].filter((one) => one !== address),
    };
  };
}

const tones: Readonly<Record<Action, Tone>> = { create: "good", update: "warn", relate: "info", unrelate: "warn", bind: "quiet" };

const labels: Readonly<Record<Action, readonly [plan: string, report: string]>> = {
  create: ["will be created", "is missing"],
  update: ["will be updated", "differs"],
  relate: ["will be attached", "is"],
  unrelate: ["will be detached", "is"],
  bind: ["id will be recorded", "id is not recorded"],
};

const labelOf = (verb: Action, { change }: Words): string => labels[verb][change === "difference" ? 1 : 0];

const none: readonly never[] = [];

const empty = {
  head: none,
  target: none,
  names: none,
  noun: "",
  lines: none,
  rules: none,
  calls: none,
  after: none,
  isSummary: false,
  isShort: false,
  trace: {},
  event: "",
  cause: "",
  reason: "",
  alert: "",
  left: 0,
} satisfies Partial<ChangeBlock>;

/** The changes of rules in schemas, for one integration or for all together. */
function rulesBlock(group: readonly [ReadyStep, ...ReadyStep[]], words: Words): ChangeBlock {
  const [{ address, liveName = "", liveId = "" }] = group;
  const integrations = group.map((item) => integrationOf(item.address));
  const isOne = group.length === 1;
  const exposing = group.filter(({ exposedColumns = 0 }) => exposedColumns > 0);
  return {
    ...empty,
    verb: "update",
    address: isOne ? address : schemasKind,
    label: labelOf("update", words),
    sign: actionSigns.update,
    tone: tones.update,
    head: isOne ? [[name(address)], [id(liveName), ref(liveId)]] : [[name(schemasKind)]],
    target: isOne ? [] : [muted(`${group.length} integrations:`)],
    names: isOne ? [] : integrations,
    noun: "integration",
    event: eventText(group, words),
    isSummary: true,
    rules: changesByRule(group, words),
    alert: alertText(
      exposing.reduce((sum, { exposedColumns = 0 }) => sum + exposedColumns, 0),
      isOne ? [] : exposing.map((item) => `${integrationOf(item.address)} (${item.exposedColumns ?? 0})`),
      words,
    ),
    calls: callsOf(group, words),
  };
}

/** Relations of one tag, or ids to record. */
function namesBlock(group: readonly [ReadyStep, ...ReadyStep[]], words: Words): ChangeBlock {
  const [{ verb, address }] = group;
  const isBind = verb === "bind";
  const owner = isBind ? "" : objectAddress(address);
  const [planned, reported] = verb === "unrelate" ? ["relations to remove", "undeclared relations"] : ["relations", "missing relations"];
  const relations = `${group.length} ${words.kind === "DriftReport" ? reported : planned}`;
  const lines = isBind ? none : group.flatMap((item) => changeLines(item, words));
  const [line] = lines;
  const alarms = lines.filter((one) => one.isAlarm);
  const isOneCause = line !== undefined && lines.every((one) => causeText(one) === causeText(line));
  return {
    ...empty,
    verb,
    address: owner,
    cause: isOneCause ? causeText(line) : "",
    reason: isOneCause && alarms.length === 0 ? line.reason : "",
    alert: alarms.length === 0 ? "" : `${joinParts([riskCount(alarms.length, alarms[0]?.risk ?? ""), alarms[0]?.reason ?? ""], ": ")}.`,
    label: labelOf(verb, words),
    sign: actionSigns[verb],
    tone: tones[verb],
    head: isBind ? [] : [[name(owner)]],
    target: [isBind ? `${group.length} ids to record` : relations],
    isSummary: true,
    isShort: true,
    names: group.map((item) => (isBind ? item.address : relationName(item))),
    noun: isBind ? "id" : "relation",
    event: eventText(group, words),
    trace: isBind ? {} : commonTrace(group.flatMap((item) => [...eachChange(item)])),
  };
}

/** Events about the objects. A plan has them beside what it undoes. */
const eventText = (items: readonly ReadyStep[], { kind }: Words): string =>
  kind === "DriftReport"
    ? andMore(
        [...new Set(items.map(attributionText))].filter((text) => text !== ""),
        "event",
      )
    : "";

/** `where`: the integrations, with the number of their columns. */
function alertText(count: number, where: readonly string[], words: Words): string {
  if (count === 0 || words.kind === "DriftReport") return "";
  return `${joinParts([exposedText(count), andMore(where, "integration", { shown: mostExposing })], ": ")}.`;
}

function callsOf(items: readonly ReadyStep[], words: Words): readonly CallGroup[] {
  if (words.kind === "DriftReport") return [];
  const requests = items.flatMap((item) => item.requests);
  const byPath = grouped(requests, ({ method, path }) => `${method} ${path}`);
  const isShort = byPath.length <= mostPaths;
  return (isShort ? byPath : grouped(requests, ({ method }) => method)).map((same): CallGroup => {
    const [{ method, path }] = same;
    const times = same.length === 1 ? "" : isShort ? `${same.length} ×` : String(same.length);
    return { times, text: isShort ? `${method} ${path}` : method, requests: same };
  });
}

/** The resource of a tag relation. */
interface RelationTarget {
  /** "to Integration" or "from Integration"; "missing on Integration" in a drift report. */
  readonly text: string;
  /** As in the manifests; "" if only the id is known. */
  readonly name: string;
  readonly id: string;
}

function targetLine(item: ReadyStep, words: Words): Line {
  const on = relationTarget(item, words);
  if (on === undefined) return [];
  return on.name === "" ? [on.text, code(on.id)] : [on.text, code(on.name), ref(on.id)];
}

/** The resource of a tag relation: its type and id as in the request, and its name. */
export function relationTarget({ verb, requests, changes }: ReadyStep, { kind }: Pick<Words, "kind">): RelationTarget | undefined {
  if (!isOfRelation({ verb })) return undefined;
  const { resourceType: type, resourceId: id } = requests[0]?.body ?? {};
  if (typeof type !== "string" || typeof id !== "string") return undefined;
  const [change] = changes;
  const name = isObject(change?.after) ? change.after["name"] : change?.before;
  const [planned, reported] = verb === "relate" ? ["to", "missing on"] : ["from", "not declared for"];
  return { text: `${kind === "DriftReport" ? reported : planned} ${type}`, name: typeof name === "string" && name !== id ? name : "", id };
}

/** "orders (8f1c)" */
const relationName = (item: ReadyStep): string => {
  const { name = "", id = item.address.slice(item.address.indexOf("#") + 1) } = relationTarget(item, { kind: "Plan" }) ?? {};
  return name === "" ? id : `${name} (${id})`;
};
