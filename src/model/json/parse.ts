/** The deepest nesting of maps and lists that is read. Everything that walks values recurses at most as deep. */
export const deepestNesting = 200;

/** A text is nested deeper than that. The message is the end of a sentence about it. */
export class DeepNesting extends Error {
  /** Where: in UTF-16 units. */
  readonly offset: number;

  constructor(offset: number) {
    super(`is nested more than ${deepestNesting} levels deep`);
    this.offset = offset;
  }
}

/** JSON.parse for text of others. Throws SyntaxError, and DeepNesting before anything is parsed. */
export function parseJson(text: string): unknown {
  refuseDeepNesting(Buffer.from(text));
  return JSON.parse(text);
}

/** @throws DeepNesting if a JSON text in UTF-8 is nested too deeply. Its `offset` is in UTF-16 units. */
export function refuseDeepNesting(bytes: Buffer): void {
  const at = deepAt(bytes);
  if (at !== undefined) throw new DeepNesting(bytes.toString("utf8", 0, at).length);
}

/** The end of a sentence about a text that `parseJson` refused. `otherwise`: if it is not JSON at all. */
export const whyNotJson = (error: unknown, otherwise: string): string => (error instanceof DeepNesting ? error.message : otherwise);

/**
 * The byte at which the text is nested too deeply; undefined if there is none, or if it is not JSON. A
 * loop over bytes in one function: over the units of a string, or with a function for strings, it takes
 * twice as long, 10 % of a plan of W4.
 */
function deepAt(bytes: Buffer): number | undefined {
  const { length } = bytes;
  let depth = 0;
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      for (at += 1; at < length && bytes[at] !== quote; at += 1) if (bytes[at] === backslash) at += 1;
    } else if (byte === openList || byte === openMap) {
      depth += 1;
      if (depth > deepestNesting) return at;
    } else if (byte === closeList || byte === closeMap) depth -= 1;
  }
  return undefined;
}

const [quote, backslash, openList, closeList, openMap, closeMap] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];
