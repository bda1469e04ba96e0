import type { Place } from "../model/problem.ts";

/** A part of a text: offsets, the end exclusive. */
export type Range = readonly [start: number, end: number];

/** What a parser knows of a text. Offsets are in UTF-16 units. */
export interface TextPositions {
  /** Offsets of the beginnings of lines. */
  readonly lineStarts: readonly number[];
  /** Where the value or the key at a place begins; of what isn't there, where the last value on the way to it begins. */
  readonly offsetOf: (place: Omit<Place, "file">) => number | undefined;
  /** Secrets that are written out, as far as they touch what is between two offsets. */
  readonly masksIn: (start: number, end: number) => readonly Range[];
  /** Whether the document isn't well formed, so that values can't be told for certain. */
  readonly isBroken: (document: number) => boolean;
}
