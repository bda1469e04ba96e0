import type { AuditEntry } from "../model/live.ts";

/** How an event speaks of an object: by its id or its quoted name, by its name as a word, or not at all. */
export type Mention = "exact" | "likely" | undefined;

/** An object as events may call it. */
export interface Called {
  readonly id?: string | undefined;
  readonly names: readonly string[];
}

/** One entry, taken apart once: events are searched for every difference of a report. */
export interface Heard {
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

export function hear(entry: AuditEntry): Heard {
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

export function mentionOf(heard: Heard, { id, names }: Called): Mention {
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
