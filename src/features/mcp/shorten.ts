import { isObject } from "../../core/model/json/json.ts";
import { toPointer } from "../../core/model/json/pointer.ts";
import { jsonDocument } from "../../core/text/control-characters.ts";

/** A result that fits, and what it lacks: "4880 of 5000 entries of /items". */
interface Shortened {
  readonly text: string;
  readonly leftOut: readonly string[];
}

/**
 * Shortens a result to at most `maxBytes` of UTF-8. JSON stays valid JSON: lists, maps of equal things and strings that are longer than the others
 * lose their end. Other texts lose their last lines.
 */
export function shorten(text: string, maxBytes: number): Shortened {
  if (Buffer.byteLength(text) <= maxBytes) return { text, leftOut: [] };
  try {
    return shortenJson(JSON.parse(text), maxBytes) ?? shortenLines(text, maxBytes);
  } catch (error) {
    if (error instanceof SyntaxError) return shortenLines(text, maxBytes);
    throw error;
  }
}

function shortenLines(text: string, maxBytes: number): Shortened {
  const bytes = Buffer.from(text);
  const fitting = bytes
    .subarray(0, maxBytes)
    .toString()
    .replace(/\n[^\n]*$/u, "\n")
    .replace(/\ufffd$/u, "");
  const lines = (part: string): number => part.split("\n").length - 1;
  return { text: fitting, leftOut: [`${lines(text) - lines(fitting)} of ${lines(text)} lines`] };
}

/** With as many entries of each list as fit. Undefined if not even one of each does. */
function shortenJson(value: unknown, maxBytes: number): Shortened | undefined {
  let found: Shortened | undefined;
  let [least, most] = [1, maxBytes];
  while (least <= most) {
    const middle = (least + most) >> 1;
    const leftOut: string[] = [];
    const text = jsonDocument(cut(value, middle, { path: [], leftOut }), 0);
    if (Buffer.byteLength(text) > maxBytes) most = middle - 1;
    else {
      found = { text, leftOut };
      least = middle + 1;
    }
  }
  return found;
}

/** The value with at most so many entries in each list, and 50 times as many characters in each string. */
function cut(value: unknown, most: number, { path, leftOut }: { readonly path: readonly string[]; readonly leftOut: string[] }): unknown {
  const note = (kept: number, of: number, unit: string): void => {
    if (kept < of) leftOut.push(`${of - kept} of ${of} ${unit} of ${path.length === 0 ? "the result" : toPointer(path)}`);
  };
  if (typeof value === "string") {
    const text = value.slice(0, Math.max(100, 50 * most));
    note(text.length, value.length, "characters");
    return text;
  }
  if (!Array.isArray(value) && !isObject(value)) return value;
  const entries = Object.entries(value);
  const kept = isList(value) ? entries.slice(0, most) : entries;
  note(kept.length, entries.length, "entries");
  const left = kept.map(([key, entry]) => [key, cut(entry, most, { path: [...path, key], leftOut })] as const);
  return Array.isArray(value) ? left.map(([, entry]) => entry) : Object.fromEntries(left);
}

/** Whether its entries are alike, so that some of them may be left out: a list, or a map of names to objects. */
const isList = (value: object): boolean => Array.isArray(value) || (Object.keys(value).length > 1 && Object.values(value).every(isObject));
