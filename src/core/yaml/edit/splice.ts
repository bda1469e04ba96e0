import { type Document, isMap, isScalar, isSeq, type Node, Scalar, type YAMLMap, type YAMLSeq } from "yaml";
import { isObject, type JsonValue } from "../../model/json/json.ts";
import { getOrAdd } from "../../model/maps.ts";
import type { Edit } from "../diff.ts";
import {
  afterLine,
  colonEnd,
  columnOf,
  dashOffsets,
  endOf,
  endOfPair,
  eolOf,
  isBlock,
  lineStart,
  nodeAt,
  pairOf,
  startOf,
  stepTo,
} from "../nodes.ts";
import { blockLines, doubleQuoted, inlineYaml, itemLines, memberLines, stringYaml } from "../print.ts";

/** A piece of a text and what replaces it. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The document to edit, and its text. */
export interface EditContext {
  readonly document: Document.Parsed;
  readonly text: string;
}

/** The splices that make one edit; undefined if the form of the document does not allow it. */
export function splicesOf(edit: Edit, context: EditContext): readonly Splice[] | undefined {
  const node = nodeAt(context.document, edit.path);
  if (edit.type === "set") return setSplices(edit, node, context);
  if (edit.type === "items") return isSeq<Node>(node) ? itemSplices(node, edit, context) : undefined;
  return isMap<Node, Node | null>(node) ? memberSplices(node, edit, context) : undefined;
}

/** The text with all splices made. Of overlapping splices the one that begins later is made. */
export function applySplices(text: string, splices: readonly Splice[]): string {
  const ordered = splices
    .map((splice, order) => ({ ...splice, order }))
    .sort((a, b) => b.start - a.start || b.end - b.start - (a.end - a.start) || b.order - a.order);
  const pieces: string[] = [];
  let rest = text.length;
  let bound = text.length + 1;
  for (const { start, end, text: piece } of ordered) {
    if (end > bound) continue;
    pieces.push(text.slice(end, rest), piece);
    rest = start;
    bound = start;
  }
  return [...pieces, text.slice(0, rest)].reverse().join("");
}

/** A child of a collection, with its dash. */
interface Extent {
  readonly start: number;
  readonly end: number;
}

function memberSplices(
  node: YAMLMap<Node, Node | null>,
  { path, removed: removedKeys, added, before }: Extract<Edit, { type: "members" }>,
  { document, text }: EditContext,
): readonly Splice[] | undefined {
  const children = node.items.map((pair) => ({ start: startOf(pair.key), end: endOfPair(pair) }));
  const removed = new Set(node.items.flatMap(({ key }, index) => (isScalar(key) && removedKeys.has(String(key.value)) ? [index] : [])));
  const removals = removalSplices({ node, children, removed, text });
  if (removals === undefined || removed.size < removedKeys.size) return undefined;
  if (added.size === 0) return removals;
  const layout = { column: columnOf(text, children[0]?.start ?? 0), step: stepTo(document, path, text) };
  const groups = new Map<number, (readonly [string, JsonValue])[]>();
  for (const member of added) {
    const next = node.items.findIndex(({ key }) => isScalar(key) && String(key.value) === before.get(member[0]));
    getOrAdd(groups, next === -1 ? children.length : next, () => []).push(member);
  }
  const insertions = [...groups].map(([at, members]) =>
    insertionSplice(
      { node, children, removed, text },
      {
        at,
        inline: members.map(([key, value]) => `${stringYaml(key)}: ${inlineYaml(value)}`),
        lines: () => members.flatMap(([key, value]) => memberLines(key, value, layout)),
      },
    ),
  );
  return allOf([...insertions.reverse(), ...removals]);
}

/** The splices, if each could be made. */
function allOf(splices: readonly (Splice | undefined)[]): readonly Splice[] | undefined {
  const made = splices.filter((splice) => splice !== undefined);
  return made.length < splices.length ? undefined : made;
}

function itemSplices(
  node: YAMLSeq<Node>,
  { path, removed, inserted }: Extract<Edit, { type: "items" }>,
  { document, text }: EditContext,
): readonly Splice[] | undefined {
  const dashes = isBlock(node) ? dashOffsets(node) : undefined;
  const children = node.items.map((item, index) => ({ start: dashes?.[index] ?? startOf(item), end: endOf(item) }));
  const removals = removalSplices({ node, children, removed, text });
  if (removals === undefined) return undefined;
  const layout = { column: columnOf(text, children[0]?.start ?? 0), step: stepTo(document, path, text) };
  const insertions = [...inserted].map(([at, items]) =>
    insertionSplice(
      { node, children, removed, text },
      { at, inline: items.map(inlineYaml), lines: () => items.flatMap((item) => itemLines(item, layout)) },
    ),
  );
  return allOf([...insertions.reverse(), ...removals]);
}

interface Collection {
  readonly node: YAMLMap | YAMLSeq;
  readonly children: readonly Extent[];
  /** Indices of the children that are removed. */
  readonly removed: ReadonlySet<number>;
  readonly text: string;
}

/** Removes children, with the commas around them or their whole lines. */
function removalSplices({ node, children, removed, text }: Collection): readonly Splice[] | undefined {
  if (removed.size === 0) return [];
  if (removed.size >= children.length) return undefined;
  const splices: Splice[] = [];
  for (let from = 0; from < children.length; from++) {
    if (!removed.has(from)) continue;
    let to = from;
    while (removed.has(to + 1)) to++;
    const [first, last, before, next] = [children[from], children[to], children[from - 1], children[to + 1]];
    if (first === undefined || last === undefined) return undefined;
    if (!isBlock(node)) {
      if (before !== undefined) splices.push({ start: before.end, end: last.end, text: "" });
      else if (next !== undefined) splices.push({ start: first.start, end: next.start, text: "" });
    } else if (text.slice(lineStart(text, first.start), first.start).trim() === "") {
      splices.push({ start: lineStart(text, first.start), end: afterLine(text, last.end), text: "" });
    } else if (next !== undefined) splices.push({ start: first.start, end: next.start, text: "" });
    else return undefined;
    from = to;
  }
  return splices;
}

