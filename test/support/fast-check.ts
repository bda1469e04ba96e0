import fc from "fast-check";
import { sampleSeed } from "./sample.ts";

// fast-check would take the clock, and two runs of a commit would test different inputs.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: sampleSeed });

export default fc;

/** The code points of surrogates: each is half of a character. */
const surrogates = { first: 0xd800, count: 0x800 };

/**
 * Any code point that is not a surrogate, as the `unit` of a string. The unit "binary" of fast-check is the same, but keeps
 * a table of all million code points in each process: 0.9 s of processor time, and 100 MB.
 */
export const anyCodePoint = fc.integer({ min: 0, max: 0x10ffff - surrogates.count }).map(codePoint, indexOf);

function codePoint(index: number): string {
  return String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count);
}

/** fast-check finds out with it which dangerous texts the string can be. */
function indexOf(value: unknown): number {
  const code = (typeof value === "string" ? value.codePointAt(0) : undefined) ?? 0;
  const index = code < surrogates.first ? code : code - surrogates.count;
  if (codePoint(index) !== value) throw new Error("This is not a code point.");
  return index;
}
