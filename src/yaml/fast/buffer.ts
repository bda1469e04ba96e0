/**
 * The text being transcoded and the JSON so far. Every function of this folder changes it in place:
 * this is the hot loop of loading.
 */
export interface JsonBuffer {
  /** UTF-8, ending in a line break. Line breaks are single line feeds. */
  readonly input: Buffer;
  /** Whether `input` is ASCII, and so `json`. */
  readonly isAscii: boolean;
  /** Index of the next byte of `input`. */
  at: number;
  /**
   * Twice as large as the JSON of `input` can get: one byte becomes at most four, and members are
   * sorted behind the JSON.
   */
  readonly json: Buffer;
  /** Length of `json` so far. */
  length: number;
  readonly members: Members;
  /** Where the values with anchors are in `json`, by name. Undefined: the value is not complete. */
  readonly anchors: Map<string, { readonly start: number; readonly end: number } | undefined>;
  /** Bytes of `json` that are copies of values behind aliases. */
  copied: number;
  /**
   * Where the JSON comes from, if a caller needs it: for each key, scalar and collection its start
   * in `json`, and its start and end in `input` (the end for scalars only), in this order. The null
   * of a member without a value has no mark.
   */
  readonly marks: number[] | undefined;
}

/**
 * Thrown on everything that the fast path does not support: the YAML library then reads the whole
 * text.
 */
export class UnsupportedYaml extends Error {}

const unsupported = new UnsupportedYaml("not supported by the fast path");

/** Throws UnsupportedYaml: one object for all, because nobody reads its stack. */
export function bail(): never {
  throw unsupported;
}

/** Maximum nesting of block collections, and of flow collections. */
export const deepest = 60;

/** Bytes with a meaning in YAML. */
export const byte = {
  lineFeed: 0x0a,
  space: 0x20,
  quote: 0x22,
  hash: 0x23,
  ampersand: 0x26,
  apostrophe: 0x27,
  asterisk: 0x2a,
  comma: 0x2c,
  dash: 0x2d,
  dot: 0x2e,
  slash: 0x2f,
  colon: 0x3a,
  greater: 0x3e,
  openList: 0x5b,
  backslash: 0x5c,
  closeList: 0x5d,
  openMap: 0x7b,
  pipe: 0x7c,
  closeMap: 0x7d,
} as const;

/**
 * Skips spaces, a comment and the end of the line; returns whether there was nothing else.
 * Otherwise `buffer.at` is at the first other byte. A comment needs a space, or the start of the
 * line, before it.
 */
export function skipRest(buffer: JsonBuffer): boolean {
  const { input, at: start } = buffer;
  let at = start;
  while (input[at] === byte.space) at++;
  buffer.at = at;
  const first = input[at];
  if (first === byte.lineFeed) {
    buffer.at++;
    return true;
  }
  if (first !== byte.hash || (at === start && input[start - 1] !== byte.lineFeed && start > 0)) return false;
  buffer.at = input.indexOf(byte.lineFeed, at) + 1;
  return true;
}

/** Writes one byte of JSON. */
export function put(buffer: JsonBuffer, value: number): void {
  buffer.json[buffer.length++] = value;
}

/** Writes ASCII text unchanged. */
export function putText(buffer: JsonBuffer, text: string): void {
  for (let index = 0; index < text.length; index++) put(buffer, text.charCodeAt(index));
}

/*
 * Keys are tracked while they are written, for two purposes: duplicate keys, and the JSON with the
 * keys of every map sorted, which the digest of the manifests needs. If the keys are sorted
 * already, each key costs one comparison with the one before it. Other maps are sorted when they
 * close, which finds duplicates, and are recorded; the JSON is rearranged only after it has been
 * parsed, so that values keep the author's order.
 */

