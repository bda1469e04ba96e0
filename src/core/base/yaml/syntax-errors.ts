import { CHOMPING_MODE, COLLECTION_STYLE, EVENT_ID, type Event, SCALAR_STYLE, type ScalarEvent, type YAMLException } from "js-yaml";
import { enumerate } from "../text/describe.ts";
import { conflictMarkers, lineAndColumn, lineStartsOf } from "../text/file-text.ts";
import { syntaxProblem, tooDeep, type YamlProblem } from "./problems.ts";

// The sentences for what js-yaml refuses: what is wrong, where it begins and what to do. Its own reasons quote the text, which may be a secret, and
// often have the place at which reading stopped. A reason that a later version words in another way keeps its place, with a less helpful sentence.

export const tagMessage = "Tags such as `!name` and `!!binary` are not allowed in manifests. Put text that begins with `!` in quotes.";
export const keyMessage = "A list, a map or an alias cannot be a key. Put text that begins with [, { or * in quotes.";
const escapeMessage = "YAML has no such escape in double quotes. Use single quotes, or double the backslash.";
const tabMessage = "YAML does not allow tabs as indentation. Use spaces.";
const secondKey =
  "There is a second `key: value` on the same line. Move it to its own line, or put a value that contains a colon in quotes.";
const missingComma = "A comma is missing before this `key: value`. Add it, or put a value that contains a colon in quotes.";
export const secondDocument =
  "A second document begins above this value, and no line that begins with `---` separates it. Remove the byte order mark.";
const textAfterValue =
  "Unexpected text after a value. Check quotes (inside single quotes, write an apostrophe twice), brackets and indentation.";

/** By the beginning of the reason. */
const messages: readonly (readonly [reason: RegExp, message: string])[] = [
  [/tag(?!.*directive)/iu, tagMessage],
  [/^alias node should not/u, "An alias cannot have an anchor or a tag. Write the value out."],
  [/^duplication of an anchor/u, "A value has two anchors. Remove one of them."],
  [/^name of an a/u, "Here is a `&` or `*` without a name. Put text that begins with `&` or `*` in quotes."],
  [/escape sequence|hexadecimal/u, escapeMessage],
  [/^tab characters/u, tabMessage],
  [
    /chomping mode|indentation width|^a line break is expected/u,
    "After `|` or `>`, the text begins on the next line. Put a value that begins with `|` or `>` in quotes.",
  ],
  [/^a whitespace character is expected/u, "A space is missing after the colon."],
  [
    /^expected ':'|multiline key/u,
    "This line is neither a `key: value` nor part of the value above it. Add the missing colon, or indent the line.",
  ],
  [/quoted scalar/u, "A closing quote is missing. Add it at the end of the string."],
  [/stream within a flow/u, "A closing bracket or brace is missing."],
  [/^missed comma/u, "A comma is missing here."],
  [/^expected the node content/u, "A value is missing before this comma. Remove the comma."],
  [/^deficient indentation/u, "This line is not indented enough to be part of the value that begins above it. Indent it."],
  [
    /non-printable|null byte|JSON character/u,
    "This character is not allowed in YAML. Remove it, or write it as an escape in double quotes.",
  ],
  [/directive/iu, "This directive is not valid. Remove the line that begins with `%`, or put text that begins with `%` in quotes."],
];

/** A document of a text, and its place in it. */
interface Refused {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly index: number;
}

/** The problem for an error of js-yaml, which it reports for the document alone. */
export function syntaxErrorAt({ reason, mark }: YAMLException, { text, start, end, index }: Refused): YamlProblem {
  const conflict = conflictMarkers(text);
  if (conflict !== undefined) return syntaxProblem(index, conflict.offset, conflict.message);
  const offset = start + (mark?.position ?? 0);
  if (reason.startsWith("nesting exceeded")) return tooDeep(index, offset);
  const place: Place = { text: text.slice(0, end), from: start, offset };
  const found = explain(reason, place);
  return syntaxProblem(index, found.offset, found.message);
}

/** Of an error. `from`: where its document begins; it ends where the text ends. */
interface Place {
  readonly text: string;
  readonly from: number;
  readonly offset: number;
}

interface Sentence {
  readonly offset: number;
  readonly message: string;
}

