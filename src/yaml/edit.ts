import { type Document, isAlias, isMap, isScalar, isSeq, type Node, parseAllDocuments, type YAMLMap, type YAMLSeq } from "yaml";
import { isObject, type JsonValue, sameJson } from "../model/json.ts";
import { applyEdits, type Edit, escapeEdits, type Path } from "./diff.ts";
import { indented, inlineYaml, itemLines, memberLines, yamlLines } from "./print.ts";
import { afterLine, dashOffsets, endOf, isBlock, lineStart, nodeAt, reflowEdits, startOf } from "./reflow.ts";

// A file is changed by replacing pieces of its text, never by printing it again: comments, order,
// anchors, quotes and blank lines stay as a person left them, and a diff shows what changed live
// and nothing else. Nodes tell where they stand; each edit becomes one or more splices, made from
// the end of the file to its beginning. What came out is read back and compared, so that a form
// that isn't understood here is refused, not broken.

interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The text can't be changed in this way, for example because the value comes from a variable or
 * from an anchor that others use.
 */
export interface Unmergeable {
  readonly unmergeable: true;
  readonly path: Path;
}

/**
 * Makes the edits in document `index` of the text; the edits' paths begin at the document's root.
 */
export function editYaml(text: string, index: number, edits: readonly Edit[]): string | Unmergeable {
  if (edits.length === 0) return text;
  const documents = parse(text);
  const document = documents[index];
  if (document === undefined) return { unmergeable: true, path: [] };
  const written = withoutAliases(escapeEdits(edits), document);
  const before = document.toJS({ maxAliasCount: 10_000 }) as JsonValue;
  const unfolded = reflowEdits(written, document, text);
  const splices: Splice[] = [...unfolded];
  for (const edit of written) {
    if (unfolded.some(({ edits: inside }) => inside.includes(edit))) continue;
    const made = splicesOf(edit, document, text);
    if (made === undefined) return { unmergeable: true, path: edit.path };
    splices.push(...made);
  }
  const after = applySplices(text, splices);
  const wanted = applyEdits(before, written);
  const reread = parse(after);
  const faulty =
    reread.length !== documents.length ||
    reread.some(({ errors }) => errors.length > 0) ||
    !reread.every((one, at) =>
      sameJson(one.toJS({ maxAliasCount: 10_000 }), at === index ? wanted : documents[at]?.toJS({ maxAliasCount: 10_000 })),
    );
  return faulty ? { unmergeable: true, path: edits[0]?.path ?? [] } : after;
}

const parse = (text: string): readonly Document.Parsed[] =>
  parseAllDocuments(text, {
    version: "1.2",
    schema: "core",
    stringKeys: true,
    uniqueKeys: false,
    prettyErrors: false,
    keepSourceTokens: true,
  });

/**
 * An edit below an alias would change every place that uses the anchor: the alias is replaced by
 * what it stands for, with the edits made.
 */
function withoutAliases(edits: readonly Edit[], document: Document.Parsed): readonly Edit[] {
  const behind = new Map<string, { readonly path: Path; readonly node: Node; readonly edits: Edit[] }>();
  const direct: Edit[] = [];
  for (const edit of edits) {
    const at = edit.path.findIndex((_, depth) => isAlias(nodeAt(document, edit.path.slice(0, depth))));
    const path = at === -1 ? edit.path : edit.path.slice(0, at);
    const node = nodeAt(document, path);
    if (!isAlias(node) || (edit.type === "set" && path.length === edit.path.length)) {
      direct.push(edit);
      continue;
    }
    const known = behind.get(JSON.stringify(path)) ?? { path, node, edits: [] };
    behind.set(JSON.stringify(path), known);
    known.edits.push({ ...edit, path: edit.path.slice(path.length) });
  }
  const expanded = [...behind.values()].map(({ path, node, edits: inner }): Edit => {
    const source = isAlias(node) ? node.resolve(document) : undefined;
    return { type: "set", path, value: applyEdits((source?.toJS(document) ?? null) as JsonValue, inner) };
  });
  return [...direct, ...expanded];
}

function splicesOf(edit: Edit, document: Document.Parsed, text: string): readonly Splice[] | undefined {
  const node = nodeAt(document, edit.path);
  if (node === undefined) return undefined;
  if (edit.type === "set") return [setSplice(node, edit.value, text)];
  if (edit.type === "items") return isSeq<Node>(node) ? itemSplices(node, edit, text) : undefined;
  return isMap<Node, Node | null>(node) ? memberSplices(node, edit, text) : undefined;
}

