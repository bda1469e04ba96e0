import { bail, byte, type JsonBuffer, noteMember, put, putText } from "./buffer.ts";

/** Where a scalar stands: in flow collections brackets, braces and commas end it. */
export type Style = "block" | "flow";

function bytes(characters: string): Uint8Array {
  const set = new Uint8Array(256);
  for (const character of characters) set[character.charCodeAt(0)] = 1;
  return set;
}

/** Plain text may begin with these: signs that have no meaning at the start of anything, and all beyond ASCII. `-` and `.` may where one of these follows. */
const opening = bytes("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/$(+^~;").fill(1, 0x80);

/** Inside plain text these need a look; everything else is copied. Control characters are never plain. */
const remarkable = bytes(' ":\\,[]{}').fill(1, 0, 0x20);

/** What YAML 1.2 core could read as something else than text begins with one of these. */
const untextual = bytes("+-.0123456789~nNtTfF");

/** Escapes that mean the same in YAML and JSON; JSON writes the slash without one. */
const sharedEscapes = bytes('"\\/bfnrt');

/** YAML §7.4 allows 1024 characters. */
const longestKey = 1000;
/** Of those that aren't text. */
const longestWord = "false".length;
const longestNumber = 400;

/** A scalar as a JSON value; `tape.at` is then behind it. */
export function putScalar(tape: JsonBuffer, style: Style): void {
  const { marks, at, length } = tape;
  const first = tape.input[at] ?? 0;
  if (first === byte.quote) putDoubleQuoted(tape);
  else if (first === byte.apostrophe) putSingleQuoted(tape);
  else if (untextual[first] === 0) putPlain(tape, style, false);
  else if (!putFlag(tape, style)) putUntextual(tape, style);
  if (marks !== undefined) marks.push(length, at, tape.at);
}

/** The two values that are most of a literal tree, as they mostly stand there; false where there is something else. */
function putFlag(tape: JsonBuffer, style: Style): boolean {
  const { input, json, at, length } = tape;
  const flag = input[at] === trueBytes[0] ? trueBytes : falseBytes;
  for (let index = 0; index < flag.length; index++) if (input[at + index] !== flag[index]) return false;
  const end = at + flag.length;
  const isEnd = style === "block" ? input[end] === byte.lineFeed : input[end] === byte.comma || input[end] === byte.closeMap;
  if (!isEnd && !(style === "flow" && input[end] === byte.space && input[end + 1] === byte.closeMap)) return false;
  for (let index = 0; index < flag.length; index++) json[length + index] = flag[index] ?? 0;
  tape.at = end;
  tape.length = length + flag.length;
  return true;
}

const trueBytes = Buffer.from("true");
const falseBytes = Buffer.from("false");

/** Plain text as what YAML 1.2 core reads it as. */
function putUntextual(tape: JsonBuffer, style: Style): void {
  const { json, length: from } = tape;
  putPlain(tape, style, false);
  const length = tape.length - from - 2;
  const isWord = (json[from + 1] ?? 0) > byte.colon;
  if (isWord && length > longestWord) return;
  if (length > longestNumber) bail();
  const literal = readLiteral(String.fromCharCode(...json.subarray(from + 1, tape.length - 1)));
  if (literal === undefined) return;
  tape.length = from;
  putText(tape, literal);
}

/** A key with its colon as a JSON member name; `tape.at` is then behind the colon. */
export function putKey(tape: JsonBuffer, style: Style): void {
  const { input, marks, at: start, length } = tape;
  const first = input[start];
  if (marks !== undefined) marks.push(length, start, start);
  const isQuoted = first === byte.quote || first === byte.apostrophe;
  if (first === byte.quote) putDoubleQuoted(tape);
  else if (first === byte.apostrophe) putSingleQuoted(tape);
  else putPlain(tape, style, true);
  if (input[tape.at] !== byte.colon || tape.at - start > longestKey) bail();
  const next = input[++tape.at];
  if (next !== byte.space && next !== byte.lineFeed && !(isQuoted && style === "flow")) bail();
  put(tape, byte.colon);
  noteMember(tape, length);
}

