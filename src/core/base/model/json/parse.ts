import type { JsonValue } from "./json.ts";

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

export interface ParsedResponse {
  readonly text: string;
  readonly value: JsonValue;
  /** How many names its maps have together. */
  readonly names: number;
}

/**
 * The same for a response, whose text in UTF-8 is `bytes`. A short one is checked after it is parsed, in a
 * third of the time. Not so files: once it has met maps of thousands of names, as in a manifest of dbt, V8 runs that loop three times slower for all responses.
 */
export function parseResponse(text: string, bytes: Buffer): ParsedResponse {
  if (text.length > longText && hasDeepBrackets(bytes)) throw new DeepNesting();
  const value: JsonValue = JSON.parse(text);
  return { text, value, names: countNames(value, deepestNesting) };
}

/** Throws DeepNesting if maps and lists are nested in more levels. */
function countNames(value: unknown, levels: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (levels === 0) throw new DeepNesting();
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + countNames(item, levels - 1), 0);
  let count = 0;
  // JSON inherits nothing that could be listed here; this form of loop is three times as fast as the others.
  for (const key in value) {
    const member: unknown = (value as Readonly<Record<string, unknown>>)[key];
    count += typeof member === "object" ? 1 + countNames(member, levels - 1) : 1;
  }
  return count;
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

const [quote, backslash, openList, closeList, openMap, closeMap] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/**
 * The names down to each one that a map of the text has again, of which JSON.parse keeps the last. They are only compared if the text has
 * more colons than the value has names.
 */
export function* repeatedNames({ text, names }: ParsedResponse): Generator<readonly string[]> {
  let colons = 0;
  for (let at = text.indexOf(":"); at >= 0; at = text.indexOf(":", at + 1)) colons += 1;
  if (colons === names) return;
  const open: { readonly names: Set<string>; name: string }[] = [];
  let [start, end, isInString] = [0, 0, false];
  for (const { 0: token, index } of text.matchAll(/\\.|["{}[\]:]/gu)) {
    const map = open.at(-1);
    if (token === '"') {
      isInString = !isInString;
      if (isInString) start = index;
      else end = index + 1;
    } else if (isInString) continue;
    else if (token === "{" || token === "[") open.push({ names: new Set(), name: "" });
    else if (token === "}" || token === "]") open.pop();
    else if (map !== undefined) {
      map.name = String(JSON.parse(text.slice(start, end)));
      if (map.names.has(map.name)) yield open.map(({ name }) => name);
      map.names.add(map.name);
    }
  }
}

/** The end of a sentence about a text that `parseJson` refused. `otherwise`: if it is not JSON at all. */
export const whyNotJson = (error: unknown, otherwise: string): string => (error instanceof DeepNesting ? error.message : otherwise);
