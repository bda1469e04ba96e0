import { type Address, manifestAddress, parseAddress } from "../model/address.ts";
import type { AuditEntry } from "../model/live.ts";
import type { Attribution, Change, Item, Manual, Plan } from "../model/plan.ts";
import { fromPointer } from "../model/pointer.ts";
import type { Diagnostic } from "../model/problem.ts";
import { timeOf } from "./audit.ts";
import { fitOf, hasWord, mentionOf, type ObjectNames, type ParsedEvent, parseEvent, type Topic, topicOf, wordsIn } from "./events.ts";

// Who did it? The audit log says in free text what happened (interface §2.7); a difference says which object is not as declared. They meet by the
// object's id or name in the text. Of several entries that speak of the object, those about the same matter win over those that leave it open (an
// entry about another matter never counts: nobody is blamed for a column because they paused the integration), then those that name the column
// or table, then the newest. Where no entry speaks of any object that is known, and one write is all that is left in the window, that is the guess of last resort.

/** What the report itself doesn't say of the objects that it is about. */
export interface Known {
  /** Live ids by manifest address: the bindings. */
  readonly idByAddress?: ReadonlyMap<Address, string>;
}

const ownAgent = /^dimsync\/\S+ \(run\/[^)]+\)/u;

/** Beyond this, the older entries about one object are not looked at. */
const mostPerObject = 500;

/** The report with the best attribution at each difference of the account. What only the manifests changed (origin "config") has none. */
export function attribute(report: Plan, entries: readonly AuditEntry[], known: Known = {}): Plan {
  const heard = [...entries].sort((a, b) => timeOf(b) - timeOf(a)).map(parseEvent);
  const ids = idsIn(report, known);
  const byWord = indexed(heard);
  const lonely = onlyWriteOfNobody(heard, report, ids);
  const aboutObject = new Map<string, readonly { readonly heard: ParsedEvent; readonly confidence: "exact" | "likely" }[]>();

  const find = (called: ObjectNames, topic: Topic, nodes: readonly string[]): Attribution | undefined => {
    const key = JSON.stringify([called.id ?? "", ...called.names]);
    const about = aboutObject.get(key) ?? candidates(heard, byWord, called);
    aboutObject.set(key, about);
    let best: { readonly rank: number; readonly attribution: () => Attribution } | undefined;
    for (const { heard: one, confidence } of about) {
      const fit = fitOf(one, topic);
      const named = nodes.filter((node) => hasWord(one.text, node)).length;
      // Which resource a relation was about is what tells it from the tag's other relations.
      if (fit === 0 || (topic.startsWith("relation") && named === 0)) continue;
      const rank = (confidence === "exact" ? 1000 : 0) + fit * 100 + named;
      if (best === undefined || rank > best.rank) best = { rank, attribution: () => toAttribution(one, confidence) };
    }
    if (best !== undefined) return best.attribution();
    return lonely === undefined || topic.startsWith("relation") || fitOf(lonely, topic) === 0 ? undefined : toAttribution(lonely, "window");
  };

  const ofChange = (item: Item, called: ObjectNames, change: Change): Change => {
    if (change.origin === "config") return change;
    const attribution = find(called, topicOf(item.address, change.path, item.action === "relate"), nodesOf(item.address, change.path));
    return attribution === undefined ? change : { ...change, attribution };
  };
  const ofManual = (step: Manual): Manual => {
    if (step.origin === "config" || step.path.startsWith("/spec/")) return step;
    const attribution = find(calledBy(step.address, ids), topicOf(step.address, step.path, false), nodesOf(step.address, step.path));
    return attribution === undefined ? step : { ...step, attribution };
  };
  return {
    ...report,
    items: report.items.map((item) => {
      if (item.action === "create" || item.action === "bind") return item;
      const byAddress = calledBy(item.address, ids);
      const called = {
        id: item.liveId ?? byAddress.id,
        names: [...(item.liveName === undefined ? [] : [item.liveName]), ...byAddress.names],
      };
      return { ...item, changes: item.changes.map((change) => ofChange(item, called, change)) };
    }),
    manual: report.manual.map(ofManual),
  };
}

/** The report with a note in place of attribution; `why` is a sentence. Nothing else changes, the exit code included. */
export function withoutAttribution(report: Plan, why: string): Plan {
  return noted(
    report,
    "I_NO_ATTRIBUTION",
    "Attribution not available",
    `${why} The differences stand as they are; who caused them is not told.`,
  );
}

