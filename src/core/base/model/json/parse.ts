/** The deepest nesting of maps and lists that is read. Everything that walks values recurses at most as deep. */
export const deepestNesting = 200;

/** A text is nested deeper than that. The message is the end of a sentence about it. */
export class DeepNesting extends Error {
  /** Where in a YAML text: in UTF-16 units. */
  readonly offset: number;

  constructor(offset = 0) {
    super(`is nested more than ${deepestNesting} levels deep`);
    this.offset = offset;
  }
}

/** A megabyte of brackets becomes 50 MB of lists, and 64 of them 3 GB, so a longer text is checked before it is parsed. */
const longText = 1024 * 1024;

/** JSON.parse for the text of a file. It does not recurse, unlike what walks the value. Throws SyntaxError and DeepNesting. */
export function parseJson(text: string): unknown {
  if (hasDeepBrackets(Buffer.from(text))) throw new DeepNesting();
  return JSON.parse(text);
}

/**
 * The same for a response, whose text in UTF-8 is `bytes`. A short one is checked after it is parsed, in a third of the time. Not so files:
 * once it has met maps of thousands of names, as in a manifest of dbt, V8 runs that loop three times slower for all responses.
 */
export function parseResponse(text: string, bytes: Buffer): unknown {
  if (text.length > longText && hasDeepBrackets(bytes)) throw new DeepNesting();
  const value: unknown = JSON.parse(text);
  if (text.length <= longText && isDeeper(value, deepestNesting)) throw new DeepNesting();
  return value;
}

/** Whether maps and lists of a JSON value are nested in more levels. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeper(item, levels - 1));
  // JSON inherits nothing that could be listed here; this form of loop is three times as fast as the others.
  for (const key in value) {
    const member: unknown = (value as Readonly<Record<string, unknown>>)[key];
    if (typeof member === "object" && isDeeper(member, levels - 1)) return true;
  }
  return false;
}

/** The same for a text. A loop over bytes in one function: over the units of a string, or with a function for strings, it takes twice as long. */
function hasDeepBrackets(bytes: Buffer): boolean {
  const { length } = bytes;
  let depth = 0;
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      for (at += 1; at < length && bytes[at] !== quote; at += 1) if (bytes[at] === backslash) at += 1;
    } else if (byte === openList || byte === openMap) {
      depth += 1;
      if (depth > deepestNesting) return true;
    } else if (byte === closeList || byte === closeMap) depth -= 1;
  }
  return false;
}

const [quote, backslash, openList, closeList, openMap, closeMap, colon] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d, 0x3a];

/**
 * The names down to the first one that a map of the text has twice, of which JSON.parse keeps the last; undefined if there is none. Names are only
 * compared if there are more of them in the text than in the parsed value.
 */
export function repeatedName(bytes: Buffer, value: unknown): readonly string[] | undefined {
  if (namesIn(bytes) === membersOf(value)) return undefined;
  const open: { readonly names: Set<string>; name: string }[] = [];
  let text = "";
  for (const [token] of bytes.toString("utf8").matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/gu)) {
    const map = open.at(-1);
    if (token === "{" || token === "[") open.push({ names: new Set(), name: "" });
    else if (token === "}" || token === "]") open.pop();
    else if (token !== ":" || map === undefined) text = token;
    else {
      map.name = String(JSON.parse(text));
      if (map.names.has(map.name)) return open.map(({ name }) => name);
      map.names.add(map.name);
    }
  }
  return undefined;
}

function namesIn(bytes: Buffer): number {
  const { length } = bytes;
  let count = 0;
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      for (at += 1; at < length && bytes[at] !== quote; at += 1) if (bytes[at] === backslash) at += 1;
    } else if (byte === colon) count += 1;
  }
  return count;
}

function membersOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + membersOf(item), 0);
  let count = 0;
  for (const key in value) {
    const member: unknown = (value as Readonly<Record<string, unknown>>)[key];
    count += typeof member === "object" ? 1 + membersOf(member) : 1;
  }
  return count;
}

/** The end of a sentence about a text that `parseJson` refused. `otherwise`: if it is not JSON at all. */
export const whyNotJson = (error: unknown, otherwise: string): string => (error instanceof DeepNesting ? error.message : otherwise);
