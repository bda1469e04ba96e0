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
import { putFlow } from "./flow.ts";
import { putKey, putScalar } from "./scalars.ts";

/*
 * YAML dominates the time of loading: the library reads 2 MB a second, and the literal trees of a
 * fleet are megabytes. Nearly all manifests use a small part of YAML: block maps and lists, `{ … }`
 * and `[ … ]`, plain or quoted scalars that end on their line, comments. This is a one-pass
 * transcoder from that part to JSON text, which JSON.parse reads at full speed. On everything else
 * (anchors, tags, block scalars, scalars over several lines, tabs, numbers in unusual forms,
 * duplicate or empty keys, anything malformed) it returns undefined, and the library reads the
 * text. So it never reports a problem, and its result must equal the library's:
 * test/yaml/fast/transcode.test.ts.
 *
 * Two results cost almost nothing extra: the digest of a document (buffer.ts), and the position of
 * each value (nodes.ts).
 *
 * It reads line by line, with a stack of open collections. A collection has the column of its
 * members. After `key:` or `-` at the end of a line, the value is pending: a deeper line begins it
 * (or is it, if it is in brackets), and any other line means that it is null.
 */

/** One document; the index counts empty ones. */
export interface PlainDocument {
  readonly index: number;
  readonly value: unknown;
  /** Of the document's canonical JSON, if it was requested and could be computed in passing. */
  readonly digest?: string;
}

/** One document's JSON. The next one overwrites it. */
export interface Transcoded {
  readonly index: number;
  readonly buffer: JsonBuffer;
}

/**
 * Characters that the library may treat as line breaks or marks, and lone surrogates, which UTF-8
 * cannot hold.
 */
const unsure = /[\u0085\u2028\u2029\ufeff\p{Surrogate}]/u;

/**
 * Input and JSON of one call after the other: allocating it for each call would cost more than
 * filling it, and untouched pages take no memory.
 */
let scratch = Buffer.alloc(0);

/**
 * The documents of a text, without empty ones; undefined if the fast path does not support the
 * text. Never throws.
 */
export function parsePlainYaml(text: string, digestOf?: (canonicalJson: Uint8Array) => string): readonly PlainDocument[] | undefined {
  const documents: PlainDocument[] = [];
  const isPlain = transcode(text, undefined, ({ index, buffer }) => {
    const value: unknown = JSON.parse(jsonText(buffer));
    if (digestOf === undefined || !buffer.members.isInByteOrder) documents.push({ index, value });
    else documents.push({ index, value, digest: digestOf(sortMembers(buffer)) });
  });
  return isPlain ? documents : undefined;
}

/**
 * Calls `take` with the JSON of each document that is not empty. Returns false if the fast path
 * does not support the text: the caller must then discard what it took. `marks` become the
 * buffer's; the caller empties them between documents.
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
      const buffer: JsonBuffer = { input, at, json, length: 0, members: makeMembers(isAscii), marks, isAscii };
      transcodeDocument(buffer);
      if (buffer.length > 0) take({ index, buffer });
      at = buffer.at;
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

/** A collection whose members are being written. */
interface Open {
  readonly isList: boolean;
  /** Of its members; for a list, of the dash. */
  readonly column: number;
  isEmpty: boolean;
}

/** Writes one document, up to the line of the next one. A `---` at its start belongs to it. */
function transcodeDocument(buffer: JsonBuffer): void {
  const { input } = buffer;
  const stack: Open[] = [];
  let pending = false;
  let isMarked = false;

  const open = (isList: boolean, column: number): Open => {
    if (stack.length === deepest) bail();
    const opened = { isList, column, isEmpty: true };
    stack.push(opened);
    if (buffer.marks !== undefined) buffer.marks.push(buffer.length, buffer.at, buffer.at);
    put(buffer, isList ? byte.openList : byte.openMap);
    if (!isList) openMembers(buffer);
    return opened;
  };
  const close = (): void => {
    if (pending) putText(buffer, "null");
    pending = false;
    const isList = stack.pop()?.isList;
    if (!isList) closeMembers(buffer);
    put(buffer, isList ? byte.closeList : byte.closeMap);
  };
  const begin = (collection: Open): void => {
    if (!collection.isEmpty) put(buffer, byte.comma);
    collection.isEmpty = false;
  };

  /** The collection that a line at this column belongs to. */
  const collectionAt = (column: number, isItem: boolean): Open => {
    let top = stack[stack.length - 1];
    if (top === undefined) return buffer.length === 0 ? open(isItem, column) : bail();
    if (pending && (column > top.column || (column === top.column && isItem && !top.isList))) {
      pending = false;
      return open(isItem, column);
    }
    if (column > top.column) bail();
    if (pending) putText(buffer, "null");
    pending = false;
    // A list may be in the same column as its key.
    while (top !== undefined && (top.column > column || (top.isList && !isItem && stack[stack.length - 2]?.column === column))) {
      close();
      top = stack[stack.length - 1];
    }
    return top !== undefined && top.column === column && top.isList === isItem ? top : bail();
  };

  /** The value after `key:` or `-` on the same line, or in brackets on the next line. */
  const value = ({ column }: Open): void => {
    if (isFlowAhead(buffer)) putFlow(buffer, column);
    else putScalar(buffer, "block");
    if (!skipRest(buffer)) bail();
  };
  const member = (map: Open): void => {
    begin(map);
    putKey(buffer, "block");
    pending = skipRest(buffer);
    if (!pending) value(map);
  };

  while (buffer.at < input.length) {
    const line = buffer.at;
    if (skipRest(buffer)) continue;
    const column = buffer.at - line;
    const first = input[buffer.at];
    if (column === 0 && first === byte.dash && input[line + 1] === byte.dash && input[line + 2] === byte.dash) {
      if (isMarked || buffer.length > 0) break;
      isMarked = true;
      buffer.at += 3;
      if (!skipRest(buffer)) bail();
      continue;
    }
    const top = stack[stack.length - 1];
    if (pending && top !== undefined && column > top.column && isFlowAhead(buffer)) {
      pending = false;
      value(top);
      continue;
    }
    const isItem = first === byte.dash && (input[buffer.at + 1] === byte.space || input[buffer.at + 1] === byte.lineFeed);
    const collection = collectionAt(column, isItem);
    if (!isItem) {
      member(collection);
      continue;
    }
    begin(collection);
    buffer.at++;
    pending = skipRest(buffer);
    if (pending) continue;
    if (isKeyAhead(buffer)) member(open(false, buffer.at - line));
    else value(collection);
  }
  while (stack.length > 0) close();
}

function isFlowAhead({ input, at }: JsonBuffer): boolean {
  return input[at] === byte.openMap || input[at] === byte.openList;
}

/** Whether the rest of the line begins with a key. */
function isKeyAhead(buffer: JsonBuffer): boolean {
  const { input, at } = buffer;
  const first = input[at];
  const end = input.indexOf(byte.lineFeed, at);
  if (isFlowAhead(buffer)) return false;
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