/** The report with a note that the audit log was not read in full. */
export function withPartialAttribution(report: Plan, read: number, total: number): Plan {
  const message = `The audit log holds ${total} entries in this window, and the newest ${read} were read. Older changes are not told. Give a later --since to look at a shorter time.`;
  return noted(report, "I_AUDIT_PARTIAL", "Audit log read in part", message);
}

function noted(report: Plan, code: string, summary: string, message: string): Plan {
  const note: Diagnostic = { code, severity: "info", summary, message };
  return { ...report, diagnostics: [...report.diagnostics, note] };
}

/** Entries by each word in them, lower case, so that thousands of objects need not each go through thousands of entries. */
function indexed(heard: readonly ParsedEvent[]): ReadonlyMap<string, readonly ParsedEvent[]> {
  const byWord = new Map<string, ParsedEvent[]>();
  for (const one of heard)
    for (const text of new Set([...one.words].map((each) => each.toLowerCase()))) {
      const known = byWord.get(text);
      if (known === undefined) byWord.set(text, [one]);
      else known.push(one);
    }
  return byWord;
}

function candidates(
  heard: readonly ParsedEvent[],
  byWord: ReadonlyMap<string, readonly ParsedEvent[]>,
  called: ObjectNames,
): readonly { readonly heard: ParsedEvent; readonly confidence: "exact" | "likely" }[] {
  const firstWords = [called.id ?? "", ...called.names].filter((text) => text !== "").map((text) => wordsIn(text)[0]?.toLowerCase());
  const searched = firstWords.includes(undefined) ? heard : new Set(firstWords.flatMap((first) => byWord.get(first ?? "") ?? []));
  return [...searched]
    .flatMap((one) => {
      const confidence = mentionOf(one, called);
      return confidence === undefined ? [] : [{ heard: one, confidence }];
    })
    .sort((a, b) => timeOf(b.heard.entry) - timeOf(a.heard.entry))
    .slice(0, mostPerObject);
}

/** Live ids by manifest address, from the bindings and from the report's own items. */
function idsIn(report: Plan, { idByAddress = new Map() }: Known): ReadonlyMap<Address, string> {
  const ids = new Map(idByAddress);
  for (const { address, liveId } of report.items) {
    const on = parseAddress(address)?.on;
    if (liveId !== undefined) ids.set(on === undefined ? manifestAddress(address) : `Integration/${on}`, liveId);
  }
  return ids;
}

function calledBy(address: Address, ids: ReadonlyMap<Address, string>): ObjectNames {
  const parts = parseAddress(address);
  const name = parts?.on ?? parts?.name;
  const id = ids.get(parts?.on === undefined ? manifestAddress(address) : `Integration/${parts.on}`);
  return { ...(id === undefined ? {} : { id }), names: name === undefined ? [] : [name] };
}

/** What would make an event speak of exactly this: the column's and table's name, or the resource of a relation. */
function nodesOf(address: Address, path: string): readonly string[] {
  const resource = parseAddress(address)?.resource;
  if (resource !== undefined) return [resource.replace(/^[A-Za-z]+\//u, "")];
  const segments = fromPointer(path);
  return segments[0] === "schemas" ? [segments[3], segments[5]].filter((name) => name !== undefined) : [];
}

/** The one entry that is neither ours nor about an object that is known, if there is exactly one. */
function onlyWriteOfNobody(heard: readonly ParsedEvent[], report: Plan, ids: ReadonlyMap<Address, string>): ParsedEvent | undefined {
  const objects = [...report.unmanaged.integrations, ...report.unmanaged.tags];
  const words = new Set([...ids.values(), ...objects.map(({ id }) => id)]);
  const names = new Set([...report.items.flatMap(({ liveName }) => liveName ?? []), ...objects.map(({ name }) => name)]);
  const left = heard.filter(
    ({ entry, words: said, quoted }) =>
      !isOwn(entry) && ![...said].some((one) => words.has(one)) && ![...quoted].some((one) => names.has(one) || words.has(one)),
  );
  return left.length === 1 ? left[0] : undefined;
}

const isOwn = ({ context }: AuditEntry): boolean => context.userAgent !== undefined && ownAgent.test(context.userAgent);

function toAttribution({ entry }: ParsedEvent, confidence: Attribution["confidence"]): Attribution {
  const { actor, context } = entry;
  return {
    ...(actor.email === undefined ? {} : { actor: actor.email }),
    at: entry.timestamp,
    ...(context.userAgent === undefined ? {} : { userAgent: context.userAgent }),
    ...(context.ipAddress === undefined ? {} : { ip: context.ipAddress }),
    event: entry.event,
    confidence,
    own: isOwn(entry),
  };
}
