import { type Address, objectAddress, parseAddress } from "../base/model/address.ts";
import { firstChange, withTraces } from "../base/model/changes.ts";
import { defined } from "../base/model/json/json.ts";
import { fromPointer } from "../base/model/json/pointer.ts";
import type { AuditEntry } from "../base/model/live.ts";
import { getOrAdd } from "../base/model/maps.ts";
import { type Attribution, type Plan, readySteps, type Step, unmanagedObjects } from "../base/model/plan.ts";
import type { Diagnostic } from "../base/model/problem.ts";
import { titles } from "../base/model/titles.ts";
import { andMore } from "../base/text/lists.ts";
import { manifestOfSchemas } from "../kinds/index.ts";
import type { AuditEntries } from "../plan/index.ts";
import type { PastWrite } from "../records/index.ts";
import {
  fitOf,
  hasWord,
  mentionOf,
  namesOther,
  type ObjectNames,
  type ParsedEvent,
  parseEvent,
  type Topic,
  timeOf,
  topicOf,
  unreadText,
  wordsIn,
} from "./audit.ts";

// Attribution finds the audit log entry that explains a difference. Entries are free text, so they are matched by the id or name of
// the object. Of several entries about the object, those about the same topic win, then those that name the column or table, then the
// newest. An entry about another topic never counts: whoever paused an integration did not change its columns. If no entry names the
// object, and exactly one write in the window has no other explanation, that entry is the last guess ("window"). Only an entry that names
// the column, table or schema ("exact") says who changed it. Any other one says it of the object only.

/** What the report does not contain about its objects. */
interface KnownObjects {
  /** Live ids by manifest address, from the bindings. */
  readonly idByAddress?: ReadonlyMap<Address, string>;
}

const ownAgent = /^dimsync\/\S+ \(run\/(?<run>[^)]+)\)/u;

/** Older entries about one object are ignored. */
const maxPerObject = 500;

/** The report with the best attribution for each difference, or for its object. What only the manifests changed (origin "config") has none. */
export function attribute(report: Plan, entries: readonly AuditEntry[], known: KnownObjects = {}): Plan {
  const ids = idsIn(report, known);
  const find = finder(entries, report, ids);
  const steps: Step[] = [];
  for (const step of report.steps) {
    const names = objectNames(step.address, ids);
    const { standing } = step;
    steps.push(
      standing === "ready" ? attributeReady(step, names, find) : standing === "byHand" ? attributeByHand(step, names, find) : step,
    );
  }
  return { ...report, steps };
}

/** Explains a difference of an object. `nodes`: names that only an event about exactly this difference contains, the last one most of all. */
type FindOfObject = (topic: Topic, nodes: readonly string[]) => Attribution | undefined;
type Find = (object: ObjectNames) => FindOfObject;

const liveNames = ({ liveId, liveName }: Pick<Step, "liveId" | "liveName">, { id, names }: ObjectNames): ObjectNames => ({
  id: liveId ?? id,
  names: liveName === undefined ? names : [liveName, ...names],
});

function attributeReady(item: Step, byAddress: ObjectNames, findAny: Find): Step {
  if (item.verb === "create" || item.verb === "bind") return item;
  const find = findAny(liveNames(item, byAddress));
  const ofObject = new Set<Attribution>();
  const changes = withTraces(item.changes, ({ path, origin }) => {
    if (origin === "config") return {};
    const topic = topicOf(item.address, path, item.verb === "relate");
    const attribution = find(topic, nodesOf(item.address, path));
    if (attribution?.confidence === "exact") return { attribution };
    if (attribution !== undefined) ofObject.add(attribution);
    return {};
  });
  const [newest] = [...ofObject].sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
  return { ...item, changes, ...defined({ attribution: newest }) };
}