/** Offsets are in the JSON. */
export interface Members {
  /**
   * For each open map: `base` of the enclosing map, whether its keys are out of order (1) or not
   * (0), and where each of its members begins.
   */
  readonly stack: number[];
  /** The used length of `stack`, which never shrinks: so it is not moved in memory. */
  top: number;
  /** Where in `stack` the members of the innermost map begin. */
  base: number;
  /**
   * Closed maps whose keys were out of order, inner ones first: the number of members, then start
   * and end of each, sorted by key.
   */
  readonly unsorted: number[];
  /** Whether JavaScript certainly sorts the keys in the order of their bytes. */
  isInByteOrder: boolean;
}

/** Beyond ASCII, the order of UTF-8 can differ from that of UTF-16, by which JavaScript sorts. */
export function makeMembers(isAscii: boolean): Members {
  return { stack: [], top: 0, base: 0, unsorted: [], isInByteOrder: isAscii };
}

export function openMembers({ members }: JsonBuffer): void {
  const { stack } = members;
  stack[members.top++] = members.base;
  stack[members.top++] = 0;
  members.base = members.top;
}

/** Records a member, whose key has just been written from `start` on. */
export function noteMember({ json, members }: JsonBuffer, start: number): void {
  const { stack, top, base } = members;
  if (top > base) {
    const order = compareKeys(json, stack[top - 1] ?? 0, start);
    if (order === 0) bail();
    if (order > 0) stack[base - 1] = 1;
  }
  // In a JavaScript object, integers come first.
  const first = json[start + 1] ?? 0;
  if (first >= digitZero && first <= digitNine) members.isInByteOrder = false;
  stack[members.top++] = start;
}

/** Before the closing brace is written. */
export function closeMembers(buffer: JsonBuffer): void {
  const { members } = buffer;
  const { stack, base } = members;
  if (stack[base - 1] === 1) noteOrder(buffer);
  members.top = base - 2;
  members.base = stack[base - 2] ?? 0;
}

/** Sorts the members of the innermost map. */
function noteOrder({ json, length, members: { stack, top, base, unsorted } }: JsonBuffer): void {
  const count = top - base;
  const order: number[] = [];
  for (let member = base; member < top; member++) order.push(member);
  const compare = (a: number, b: number): number => compareKeys(json, stack[a] ?? 0, stack[b] ?? 0);
  // Two members need no comparison: they are out of order.
  if (count === 2) order.reverse();
  else order.sort(compare);
  unsorted.push(count);
  for (let index = 0; index < count; index++) {
    const member = order[index] ?? 0;
    if (index > 0 && compare(order[index - 1] ?? 0, member) === 0) bail();
    unsorted.push(stack[member] ?? 0, member + 1 < top ? (stack[member + 1] ?? 0) - 1 : length);
  }
}

/**
 * Negative, 0 or positive if the key at `a` sorts before, equals or sorts after the one at `b`. Can
 * be 0 for different keys with escapes.
 */
function compareKeys(json: Uint8Array, a: number, b: number): number {
  for (let offset = 1; ; offset++) {
    const left = json[a + offset] ?? 0;
    const right = json[b + offset] ?? 0;
    if (left !== right) return (left === byte.quote ? 0 : left) - (right === byte.quote ? 0 : right);
    if (left === byte.quote) return 0;
  }
}

/**
 * Sorts the keys of every map of the JSON in place and returns it. Overwrites what is behind the
 * JSON.
 */
export function sortMembers({ json, members: { unsorted }, length }: JsonBuffer): Uint8Array {
  // Inner maps come first. Sorting one moves nothing outside it.
  for (let map = 0; map < unsorted.length; ) {
    const end = map + 1 + 2 * (unsorted[map] ?? 0);
    let first = length;
    let at = length;
    for (let member = map + 1; member < end; member += 2) {
      const from = unsorted[member] ?? 0;
      const to = unsorted[member + 1] ?? 0;
      if (at > length) json[at++] = byte.comma;
      json.copyWithin(at, from, to);
      at += to - from;
      if (from < first) first = from;
    }
    json.copyWithin(first, length, at);
    map = end;
  }
  return json.subarray(0, length);
}

const digitZero = 0x30;
const digitNine = 0x39;
