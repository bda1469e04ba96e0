import { parseAddress, schemasKind } from "../base/model/address.ts";
import type { AuditEntry } from "../base/model/live.ts";
import type { Reads } from "../base/model/service.ts";
import { counted } from "../base/text/counts.ts";
import { type AuditEntries, readAuditLog } from "../plan/index.ts";

/** A period, ISO 8601: from `since` (inclusive) to `until` (exclusive). */
export interface AuditWindow {
  readonly since?: string;
  readonly until: string;
}

const defaultLimit = 10_000;

/** The newest entries of the window, newest first, at most `limit`; those of the same time in the order of the service. Throws ServiceError if a read fails. */
export async function readAudit(
  reads: Pick<Reads, "auditLogs">,
  { since, until }: AuditWindow,
  { limit = defaultLimit, signal }: { readonly limit?: number; readonly signal?: AbortSignal } = {},
): Promise<AuditEntries> {
  const query = { sortOrder: "desc", endAt: until, ...(since === undefined ? {} : { startAt: since }) } as const;
  const { items, ...log } = await readAuditLog(reads, query, { limit, signal });
  return { ...log, items: [...items].sort((a, b) => timeOf(b) - timeOf(a)).slice(0, limit) };
}

/** The sentences about entries that could not be read; none if all could be. */
export function unreadText({ unread: [first, ...others] }: Pick<AuditEntries, "unread">): readonly string[] {
  if (first === undefined) return [];
  const more = others.length === 0 ? "" : ` ${counted(others.length, "more entry")} cannot be read either.`;
  return [`dimsync cannot read the entry ${first.id ?? first.index} of the audit log, and continues without it. ${first.why}${more}`];
}

/** The end of a window that reaches up to now: 15 minutes later, because the service's clock may be ahead and ends are exclusive. */
export const endOfNow = (nowMs: number): string => new Date(nowMs + 15 * 60_000).toISOString();

/** Milliseconds. 0 for an invalid time, so that the entry counts as the oldest and is not lost. */
export function timeOf({ timestamp }: AuditEntry): number {
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? 0 : time;
}

/** How an event names an object: "exact" by its id or quoted name, "likely" by its name as a word; undefined: not at all. */
type Mention = "exact" | "likely" | undefined;

/** The id and names of an object, as events may contain them. */
export interface ObjectNames {
  readonly id?: string | undefined;
  readonly names: readonly string[];
}

/** An entry, parsed once: events are searched for every difference of a report. */
export interface ParsedEvent {
  readonly entry: AuditEntry;
  /** Lower case. */
  readonly text: string;
  /** Lower case, without quoted text: a name such as "paused orders" is not what was done. */
  readonly unquoted: string;
  readonly quoted: ReadonlySet<string>;
  readonly words: ReadonlySet<string>;
}

const quotes = /"([^"]*)"|'([^']*)'|`([^`]*)`|“([^”]*)”/gu;
const word = /[\p{L}\p{M}\p{N}_-]+/gu;
const inWord = /[\p{L}\p{M}\p{N}_-]/u;

/** The runs of letters, digits, `_` and `-`. */
export const wordsIn = (text: string): readonly string[] => text.match(word) ?? [];

export function parseEvent(entry: AuditEntry): ParsedEvent {
  const quoted = [...entry.event.matchAll(quotes)].map((found) => found.slice(1).find((text) => text !== undefined) ?? "");
  return {
    entry,
    text: entry.event.toLowerCase(),
    unquoted: entry.event.replaceAll(quotes, " ").toLowerCase(),
    quoted: new Set(quoted),
    words: new Set(wordsIn(entry.event)),
  };
}

/** Short numbers and single letters appear in any text with another meaning. */
const isDistinctiveId = (id: string): boolean => (/^\d+$/u.test(id) ? id.length >= 5 : id.length >= 2);
const isDistinctiveName = (name: string): boolean => name.length >= 3;