function attributeByHand(step: Step, byAddress: ObjectNames, find: Find): Step {
  const { address } = step;
  const { path, before, after, origin } = firstChange(step);
  const object = liveNames(step, byAddress);
  if (origin === "config" || path.startsWith("/spec/")) return step;
  const renamed = path === "/name" ? [after, before].filter((name) => typeof name === "string") : [];
  const attribution = find({ ...object, names: [...object.names, ...renamed] })(topicOf(address, path, false), nodesOf(address, path));
  if (path.startsWith("/schemas/") && attribution?.confidence !== "exact") return step;
  return attribution === undefined ? step : { ...step, changes: step.changes.map((change) => ({ ...change, attribution })) };
}

/** An event that names the object of a question. */
interface Candidate {
  readonly event: ParsedEvent;
  readonly confidence: "exact" | "likely";
}

function finder(entries: readonly AuditEntry[], report: Plan, ids: ReadonlyMap<Address, string>): Find {
  const events = [...entries].sort((a, b) => timeOf(b) - timeOf(a)).map(parseEvent);
  const byWord = indexByWord(events);
  const unexplained = onlyUnexplainedWrite(events, report, ids);
  const ofObjects = new Map<string, FindOfObject>();
  return (object) => {
    const key = JSON.stringify([object.id ?? "", ...object.names]);
    const guess = unexplained === undefined || namesOther(unexplained, object.id) ? undefined : unexplained;
    return getOrAdd(ofObjects, key, () => finderOfObject(candidatesFor(object, events, byWord), guess));
  };
}

function finderOfObject(candidates: readonly Candidate[], unexplained: ParsedEvent | undefined): FindOfObject {
  const ofTopics = new Map<Topic, (nodes: readonly string[]) => Attribution | undefined>();
  const otherwise = unexplained === undefined ? undefined : toAttribution(unexplained, "window");
  return (topic, nodes) => {
    const best = getOrAdd(ofTopics, topic, () => rankedBy(candidates, topic));
    const fits = unexplained !== undefined && !topic.startsWith("relation") && fitOf(unexplained.unquoted, topic) > 0;
    return best(nodes) ?? (fits ? otherwise : undefined);
  };
}

/** A candidate that fits the topic. Of equal ranks the newest wins, which is the first. */
interface Ranked {
  readonly rank: number;
  readonly order: number;
  readonly text: string;
  readonly likely: Attribution;
  /** If the event also names the node of the difference. */
  readonly exact: Attribution;
}

const isBetter = (one: Ranked, other: Ranked | undefined): boolean =>
  other === undefined || one.rank > other.rank || (one.rank === other.rank && one.order < other.order);

/**
 * The best candidate for a difference of the topic. An object can have hundreds of thousands of differences and hundreds of candidates, so only
 * those candidates are looked at that have a word of the difference.
 */
function rankedBy(candidates: readonly Candidate[], topic: Topic): (nodes: readonly string[]) => Attribution | undefined {
  const all = candidates.flatMap(({ event, confidence }, order): readonly Ranked[] => {
    const fit = fitOf(event.unquoted, topic);
    const rank = (confidence === "exact" ? 1000 : 0) + fit * 100;
    const [likely, exact] = [toAttribution(event, "likely"), toAttribution(event, confidence)];
    return fit === 0 ? [] : [{ rank, order, text: event.text, likely, exact }];
  });
  const byWord = new Map<string, Ranked[]>();
  for (const one of all) for (const each of new Set(wordsIn(one.text))) getOrAdd(byWord, each, () => []).push(one);
  const naming = (name: string): readonly Ranked[] => {
    const found = wordsIn(name.toLowerCase()).map((each) => byWord.get(each) ?? []);
    const [fewest = []] = found.sort((a, b) => a.length - b.length);
    return fewest.length === 0 ? [] : fewest.filter(({ text }) => hasWord(text, name));
  };
  const bestOf = (ranked: readonly Ranked[], start?: Ranked): Ranked | undefined =>
    ranked.reduce((best, one) => (isBetter(one, best) ? one : best), start);
  // Only the name of the resource distinguishes the relations of a tag.
  const unnamed = topic.startsWith("relation") ? undefined : bestOf(all);
  // The differences of a table follow each other.
  let table: { readonly name: string | undefined; readonly naming: ReadonlySet<Ranked>; readonly best: Ranked | undefined } | undefined;
  return (nodes) => {
    const [above, name] = nodes.length > 1 ? nodes : [undefined, nodes[0]];
    if (table === undefined || table.name !== above) {
      const named = above === undefined ? [] : naming(above);
      table = { name: above, naming: new Set(named), best: bestOf(named.map(raised), unnamed) };
    }
    const { naming: ofTable, best } = table;
    const named = name === undefined ? [] : naming(name);
    const found = bestOf(
      named.map((one) => raised(ofTable.has(one) ? raised(one) : one)),
      best,
    );
    // Raised once for each name.
    return found !== undefined && found.rank % 100 === nodes.length ? found.exact : found?.likely;
  };
}

