import {
  bail,
  byte,
  closeMembers,
  deepest,
  type JsonBuffer,
  makeMembers,
  openMembers,
  put,
  putText,
  skipRest,
  sortMembers,
  UnsupportedYaml,
} from "./buffer.ts";
import { putKey, putScalar } from "./scalars.ts";

/*
 * YAML is what loading costs: the library reads 2 MB a second, and a fleet's literal trees are megabytes. Nearly all manifests are in a small part of YAML: block maps
 * and lists, `{ … }` and `[ … ]` (plain-yaml-flow.ts), plain or quoted scalars that end on their line, comments. This is a one-pass transcoder from that part to
 * JSON text, which JSON.parse reads at full speed. It knows the rest of YAML only well enough to step aside: on whatever it isn't sure of (anchors, tags,
 * block scalars, scalars over several lines, tabs, numbers in odd forms, keys given twice, anything malformed) the answer is undefined, and the
 * library decides. So it never judges what is a mistake, and where it answers it must agree with the library: test/manifests/plain-yaml.test.ts.
 *
 * Two things can be told in passing: the digest of a document (plain-yaml-members.ts), and where each value stands (plain-yaml-nodes.ts).
 *
 * Lines are read one by one against a stack of open collections. A collection knows the column of its members. After `key:` or `-` with nothing behind it
 * the value is pending: a deeper line begins it, or is it where it is in brackets, and any other line shows that it is null.
 */

/** One document; the index counts empty ones. */
export interface PlainDocument {
  readonly index: number;
  readonly value: unknown;
  /** Of the document's canonical JSON, where it was asked for and could be told at once. */
  readonly digest?: string;
}

/** One document's JSON; the next one is written over it. */
export interface Transcoded {
  readonly index: number;
  readonly tape: JsonBuffer;
}

/** Characters that the library could take for line breaks or marks, and halves of characters, which UTF-8 can't hold. */
const unsure = /[\u0085\u2028\u2029\ufeff\p{Surrogate}]/u;

/** Text and JSON of one call after the other: parts that are never written to take no memory, and a new one each time costs more than writing to it. */
let scratch = Buffer.alloc(0);

/** The documents of a text, without the empty ones; undefined where the text isn't plain enough to be sure. Never throws. */
export function parsePlainYaml(text: string, digestOf?: (canonicalJson: Uint8Array) => string): readonly PlainDocument[] | undefined {
  const documents: PlainDocument[] = [];
  const isPlain = transcode(text, undefined, ({ index, tape }) => {
    const value: unknown = JSON.parse(jsonText(tape));
    if (digestOf === undefined || !tape.members.isInByteOrder) documents.push({ index, value });
    else documents.push({ index, value, digest: digestOf(sortMembers(tape)) });
  });
  return isPlain ? documents : undefined;
}

/**
 * Hands over the JSON of each document that isn't empty. False where the text isn't plain enough to be sure: then what was handed over is void. `marks`
 * are the tape's; whoever gives them empties them between documents.
 */
export function transcode(text: string, marks: number[] | undefined, take: (transcoded: Transcoded) => void): boolean {
  const lines = text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
  const size = Buffer.byteLength(lines);
  const isAscii = size === lines.length;
  if (!isAscii && unsure.test(text)) return false;
  const needed = 9 * (size + 1) + 64;
  if (scratch.length < needed) scratch = Buffer.allocUnsafe(needed);
  scratch.write(lines);
  scratch[size] = byte.lineFeed;
  const [input, json] = [scratch.subarray(0, size + 1), scratch.subarray(size + 1)];
  let at = 0;
  try {
    for (let index = 0; at < input.length; index++) {
      const tape: JsonBuffer = { input, at, json, length: 0, members: makeMembers(isAscii), marks, isAscii };
      transcodeDocument(tape);
      if (tape.length > 0) take({ index, tape });
      at = tape.at;
    }
    return true;
  } catch (error) {
    if (error instanceof UnsupportedYaml) return false;
    throw error;
  }
}

/** A part of the JSON, or the whole. */
export function jsonText({ json, length, isAscii }: JsonBuffer, from = 0, to = length): string {
  return json.toString(isAscii ? "latin1" : "utf8", from, to);
}

/** A collection that is being written. */
interface Open {
  readonly isList: boolean;
  /** Of its members; for a list, of the dash. */
  readonly column: number;
  isEmpty: boolean;
}

