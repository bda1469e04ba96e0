import { noteAnchored, takeAnchor } from "./anchors.ts";
import { putBlockScalar } from "./block-scalars.ts";
import { bail, byte, closeMembers, deepest, type JsonBuffer, noteMember, openMembers, put, putText, skipRest } from "./buffer.ts";
import { putFlow } from "./flow.ts";
import { flagAt, isWord, longestKey, putKey, putScalar } from "./scalars.ts";

/*
 * The structure of a document, line by line, with a stack of open collections. A collection has the
 * column of its members. After `key:` or `-` at the end of a line, the value is pending: a deeper
 * line begins it (or is it, if it is in brackets), and any other line means that it is null.
 */

/** A collection whose members are being written. */
interface Open {
  readonly isList: boolean;
  /** Of its members; for a list, of the dash. */
  readonly column: number;
  readonly anchor: string | undefined;
  /** Where it begins in the JSON. */
  readonly start: number;
  isEmpty: boolean;
}

/** A document that is being written. */
interface Writer {
  readonly buffer: JsonBuffer;
  readonly stack: Open[];
  /** After `key:` or `-` without a value on its line, with the anchor of the value. */
  isPending: boolean;
  anchor: string | undefined;
}

/** Writes one document, up to the line of the next one. A `---` at its start belongs to it. */
export function transcodeDocument(buffer: JsonBuffer): void {
  const { input } = buffer;
  const writer: Writer = { buffer, stack: [], isPending: false, anchor: undefined };
  let isMarked = false;
  while (buffer.at < input.length) {
    if (buffer.marks === undefined && putTreeLine(writer)) continue;
    const line = buffer.at;
    if (skipRest(buffer)) continue;
    if (buffer.at > line || !isMarker(input, line)) {
      putLine(writer, line);
      continue;
    }
    if (isMarked || buffer.length > 0) break;
    isMarked = true;
    buffer.at += 3;
    if (!skipRest(buffer)) bail();
  }
  while (writer.stack.length > 0) close(writer);
}

/**
 * Writes a line such as `orders:` or `enabled: true`, as nearly all lines of a literal tree are.
 * Returns false if the line is different. It does nothing that `putLine` would not do, but V8
 * optimises one short function sooner than a dozen: in a cold process, transcoding the files of
 * W1 takes 540 million instructions, and 770 without it (callgrind).
 */
function putTreeLine(writer: Writer): boolean {
  const { buffer } = writer;
  const { input, json } = buffer;
  const line = buffer.at;
  let start = line;
  while (input[start] === byte.space) start++;
  let colon = start;
  while (isWord[input[colon] ?? 0] === 1) colon++;
  const next = colon === start || colon - start > longestKey ? undefined : lineAfterFlag(input, colon);
  if (next === undefined) return false;
  const collection = collectionAt(writer, start - line, false);
  begin(buffer, collection);
  const key = buffer.length;
  let length = key;
  json[length++] = byte.quote;
  for (let index = start; index < colon; index++) json[length++] = input[index] ?? 0;
  json[length++] = byte.quote;
  json[length++] = byte.colon;
  noteMember(buffer, key);
  for (let index = colon + 2; index < next - 1; index++) json[length++] = input[index] ?? 0;
  writer.isPending = next === colon + 2;
  buffer.length = length;
  buffer.at = next;
  return true;
}

/** The start of the next line, if there is nothing but `true` or `false` or nothing at all after the colon. */
function lineAfterFlag(input: Buffer, colon: number): number | undefined {
  if (input[colon] !== byte.colon) return undefined;
  if (input[colon + 1] === byte.lineFeed) return colon + 2;
  if (input[colon + 1] !== byte.space) return undefined;
  const flag = flagAt(input, colon + 2);
  if (flag === undefined) return undefined;
  const end = colon + 2 + flag.length;
  return input[end] === byte.lineFeed ? end + 1 : undefined;
}

const isMarker = (input: Buffer, line: number): boolean =>
  input[line] === byte.dash && input[line + 1] === byte.dash && input[line + 2] === byte.dash;

/** A line that is neither empty nor a marker; `buffer.at` is at its first character. */
function putLine(writer: Writer, line: number): void {
  const { buffer, stack } = writer;
  const { input } = buffer;
  const column = buffer.at - line;
  const top = stack[stack.length - 1];
  const next = input[buffer.at + 1];
  const isItem = input[buffer.at] === byte.dash && (next === byte.space || next === byte.lineFeed);
  if (writer.isPending && top !== undefined && column > top.column && !isItem && isValueAhead(buffer)) {
    // The library reads a plain scalar below a comment on into the next line if the comment is not indented.
    if (isBelowComment(input, line)) bail();
    putPending(writer, top.column);
    return;
  }
  const collection = collectionAt(writer, column, isItem);
  if (!isItem) {
    putMember(writer, collection);
    return;
  }
  begin(buffer, collection);
  buffer.at++;
  writer.isPending = skipRest(buffer);
  if (writer.isPending) return;
  if (isKeyAhead(buffer)) putMember(writer, open(writer, false, buffer.at - line));
  else putValue(writer, collection.column);
}

