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
  /** As large as the JSON of `input` can get: one byte becomes at most four, and copies are at most as large as `input`. */
  readonly json: Buffer;
  /** Length of `json` so far. */
  length: number;
  readonly members: Members;
  /** Where the values with anchors are in `json`, by name. Undefined: the value is not complete. */
  readonly anchors: Map<string, { readonly start: number; readonly end: number } | undefined>;
  /** Bytes of `json` that are copies of values behind aliases. */
  copied: number;
  /** The number of aliases, how many the library certainly accepts, and where in `json` the last one is. */
  aliases: number;
  mostAliases: number;
  lastAlias: number;
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
 * Keys are tracked while they are written, to find duplicates. If the keys of a map are sorted, as
 * in files that dimsync writes, each costs one comparison with the one before it. The keys of other
 * maps are sorted when the map closes.
 */

/** Offsets are in the JSON. */
interface Members {
  /**
   * For each open map: `base` of the enclosing map, whether its keys are out of order (1) or not
   * (0), and where each of its keys begins.
   */
  readonly stack: number[];
  /** The used length of `stack`, which never shrinks: so it is not moved in memory. */
  top: number;
  /** Where in `stack` the keys of the innermost map begin. */
  base: number;
}

export const makeMembers = (): Members => ({ stack: [], top: 0, base: 0 });

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
  stack[members.top++] = start;
}

/** Before the closing brace is written. */
export function closeMembers(buffer: JsonBuffer): void {
  const { members } = buffer;
  const { stack, top, base } = members;
  // Two keys out of order are different.
  if (stack[base - 1] === 1 && top - base > 2) refuseDuplicates(buffer);
  members.top = base - 2;
  members.base = stack[base - 2] ?? 0;
}

function refuseDuplicates({ json, members: { stack, top, base } }: JsonBuffer): void {
  const keys = stack.slice(base, top);
  // Comparing each of a few keys with all before it takes 2 % off a cold W1: V8 sorts slowly with a function.
  const areSorted = keys.length > 16;
  if (areSorted) keys.sort((a, b) => compareKeys(json, a, b));
  for (let index = 1; index < keys.length; index++)
    // A sorted key can only equal the one before it.
    for (let other = areSorted ? index - 1 : 0; other < index; other++)
      if (compareKeys(json, keys[other] ?? 0, keys[index] ?? 0) === 0) bail();
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