function explain(reason: string, place: Place): Sentence {
  const { text, offset } = place;
  const isInFlow = /flow collection|^expected the node content/u.test(reason);
  if (/quoted scalar|^deficient/u.test(reason) || isInFlow) {
    const { brackets, quote } = openAt(place);
    const open = brackets.at(-1);
    const tab = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset).lastIndexOf("\t");
    if (reason.startsWith("deficient") && tab >= 0)
      return { offset: text.lastIndexOf("\n", offset - 1) + 1 + tab, message: "A tab is not allowed here. Use spaces." };
    if (quote !== undefined && !isInFlow) return unclosedQuote(place, quote);
    if (open !== undefined && text[offset] !== "," && text[offset] !== ":") return unclosedBracket(place, open);
    if (text[offset] === ":") return { offset, message: missingComma };
  }
  const line = lineAt(place);
  const tab = /^ *\t/u.exec(line.text);
  if (tab !== null && offset <= line.start + line.indent) return { offset: line.start + tab[0].length - 1, message: tabMessage };
  if (/tag(?!.*directive)/iu.test(reason))
    return { offset: offset - (/![^\s,[\]{}]*$/u.exec(text.slice(0, offset))?.[0].length ?? 0), message: tagMessage };
  if (/multiline key/u.test(reason)) return { offset: lineAbove(place), message: messageFor(reason) };
  if (/^bad indentation|^end of the stream/u.test(reason)) return misplaced(place, line);
  return { offset, message: messageFor(reason) };
}

const messageFor = (reason: string): string => messages.find(([pattern]) => pattern.test(reason))?.[1] ?? "This is not valid YAML.";

/** Something that is not where the next key or item could begin. */
function misplaced(place: Place, line: Line): Sentence {
  const { text, offset } = place;
  const sign = text.charAt(offset);
  const before = line.text.slice(0, offset - line.start);
  // `a: 1`, and a deeper `b: 2` on the next line: js-yaml takes `1 b` for a value, up to the colon.
  if (before.trim() === "" || (sign === ":" && !/:(?:\s|$)/u.test(before))) return wrongColumn(place, line);
  if (sign === ":") return { offset: line.start + (/^.*:\s+/u.exec(before)?.[0].length ?? before.length), message: secondKey };
  if ("@`%".includes(sign)) return { offset, message: "A plain value cannot begin with this character. Put the value in quotes." };
  if (sign === "]" || sign === "}")
    return { offset, message: `There is no open bracket for this \`${sign}\`. Remove it, or put the value in quotes.` };
  if (sign === "-" && /:\s*$/u.test(before))
    return { offset, message: "A list cannot begin on the line of its key. Move it to the next line." };
  return { offset, message: textAfterValue };
}

interface Line {
  readonly start: number;
  readonly text: string;
  readonly indent: number;
}

function lineAt({ text, from, offset }: Place): Line {
  const start = Math.max(text.lastIndexOf("\n", offset - 1) + 1, from);
  const [line = ""] = text.slice(start).split(/\r?\n/u, 1);
  return { start, text: line, indent: line.length - line.trimStart().length };
}

/** Where the text of the last line above that is not empty begins: the key, if js-yaml read on after it in search of the colon. */
function lineAbove({ text, from, offset }: Place): number {
  const above = text.slice(from, Math.max(text.lastIndexOf("\n", offset - 1), from)).trimEnd();
  const line = above.slice(above.lastIndexOf("\n") + 1);
  return from + above.length - line.trimStart().length;
}

/** A line that begins in a column in which it cannot begin. */
function wrongColumn({ text, from }: Place, { start, text: line, indent }: Line): Sentence {
  const [one, many] = isItem(line) ? ["item", "items"] : ["key", "keys"];
  const above = columnsAbove(text.slice(from, start).split("\n").slice(0, -1), isItem(line));
  const rule = "All keys of a map, and all items of a list, begin in the same column.";
  const message =
    above.length === 0 || !(isItem(line) || /:(?:\s|$)/u.test(line))
      ? `This line begins in column ${indent + 1}, which does not match the lines above. ${rule}`
      : `This ${one} begins in column ${indent + 1}. The ${many} above it begin in ${above.length === 1 ? "column" : "columns"} ${enumerate(above.map(String), "and")}. ${rule}`;
  return { offset: start + indent, message };
}

