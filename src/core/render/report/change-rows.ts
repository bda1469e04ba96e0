import { integrationOfSchemas, kindOf, objectAddress, schemasKind } from "../../base/model/address.ts";
import { eachChange, isOfNodes, isOutside } from "../../base/model/changes.ts";
import { isObject } from "../../base/model/json/json.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import { eachNode, levelOf, nodeLists, nodePointer } from "../../base/model/nodes.ts";
import {
  type Action,
  type Cause,
  type Change,
  type ChangeFacts,
  type ChangeGroup,
  isOfRelation,
  type NodeChanges,
  type ReadyStep,
} from "../../base/model/plan.ts";
import { visible } from "../../base/text/control-characters.ts";
import { grouped } from "../../base/text/lists.ts";
import { nameText, wholePath } from "../../base/text/paths.ts";
import { actionSigns } from "../../base/text/signs.ts";
import { type ChangeText, factsOf, placeOf, valueChange, whyText } from "./change-words.ts";
import { isAlarm, type Words } from "./words.ts";

// What changes is one table: a verb, the columns or objects, the integrations, and why. Equal changes of several columns and
// integrations are one row, so that a rule and its reason are said once.

/** Equal changes. Texts are raw unless a comment says otherwise. */
export interface ChangeRow extends ChangeText {
  readonly sign: string;
  /** "customers.email"; without control characters. */
  readonly what: readonly string[];
  /** What each is: "column". */
  readonly noun: string;
  /** The number of changes. */
  readonly count: number;
  /** The integrations, or the resources of a tag. */
  readonly where: readonly string[];
  /** "false → true", if the verb does not say it; without control characters. */
  readonly value: string;
  /** JSON Pointer of the first change; "" for an object. */
  readonly path: string;
}

/** The rows, those that expose data first, otherwise in the order of the items. */
export function changeRows(items: readonly ReadyStep[], words: Words): readonly ChangeRow[] {
  const binds = items.filter(({ verb }) => verb === "bind");
  const relations = grouped(items.filter(isOfRelation), ({ verb, address }) => `${verb} ${objectAddress(address)}`);
  const objects = items.filter((item) => item.verb !== "bind" && !isOfRelation(item) && !isOfSchemas(item));
  const all = [
    ...objects.flatMap((item) => objectRows(item, words)),
    ...schemaRows(items.filter(isOfSchemas), words),
    ...relations.map((group) => relationRow(group, words)),
    ...(binds.length === 0 ? [] : [bindRow(binds, words)]),
  ];
  return [...all.filter((row) => row.isAlarm), ...all.filter((row) => !row.isAlarm)];
}

const isOfSchemas = ({ address, verb }: ReadyStep): boolean => kindOf(address) === schemasKind && verb === "update";

/** More sets of integrations than this for the changes of one rule are one row with examples. */
const mostSets = 3;
/** The nodes of a row by name; more of them are only counted. */
const mostNodes = 2000;

interface Group {
  readonly entry: NodeChanges;
  readonly words: Words;
  readonly nodes: Map<string, Set<string>>;
  readonly integrations: Set<string>;
  readonly path: string;
  /** With different sources of their label. */
  readonly causes: Cause[];
  count: number;
}

function schemaRows(items: readonly ReadyStep[], words: Words): readonly ChangeRow[] {
  const schemas = new Set(items.flatMap(({ changes }) => changes.flatMap((entry) => (isOfNodes(entry) ? schemasOf(entry) : []))));
  const groups = new Map<string, Group>();
  const rows: ChangeRow[] = [];
  for (const item of items)
    for (const entry of item.changes) {
      const own = wordsOfChange(item, entry, words);
      if (isOfNodes(entry)) addEntry(groups, { entry, integration: integrationOf(item.address), hasSeveral: schemas.size > 1, words: own });
      else rows.push(valueRow(item, single(entry), words));
    }
  return [...[...groups.values()].flatMap(groupRows), ...rows];
}

/** An event of the audit log shows that someone changed the account, whatever was applied before. */
const wordsOfChange = (item: ReadyStep, change: Pick<ChangeFacts, "attribution" | "origin">, words: Words): Words =>
  words.isReview === true && isOutside(change) && (item.attribution !== undefined || change.attribution !== undefined)
    ? { ...words, isReview: false }
    : words;

const schemasOf = ({ nodes }: NodeChanges): readonly string[] => nodeLists(nodes).flatMap(({ above: [schema], names }) => schema ?? names);

const single = (entry: ChangeGroup): Change => {
  const [only] = eachChange({ changes: [entry] });
  return only ?? { path: "", field: "", risk: "neutral" };
};

/** Changes with this in common are equal to a reader. */
function keyOf({ field, after, risk, origin, cause, removed, attribution, nodes }: NodeChanges): string {
  const who = attribution?.confidence === "exact" ? [attribution.actor, attribution.at, attribution.own, attribution.event] : [];
  const rule = [cause?.rule, cause?.file, cause?.line, cause?.label?.name];
  return JSON.stringify([levelOf(nodes), field, after, risk, origin, rule, removed, who]);
}

