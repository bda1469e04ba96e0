/** The text under transcoding and the JSON made of it so far. Changed in place by every function of plain-yaml*.ts: this is the hot loop of loading. */
export interface JsonBuffer {
  /** UTF-8, ending in a line break. Line breaks are single line feeds. */
  readonly input: Buffer;
  /** Whether `input` is ASCII, and so `json`. */
  readonly isAscii: boolean;
  /** Index of the next byte of `input`. */
  at: number;
  /** Twice as large as whatever `input` becomes: nothing makes more than four bytes of one, and members are sorted behind it. */
  readonly json: Buffer;
  /** Length of `json` so far. */
  length: number;
  readonly members: Members;
  /**
   * Where the JSON comes from, if anybody asks: of each key, scalar and collection its beginning in `json`, and its beginning and end in `input` (the end
   * only of scalars), in this order. The null of a member without a value comes from nowhere.
   */
  readonly marks: number[] | undefined;
}

/** Thrown on whatever isn't certainly plain: the whole text is then left to the YAML library. */
export class UnsupportedYaml extends Error {}

const notPlain = new UnsupportedYaml("not plain");

/** @throws NotPlain always; one object for all, since nobody looks at its stack */
export function bail(): never {
  throw notPlain;
}

/** Collections in collections, of block and of flow style each. */
export const deepest = 60;

/** Bytes that mean something here. */
export const byte = {
  lineFeed: 0x0a,
  space: 0x20,
  quote: 0x22,
  hash: 0x23,
  apostrophe: 0x27,
  comma: 0x2c,
  dash: 0x2d,
  dot: 0x2e,
  slash: 0x2f,
  colon: 0x3a,
  openList: 0x5b,
  backslash: 0x5c,
  closeList: 0x5d,
  openMap: 0x7b,
  closeMap: 0x7d,
} as const;

/**
 * Skips spaces and then the line's end, with a comment or without, and tells whether there was nothing else. If there was, `tape.at` is at it. A comment
 * needs a space, or the start of the line, before it.
 */
export function skipRest(tape: JsonBuffer): boolean {
  const { input, at: start } = tape;
  let at = start;
  while (input[at] === byte.space) at++;
  tape.at = at;
  const first = input[at];
  if (first === byte.lineFeed) {
    tape.at++;
    return true;
  }
  if (first !== byte.hash || (at === start && input[start - 1] !== byte.lineFeed && start > 0)) return false;
  tape.at = input.indexOf(byte.lineFeed, at) + 1;
  return true;
}

/** Writes one byte of JSON. */
export function put(tape: JsonBuffer, value: number): void {
  tape.json[tape.length++] = value;
}

/** Writes ASCII text as it is. */
export function putText(tape: JsonBuffer, text: string): void {
  for (let index = 0; index < text.length; index++) put(tape, text.charCodeAt(index));
}

/*
 * Keys while they are written: whether one stands twice in a map, and how the JSON would read with the keys of every map in order, as the digest of the
 * manifests takes it. Where they are in order already, each key needs one comparison with the one before it. Other maps are sorted when they close, which
 * shows keys given twice, and are noted down; the JSON is rearranged only after it has been parsed, so that values keep the author's order.
 */

/** Offsets are in the JSON. */
export interface Members {
  /** For each open map: `base` of the one around it, whether its keys are out of order (1) or not (0), and where each of its members begins. */
  readonly stack: number[];
  /** The length of `stack` that is in use: a list that never shrinks isn't moved in memory. */
  top: number;
  /** Where in `stack` the members of the innermost map begin. */
  base: number;
  /** Closed maps with their keys out of order, inner ones first: the number of members, then for each, in the order of keys, where it begins and ends. */
  readonly unsorted: number[];
  /** Whether JavaScript would surely have the keys in the order of their bytes. */
  isInByteOrder: boolean;
}

/** UTF-8 beyond ASCII isn't always in the order of UTF-16, by which JavaScript sorts. */
export function makeMembers(isAscii: boolean): Members {
  return { stack: [], top: 0, base: 0, unsorted: [], isInByteOrder: isAscii };
}

export function openMembers({ members }: JsonBuffer): void {
  const { stack } = members;
  stack[members.top++] = members.base;
  stack[members.top++] = 0;
  members.base = members.top;
}

/** Notes a member, whose key has just been written from `start` on. */
export function noteMember({ json, members }: JsonBuffer, start: number): void {
  const { stack, top, base } = members;
  if (top > base) {
    const order = compareKeys(json, stack[top - 1] ?? 0, start);
    if (order === 0) bail();
    if (order > 0) stack[base - 1] = 1;
  }
  // Whole numbers come first in a JavaScript object.
  const first = json[start + 1] ?? 0;
  if (first >= digitZero && first <= digitNine) members.isInByteOrder = false;
  stack[members.top++] = start;
}

/** Before the closing brace is written. */
export function closeMembers(tape: JsonBuffer): void {
  const { members } = tape;
  const { stack, base } = members;
  if (stack[base - 1] === 1) noteOrder(tape);
  members.top = base - 2;
  members.base = stack[base - 2] ?? 0;
}

/** Sorts the members of the innermost map. */
function noteOrder({ json, length, members: { stack, top, base, unsorted } }: JsonBuffer): void {
  const count = top - base;
  const order: number[] = [];
  for (let member = base; member < top; member++) order.push(member);
  const compare = (a: number, b: number): number => compareKeys(json, stack[a] ?? 0, stack[b] ?? 0);
  // Two need no comparison: they are out of order.
  if (count === 2) order.reverse();
  else order.sort(compare);
  unsorted.push(count);
  for (let index = 0; index < count; index++) {
    const member = order[index] ?? 0;
    if (index > 0 && compare(order[index - 1] ?? 0, member) === 0) bail();
    unsorted.push(stack[member] ?? 0, member + 1 < top ? (stack[member + 1] ?? 0) - 1 : length);
  }
}

/** Negative, 0 or positive as the key at `a` comes before, is, or comes after the one at `b`. May say 0 of keys with escapes that differ. */
function compareKeys(json: Uint8Array, a: number, b: number): number {
  for (let offset = 1; ; offset++) {
    const left = json[a + offset] ?? 0;
    const right = json[b + offset] ?? 0;
    if (left !== right) return (left === byte.quote ? 0 : left) - (right === byte.quote ? 0 : right);
    if (left === byte.quote) return 0;
  }
}

/** Puts the keys of every map of the JSON in order, in place, and hands it over. What is behind the JSON is written over. */
export function sortMembers({ json, members: { unsorted }, length }: JsonBuffer): Uint8Array {
  // Inner maps come first, and sorting one moves nothing outside it.
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
