import { putAlias } from "./anchors.ts";
import { bail, byte, type JsonBuffer, noteMember, put, putText } from "./buffer.ts";

/** In flow collections, brackets, braces and commas end a scalar. */
type Style = "block" | "flow";

function bytes(characters: string): Uint8Array {
  const set = new Uint8Array(256);
  for (const character of characters) set[character.charCodeAt(0)] = 1;
  return set;
}

/**
 * A plain scalar may begin with these: characters without a meaning at the start, and all beyond
 * ASCII. `-` and `.` need one of these after them.
 */
const opening = bytes("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/$(+^~;").fill(1, 0x80);

/**
 * Bytes that need a check inside a plain scalar; all others are copied. Control characters are
 * never plain.
 */
const remarkable = bytes(' ":\\,[]{}').fill(1, 0, 0x20);

/**
 * Plain scalars that YAML 1.2 core can read as something other than a string begin with one of
 * these.
 */
const untextual = bytes("+-.0123456789~nNtTfF");

/** Bytes that need no check anywhere in a plain key. */
export const isWord = bytes("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

/** Escapes with the same meaning in YAML and JSON. JSON needs none for the slash. */
const sharedEscapes = bytes('"\\/bfnrt');

/** YAML (section 7.4) allows 1024 characters. */
export const longestKey = 1000;
/** Maximum lengths of words and numbers that are not strings. */
const longestWord = "false".length;
const longestNumber = 400;

/** A column that no line exceeds, for scalars that end on their line. */
const never = Number.POSITIVE_INFINITY;

/**
 * Writes a scalar as a JSON value; `buffer.at` is then after it. It continues on lines that are
 * deeper than `column`, that of the block collection around it. Plain scalars in flow collections
 * end on their line.
 */
export function putScalar(buffer: JsonBuffer, style: Style, column: number): void {
  const { marks, at, length } = buffer;
  const first = buffer.input[at] ?? 0;
  if (first === byte.quote) putDoubleQuoted(buffer, column);
  else if (first === byte.apostrophe) putSingleQuoted(buffer, column);
  else if (first === byte.asterisk) putAlias(buffer);
  else if (untextual[first] === 0) putPlain(buffer, style, { isKey: false, column });
  else if (!putFlag(buffer, style)) putUntextual(buffer, style, column);
  if (marks !== undefined) marks.push(length, at, buffer.at);
}

/**
 * `true` and `false` in their usual form: most values of a literal tree. Returns false if there is
 * something else.
 */
function putFlag(buffer: JsonBuffer, style: Style): boolean {
  const { input, json, at, length } = buffer;
  const flag = flagAt(input, at);
  if (flag === undefined) return false;
  const end = at + flag.length;
  const isEnd = style === "block" ? input[end] === byte.lineFeed : input[end] === byte.comma || input[end] === byte.closeMap;
  if (!isEnd && !(style === "flow" && input[end] === byte.space && input[end + 1] === byte.closeMap)) return false;
  for (let index = 0; index < flag.length; index++) json[length + index] = flag[index] ?? 0;
  buffer.at = end;
  buffer.length = length + flag.length;
  return true;
}

/** `true` or `false`, if the input has it there; more may follow. */
export function flagAt(input: Buffer, at: number): Buffer | undefined {
  const flag = input[at] === trueBytes[0] ? trueBytes : falseBytes;
  for (let index = 0; index < flag.length; index++) if (input[at + index] !== flag[index]) return undefined;
  return flag;
}

const trueBytes = Buffer.from("true");
const falseBytes = Buffer.from("false");

/** Writes a plain scalar as the value that YAML 1.2 core gives it. */
function putUntextual(buffer: JsonBuffer, style: Style, column: number): void {
  const { json, length: from } = buffer;
  putPlain(buffer, style, { isKey: false, column });
  const length = buffer.length - from - 2;
  const isWord = (json[from + 1] ?? 0) > byte.colon;
  if (isWord && length > longestWord) return;
  if (length > longestNumber) bail();
  const literal = readLiteral(json.toString("latin1", from + 1, buffer.length - 1));
  if (literal === undefined) return;
  buffer.length = from;
  putText(buffer, literal);
}

/** Writes a key with its colon as a JSON member name; `buffer.at` is then after the colon. */
export function putKey(buffer: JsonBuffer, style: Style): void {
  const { input, marks, at: start, length } = buffer;
  const first = input[start];
  if (marks !== undefined) marks.push(length, start, start);
  const isQuoted = first === byte.quote || first === byte.apostrophe;
  if (first === byte.quote) putDoubleQuoted(buffer, never);
  else if (first === byte.apostrophe) putSingleQuoted(buffer, never);
  else putPlain(buffer, style, ofKey);
  if (input[buffer.at] !== byte.colon || buffer.at - start > longestKey) bail();
  const next = input[++buffer.at];
  if (next !== byte.space && next !== byte.lineFeed && !(isQuoted && style === "flow")) bail();
  put(buffer, byte.colon);
  noteMember(buffer, length);
}

interface PlainScalar {
  readonly isKey: boolean;
  readonly column: number;
}

const ofKey: PlainScalar = { isKey: true, column: never };

/**
 * Goes on with a scalar on the next line that is not empty, if it is deeper than `column`: writes a
 * space, or a line break for each empty line, and returns where the text of the line begins. -1 if
 * the scalar ends before the line break at `lineFeed`.
 */
function foldLine(
  buffer: JsonBuffer,
  lineFeed: number,
  { column, isPlain }: { readonly column: number; readonly isPlain: boolean },
): number {
  const { input } = buffer;
  let line = lineFeed + 1;
  let at = line;
  let blanks = 0;
  while (input[at] === byte.space || input[at] === byte.lineFeed) {
    if (input[at++] !== byte.lineFeed) continue;
    blanks++;
    line = at;
  }
  if (at - line <= column || (isPlain && input[at] === byte.hash)) return -1;
  if (blanks === 0) put(buffer, byte.space);
  for (; blanks > 0; blanks--) putText(buffer, "\\n");
  return at;
}

/**
 * Writes a plain scalar as a JSON string: up to a comment, a line that is not deeper than `column`,
 * the end of the key, or the end of the flow item.
 */
function putPlain(buffer: JsonBuffer, style: Style, { isKey, column }: PlainScalar): void {
  const { input, json } = buffer;
  let at = buffer.at;
  let length = buffer.length;
  const first = input[at] ?? 0;
  if (opening[first] === 0 && !((first === byte.dash || first === byte.dot) && opening[input[at + 1] ?? 0] === 1)) bail();
  json[length++] = byte.quote;
  for (; ; at++) {
    const value = input[at] ?? byte.lineFeed;
    if (remarkable[value] === 0) {
      json[length++] = value;
      continue;
    }
    let next = at;
    while (input[next] === byte.space) next++;
    const after = input[next];
    if (after === byte.lineFeed) {
      buffer.length = length;
      const text = style === "flow" ? -1 : foldLine(buffer, next, { column, isPlain: true });
      if (text < 0) break;
      length = buffer.length;
      at = text - 1;
    } else if (value === byte.space) {
      if (after === byte.hash) break;
      if (style === "flow" && (after === byte.comma || after === byte.closeList || after === byte.closeMap)) break;
      for (; at < next; at++) json[length++] = byte.space;
      at--;
    } else if (value === byte.colon) {
      const behind = input[at + 1];
      const isEnd = behind === byte.space || behind === byte.lineFeed;
      if (isEnd && isKey && input[at - 1] !== byte.space) break;
      if (isEnd || (style === "flow" && remarkable[behind ?? 0] === 1)) bail();
      json[length++] = value;
    } else if (value === byte.quote || value === byte.backslash) {
      json[length++] = byte.backslash;
      json[length++] = value;
    } else if (value < byte.space) bail();
    else if (style === "block") json[length++] = value;
    else if (value === byte.openList || value === byte.openMap) bail();
    else break;
  }
  json[length++] = byte.quote;
  buffer.at = at;
  buffer.length = length;
}

interface QuotedLine {
  /** Of the line break, and of the JSON before it. */
  readonly at: number;
  readonly length: number;
  readonly column: number;
}

/** Continues a quoted scalar on the next line, without the spaces around the line break. */
function foldQuoted(buffer: JsonBuffer, { at, length, column }: QuotedLine): number {
  buffer.length = length;
  while (buffer.json[buffer.length - 1] === byte.space) buffer.length--;
  const text = foldLine(buffer, at, { column, isPlain: false });
  return text < 0 ? bail() : text;
}

function putDoubleQuoted(buffer: JsonBuffer, column: number): void {
  const { input, json } = buffer;
  let { at, length } = buffer;
  json[length++] = byte.quote;
  for (at++; input[at] !== byte.quote; at++) {
    const value = input[at] ?? 0;
    if (value === byte.lineFeed) {
      at = foldQuoted(buffer, { at, length, column }) - 1;
      length = buffer.length;
      continue;
    }
    if (value < byte.space) bail();
    if (value === byte.backslash) {
      const escaped = input[++at] ?? 0;
      if (sharedEscapes[escaped] === 0) bail();
      if (escaped !== byte.slash) json[length++] = byte.backslash;
      json[length++] = escaped;
    } else json[length++] = value;
  }
  json[length++] = byte.quote;
  buffer.at = at + 1;
  buffer.length = length;
}

function putSingleQuoted(buffer: JsonBuffer, column: number): void {
  const { input, json } = buffer;
  let { at, length } = buffer;
  json[length++] = byte.quote;
  for (at++; ; at++) {
    const value = input[at] ?? 0;
    if (value === byte.lineFeed) {
      at = foldQuoted(buffer, { at, length, column }) - 1;
      length = buffer.length;
      continue;
    }
    if (value < byte.space) bail();
    if (value === byte.apostrophe && input[++at] !== byte.apostrophe) break;
    if (value === byte.quote || value === byte.backslash) json[length++] = byte.backslash;
    json[length++] = value;
  }
  json[length++] = byte.quote;
  buffer.at = at;
  buffer.length = length;
}

/**
 * The JSON of a plain scalar that YAML 1.2 core (section 10.3.2) reads as null, true, false or a
 * number; undefined if it is a string.
 */
function readLiteral(text: string): string | undefined {
  if (/^(?:~|[Nn]ull|NULL)$/u.test(text)) return "null";
  if (/^(?:[Tt]rue|TRUE|[Ff]alse|FALSE)$/u.test(text)) return text.toLowerCase();
  if (/^(?:0|-?[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?$/u.test(text)) return String(Number(text));
  // Numbers that JSON prints in another form, or that a double cannot hold.
  if (/^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?$|^0[ox]|^[-+]?\.(?:inf|nan)$/iu.test(text)) bail();
  return undefined;
}
