import { byText, integrationOfSchemas, kindOf, objectAddress, schemasKind } from "../../base/model/address.ts";
import { changeCount, eachChange, isOfNodes, isOutside } from "../../base/model/changes.ts";
import { isObject, type JsonObject, type JsonValue } from "../../base/model/json/json.ts";
import { toPointer } from "../../base/model/json/pointer.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import { eachNode, levelOf, nodeLists, nodePointer } from "../../base/model/nodes.ts";
import {
  type Cause,
  type Change,
  type ChangeFacts,
  type ChangeGroup,
  isOfRelation,
  type NodeChanges,
  type ReadyStep,
  type Step,
} from "../../base/model/plan.ts";
import { placeText } from "../../base/model/problem.ts";
import { isSecretReference } from "../../base/model/settings/secret.ts";
import { visible } from "../../base/text/control-characters.ts";
import { counted } from "../../base/text/counts.ts";
import { ruleText } from "../../base/text/describe.ts";
import { andMore, grouped, joinParts } from "../../base/text/lists.ts";
import { nameText, type PathText, pathText, wholePath } from "../../base/text/paths.ts";
import { actionSigns } from "../../base/text/signs.ts";
import { valueAt } from "../../base/text/values.ts";
import { code, type Entry, id, type Line, listLine, muted, name, ref, type Section, type Tone, word } from "../blocks.ts";
import { attributionText, type Traced } from "./attribution.ts";
import { isAlarm, reviewed, type Words, wordsOf } from "./words.ts";

// What changes is one table: a verb, the columns or objects, the integrations, and why. Equal changes of several columns and
// integrations are one row, so that a rule and its reason are said once.