const isItem = (line: string): boolean => /^\s*-(?:\s|$)/u.test(line);

/** The columns, from 1, of the keys or items that enclose the next line or are on its level. */
function columnsAbove(lines: readonly string[], items: boolean): readonly number[] {
  const columns = new Set<number>();
  let limit = Number.POSITIVE_INFINITY;
  for (const line of [...lines].reverse()) {
    if (/^\s*(?:#|$)/u.test(line)) continue;
    if (/^(?:---|\.\.\.)/u.test(line)) break;
    const indent = line.length - line.trimStart().length;
    if (indent >= limit) continue;
    limit = indent;
    const dashes = /^\s*(?:-\s+)*/u.exec(line)?.[0].length ?? indent;
    if (items ? isItem(line) : /:(?:\s|$)/u.test(line.slice(dashes))) columns.add((items ? indent : dashes) + 1);
    if (indent === 0) break;
  }
  return [...columns].sort((a, b) => a - b);
}

interface Opening {
  readonly offset: number;
  readonly sign: string;
}

/** What is still open at an offset: brackets, from the outermost, and a quote. */
function openAt({ text, from, offset: until }: Place): { readonly brackets: readonly Opening[]; readonly quote: Opening | undefined } {
  const brackets: Opening[] = [];
  for (let at = from; at < until; ) {
    const sign = text.charAt(at);
    const [token = sign] = (brackets.length > 0 ? flowToken : blockToken).exec(text.slice(at)) ?? [];
    const isClosed = token.length > 1 && token.endsWith(sign) && at + token.length <= until;
    if (/["']/u.test(sign) && !isClosed) return { brackets, quote: { offset: at, sign } };
    if (token === "{" || token === "[") brackets.push({ offset: at, sign });
    if (token === "}" || token === "]") brackets.pop();
    at += token.length;
  }
  return { brackets, quote: undefined };
}

const shared = String.raw`[ \t\r\n]+(?:#.*)?|"(?:\\[^]|[^"\\])*"?|'(?:''|[^'])*'?|[&!*][^\s,[\]{}]*`;
/** White space with a comment, a quoted scalar, a property, a sign, or a plain scalar up to the end of its line. */
const blockToken = new RegExp(String.raw`^(?:${shared}|#.*|[[\]{}]|[-?:](?=\s|$)|(?:[^\s:]|:(?!\s|$)|[ \t]+(?![#\s]))+)`, "u");
const flowToken = new RegExp(String.raw`^(?:${shared}|[[\]{},:]|(?:[^\s:,[\]{}]|:(?![\s,[\]{}]|$)|[ \t]+(?![#\s,[\]{}:]))+)`, "u");

function unclosedBracket({ text, offset }: Place, { offset: open, sign }: Opening): Sentence {
  const close = sign === "{" ? "}" : "]";
  const { line } = lineAndColumn(lineStartsOf(text), offset);
  const found = text.slice(offset, offset + 1);
  if (found === close)
    return {
      offset,
      message: `This \`${close}\` must be in a column after that of the key or dash to which its \`${sign}\` belongs. Indent it.`,
    };
  if (text.slice(offset).trim() === "") return { offset: open, message: `This \`${sign}\` is never closed. Add \`${close}\`.` };
  if (/[}\]]/u.test(found))
    return { offset: open, message: `This \`${sign}\` is closed by \`${found}\` on line ${line}. Write \`${close}\`.` };
  const isFirst = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset).trim() === "";
  if (!isFirst) return { offset, message: messageFor("missed comma") };
  const message = `This \`${sign}\` is not closed, and line ${line} is not indented enough to be inside it. Add \`${close}\` before line ${line}, or indent the line.`;
  return { offset: open, message };
}

function unclosedQuote({ text, offset }: Place, { offset: open, sign }: Opening): Sentence {
  const name = sign === "'" ? "single" : "double";
  if (!text.slice(offset).includes(sign))
    return { offset: open, message: `This ${name} quote is never closed. Add the closing quote at the end of the string.` };
  const { line } = lineAndColumn(lineStartsOf(text), offset);
  return {
    offset: open,
    message: `The string that begins with this ${name} quote goes on in line ${line}, which is not indented enough. Add the closing quote, or indent the line.`,
  };
}

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
