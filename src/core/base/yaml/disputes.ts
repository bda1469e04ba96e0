import { CHOMPING_MODE, COLLECTION_STYLE, EVENT_ID, type Event, SCALAR_STYLE, type ScalarEvent } from "js-yaml";
import { escapeMessage, secondKey, tabMessage, textAfterValue } from "./syntax-errors.ts";

// Forms that js-yaml reads and the package `yaml` refuses or reads as other values. They are refused, so that a file means the same to every program
// that reads it. test/core/base/yaml/parse.test.ts looks for more of them.

/** What is wrong at an offset, as a sentence. */
interface Dispute {
  readonly offset: number;
  readonly message: string;
}

/** In a scalar of several lines, in quotes with escapes, or in a block. */
export function disputeInScalar(source: string, event: ScalarEvent): Dispute | undefined {
  const { style, valueStart: start, valueEnd: end } = event;
  if (start < 0) return undefined;
  const text = source.slice(start, end);
  if (style === SCALAR_STYLE.LITERAL_BLOCK || style === SCALAR_STYLE.FOLDED_BLOCK) return disputeInBlock(source, event);
  const tab = /\n *\t/u.exec(text);
  if (tab !== null) return { offset: start + tab.index + tab[0].length - 1, message: tabMessage };
  if (style !== SCALAR_STYLE.DOUBLE_QUOTED) return undefined;
  for (const { index, 1: digits, 2: lineBreak } of text.matchAll(/\\(?:U([0-9a-fA-F]{8})|(\r?\n[ \t]*(?=\r?\n))|.)/gsu)) {
    if (digits !== undefined && Number.parseInt(digits, 16) > 0x10ffff) return { offset: start + index, message: escapeMessage };
    if (lineBreak !== undefined) return { offset: start + index, message: emptyLine };
  }
  return undefined;
}

const emptyLine = "After this backslash at the end of a line, there is an empty line. Remove one of them, or write `\\n`.";

function disputeInBlock(source: string, { valueStart: start, valueEnd: end, indent, chomping }: ScalarEvent): Dispute | undefined {
  const text = source.slice(start, end);
  for (const { index, 1: spaces = "" } of text.matchAll(/(?<=^|\n)( *)\t/gu))
    if (spaces.length < indent) return { offset: start + index + spaces.length, message: tabMessage };
  const tab = /^ *\t/u.exec(source.slice(end, end + 1024));
  if (tab !== null) return { offset: end + tab[0].length - 1, message: tabMessage };
  const tail = /(?<=^|\n)\s*$/u.exec(text);
  const widest = (tail?.[0] ?? "").split(/\r?\n/u).reduce((most, { length }) => Math.max(most, length), 0);
  const isKept = text.trim() === "" || (chomping === CHOMPING_MODE.KEEP && end === source.length);
  if (widest === 0 || (widest <= indent && !isKept)) return undefined;
  return { offset: start + (tail?.index ?? 0), message: "The empty lines at the end of this text have spaces. Remove them." };
}

/** A comment before a value, in the first column or behind a tab: `yaml` reads on after it as if the line were not broken. */
export function disputeInGap(source: string, from: number, to: number): Dispute | undefined {
  const [afterDash = ""] = source
    .slice(from, to)
    .split(/(?:^|\n)[ \t]*(?:-[ \t]+)*-(?=\s)/u)
    .slice(-1);
  const comment = /\n(?: *\t[ \t]*)?#/u.exec(afterDash);
  if (comment === null) return undefined;
  const offset = to - afterDash.length + comment.index + comment[0].length - 1;
  return { offset, message: "This comment is inside a value, and begins in the first column or behind a tab. Indent it with spaces." };
}

/** Where a list or map in brackets or braces ends, whose last value ends at that offset. */
export const endOfFlow = (source: string, end: number): number =>
  end + (/^(?:[\s,]|(?<=\s)#.*)*./u.exec(source.slice(end))?.[0].length ?? 0);

/** The name of an anchor or an alias, between these offsets. */
export function disputeInName(source: string, start: number, end: number): Dispute | undefined {
  const line = source.slice(source.lastIndexOf("\n", start - 1) + 1, start - 1);
  if (/^ *\t\s*$/u.test(line)) return { offset: start - 1, message: tabMessage };
  if (!source.endsWith(":", end) && !"[{".includes(source.charAt(end) || " ")) return undefined;
  return { offset: start - 1, message: "The name of an anchor or an alias must not end with a colon, and a space must follow it." };
}

/** A member of a map that is not in braces: what is on the line of its key, and how long the key is. */
export function disputeInMember(source: string, key: ScalarEvent, value: Event): Dispute | undefined {
  const { valueStart: start, valueEnd: end } = key;
  if (end - start > 1024 && !/\?\s+["']?$/u.test(source.slice(Math.max(start - 32, 0), start)))
    return { offset: start, message: "A key is longer than 1024 characters. Write it after a question mark and a space." };
  const isBlock = (value.type === EVENT_ID.SEQUENCE || value.type === EVENT_ID.MAPPING) && value.style === COLLECTION_STYLE.BLOCK;
  if (!isBlock || (end >= 0 && source.slice(end, value.start).includes("\n"))) return undefined;
  return { offset: value.start, message: secondKey };
}

/** A key in braces: its colon must be on its line. */
export function disputeInFlowMember(source: string, keyEnd: number, value: Event): Dispute | undefined {
  const start = value.type === EVENT_ID.SCALAR ? value.valueStart : value.type === EVENT_ID.ALIAS ? value.anchorStart : keyEnd + 1;
  if (start < 0 || keyEnd < 0 || !/^[ \t]*(?:\r?\n|#)/u.test(source.slice(keyEnd, Math.max(start, keyEnd + 80)))) return undefined;
  return { offset: keyEnd, message: "The colon of this key is on another line. Write it behind the key." };
}

/** An empty line with a tab behind a key without a value: it may be the value. */
export function disputeBehindEmpty(source: string, start: number): Dispute | undefined {
  const gap = /\n[ \t]*\t[ \t]*\r?\n[ \t\r\n]*$/u.exec(source.slice(Math.max(start - 1024, 0), start));
  return gap === null ? undefined : { offset: Math.max(start - 1024, 0) + gap.index + 1, message: "This empty line has a tab. Remove it." };
}

/** A key that is not the first one of its map: what is on its line before it, other than spaces, and `?` or an anchor. */
export function disputeBeforeKey(source: string, start: number): Dispute | undefined {
  let at = start - 1;
  while (source.charCodeAt(at) === space) at -= 1;
  if (at < 0 || source.charCodeAt(at) === lineFeed) return undefined;
  const line = source.slice(source.lastIndexOf("\n", at) + 1, start);
  if (/^ *(?:\?[ \t]+)?(?:&\S+[ \t]+)?$/u.test(line)) return undefined;
  return { offset: start, message: /^ *\t/u.test(line) ? tabMessage : textAfterValue };
}

const space = 0x20;
const lineFeed = 0x0a;

/** js-yaml takes an indented marker in the first line for one. */
export function disputeInFirstLine(source: string): Dispute | undefined {
  const marker = /^[ \t]+---(?=\s|$)/u.exec(source);
  return marker === null
    ? undefined
    : { offset: marker[0].length - "---".length, message: "The line `---` must begin in the first column." };
}
