import type { AuditEntry } from "../base/model/live.ts";
import { timeOf } from "./audit.ts";
import { fitOf } from "./event-topics.ts";

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

export function mentionOf(event: ParsedEvent, { id, names }: ObjectNames): Mention {
  if (id !== undefined && event.quoted.has(id)) return "exact";
  if (id !== undefined && isDistinctiveId(id) && (event.words.has(id) || hasWord(event.text, id))) return "exact";
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