/** Equal changes. Texts are raw unless a comment says otherwise. */
export interface ChangeRow {
  readonly sign: string;
  /** "hash", "no longer hashed", "create". */
  readonly verb: string;
  readonly isAlarm: boolean;
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
  /** Without control characters. */
  readonly why: string;
  readonly cause: Cause | undefined;
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

type Facts = Pick<ChangeRow, "verb" | "isAlarm" | "why" | "cause">;

const factsOf = (facts: ChangeFacts & { readonly field: string }, words: Words): Facts => ({
  verb: verbOf(facts, words),
  isAlarm: isAlarm(facts),
  why: whyText(facts, words),
  cause: facts.cause,
});

/** By field and desired value; for a report also by what changed: the account, the manifests, or that is unknown. */
const verbs: Readonly<
  Record<string, { readonly plan: string; readonly drift: string; readonly config: string; readonly unknown: string }>
> = {
  "hashed true": { plan: "hash", drift: "no longer hashed", config: "not hashed yet", unknown: "not hashed" },
  "hashed false": { plan: "unhash", drift: "now hashed", config: "still hashed", unknown: "hashed" },
  "enabled true": { plan: "switch on", drift: "no longer replicated", config: "not replicated yet", unknown: "not replicated" },
  "enabled false": { plan: "switch off", drift: "now replicated", config: "still replicated", unknown: "replicated" },
};

/** A name or value can be anything, so that only these are looked up. */
const wordsFor = ({ field, after }: { readonly field: string; readonly after: ChangeFacts["after"] | undefined }) =>
  (field === "hashed" || field === "enabled") && typeof after === "boolean" ? verbs[`${field} ${after}`] : undefined;

function verbOf(facts: ChangeFacts & { readonly field: string }, { kind, isReview }: Pick<Words, "kind" | "isReview">): string {
  const { field, after, origin } = facts;
  const known = wordsFor({ field, after });
  const isReport = kind === "DriftReport";
  if (known === undefined) return `${visible(field)}${isReport ? " differs" : ""}`;
  if (!isReport) return `${known.plan}${isOutside(facts) && isReview !== true ? " again" : ""}`;
  return isOutside(facts) ? known.drift : origin === "config" ? known.config : known.unknown;
}

/** The difference as a report words it: "no longer hashed", "description differs". */
export const differenceText = (change: Change): string => verbOf(change, wordsOf("DriftReport"));

/** "false → true"; in a report "live 60, desired 15". */
function valueChange(change: ChangeFacts & { readonly field: string }, words: Words, path = `/${change.field}`): string {
  const { before, after } = change;
  if (wordsFor({ field: change.field, after }) !== undefined) return "";
  const [live, desired] = [
    before === undefined ? words.unknown : valueAt(path, before),
    after === undefined ? words.unset : valueAt(path, after),
  ];
  return words.kind === "DriftReport" ? `live ${live}, desired ${desired}` : `${live} → ${desired}`;
}

/** "un-hashed by dana@example.com, 2026-03-03 07:55 UTC", "rule city: small towns identify people", "manifests/orders.yaml:22". */
function whyText(
  facts: ChangeFacts & Traced,
  words: Pick<Words, "kind" | "isReview" | "reviews">,
  causes: readonly (Cause | undefined)[] = [facts.cause],
): string {
  const { cause, removed, origin, attribution } = facts;
  const { kind, isReview } = words;
  const who = attribution?.confidence === "exact" ? attributionText(facts) : "";
  const gone = removed === undefined ? "" : `no longer protected by ${placeOf(removed)} (removed here)`;
  const rule = joinParts([causeText(cause, isAlarm(facts)), labelText(causes)], " ");
  if (kind !== "DriftReport" && isOutside(facts))
    return joinParts(
      [who !== "" ? who : isReview === true ? `not from ${reviewed(words)}` : "changed in the account", origin === "conflict" ? rule : ""],
      "; ",
    );
  return joinParts([who, isReview === true && origin === "new" ? `not from ${reviewed(words)}` : "", gone, rule], "; ");
}

const placeOf = (cause: Pick<Cause, "rule" | "file" | "line">): string => visible(joinParts([cause.rule ?? "", placeText(cause)], ", "));

/** "rule city: small towns identify people"; without a reason, or if data becomes readable, with the place: "city, manifests/shops.yaml:9". */
function causeText(cause: Cause | undefined, hasPlace: boolean): string {
  if (cause === undefined) return "";
  const { rule, reason } = cause;
  const where = rule === undefined || reason === undefined || hasPlace ? placeOf(cause) : ruleText(visible(rule), visible(rule));
  return joinParts([where, visible(reason ?? "")], ": ");
}

/** "← label pii ← models/sources.yml, source shop.customers.email, meta.contains_pii and 3 more sources"; "" without labels. */
export function labelText(causes: readonly ({ readonly label?: Cause["label"] | undefined } | undefined)[]): string {
  const labels = [...new Set(causes)].flatMap((cause) => cause?.label ?? []);
  const names = [...new Set(labels.map(({ name: one }) => visible(one)))];
  const sources = [...new Set(labels.map(({ source }) => visible(source)))];
  return names.length === 0 ? "" : `← label ${andMore(names, "label")} ← ${andMore(sources, "source", { shown: 1 })}`;
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

/** A create is one row, an update one for each value. */
function objectRows(item: ReadyStep, words: Words): readonly ChangeRow[] {
  const changes = [...eachChange(item)];
  if (item.verb === "update" && changes.length > 0) return changes.map((change) => valueRow(item, change, words));
  const cause = changes.find((change) => change.cause !== undefined)?.cause;
  return [
    {
      sign: actionSigns[item.verb],
      verb: item.verb === "update" ? "update" : actionVerb(item.verb, words),
      isAlarm: changes.some(isAlarm),
      what: [visible(item.address)],
      noun: "object",
      count: 1,
      where: item.liveName === undefined ? [] : [item.liveName],
      value: "",
      why: cause === undefined ? "" : placeOf({ ...cause }),
      cause,
      path: "",
    },
  ];
}

function valueRow(item: ReadyStep, change: Change, given: Words): ChangeRow {
  const words = wordsOfChange(item, change, given);
  const { before, after } = change;
  const isSecret = isSecretReference(before) || isSecretReference(after);
  return {
    ...factsOf({ ...change, field: wholePath(change.path) }, words),
    sign: actionSigns.update,
    verb: words.kind === "DriftReport" ? "differs" : isOutside(change) && words.isReview !== true ? "set again" : "set",
    what: [`${visible(item.address)} ${wholePath(change.path)}`],
    noun: "value",
    count: 1,
    where: [],
    value: valueChange({ ...change, field: "" }, isSecret ? { ...words } : words, change.path),
    path: change.path,
  };
}

/** The relations of one tag that are added, or removed. */
function relationRow(group: readonly [ReadyStep, ...ReadyStep[]], words: Words): ChangeRow {
  const [{ verb, address }] = group;
  const changes = group.flatMap((item) => [...eachChange(item)]);
  const [first] = changes;
  return {
    sign: actionSigns[verb],
    verb: verb === "unrelate" || verb === "relate" ? actionVerb(verb, words) : "",
    isAlarm: changes.some(isAlarm),
    what: [visible(objectAddress(address))],
    noun: "tag",
    count: group.length,
    where: group.map(relationName),
    value: "",
    why: first === undefined ? "" : whyText(first, words),
    cause: first?.cause,
    path: "",
  };
}

const bindRow = (items: readonly ReadyStep[], words: Words): ChangeRow => ({
  sign: actionSigns.bind,
  verb: actionVerb("bind", words),
  isAlarm: false,
  what: items.map(({ address, renamedFrom }) => visible(renamedFrom === undefined ? address : `${address}, renamed from ${renamedFrom}`)),
  noun: "id",
  count: items.length,
  where: items.length === 1 ? items.flatMap(({ liveId }) => liveId ?? []) : [],
  value: "",
  why: "",
  cause: undefined,
  path: "",
});

/** The resource of a tag relation: its type and id as in the request, and its name; undefined for other items. */
function relationTarget({
  verb,
  requests,
  changes,
}: ReadyStep): { readonly type: string; readonly id: string; readonly name: string } | undefined {
  if (!isOfRelation({ verb })) return undefined;
  const { resourceType: type, resourceId } = requests[0]?.body ?? {};
  if (typeof type !== "string" || typeof resourceId !== "string") return undefined;
  const [change] = changes;
  const named = isObject(change?.after) ? change.after["name"] : change?.before;
  return { type, id: resourceId, name: typeof named === "string" && named !== resourceId ? named : "" };
}

const relationName = (item: ReadyStep): string => {
  const { name: named = "", id: resource = item.address.slice(item.address.indexOf("#") + 1) } = relationTarget(item) ?? {};
  return named === "" ? resource : `${named} (${resource})`;
};

const tones: Readonly<Record<string, Tone>> = { "+": "good", "→": "info", "=": "quiet" };

/** The rows as a section. `verbose`: without shortening lists. */
export function changesSection(items: readonly ReadyStep[], words: Words, verbose: boolean): Section {
  const rows = changeRows(items, words);
  const most = verbose ? Number.POSITIVE_INFINITY : undefined;
  return {
    id: "changes",
    title: words.change === "difference" ? "Differences" : "Changes",
    count: items.reduce((sum, item) => sum + (item.verb === "update" ? changeCount(item) : item.verb === "bind" ? 0 : 1), 0),
    part: "changes",
    isPlain: true,
    noun: "row",
    heads: ["Change", "What", "Where", "Why"],
    entries: rows.map((row) => rowEntry(row, words, most)),
    notes: eventLines(items, words).map((text) => [muted(text)]),
  };
}

function rowEntry(row: ChangeRow, { kind, risks }: Words, most: number | undefined): Entry {
  const tone = row.isAlarm ? "bad" : (tones[row.sign] ?? "warn");
  // Not every column changes in every integration.
  const isExample = row.what.length * Math.max(1, row.where.length) !== row.count && row.noun !== "tag";
  const whatMost = most ?? (row.what.length > 3 ? 2 : 3);
  const what: Line = [
    ...listLine(isExample ? row.what.slice(0, whatMost) : row.what, (one) => code(one), { one: row.noun, most: whatMost }),
    ...(isExample ? [muted(`and more (${counted(row.count, row.noun)} in all)`)] : []),
    ...(row.value === "" ? [] : [row.value]),
  ];
  return {
    tone,
    head: [
      [row.isAlarm ? word(kind === "DriftReport" ? row.verb : `${row.verb} (${risks[0]})`, "bad") : row.verb],
      what,
      listLine(row.where.map(visible), (one) => id(one), {
        one: row.noun === "tag" ? "resource" : "integration",
        ...(most === undefined ? {} : { most }),
      }),
      [muted(row.why)],
    ],
  };
}

/** Events about objects, each once: "Orders was changed by dana@example.com, 2026-03-03 07:55 UTC". A plan has those of what it undoes. */
function eventLines(items: readonly ReadyStep[], { kind }: Words): readonly string[] {
  const shown = kind === "DriftReport" ? items : items.filter(({ changes }) => changes.some(isOutside));
  return [...new Set(shown.map((item) => attributionText(item)))].filter((text) => text !== "");
}

/** What has changes: an item, the result of one, or a held one. */
export interface WithChanges {
  readonly verb?: Step["verb"];
  readonly changes?: readonly ChangeGroup[];
}

/** One change, for those who ask. Texts are without control characters. */
export interface ChangeLine {
  readonly path: PathText;
  /** "" if the object is new. */
  readonly live: string;
  readonly desired: string;
  readonly isSecret: boolean;
  readonly isAlarm: boolean;
  /** "pii-email, manifests/pii.yaml:9 (GDPR register 12) ← label pii ← models/sources.yml". */
  readonly why: string;
}

/** The single changes by path. A create is listed with one member of an object per line. */
export function changeLines(object: WithChanges, words: Words): readonly ChangeLine[] {
  if (object.verb === "create")
    return [...eachChange(object)].flatMap(leaves).map((change) => ({ ...changeLine(change, words), live: "" }));
  // A plan has all changes of a table in one place.
  return [...eachChange(object)].sort((a, b) => byText(a.path, b.path)).map((change) => changeLine(change, words));
}

function changeLine(change: Change, words: Words): ChangeLine {
  const { path, before, after, cause, origin } = change;
  const reason = cause?.reason === undefined ? "" : `(${visible(cause.reason)})`;
  const from = origin === undefined || origin === "unknown" ? "" : origin;
  const who = attributionText(change);
  return {
    path: pathText(path),
    live: before === undefined ? words.unknown : valueAt(path, before),
    desired: after === undefined ? words.unset : valueAt(path, after),
    isSecret: isSecretReference(before) || isSecretReference(after),
    isAlarm: isAlarm(change),
    why: joinParts(
      [joinParts([from, who], ", "), joinParts([cause === undefined ? "" : placeOf(cause), reason, labelText([cause])], " ")],
      "; ",
    ),
  };
}

function leaves(change: Change): readonly Change[] {
  const { path, before, after } = change;
  if (before !== undefined || !isObject(after) || isSecretReference(after) || Object.keys(after).length === 0) return [change];
  const members: readonly (readonly [string, JsonValue])[] = Object.entries(after as JsonObject);
  return members.flatMap(([key, member]) => leaves({ ...change, path: path + toPointer([key]), after: member }));
}

/** Each item with its changes and requests, for those who ask. */
export function detailEntries(items: readonly ReadyStep[]): readonly Entry[] {
  const addresses = new Map(items.map((item) => [item.id, item.address]));
  return items.map((item): Entry => {
    const { verb, address, liveName = "", liveId = "", dependsOn, requests } = item;
    const after = [...new Set((dependsOn ?? []).map((one) => addresses.get(one) ?? one))].filter((one) => one !== address);
    const first = after.length === 0 ? "" : `, after ${andMore(after.map(visible), "object")}`;
    return {
      sign: actionSigns[verb],
      tone: tones[actionSigns[verb]] ?? "warn",
      head: [[name(address)], [id(liveName), ref(liveId)]],
      changes: { of: item, title: `Changes of ${address}`, isKey: true },
      requests: requests.map(({ method, path, body }, index) => ({ text: `${method} ${path}${index === 0 ? first : ""}`, body })),
    };
  });
}