const longId = /^[0-9a-f]{24}$/u;

/** Two objects can have one name: an event with the id of another one is not about this one. */
export const namesOther = ({ words }: ParsedEvent, id = ""): boolean =>
  longId.test(id) && !words.has(id) && [...words].some((one) => longId.test(one));

export function mentionOf(event: ParsedEvent, { id, names }: ObjectNames): Mention {
  if (id !== undefined && event.quoted.has(id)) return "exact";
  if (id !== undefined && isDistinctiveId(id) && (event.words.has(id) || hasWord(event.text, id))) return "exact";
  if (namesOther(event, id)) return undefined;
  if (names.some((name) => event.quoted.has(name))) return "exact";
  return names.some((name) => isDistinctiveName(name) && hasWord(event.text, name)) ? "likely" : undefined;
}

/** Whether the text contains the name with no letter, digit, `_` or `-` before or after it. Case is ignored. */
export function hasWord(lowerText: string, name: string): boolean {
  const wanted = name.toLowerCase();
  if (wanted === "") return false;
  for (let at = lowerText.indexOf(wanted); at !== -1; at = lowerText.indexOf(wanted, at + 1)) {
    if (!inWord.test(lowerText.charAt(at - 1)) && !inWord.test(lowerText.charAt(at + wanted.length))) return true;
  }
  return false;
}

/** Entries that name an integration and may be about its schemas, newest first, at most `limit`. */
export function eventsAbout(entries: readonly AuditEntry[], integration: ObjectNames, limit: number): readonly AuditEntry[] {
  return [...entries]
    .sort((a, b) => timeOf(b) - timeOf(a))
    .map(parseEvent)
    .filter((event) => mentionOf(event, integration) !== undefined && fitOf(event.unquoted, "schema") > 0)
    .slice(0, limit)
    .map(({ entry }) => entry);
}

/** What a difference is about, as far as events distinguish it. */
export type Topic = "schema" | "paused" | "name" | "gone" | "relation-lost" | "relation-extra" | "fields";

/** The topic of a difference. `isRelate`: a declared relation does not exist. */
export function topicOf(address: string, path: string, isRelate: boolean): Topic {
  const parts = parseAddress(address);
  if (isRelate) return "relation-lost";
  // Also an integration that was renamed, whose schemas a selector covered.
  if (path === "/name") return "name";
  if (parts?.resource !== undefined) return "relation-extra";
  if (path === "") return "gone";
  if (parts?.kind === schemasKind) return "schema";
  return path === "/paused" ? "paused" : "fields";
}

// Events are free text, and the interface documents none (docs/service-interface.md). These words are in any plausible wording.
const topicWords: readonly (readonly [words: RegExp, topics: readonly Topic[]])[] = [
  [/\b(?:un-?)?paus\w*|\bresum\w*/u, ["paused"]],
  [/\b(?:detach|untag)\w*/u, ["relation-lost"]],
  [/\b(?:attach|tagged|relat)\w*/u, ["relation-extra"]],
  [/\b(?:delet|destroy)\w*/u, ["gone"]],
  [/\brenam\w*/u, ["name"]],
  [/\b(?:schema|table|column|(?:un-?)?hash)\w*/u, ["schema"]],
];
const readOnlyWords = /\b(?:viewed|listed|logged in|signed in|exported|downloaded)\b/u;

/** 2: the event is about the topic; 1: it may be; 0: it is about another topic, or changed nothing. `text` is lower case, without quoted names. */
export function fitOf(text: string, topic: Topic): 0 | 1 | 2 {
  const found = topicWords.filter(([words]) => words.test(text));
  if (found.some(([, topics]) => topics.includes(topic))) return 2;
  if (found.length > 0 || readOnlyWords.test(text)) return 0;
  // "updated" does not mean that an object or a relation was removed.
  if (topic === "gone" || topic === "relation-lost") return /\b(?:remov)\w*/u.test(text) ? 2 : 0;
  return 1;
}
