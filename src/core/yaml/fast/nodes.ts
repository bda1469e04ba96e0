import { byte, type JsonBuffer } from "./buffer.ts";
import { jsonText, transcode } from "./transcode.ts";

/*
 * The positions of values in a text. Most files never need them, so reading values does not keep them: the text is transcoded again, with marks, and the JSON is read along with them.
 */

/** A value and its position: offsets in UTF-16 units, as in `text`. */
export interface PlainNode {
  /** Undefined if nothing is written: the null of a member without a value. */
  readonly start: number | undefined;
  /** Of a scalar, and of a list or map in brackets or braces. The end of the last member counts for others. */
  readonly end: number;
  /** Of strings and numbers. */
  readonly literal: string | number | undefined;
  /** Of a list or a map, in the order of the text. */
  readonly nodes: readonly PlainNode[] | undefined;
  /** Of a map, beside `nodes`. */
  readonly names: readonly string[] | undefined;
  readonly keyStarts: readonly number[];
  /** Of an alias, which has nothing else but its position: the value that it stands for. */
  readonly target?: () => PlainNode;
}

/**
 * The documents that are not empty, by index; undefined if the fast path does not support the text.
 * Never throws.
 */
export function plainNodes(text: string): ReadonlyMap<number, PlainNode> | undefined {
  const roots = new Map<number, PlainNode>();
  let offsets: Offsets | undefined;
  const marks: number[] = [];
  const stopped = transcode(text, marks, ({ index, buffer }) => {
    offsets ??= makeOffsets(text, buffer);
    roots.set(index, readNode({ buffer, marks, offsets, at: 0, next: 0 }));
    marks.length = 0;
  });
  return stopped === undefined ? roots : undefined;
}

/** The offset in the text, by index in the buffer's input. */
type Offsets = (index: number) => number;

function makeOffsets(text: string, { input, isAscii }: JsonBuffer): Offsets {
  if (isAscii && input.length === text.length + 1) return (index) => index;
  const offsets = new Uint32Array(input.length);
  let offset = 0;
  for (const [index, value] of input.entries()) {
    offsets[index] = offset;
    const isContinuation = (value & 0xc0) === 0x80;
    const isTwo = value >= 0xf0 || (value === byte.lineFeed && text[offset] === "\r");
    if (!isContinuation) offset += isTwo ? 2 : 1;
  }
  return (index) => offsets[index] ?? 0;
}

interface Reader {
  readonly buffer: JsonBuffer;
  readonly marks: readonly number[];
  readonly offsets: Offsets;
  /** Index of the next byte of JSON. */
  at: number;
  /** Index of the next mark. */
  next: number;
}

function readNode(reader: Reader): PlainNode {
  const { buffer, marks, offsets } = reader;
  const { json } = buffer;
  const isMarked = marks[reader.next] === reader.at;
  const start = isMarked ? offsets(marks[reader.next + 1] ?? 0) : undefined;
  const end = isMarked ? offsets(marks[reader.next + 2] ?? 0) : 0;
  if (isMarked) reader.next += 3;
  const first = json[reader.at] ?? 0;
  if (first !== byte.openMap && first !== byte.openList) {
    const text = readScalar(reader);
    const isNumber = first === byte.dash || (first >= digitZero && first <= digitNine);
    const literal = first === byte.quote ? text : isNumber ? Number(text) : undefined;
    return { start, end, literal, nodes: undefined, names: undefined, keyStarts: none };
  }
  const close = first === byte.openMap ? byte.closeMap : byte.closeList;
  const names: string[] = [];
  const keyStarts: number[] = [];
  const nodes: PlainNode[] = [];
  // After the opening bracket and after each comma.
  for (reader.at++; json[reader.at] !== close; ) {
    if (close === byte.closeMap) {
      keyStarts.push(offsets(marks[reader.next + 1] ?? 0));
      reader.next += 3;
      names.push(readScalar(reader));
      reader.at++;
    }
    nodes.push(readNode(reader));
    if (json[reader.at] === byte.comma) reader.at++;
  }
  reader.at++;
  return { start, end, literal: undefined, nodes, names: close === byte.closeMap ? names : undefined, keyStarts };
}

/** The text of a string; the JSON of any other scalar. */
function readScalar(reader: Reader): string {
  const { buffer, at: start } = reader;
  const { json } = buffer;
  let at = start;
  if (json[at] !== byte.quote) {
    while (json[at] !== byte.comma && json[at] !== byte.closeMap && json[at] !== byte.closeList) at++;
    reader.at = at;
    return jsonText(buffer, start, at);
  }
  let isEscaped = false;
  for (at++; json[at] !== byte.quote; at++) {
    if (json[at] !== byte.backslash) continue;
    isEscaped = true;
    at++;
  }
  reader.at = at + 1;
  return isEscaped ? String(JSON.parse(jsonText(buffer, start, at + 1))) : jsonText(buffer, start + 1, at);
}

const none: readonly number[] = [];
const digitZero = 0x30;
const digitNine = 0x39;