const raised = (one: Ranked): Ranked => ({ ...one, rank: one.rank + 1 });

/** Events by each of their words in lower case: thousands of objects must not search thousands of events each. */
function indexByWord(events: readonly ParsedEvent[]): ReadonlyMap<string, readonly ParsedEvent[]> {
  const byWord = new Map<string, ParsedEvent[]>();
  for (const event of events)
    for (const text of new Set([...event.words].map((each) => each.toLowerCase()))) getOrAdd(byWord, text, () => []).push(event);
  return byWord;
}

function candidatesFor(
  object: ObjectNames,
  events: readonly ParsedEvent[],
  byWord: ReadonlyMap<string, readonly ParsedEvent[]>,
): readonly Candidate[] {
  const texts = [object.id ?? "", ...object.names].filter((text) => text !== "");
  const firstWords = texts.map((text) => wordsIn(text)[0]?.toLowerCase());
  const searched = firstWords.includes(undefined) ? events : new Set(firstWords.flatMap((first) => byWord.get(first ?? "") ?? []));
  return [...searched]
    .flatMap((event): readonly Candidate[] => {
      const confidence = mentionOf(event, object);
      return confidence === undefined ? [] : [{ event, confidence }];
    })
    .sort((a, b) => timeOf(b.event.entry) - timeOf(a.event.entry))
    .slice(0, maxPerObject);
}

/** The only entry that is neither of a dimsync run nor about a known object, if there is exactly one. */
function onlyUnexplainedWrite(events: readonly ParsedEvent[], report: Plan, ids: ReadonlyMap<Address, string>): ParsedEvent | undefined {
  const unmanaged = [...unmanagedObjects(report.unmanaged).values()].flat();
  const knownIds = new Set([...ids.values(), ...unmanaged.map(({ id }) => id)]);
  const known = report.steps.flatMap(({ liveName }) => liveName ?? []);
  const knownNames = new Set([...known, ...unmanaged.map(({ name }) => name)]);
  const isAboutKnown = ({ words, quoted }: ParsedEvent): boolean =>
    [...words].some((one) => knownIds.has(one)) || [...quoted].some((one) => knownNames.has(one) || knownIds.has(one));
  const left = events.filter((event) => !isOwn(event.entry) && !isAboutKnown(event));
  return left.length === 1 ? left[0] : undefined;
}

/** Live ids by manifest address, from the bindings and the report's items. */
function idsIn(report: Plan, { idByAddress = new Map() }: KnownObjects): ReadonlyMap<Address, string> {
  const ids = new Map(idByAddress);
  for (const { address, liveId } of readySteps(report)) {
    if (liveId !== undefined) ids.set(manifestOfSchemas(address) ?? objectAddress(address), liveId);
  }
  return ids;
}

function objectNames(address: Address, ids: ReadonlyMap<Address, string>): ObjectNames {
  const object = manifestOfSchemas(address) ?? objectAddress(address);
  const name = parseAddress(object)?.name;
  const id = ids.get(object);
  return { ...(id === undefined ? {} : { id }), names: name === undefined ? [] : [name] };
}