/** Plain text as a JSON string, up to a comment, the end of the line, of the key, or of the place in a flow collection. */
function putPlain(tape: JsonBuffer, style: Style, isKey: boolean): void {
  const { input, json } = tape;
  let at = tape.at;
  let length = tape.length;
  const first = input[at] ?? 0;
  if (opening[first] === 0 && !((first === byte.dash || first === byte.dot) && opening[input[at + 1] ?? 0] === 1)) bail();
  json[length++] = byte.quote;
  for (; ; at++) {
    const value = input[at] ?? byte.lineFeed;
    if (remarkable[value] === 0) {
      json[length++] = value;
      continue;
    }
    if (value === byte.lineFeed) break;
    if (value === byte.space) {
      let next = at + 1;
      while (input[next] === byte.space) next++;
      const after = input[next];
      if (after === byte.lineFeed || after === byte.hash) break;
      if (style === "flow" && (after === byte.comma || after === byte.closeList || after === byte.closeMap)) break;
      for (; at < next; at++) json[length++] = byte.space;
      at--;
    } else if (value === byte.colon) {
      const after = input[at + 1];
      const isEnd = after === byte.space || after === byte.lineFeed;
      if (isEnd && isKey && input[at - 1] !== byte.space) break;
      if (isEnd || (style === "flow" && remarkable[after ?? 0] === 1)) bail();
      json[length++] = value;
    } else if (value === byte.quote || value === byte.backslash) {
      json[length++] = byte.backslash;
      json[length++] = value;
      tape.members.isInByteOrder = false;
    } else if (value < byte.space) bail();
    else if (style === "block") json[length++] = value;
    else if (value === byte.openList || value === byte.openMap) bail();
    else break;
  }
  json[length++] = byte.quote;
  tape.at = at;
  tape.length = length;
}

function putDoubleQuoted(tape: JsonBuffer): void {
  const { input, json } = tape;
  let { at, length } = tape;
  json[length++] = byte.quote;
  for (at++; input[at] !== byte.quote; at++) {
    const value = input[at] ?? 0;
    if (value < byte.space) bail();
    if (value === byte.backslash) {
      const escaped = input[++at] ?? 0;
      if (sharedEscapes[escaped] === 0) bail();
      if (escaped !== byte.slash) {
        json[length++] = byte.backslash;
        tape.members.isInByteOrder = false;
      }
      json[length++] = escaped;
    } else json[length++] = value;
  }
  json[length++] = byte.quote;
  tape.at = at + 1;
  tape.length = length;
}

function putSingleQuoted(tape: JsonBuffer): void {
  const { input, json } = tape;
  let { at, length } = tape;
  json[length++] = byte.quote;
  for (at++; ; at++) {
    const value = input[at] ?? 0;
    if (value < byte.space) bail();
    if (value === byte.apostrophe && input[++at] !== byte.apostrophe) break;
    if (value === byte.quote || value === byte.backslash) {
      json[length++] = byte.backslash;
      tape.members.isInByteOrder = false;
    }
    json[length++] = value;
  }
  json[length++] = byte.quote;
  tape.at = at;
  tape.length = length;
}

/** The JSON, as JavaScript writes it, of plain text that YAML 1.2 core (§10.3.2) reads as null, true, false or a number; undefined where it is text. */
function readLiteral(text: string): string | undefined {
  if (/^(?:~|[Nn]ull|NULL)$/u.test(text)) return "null";
  if (/^(?:[Tt]rue|TRUE|[Ff]alse|FALSE)$/u.test(text)) return text.toLowerCase();
  if (/^(?:0|-?[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?$/u.test(text)) return String(Number(text));
  // Numbers that JSON writes otherwise, or that a double can't hold.
  if (/^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?$|^0[ox]|^[-+]?\.(?:inf|nan)$/iu.test(text)) bail();
  return undefined;
}