function addEntry(
  groups: Map<string, Group>,
  {
    entry,
    integration,
    hasSeveral,
    words,
  }: Pick<Group, "entry" | "words"> & { readonly integration: string; readonly hasSeveral: boolean },
): void {
  const group = getOrAdd(groups, `${words.isReview === true ? "review " : ""}${keyOf(entry)}`, (): Group => {
    const [first] = eachNode(entry.nodes);
    const path = first === undefined ? "" : nodePointer(first, entry.field);
    return { entry, words, nodes: new Map(), integrations: new Set(), path, causes: [], count: 0 };
  });
  const { cause } = entry;
  if (cause !== undefined && (group.causes.length === 0 || cause.label !== undefined)) group.causes.push(cause);
  group.count += entry.count;
  group.integrations.add(integration);
  for (const node of eachNode(entry.nodes)) {
    const shown = (hasSeveral || node.length === 1 ? node : node.slice(1)).map((one) => nameText(one ?? "")).join(".");
    const known = group.nodes.get(shown);
    if (known !== undefined) known.add(integration);
    else if (group.nodes.size < mostNodes) group.nodes.set(shown, new Set([integration]));
    else break;
  }
}

function groupRows({ entry, words, nodes, integrations, path, causes, count }: Group): readonly ChangeRow[] {
  const facts = {
    ...factsOf(entry, words),
    why: whyText(entry, words, causes),
    path,
    sign: actionSigns.update,
    noun: levelOf(entry.nodes),
    value: valueChange(entry, words),
  };
  const sets = grouped([...nodes], ([, of]) => JSON.stringify([...of]));
  if (sets.length > mostSets || nodes.size >= mostNodes) return [{ ...facts, what: [...nodes.keys()], where: [...integrations], count }];
  return sets.map((set) => ({
    ...facts,
    what: set.map(([node]) => node),
    where: [...set[0][1]],
    count: set.length * set[0][1].size,
  }));
}

/** "shop-01" of "Schemas/shop-01"; any other address as it is. */
export const integrationOf = (address: string): string => visible(integrationOfSchemas(address) ?? address);

const actionVerbs = {
  create: ["create", "missing"],
  relate: ["attach", "not attached"],
  unrelate: ["detach", "attached, not declared"],
  bind: ["record id", "id not recorded"],
} as const;

const actionVerb = (action: keyof typeof actionVerbs, { kind }: Words): string => actionVerbs[action][kind === "DriftReport" ? 1 : 0];

/** What rows of objects have in common, unless they say more. */
const objectRow = (verb: Action) =>
  ({
    sign: actionSigns[verb],
    isAlarm: false,
    noun: "object",
    count: 1,
    where: [],
    value: "",
    why: "",
    cause: undefined,
    path: "",
  }) as const;

/** A create is one row, an update one for each value. */
function objectRows(item: ReadyStep, words: Words): readonly ChangeRow[] {
  const changes = [...eachChange(item)];
  if (item.verb === "update" && changes.length > 0) return changes.map((change) => valueRow(item, change, words));
  const cause = changes.find((change) => change.cause !== undefined)?.cause;
  return [
    {
      ...objectRow(item.verb),
      verb: item.verb === "update" ? "update" : actionVerb(item.verb, words),
      isAlarm: changes.some(isAlarm),
      what: [visible(item.address)],
      where: item.liveName === undefined ? [] : [item.liveName],
      why: cause === undefined ? "" : placeOf(cause),
      cause,
    },
  ];
}

function valueRow(item: ReadyStep, change: Change, given: Words): ChangeRow {
  const words = wordsOfChange(item, change, given);
  return {
    ...objectRow("update"),
    ...factsOf({ ...change, field: wholePath(change.path) }, words),
    verb: words.kind === "DriftReport" ? "differs" : isOutside(change) && words.isReview !== true ? "set again" : "set",
    what: [`${visible(item.address)} ${wholePath(change.path)}`],
    noun: "value",
    value: valueChange({ ...change, field: "" }, words, change.path),
    path: change.path,
  };
}

/** The relations of one tag that are added, or removed. */
function relationRow(group: readonly [ReadyStep, ...ReadyStep[]], words: Words): ChangeRow {
  const [{ verb, address }] = group;
  const changes = group.flatMap((item) => [...eachChange(item)]);
  const [first] = changes;
  return {
    ...objectRow(verb),
    verb: verb === "unrelate" || verb === "relate" ? actionVerb(verb, words) : "",
    isAlarm: changes.some(isAlarm),
    what: [visible(objectAddress(address))],
    noun: "tag",
    count: group.length,
    where: group.map(relationName),
    why: first === undefined ? "" : whyText(first, words),
    cause: first?.cause,
  };
}

const bindRow = (items: readonly ReadyStep[], words: Words): ChangeRow => ({
  ...objectRow("bind"),
  verb: actionVerb("bind", words),
  what: items.map(({ address, renamedFrom }) => visible(renamedFrom === undefined ? address : `${address}, renamed from ${renamedFrom}`)),
  noun: "id",
  count: items.length,
  where: items.length === 1 ? items.flatMap(({ liveId }) => liveId ?? []) : [],
});

/** "Orders (8f1c)": the resource of a tag relation, by its name if that is known, and its id as in the request. */
function relationName({ address, requests: [request], changes: [change] }: ReadyStep): string {
  const { resourceId } = request?.body ?? {};
  if (typeof resourceId !== "string") return address.slice(address.indexOf("#") + 1);
  const named = isObject(change?.after) ? change.after["name"] : change?.before;
  return typeof named === "string" && named !== "" && named !== resourceId ? `${named} (${resourceId})` : resourceId;
}
