import { bail, byte, type JsonBuffer } from "./buffer.ts";

/** Reads `&name` and the spaces after it. */
export function takeAnchor(buffer: JsonBuffer): string {
  const name = takeName(buffer);
  const next = buffer.input[buffer.at];
  if (next !== byte.space && next !== byte.lineFeed) bail();
  // Once per document. Without a value yet, so that an alias inside the value is not supported.
  if (buffer.anchors.has(name)) bail();
  buffer.anchors.set(name, undefined);
  return name;
}

/** Notes that the JSON from `start` on is the value of an anchor. */
export function noteAnchored(buffer: JsonBuffer, name: string, start: number): void {
  if (buffer.lastAlias >= start) buffer.mostAliases = mostNestedAliases;
  buffer.anchors.set(name, { start, end: buffer.length });
}

/**
 * Writes the value behind `*name` once more. The copies of a text are together at most as large as
 * the text, for which the buffer has space.
 */
export function putAlias(buffer: JsonBuffer): void {
  // Positions behind aliases are left to the library.
  if (buffer.marks !== undefined) bail();
  if (++buffer.aliases > buffer.mostAliases) bail();
  const anchored = buffer.anchors.get(takeName(buffer)) ?? bail();
  const size = anchored.end - anchored.start;
  buffer.copied += size;
  if (buffer.copied > buffer.input.length) bail();
  buffer.lastAlias = buffer.length;
  buffer.json.copyWithin(buffer.length, anchored.start, anchored.end);
  buffer.length += size;
}

/**
 * With aliases in the values of anchors, each alias can at most double what the library counts,
 * which refuses more than 10,000.
 */
const mostNestedAliases = 13;

/** Reads a name after its `&` or `*`. Only letters, digits, `_` and `-`: the usual names. */
function takeName(buffer: JsonBuffer): string {
  const { input } = buffer;
  const start = ++buffer.at;
  while (isNameByte[input[buffer.at] ?? 0] === 1) buffer.at++;
  if (buffer.at === start) bail();
  return input.toString("latin1", start, buffer.at);
}

const isNameByte = new Uint8Array(256);
for (const character of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") isNameByte[character.charCodeAt(0)] = 1;
