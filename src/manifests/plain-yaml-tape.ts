import type { Members } from "./plain-yaml-members.ts";

/** The text under transcoding and the JSON made of it so far. Changed in place by every function of plain-yaml*.ts: this is the hot loop of loading. */
export interface Tape {
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
export class NotPlain extends Error {}

const notPlain = new NotPlain("not plain");

/** @throws NotPlain always; one object for all, since nobody looks at its stack */
export function stepAside(): never {
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
export function skipRest(tape: Tape): boolean {
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
export function put(tape: Tape, value: number): void {
  tape.json[tape.length++] = value;
}

/** Writes ASCII text as it is. */
export function putText(tape: Tape, text: string): void {
  for (let index = 0; index < text.length; index++) put(tape, text.charCodeAt(index));
}
