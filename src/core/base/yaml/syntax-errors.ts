import type { YAMLException } from "js-yaml";
import { enumerate } from "../text/describe.ts";
import { conflictMarkers } from "../text/file-text.ts";
import { lineAndColumn, lineStartsOf } from "../text/lines.ts";
import { syntaxProblem, tooDeep, type YamlProblem } from "./problems.ts";

// The sentences for what js-yaml refuses: what is wrong, where it begins and what to do. Its own reasons quote the text, which may be a secret, and
// often have the place at which reading stopped. A reason that a later version words in another way keeps its place, with a less helpful sentence.

export const tagMessage = "Tags such as `!name` and `!!binary` are not allowed in manifests. Put text that begins with `!` in quotes.";
export const keyMessage = "A list, a map or an alias cannot be a key. Put text that begins with [, { or * in quotes.";
export const escapeMessage = "YAML has no such escape in double quotes. Use single quotes, or double the backslash.";
export const tabMessage = "YAML does not allow tabs as indentation. Use spaces.";
export const secondKey =
  "There is a second `key: value` on the same line. Move it to its own line, or put a value that contains a colon in quotes.";
const missingComma = "A comma is missing before this `key: value`. Add it, or put a value that contains a colon in quotes.";
export const secondDocument =
  "A second document begins above this value, and no line that begins with `---` separates it. Remove the byte order mark.";
export const textAfterValue =
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