/** Inserts children before position `at`, next to the nearest one that stays. */
function insertionSplice(
  { node, children, removed, text }: Collection,
  { at, inline, lines }: { readonly at: number; readonly inline: readonly string[]; readonly lines: () => readonly string[] },
): Splice | undefined {
  const before = children.filter((_, index) => index < at && !removed.has(index)).at(-1);
  const next = children.find((_, index) => index >= at && !removed.has(index));
  const joined = inline.join(", ");
  if (!isBlock(node)) {
    if (before !== undefined) return { start: before.end, end: before.end, text: `, ${joined}` };
    if (next !== undefined) return { start: next.start, end: next.start, text: `${joined}, ` };
    return { start: startOf(node), end: endOf(node), text: isMap(node) ? `{ ${joined} }` : `[${joined}]` };
  }
  const eol = eolOf(text);
  const block = lines().join(eol);
  if (before !== undefined) {
    const end = afterLine(text, before.end);
    return { start: end, end, text: text[end - 1] === "\n" ? block + eol : eol + block };
  }
  if (next === undefined) return undefined;
  const start = lineStart(text, next.start);
  if (text.slice(start, next.start).trim() !== "") return undefined;
  const above = withComments(text, start);
  return { start: above, end: above, text: block + eol };
}

/** The beginning of a line, or of the comment lines directly above it. */
function withComments(text: string, start: number): number {
  let from = start;
  while (from > 0 && /^\s*#/u.test(text.slice(lineStart(text, from - 1), from))) from = lineStart(text, from - 1);
  return from;
}

function setSplices(
  { path, value }: Extract<Edit, { type: "set" }>,
  node: Node | undefined,
  { document, text }: EditContext,
): readonly Splice[] | undefined {
  const lines = linesInParent(path, value, { document, text });
  const colon = lines === undefined ? undefined : afterColon(path, { document, text });
  const eol = eolOf(text);
  // After `key:`, as many lines as the value needs.
  if (lines !== undefined && colon !== undefined && (node === undefined || !isKept(node, value))) {
    const [first = "", ...rest] = lines;
    const end = node === undefined ? colon : valueEnd(node, text);
    const inline = rest.length === 0 ? ` ${scalarLike(value, node) ?? first}` : "";
    return [{ start: colon, end: Math.max(colon, end), text: [inline, ...rest].join(eol) }];
  }
  if (node === undefined) return undefined;
  const start = startOf(node);
  const end = valueEnd(node, text);
  const inline = scalarLike(value, node) ?? inlineYaml(value);
  if (start === end) return [{ start, end, text: text[start - 1] === " " ? `${inline} ` : ` ${inline}` }];
  if (!isKept(node, value)) return [{ start, end, text: inline }];
  const [first = "", ...rest] = blockLines(value, { column: columnOf(text, start), step: stepTo(document, path, text) });
  return [{ start, end, text: [first.trimStart(), ...rest].join(eol) }];
}

/** Whether a block collection is replaced by one of the same type, in the same lines. */
function isKept(node: Node, value: JsonValue): boolean {
  if (isSeq(node)) return isBlock(node) && Array.isArray(value) && value.length > 0;
  return isMap(node) && isBlock(node) && isObject(value) && Object.keys(value).length > 0;
}

/** Where the value ends. A block scalar keeps its last line break. */
function valueEnd(node: Node, text: string): number {
  const [start, end] = [startOf(node), endOf(node)];
  return start < end ? start + text.slice(start, end).replace(/\r?\n$/u, "").length : start;
}

/**
 * The value of a block map's member as lines, the first one without its key; undefined if the
 * parent is not a block map.
 */
function linesInParent(path: Edit["path"], value: JsonValue, { document, text }: EditContext): readonly string[] | undefined {
  const parent = nodeAt(document, path.slice(0, -1));
  const key = String(path.at(-1));
  if (path.length === 0 || !isMap<Node, Node | null>(parent) || !isBlock(parent)) return undefined;
  const lines = memberLines(key, value, { column: columnOf(text, startOf(parent)), step: stepTo(document, path, text) });
  return lines.length > 1 ? ["", ...lines.slice(1)] : [inlineYaml(value)];
}

/** The offset after the colon, if only blank space is between it and the value. */
function afterColon(path: Edit["path"], { document, text }: EditContext): number | undefined {
  const parent = nodeAt(document, path.slice(0, -1));
  const pair = isMap<Node, Node | null>(parent) ? pairOf(parent, String(path.at(-1))) : undefined;
  const colon = pair === undefined ? undefined : colonEnd(pair);
  if (colon === undefined || pair === undefined) return undefined;
  if (pair.value === null || endOf(pair.value) === startOf(pair.value)) return colon;
  return text.slice(colon, startOf(pair.value)).trim() === "" ? colon : undefined;
}

/** A string in the quotes of the one that it replaces; undefined for other values. */
function scalarLike(value: JsonValue, node: Node | undefined): string | undefined {
  if (typeof value !== "string" || !isScalar(node) || typeof node.value !== "string") return undefined;
  if (node.type === Scalar.QUOTE_DOUBLE) return doubleQuoted(value);
  const isPrintable = /^[\p{L}\p{N}\p{P}\p{S} ]*$/u.test(value);
  return node.type === Scalar.QUOTE_SINGLE && isPrintable ? `'${value.replaceAll("'", "''")}'` : undefined;
}
