import { parseAddress } from "../model/address.ts";
import type { AuditEntry } from "../model/live.ts";
import { timeOf } from "./audit.ts";

/** How an event speaks of an object: by its id or its quoted name, by its name as a word, or not at all. */
export type Mention = "exact" | "likely" | undefined;

/** An object as events may call it. */
export interface ObjectNames {
  readonly id?: string | undefined;
  readonly names: readonly string[];
}

/** One entry, taken apart once: events are searched for every difference of a report. */
export interface ParsedEvent {
  readonly entry: AuditEntry;
  /** Lower case. */
  readonly text: string;
  /** Lower case, without what stands in quotes: names say nothing of what was done. */
  readonly unquoted: string;
  readonly quoted: ReadonlySet<string>;
  readonly words: ReadonlySet<string>;
}

const quotes = /"([^"]*)"|'([^']*)'|`([^`]*)`|“([^”]*)”/gu;
const word = /[\p{L}\p{M}\p{N}_-]+/gu;
const inWord = /[\p{L}\p{M}\p{N}_-]/u;

/** The runs of letters, digits, `_` and `-` in a text. */
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

/** Short numbers and single letters stand in any text for something else. */
const tellsId = (id: string): boolean => (/^\d+$/u.test(id) ? id.length >= 5 : id.length >= 2);
const tellsName = (name: string): boolean => name.length >= 3;

export function mentionOf(heard: ParsedEvent, { id, names }: ObjectNames): Mention {
  if (id !== undefined && (heard.quoted.has(id) || (tellsId(id) && (heard.words.has(id) || hasWord(heard.text, id))))) return "exact";
  if (names.some((name) => heard.quoted.has(name))) return "exact";
  return names.some((name) => tellsName(name) && hasWord(heard.text, name)) ? "likely" : undefined;
}

/** Whether the name stands in the text with no letter, digit, `_` or `-` right before or after it; case does not count. */
export function hasWord(lowerText: string, name: string): boolean {
  const wanted = name.toLowerCase();
  if (wanted === "") return false;
  for (let at = lowerText.indexOf(wanted); at !== -1; at = lowerText.indexOf(wanted, at + 1)) {
    if (!inWord.test(lowerText.charAt(at - 1)) && !inWord.test(lowerText.charAt(at + wanted.length))) return true;
  }
  return false;
}

/** What a difference is about, as far as an event could speak of the same. */
export type Topic = "schema" | "paused" | "name" | "gone" | "relation-lost" | "relation-extra" | "fields";

/** The topic of a difference at an address; `isRelate` for a relation that is declared and not there. */
export function topicOf(address: string, path: string, isRelate: boolean): Topic {
  const parts = parseAddress(address);
  if (isRelate) return "relation-lost";
  if (parts?.resource !== undefined) return "relation-extra";
  if (path === "") return "gone";
  if (parts?.kind === "SchemaConfig") return "schema";
  return path === "/paused" ? "paused" : path === "/name" ? "name" : "fields";
}

// The interface describes events as text (§2.7) and lists none: these are words that no wording of such an event could well do without.
const matters: readonly (readonly [topic: RegExp, fits: readonly Topic[]])[] = [
  [/\b(?:un-?)?paus\w*|\bresum\w*/u, ["paused"]],
  [/\b(?:detach|untag)\w*/u, ["relation-lost"]],
  [/\b(?:attach|tagged|relat)\w*/u, ["relation-extra"]],
  [/\b(?:delet|destroy)\w*/u, ["gone"]],
  [/\brenam\w*/u, ["name"]],
  [/\b(?:schema|table|column|(?:un-?)?hash)\w*/u, ["schema"]],
];
const onlyLooked = /\b(?:viewed|listed|logged in|signed in|exported|downloaded)\b/u;

/** 2: the event is about the same; 1: it says nothing against it; 0: it is about something else, or nothing was changed. */
export function fitOf({ unquoted }: ParsedEvent, topic: Topic): 0 | 1 | 2 {
  const found = matters.filter(([words]) => words.test(unquoted));
  if (found.some(([, fits]) => fits.includes(topic))) return 2;
  if (found.length > 0 || onlyLooked.test(unquoted)) return 0;
  // An object that is gone, and a relation that is, have been removed by someone: "updated" does not tell of it.
  if (topic === "gone" || topic === "relation-lost") return /\b(?:remov)\w*/u.test(unquoted) ? 2 : 0;
  return 1;
}

/** Entries that speak of an integration and may be about its schemas, the newest first, at most so many. */
export function eventsAbout(entries: readonly AuditEntry[], integration: ObjectNames, most: number): readonly AuditEntry[] {
  return [...entries]
    .sort((a, b) => timeOf(b) - timeOf(a))
    .map(parseEvent)
    .filter((heard) => mentionOf(heard, integration) !== undefined && fitOf(heard, "schema") > 0)
    .slice(0, most)
    .map(({ entry }) => entry);
}
