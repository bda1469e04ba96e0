import { isObject, own, sameJson } from "../model/json/json.ts";
import { toPointer } from "../model/json/pointer.ts";
import type { Steps } from "../model/runtime/event-loop.ts";
import { markedRanges } from "./document-ranges.ts";
import { parsePlainYaml } from "./fast/transcode.ts";
import { canonicalYaml, type MemberOrder } from "./format.ts";
import type { Range } from "./mask.ts";

/*
 * The syntax tree of a text takes 50 times as much memory as the text. So a large document is
 * formatted in groups: the longest map whose members keep their order is cut between two members,
 * and each group of members is formatted with the lines around the map. The result is that of
 * formatting the whole, because the form of a member does not depend on those beside it. That is
 * certain only for what the fast path reads, without aliases (with one, no member is moved), and
 * not at comments and empty lines, which the library attaches to what is around them.
 */

const mebibyte = 1024 * 1024;

/** In UTF-16 units. `group`: with the lines around the map; `whole`: what is formatted without a cut. */
const limits = { group: mebibyte / 2, whole: 16 * mebibyte };

/** As `formatYaml`, in steps. Undefined: the text is too large, and cannot be cut. */
export function* formatLargeYaml(text: string, order: MemberOrder, sizes = limits): Steps<string | undefined> {
  return (yield* canonical(text, order, sizes)) ?? (text.length > sizes.whole ? undefined : text);
}

function* canonical(text: string, order: MemberOrder, sizes: typeof limits): Steps<string | undefined> {
  const formatted = text.length > sizes.group ? yield* formatGroups(text, order, sizes) : undefined;
  return formatted ?? (text.length > sizes.whole ? undefined : canonicalYaml(text, order));
}

function* formatGroups(text: string, order: MemberOrder, sizes: typeof limits): Steps<string | undefined> {
  const value = plainValue(text);
  const cut = value === undefined ? undefined : cutOf(text, value, { order, size: sizes.group });
  if (cut === undefined) return undefined;
  const { head, groups, tail } = cut;
  const [before, after, ...more] = canonicalYaml(`${head}${cut.indent}${placeholder}\n${tail}`, order)?.split(placeholderLine) ?? [];
  if (before === undefined || after === undefined || more.length > 0) return undefined;
  let result = before;
  for (const group of groups) {
    yield;
    const formatted = yield* canonical(head + group + tail, order, sizes);
    const isFramed = formatted?.startsWith(before) === true && formatted.endsWith(after);
    if (!isFramed || formatted.length < before.length + after.length) return undefined;
    result += formatted.slice(before.length, formatted.length - after.length);
  }
  result += after;
  return sameJson(value, plainValue(result)) ? result : undefined;
}

const placeholder = "dimsync_fmt_placeholder: 0";
const placeholderLine = new RegExp(`(?<=^|\\n) *${placeholder}\\n`, "u");

/** The value of a text of one document that can be cut. */
function plainValue(text: string): unknown {
  if (/[\s[{,:]\*[\w-]|\r/u.test(text) || text.includes(placeholder) || markedRanges(text)?.length !== 1) return undefined;
  return parsePlainYaml(text)?.[0]?.value;
}

interface Cut {
  /** Up to the first member of the map, whose keys have the indentation `indent`. */
  readonly head: string;
  readonly groups: readonly string[];
  readonly tail: string;
  readonly indent: string;
}

/** Follows the longest members down to a map that can be cut. */
function cutOf(text: string, root: unknown, { order, size }: { readonly order: MemberOrder; readonly size: number }): Cut | undefined {
  const kind = isObject(root) ? own(root, "kind") : undefined;
  let [start, end]: Range = [0, text.length];
  let pointer = "";
  for (let value = root; ; ) {
    const keys = isObject(value) ? keyLines(text, [start, end]) : [];
    const [first] = keys;
    if (!isObject(value) || first === undefined) return undefined;
    const keepsOrder = pointer !== "" && (typeof kind !== "string" || order(kind, pointer).length === 0);
    const around = start + text.length - end;
    const cuts = keepsOrder ? groupEnds(keys, { start, end, size: size - around }) : [];
    if (around < size && cuts.length > 1) {
      const groups = cuts.map((to, index) => text.slice(cuts[index - 1] ?? start, to));
      return { head: text.slice(0, start), groups, tail: text.slice(end), indent: first.indent };
    }
    const members = keys.map(({ at }, index): Range => [at, keys[index + 1]?.at ?? end]);
    const [from, to] = members.reduce((longest, one) => (one[1] - one[0] > longest[1] - longest[0] ? one : longest));
    const below = text.indexOf("\n", from) + 1;
    const line = parsePlainYaml(text.slice(from, below))?.[0]?.value;
    const [key, ...others] = isObject(line) ? Object.keys(line) : [];
    if (below === 0 || key === undefined || others.length > 0) return undefined;
    value = own(value, key);
    pointer += toPointer([key]);
    [start, end] = [below, to];
  }
}

interface KeyLine {
  readonly at: number;
  readonly indent: string;
  readonly mayCut: boolean;
}

/** The lines with the keys of the block map in the range; none if there is another value. */
function keyLines(text: string, [start, end]: Range): readonly KeyLine[] {
  const keys: KeyLine[] = [];
  let column = -1;
  let lineAbove = start;
  for (let at = start, next: number; at < end; lineAbove = at, at = next) {
    next = text.indexOf("\n", at) + 1 || text.length;
    let first = at;
    while (text[first] === " ") first++;
    const character = text[first] ?? "\n";
    if (character === "#" || character === "\n") continue;
    if (column < 0) column = first - at;
    if (first - at < column) return [];
    // An item of a list below its key, or the last bracket of a collection that began above.
    if (first - at > column || "-[]{}".includes(character)) continue;
    const above = text.slice(lineAbove, at);
    keys.push({ at, indent: " ".repeat(column), mayCut: above.trim() !== "" && !above.includes("#") });
  }
  return keys;
}

/** Where each group ends, at a line with a key or at the end. */
function groupEnds(
  keys: readonly KeyLine[],
  { start, end, size }: { readonly start: number; readonly end: number; readonly size: number },
): readonly number[] {
  const ends: number[] = [];
  let [from, last] = [start, start];
  for (const { at, mayCut } of [...keys.slice(1), { at: end, mayCut: true }]) {
    if (!mayCut) continue;
    if (at - from > size && last > from) {
      ends.push(last);
      from = last;
    }
    last = at;
  }
  return [...ends, end];
}