/** The column with its table, the table or the schema of a difference, or the resource of a relation. */
function nodesOf(address: Address, path: string): readonly string[] {
  const resource = parseAddress(address)?.resource;
  if (resource !== undefined) return [resource.replace(/^[A-Za-z]+\//u, "")];
  const [list, schema, , table, , column] = fromPointer(path).slice(0, -1);
  return list === "schemas"
    ? [...(column === undefined ? [] : [column]), table ?? schema].reverse().filter((name) => name !== undefined)
    : [];
}

const isOwn = ({ context }: AuditEntry): boolean => context.userAgent !== undefined && ownAgent.test(context.userAgent);

function toAttribution({ entry }: ParsedEvent, confidence: Attribution["confidence"]): Attribution {
  const { actor, context } = entry;
  return {
    ...(actor.email === undefined ? {} : { actor: actor.email }),
    at: entry.timestamp,
    ...defined({ userAgent: context.userAgent, ip: context.ipAddress }),
    event: entry.event,
    confidence,
    own: isOwn(entry),
  };
}

/** The id of the dimsync run that made the change; undefined if it was not a run. */
export const runOf = ({ own, userAgent }: Attribution): string | undefined =>
  own ? ownAgent.exec(userAgent ?? "")?.groups?.["run"] : undefined;

/**
 * The report in which a run of dimsync that the records do not know counts as somebody else's, with a warning for each run. `known`
 * are the newest writes to the records, newest first; what happened before the oldest one is not judged.
 */
export function withOtherProjects(report: Plan, known: readonly PastWrite[]): Plan {
  const oldest = known.at(-1);
  if (oldest === undefined) return report;
  const runs = new Set(known.map(({ runId }) => runId));
  const isOther = (attribution: Attribution | undefined): attribution is Attribution => {
    const run = attribution === undefined ? undefined : runOf(attribution);
    return run !== undefined && !runs.has(run) && Date.parse(attribution?.at ?? "") > Date.parse(oldest.at);
  };
  const found = new Map<string, { readonly by: Attribution; readonly addresses: Set<Address> }>();
  const judged = (address: Address, attribution: Attribution | undefined): { readonly attribution?: Attribution } => {
    if (!isOther(attribution)) return attribution === undefined ? {} : { attribution };
    getOrAdd(found, runOf(attribution) ?? "", () => ({ by: attribution, addresses: new Set() })).addresses.add(address);
    return { attribution: { ...attribution, own: false } };
  };
  const judgedStep = (step: Step): Step => ({
    ...step,
    ...judged(step.address, step.attribution),
    changes: step.changes.map((entry) => ({ ...entry, ...judged(step.address, entry.attribution) })),
  });
  const judgedReport: Plan = { ...report, steps: report.steps.map(judgedStep) };
  const warnings = [...found].map(([run, { by, addresses }]): Diagnostic => {
    const who = by.actor === undefined ? "" : ` by ${by.actor}`;
    return {
      rule: "W_OTHER_PROJECT",
      severity: "warning",
      summary: titles.W_OTHER_PROJECT,
      message: `The dimsync run ${run}${who} of ${by.at} changed ${andMore([...addresses], "object")}, and the records of this target do not have the run. If two projects manage one object, each undoes the other's changes. Remove the object from one of them.`,
    };
  });
  return warnings.length === 0 ? report : { ...judgedReport, findings: [...judgedReport.findings, ...warnings] };
}

/** The report with a note instead of attribution. `why` is a sentence. Nothing else changes. */
export function withoutAttribution(report: Plan, why: string): Plan {
  const message = `${why} The differences are complete, but the report does not say who made them.`;
  return withNote(report, { rule: "I_NO_ATTRIBUTION", message });
}

/** The report with a note if not all of the audit log was read. */
export function withPartialAttribution(report: Plan, log: AuditEntries): Plan {
  const isPartial = `The audit log has ${log.totalItems} entries in this window, and the newest ${log.items.length} were read. Older changes have no attribution. Pass a later --since to read a shorter window.`;
  const message = [...(log.complete ? [] : [isPartial]), ...unreadText(log)].join(" ");
  return message === "" ? report : withNote(report, { rule: "I_AUDIT_PARTIAL", message });
}

const withNote = (report: Plan, { rule, message }: Pick<Diagnostic, "rule" | "message">): Plan => ({
  ...report,
  findings: [...report.findings, { rule, severity: "info", summary: titles[rule], message }],
});