function memberSplices(
  node: YAMLMap<Node, Node | null>,
  edit: Extract<Edit, { type: "members" }>,
  text: string,
): readonly Splice[] | undefined {
  const children = node.items.map(({ key, value }) => ({
    start: startOf(key),
    end: value === null ? endOf(key) : Math.max(endOf(value), endOf(key)),
  }));
  const removed = new Set(node.items.flatMap(({ key }, index) => (isScalar(key) && edit.removed.has(String(key.value)) ? [index] : [])));
  const taken = removals(node, children, removed, text);
  if (taken === undefined || removed.size < edit.removed.size) return undefined;
  if (edit.added.size === 0) return taken;
  const inline = [...edit.added].map(([key, value]) => `${inlineYaml(key)}: ${inlineYaml(value)}`);
  const lines = [...edit.added].flatMap(([key, value]) => memberLines(key, value));
  const put = insertion(node, children, children.length, removed, inline, lines, text);
  return put === undefined ? undefined : [...put, ...taken];
}

function itemSplices(node: YAMLSeq<Node>, edit: Extract<Edit, { type: "items" }>, text: string): readonly Splice[] | undefined {
  const dashes = isBlock(node) ? dashOffsets(node) : undefined;
  const children = node.items.map((item, index) => ({ start: dashes?.[index] ?? startOf(item), end: endOf(item) }));
  const removed = removals(node, children, edit.removed, text);
  if (removed === undefined) return undefined;
  const splices = [...removed];
  for (const [at, items] of edit.inserted) {
    const made = insertion(node, children, at, edit.removed, items.map(inlineYaml), items.flatMap(itemLines), text);
    if (made === undefined) return undefined;
    splices.unshift(...made);
  }
  return splices;
}

interface Extent {
  readonly start: number;
  readonly end: number;
}

/**
 * Takes children out of a collection; the commas around them, or their whole lines, go with them.
 */
function removals(
  node: YAMLMap | YAMLSeq,
  children: readonly Extent[],
  removed: ReadonlySet<number>,
  text: string,
): readonly Splice[] | undefined {
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

/** Puts children into a collection, before position `at`, beside the nearest one that stays. */
function insertion(
  node: YAMLMap | YAMLSeq,
  children: readonly Extent[],
  at: number,
  removed: ReadonlySet<number>,
  inline: readonly string[],
  lines: readonly string[],
  text: string,
): readonly Splice[] | undefined {
  const stays = children.filter((_, index) => !removed.has(index));
  const before = children.filter((_, index) => index < at && !removed.has(index)).at(-1);
  const next = children.find((_, index) => index >= at && !removed.has(index));
  if (!isBlock(node)) {
    if (before !== undefined) return [{ start: before.end, end: before.end, text: `, ${inline.join(", ")}` }];
    if (next !== undefined) return [{ start: next.start, end: next.start, text: `${inline.join(", ")}, ` }];
    const start = startOf(node);
    return stays.length > 0
      ? undefined
      : [{ start, end: endOf(node), text: isMap(node) ? `{ ${inline.join(", ")} }` : `[${inline.join(", ")}]` }];
  }
  const sibling = before ?? next;
  if (sibling === undefined) return undefined;
  const eol = eolOf(text);
  const first = children[0];
  if (first === undefined) return undefined;
  const indent = " ".repeat(first.start - lineStart(text, first.start));
  const block = indented(lines, indent).join(eol);
  if (before === undefined) {
    const start = lineStart(text, sibling.start);
    return text.slice(start, sibling.start).trim() === "" ? [{ start, end: start, text: block + eol }] : undefined;
  }
  const end = afterLine(text, before.end);
  return [{ start: end, end, text: text[end - 1] === "\n" ? block + eol : eol + block + eol }];
}

function setSplice(node: Node, value: JsonValue, text: string): Splice {
  const start = startOf(node);
  // A block text ends behind its line break, which stays.
  const end = start < endOf(node) ? start + text.slice(start, endOf(node)).replace(/\r?\n$/u, "").length : start;
  // A key without a value: the text is put behind its colon.
  if (start === end) return { start, end, text: text[start - 1] === " " ? `${inlineYaml(value)} ` : ` ${inlineYaml(value)}` };
  return {
    start,
    end,
    text: (linesLike(node, value) ?? [inlineYaml(value)]).join(eolOf(text) + " ".repeat(start - lineStart(text, start))),
  };
}

/**
 * What stands in place of a list or map that is written in lines is written in lines too, and its
 * comments' neighbours stay readable.
 */
function linesLike(node: Node, value: JsonValue): readonly string[] | undefined {
  if (isSeq(node) && isBlock(node) && Array.isArray(value) && value.length > 0) return value.flatMap(itemLines);
  if (isMap(node) && isBlock(node) && isObject(value) && Object.keys(value).length > 0) return yamlLines(value as JsonValue);
  return undefined;
}

const eolOf = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");

function applySplices(text: string, splices: readonly Splice[]): string {
  let result = text;
  let bound = text.length + 1;
  // Of splices at one place those that came first stand first, so the last is made first.
  for (const { start, end, text: piece } of [...splices]
    .map((splice, order) => ({ ...splice, order }))
    .sort((a, b) => b.start - a.start || b.end - b.start - (a.end - a.start) || b.order - a.order)) {
    if (end > bound) continue;
    result = result.slice(0, start) + piece + result.slice(end);
    bound = start;
  }
  return result;
}
