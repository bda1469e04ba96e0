import { isObject } from "../model/json/json.ts";
import { toPointer } from "../model/json/pointer.ts";
import { jsonDocument } from "../text/control-characters.ts";

/** A result that fits, and what it lacks: "4880 of 5000 entries of /items". */
export interface Shortened {
  readonly text: string;
  readonly leftOut: readonly string[];
}

/**
 * Shortens a result to at most `maxBytes` of UTF-8. JSON stays valid JSON: long lists, maps of equal things and strings lose their end, the largest first.
 * Other texts lose their last lines.
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

/** Undefined if the value has nothing that can be shortened enough. */
function shortenJson(value: unknown, maxBytes: number): Shortened | undefined {
  const cuts = new Map<string, Cut>();
  let left = value;
  // Each round cuts the largest part; what is left of a part is not the largest for long.
  for (let round = 0; round < 100; round += 1) {
    const text = jsonDocument(left, 0);
    const over = Buffer.byteLength(text) - maxBytes;
    if (over <= 0) return { text, leftOut: [...cuts].map(([path, cut]) => cutText(path, cut)) };
    const found = cutLargest(left, { path: [], over });
    if (found === undefined) return undefined;
    left = found.value;
    const path = toPointer(found.path);
    cuts.set(path, { ...found.cut, of: cuts.get(path)?.of ?? found.cut.of });
  }
  return undefined;
}

interface Cut {
  readonly kept: number;
  readonly of: number;
  readonly unit: "entries" | "characters";
}

const cutText = (path: string, { kept, of, unit }: Cut): string => `${of - kept} of ${of} ${unit} of ${path === "" ? "the result" : path}`;

interface Place {
  readonly path: readonly string[];
  /** How many bytes must go. */
  readonly over: number;
}

interface CutValue {
  readonly value: unknown;
  readonly path: readonly string[];
  readonly cut: Cut;
}

/** Cuts the deepest list that makes up most of the value, so that the rest of the document stays whole. */
function cutLargest(value: unknown, { path, over }: Place): CutValue | undefined {
  if (typeof value === "string") {
    const kept = Math.max(0, value.length - over - 1);
    return value.length < 100 ? undefined : { value: value.slice(0, kept), path, cut: { kept, of: value.length, unit: "characters" } };
  }
  if (!Array.isArray(value) && !isObject(value)) return undefined;
  const entries = Object.entries(value);
  const sizes = entries.map(([, entry]) => Buffer.byteLength(JSON.stringify(entry)));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const at = sizes.indexOf(Math.max(...sizes));
  const largest = entries[at];
  if (largest === undefined) return undefined;
  const canCut = isList(value) && (sizes[at] ?? 0) <= total / 2;
  const inside = canCut ? undefined : cutLargest(largest[1], { path: [...path, largest[0]], over });
  if (inside !== undefined) return { ...inside, value: replaced(value, largest[0], inside.value) };
  if (!isList(value)) return undefined;
  const kept = fitting(sizes, over);
  const left = Array.isArray(value) ? value.slice(0, kept) : Object.fromEntries(entries.slice(0, kept));
  return { value: left, path, cut: { kept, of: entries.length, unit: "entries" } };
}

/** Whether its entries are alike, so that some of them may be left out: a list, or a map of names to objects. */
const isList = (value: object): boolean => Array.isArray(value) || (Object.keys(value).length > 1 && Object.values(value).every(isObject));

/** How many entries from the start can stay if `over` bytes must go; at least half of them, so that other long lists also get shorter. */
function fitting(sizes: readonly number[], over: number): number {
  let [kept, gone] = [sizes.length, 0];
  while (kept > sizes.length / 2 && gone < over) gone += (sizes[--kept] ?? 0) + 1;
  return kept;
}

const replaced = (value: object, key: string, entry: unknown): unknown =>
  Array.isArray(value) ? value.map((one, index) => (String(index) === key ? entry : one)) : { ...value, [key]: entry };