/** Writes one document, up to the line of the next one. A `---` at its start belongs to it. */
function transcodeDocument(tape: JsonBuffer): void {
  const { input } = tape;
  const stack: Open[] = [];
  let pending = false;
  let isMarked = false;

  const open = (isList: boolean, column: number): Open => {
    if (stack.length === deepest) bail();
    const opened = { isList, column, isEmpty: true };
    stack.push(opened);
    if (tape.marks !== undefined) tape.marks.push(tape.length, tape.at, tape.at);
    put(tape, isList ? byte.openList : byte.openMap);
    if (!isList) openMembers(tape);
    return opened;
  };
  const close = (): void => {
    if (pending) putText(tape, "null");
    pending = false;
    const isList = stack.pop()?.isList;
    if (!isList) closeMembers(tape);
    put(tape, isList ? byte.closeList : byte.closeMap);
  };
  const begin = (collection: Open): void => {
    if (!collection.isEmpty) put(tape, byte.comma);
    collection.isEmpty = false;
  };

  /** The collection that a line with this indentation adds to. */
  const collectionAt = (column: number, isItem: boolean): Open => {
    let top = stack[stack.length - 1];
    if (top === undefined) return tape.length === 0 ? open(isItem, column) : bail();
    if (pending && (column > top.column || (column === top.column && isItem && !top.isList))) {
      pending = false;
      return open(isItem, column);
    }
    if (column > top.column) bail();
    if (pending) putText(tape, "null");
    pending = false;
    // A list may stand in the same column as the key that it belongs to.
    while (top !== undefined && (top.column > column || (top.isList && !isItem && stack[stack.length - 2]?.column === column))) {
      close();
      top = stack[stack.length - 1];
    }
    return top !== undefined && top.column === column && top.isList === isItem ? top : bail();
  };

  /** What stands behind `key:` or `-` on the same line, or in brackets on a line below. */
  const value = ({ column }: Open): void => {
    if (isFlowAhead(tape)) putFlow(tape, column);
    else putScalar(tape, "block");
    if (!skipRest(tape)) bail();
  };
  const member = (map: Open): void => {
    begin(map);
    putKey(tape, "block");
    pending = skipRest(tape);
    if (!pending) value(map);
  };

  while (tape.at < input.length) {
    const line = tape.at;
    if (skipRest(tape)) continue;
    const column = tape.at - line;
    const first = input[tape.at];
    if (column === 0 && first === byte.dash && input[line + 1] === byte.dash && input[line + 2] === byte.dash) {
      if (isMarked || tape.length > 0) break;
      isMarked = true;
      tape.at += 3;
      if (!skipRest(tape)) bail();
      continue;
    }
    const top = stack[stack.length - 1];
    if (pending && top !== undefined && column > top.column && isFlowAhead(tape)) {
      pending = false;
      value(top);
      continue;
    }
    const isItem = first === byte.dash && (input[tape.at + 1] === byte.space || input[tape.at + 1] === byte.lineFeed);
    const collection = collectionAt(column, isItem);
    if (!isItem) {
      member(collection);
      continue;
    }
    begin(collection);
    tape.at++;
    pending = skipRest(tape);
    if (pending) continue;
    if (isKeyAhead(tape)) member(open(false, tape.at - line));
    else value(collection);
  }
  while (stack.length > 0) close();
}

function isFlowAhead({ input, at }: JsonBuffer): boolean {
  return input[at] === byte.openMap || input[at] === byte.openList;
}

/** Whether the rest of the line begins with a key. */
function isKeyAhead(tape: JsonBuffer): boolean {
  const { input, at } = tape;
  const first = input[at];
  const end = input.indexOf(byte.lineFeed, at);
  if (isFlowAhead(tape)) return false;
  if (first === byte.quote || first === byte.apostrophe) {
    for (let index = at + 1; index < end; index++) {
      if (first === byte.quote && input[index] === byte.backslash) index++;
      else if (input[index] !== first) continue;
      else if (first === byte.apostrophe && input[index + 1] === first) index++;
      else return input[index + 1] === byte.colon;
    }
    return false;
  }
  for (let index = at; index < end; index++) {
    if (input[index] === byte.hash && input[index - 1] === byte.space) return false;
    if (input[index] === byte.colon && (input[index + 1] === byte.space || input[index + 1] === byte.lineFeed)) return true;
  }
  return false;
}

/*
 * Flow collections may go over several lines, as import writes long lists: lines break between the parts, never within one. What is no such break (text
 * over two lines, a key without its colon on the line) shows as something unexpected behind the blank space.
 */

/** `{ … }` or `[ … ]` with no value left out in it. `column` is that of the block collection around it, `depth` the number of flow collections open. */
function putFlow(tape: JsonBuffer, column: number, depth = 1): void {
  const { input } = tape;
  if (tape.marks !== undefined) tape.marks.push(tape.length, tape.at, tape.at);
  const open = input[tape.at++] ?? 0;
  const isMap = open === byte.openMap;
  const close = isMap ? byte.closeMap : byte.closeList;
  if (depth > deepest) bail();
  put(tape, open);
  if (isMap) openMembers(tape);
  skipBlank(tape, column, depth);
  while (input[tape.at] !== close) {
    if (isMap) {
      putKey(tape, "flow");
      skipBlank(tape, column, depth);
    }
    const first = input[tape.at];
    if (first === byte.openMap || first === byte.openList) putFlow(tape, column, depth + 1);
    else putScalar(tape, "flow");
    skipBlank(tape, column, depth);
    if (input[tape.at] === close) break;
    if (input[tape.at++] !== byte.comma) bail();
    skipBlank(tape, column, depth);
    if (input[tape.at] !== close) put(tape, byte.comma);
  }
  tape.at++;
  if (isMap) closeMembers(tape);
  put(tape, close);
}

/** Skips spaces, ends of lines, empty lines and comments. */
function skipBlank(tape: JsonBuffer, column: number, depth: number): void {
  if (!skipRest(tape)) return;
  const { input } = tape;
  let line = tape.at;
  while (skipRest(tape)) {
    // Behind a value, the library takes such a comment for one without a space before it.
    if (input[line] === byte.hash) bail();
    line = tape.at;
  }
  const indentation = tape.at - line;
  if (indentation > column) return;
  // YAML §7.4 wants the last bracket indented too; the library lets it stand below the key, where many write it.
  const first = input[tape.at];
  const isLast = depth === 1 && (first === byte.closeMap || first === byte.closeList);
  if (!isLast || indentation < column) bail();
}
