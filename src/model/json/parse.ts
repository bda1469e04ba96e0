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
  const offset = deepOffset(text);
  if (offset !== undefined) throw new DeepNesting(offset);
  return JSON.parse(text);
}

/** The end of a sentence about a text that `parseJson` refused. `otherwise`: if it is not JSON at all. */
export const whyNotJson = (error: unknown, otherwise: string): string => (error instanceof DeepNesting ? error.message : otherwise);

/** Where the text is nested too deeply, if it is JSON; undefined if it is not. */
function deepOffset(text: string): number | undefined {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === quote) at = endOfString(text, at);
    else if (unit === openList || unit === openMap) depth += 1;
    else if (unit === closeList || unit === closeMap) depth -= 1;
    if (depth > deepestNesting) return at;
  }
  return undefined;
}

const [quote, backslash, openList, closeList, openMap, closeMap] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}