function open(writer: Writer, isList: boolean, column: number): Open {
  const { buffer, stack } = writer;
  if (stack.length === deepest) bail();
  const opened = { isList, column, anchor: writer.anchor, start: buffer.length, isEmpty: true };
  writer.anchor = undefined;
  stack.push(opened);
  if (buffer.marks !== undefined) buffer.marks.push(buffer.length, buffer.at, buffer.at);
  put(buffer, isList ? byte.openList : byte.openMap);
  if (!isList) openMembers(buffer);
  return opened;
}

function close(writer: Writer): void {
  const { buffer } = writer;
  putPendingNull(writer);
  const closed = writer.stack.pop();
  if (closed === undefined) return;
  if (!closed.isList) closeMembers(buffer);
  put(buffer, closed.isList ? byte.closeList : byte.closeMap);
  if (closed.anchor !== undefined) noteAnchored(buffer, closed.anchor, closed.start);
}

function putPendingNull(writer: Writer): void {
  if (!writer.isPending) return;
  if (writer.anchor !== undefined) bail();
  putText(writer.buffer, "null");
  writer.isPending = false;
}

function begin(buffer: JsonBuffer, collection: Open): void {
  if (!collection.isEmpty) put(buffer, byte.comma);
  collection.isEmpty = false;
}

/** The collection that a line at this column belongs to. */
function collectionAt(writer: Writer, column: number, isItem: boolean): Open {
  const { buffer, stack } = writer;
  let top = stack[stack.length - 1];
  if (top === undefined) return buffer.length === 0 ? open(writer, isItem, column) : bail();
  if (writer.isPending && (column > top.column || (column === top.column && isItem && !top.isList))) {
    writer.isPending = false;
    return open(writer, isItem, column);
  }
  if (column > top.column) bail();
  putPendingNull(writer);
  // A list may be in the same column as its key.
  while (top !== undefined && (top.column > column || (top.isList && !isItem && stack[stack.length - 2]?.column === column))) {
    close(writer);
    top = stack[stack.length - 1];
  }
  return top !== undefined && top.column === column && top.isList === isItem ? top : bail();
}

function putMember(writer: Writer, map: Open): void {
  const { buffer } = writer;
  begin(buffer, map);
  putKey(buffer, "block");
  writer.isPending = skipRest(buffer);
  if (!writer.isPending) putValue(writer, map.column);
}

/** The value after `key:` or `-` on the same line. `column` is that of the collection around it. */
function putValue(writer: Writer, column: number): void {
  const { buffer } = writer;
  if (buffer.input[buffer.at] === byte.ampersand) putAnchored(writer, column);
  else putUnanchored(buffer, column);
}

function putAnchored(writer: Writer, column: number): void {
  const { buffer } = writer;
  const anchor = takeAnchor(buffer);
  if (skipRest(buffer)) {
    writer.isPending = true;
    writer.anchor = anchor;
    return;
  }
  const start = buffer.length;
  // Another anchor, or an alias with an anchor, is an error.
  const first = buffer.input[buffer.at];
  if (first === byte.ampersand || first === byte.asterisk) bail();
  putUnanchored(buffer, column);
  noteAnchored(buffer, anchor, start);
}

function putPending(writer: Writer, column: number): void {
  const { buffer, anchor } = writer;
  const start = buffer.length;
  writer.isPending = false;
  writer.anchor = undefined;
  putUnanchored(buffer, column);
  if (anchor !== undefined) noteAnchored(buffer, anchor, start);
}

function putUnanchored(buffer: JsonBuffer, column: number): void {
  const first = buffer.input[buffer.at];
  if (first === byte.pipe || first === byte.greater) {
    putBlockScalar(buffer, column);
    return;
  }
  if (first === byte.openMap || first === byte.openList) putFlow(buffer, column);
  else putScalar(buffer, "block", column);
  if (!skipRest(buffer)) bail();
}

function isFlowAhead({ input, at }: JsonBuffer): boolean {
  return input[at] === byte.openMap || input[at] === byte.openList;
}

/** Whether the last line before this one that is not empty is a comment. */
function isBelowComment(input: Buffer, line: number): boolean {
  let first: number | undefined = byte.lineFeed;
  let start = line;
  while (first === byte.lineFeed && start > 0) {
    start = input.lastIndexOf(byte.lineFeed, start - 2) + 1;
    let at = start;
    while (input[at] === byte.space) at++;
    first = input[at];
  }
  return first === byte.hash;
}

/** Whether the line begins a flow collection or a scalar, and not a map. */
function isValueAhead(buffer: JsonBuffer): boolean {
  const first = buffer.input[buffer.at];
  const isOther = first === byte.pipe || first === byte.greater || first === byte.ampersand || first === byte.asterisk;
  // The position of a scalar below a comment is left to the library.
  return isFlowAhead(buffer) || (!isOther && buffer.marks === undefined && !isKeyAhead(buffer));
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
