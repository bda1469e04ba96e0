import {
  type Alias,
  Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument as parseByLibrary,
  visit,
  YAMLMap,
  YAMLSeq,
} from "yaml";
import { emptyRecord, isObject, type JsonValue, sameJson } from "../model/json/json.ts";
import { eolOf } from "../text/file-text.ts";
import { documentRanges } from "./document-ranges.ts";
import { parseDocument } from "./parse.ts";
import { escapeReferences, inlineYaml, lineWidth, memberLines, referenceIn } from "./print.ts";

// The package `yaml` edits a document as a tree that keeps comments, order, anchors and quotes. Only the members of maps in which something changes are
// printed again, with their indentation; the rest of the text stays byte for byte. The result is read back and compared with the expected values, so an
// edit that the package cannot make is refused.

/** As dimsync reads YAML (parse.ts). Duplicate keys are looked for there. */
export const parserOptions = {
  version: "1.2",
  schema: "core",
  merge: false,
  stringKeys: true,
  uniqueKeys: false,
  resolveKnownTags: false,
  prettyErrors: false,
} as const;

/** Keys of maps and positions in lists, from the root of a document. */
type Path = readonly string[];

/** A member of a map gets a value, with the maps on the way to it; without a value it is removed. */
export interface Edit {
  readonly path: Path;
  readonly value: JsonValue | undefined;
}

/** An edit that is not possible, and the reason: the end of a sentence. */
interface Refusal {
  readonly edit: Edit;
  readonly why: string;
}

interface Edited {
  readonly text: string;
  /** All other edits are made. */
  readonly refused: readonly Refusal[];
}

/**
 * Makes the edits in document `index` of the text. A value behind an alias is written out before it
 * is edited. `${` in new strings is escaped, so that they contain no references.
 */
export function editYaml(text: string, index: number, edits: readonly Edit[]): Edited {
  if (edits.length === 0) return { text, refused: [] };
  const [start, end] = documentRanges(text)[index] ?? [0, 0];
  const source = text.slice(start, end);
  const { value } = parseDocument(source, [0, source.length], 0);
  const document = value === null ? undefined : parseByLibrary(source, parserOptions);
  if (document === undefined || document.errors.length > 0 || !isCollection(document.contents))
    return { text, refused: edits.map((edit) => ({ edit, why: "the document cannot be read" })) };
  const edited = editDocument(
    source,
    { document, value: value as JsonValue },
    edits.map(({ path, value: set }) => ({ path, value: set === undefined ? undefined : escapeReferences(set) })),
  ); // YAML's core schema gives JSON
  const refused = edited.refused.map(({ at, why }) => ({ edit: edits[at], why })).filter((one): one is Refusal => one.edit !== undefined);
  return { text: text.slice(0, start) + edited.text + text.slice(end), refused };
}

interface Refused {
  readonly at: number;
  readonly why: string;
}

function editDocument(
  source: string,
  { document, value }: { readonly document: Document.Parsed; readonly value: JsonValue },
  edits: readonly Edit[],
): { readonly text: string; readonly refused: readonly Refused[] } {
  const tree: Tree = { document, source, step: stepIn(source), shared: sharedAnchors(edits, document), created: [], column: 0 };
  const refused: Refused[] = [];
  const possible = [...edits.entries()].filter(([at, edit]) => {
    const why = obstacleOn(changedBy(edit), tree);
    if (why !== undefined) refused.push({ at, why });
    return why === undefined;
  });
  const paths = possible.map(([, edit]) => changedBy(edit));
  const parts = outermost(paths.map((path) => partOf(path, tree)));
  for (const { pair } of parts) if (pair?.value && isOnLine(pair.value)) pair.value.comment = null;
  keepFlow(tree, paths);
  for (const [, edit] of possible) make(edit, tree);
  for (const { map, path } of tree.created) compact(map, path, tree);
  for (const path of paths) breakLongFlow(path, tree);
  const text = parts.reduceRight((rest, part) => rest.slice(0, part.start) + printed(part, tree) + rest.slice(part.end), source);
  const after = parseDocument(text, [0, text.length], 0);
  const isOne = documentRanges(text).length === documentRanges(source).length;
  if (
    isOne &&
    after.problems.length === 0 &&
    sameJson(
      after.value,
      possible.reduce((all, [, edit]) => withEdit(all, edit), value),
    )
  )
    return { text, refused };
  return { text: source, refused: [...refused, ...possible.map(([at]) => ({ at, why: cannot }))] };
}

/** What is printed again: of a removed member the map around it. */
const changedBy = ({ path, value }: Edit): Path => (value === undefined ? path.slice(0, -1) : path);

function withEdit(whole: JsonValue, { path: [key, ...path], value }: Edit): JsonValue {
  if (key === undefined) return value ?? null;
  if (Array.isArray(whole)) return whole.map((item: JsonValue, index) => (String(index) === key ? withEdit(item, { path, value }) : item));
  const map = Object.assign(emptyRecord<JsonValue>(), isObject(whole) ? whole : {});
  if (path.length === 0 && value === undefined) delete map[key];
  else map[key] = withEdit(map[key] ?? null, { path, value });
  return map;
}

const cannot = "the file cannot be edited there without changing something else";

/** A document that is being edited. */
interface Tree {
  readonly document: Document.Parsed;
  readonly source: string;
  /** By how many columns the file indents a level. */
  readonly step: number;
  /** Names of anchors with aliases that the edits leave in place. */
  readonly shared: ReadonlySet<string>;
  /** Maps that the edits have put into `map`, at the last key of the path. */
  readonly created: { readonly map: YAMLMap<Node, Node | null>; readonly path: Path }[];
  /** Of the part that is being printed. */
  column: number;
}

function stepIn(source: string): number {
  const [, outer = "", inner = ""] = /^( *)[^\s#-][^\n]*:[ \t]*\r?\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*(\1 +)[^\s#-]/mu.exec(source) ?? [];
  return inner.length > outer.length ? inner.length - outer.length : 2;
}

/** A child of a list or map. Null: a member without a value. */
function childOf(node: Node | null, key: string): Node | null | undefined {
  if (isSeq<Node>(node)) return node.items[Number(key)];
  return isMap<Node, Node | null>(node) ? pairOf(node, key)?.value : undefined;
}

const pairOf = (map: YAMLMap<Node, Node | null>, key: string): Pair<Node, Node | null> | undefined =>
  map.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === key);

const isEmpty = (node: Node | null): boolean => node === null || (isScalar(node) && node.value === null);

/** Why there can be no edit at the path, if so. */
function obstacleOn(path: Path, { document, shared }: Tree): string | undefined {
  let node: Node | null = document.contents;
  let isCopy = false;
  for (const key of [...path, undefined]) {
    if (!isCopy && node !== null && "anchor" in node && node.anchor !== undefined && shared.has(node.anchor))
      return `it is shared by the anchor &${node.anchor}, so other places would change, too`;
    const variable = isScalar(node) && typeof node.value === "string" ? referenceIn(node.value) : undefined;
    if (variable !== undefined) return `its value comes from ${variable}; change the variable instead`;
    if (key === undefined || isEmpty(node)) return undefined;
    if (isAlias(node)) {
      isCopy = true;
      node = node.resolve(document) ?? null;
    }
    if (!isMap(node) && !isSeq(node)) return "the file has a plain value where a map is needed";
    const child = childOf(node, key);
    if (child === undefined) return isSeq(node) ? "the list has no such item" : undefined;
    node = child;
  }
  return undefined;
}

function sharedAnchors(edits: readonly Edit[], document: Document.Parsed): ReadonlySet<string> {
  const aliases: Alias[] = [];
  visit(document, { Alias: (_, alias) => void aliases.push(alias) });
  const replaced = new Set(edits.map(({ path }) => nodesOn(path, document).at(-1)));
  return new Set(aliases.flatMap((alias) => (replaced.has(alias) ? [] : [alias.source])));
}

/** The nodes on a path as far as it exists in the text, from the root. An alias is the last one. */
function nodesOn(path: Path, { contents }: Document.Parsed): readonly Node[] {
  const nodes: Node[] = contents === null ? [] : [contents];
  for (const key of path) {
    const child = childOf(nodes.at(-1) ?? null, key);
    if (child === undefined || child === null) break;
    nodes.push(child);
  }
  return nodes;
}

/** A part of the text that is printed again: a member of a map in lines, or the whole document. */
interface Part {
  readonly start: number;
  readonly end: number;
  readonly pair: Pair<Node, Node | null> | undefined;
}

/** The smallest part that contains what is at the path. */
function partOf(path: Path, { document, source }: Tree): Part {
  const nodes = nodesOn(path, document);
  for (let depth = nodes.length - 1; depth >= 0; depth--) {
    const map = nodes[depth];
    const pair =
      isMap<Node, Node | null>(map) && map.flow !== true && isInLines(nodes.slice(0, depth)) ? pairOf(map, path[depth] ?? "") : undefined;
    const [start] = pair?.key.range ?? [];
    if (pair !== undefined && start !== undefined) return { pair, start, end: start + source.slice(start, endOf(pair)).trimEnd().length };
  }
  return { pair: undefined, start: 0, end: source.length };
}

const endOf = ({ key, value }: Pair<Node, Node | null>): number => (value ?? key).range?.[isOnLine(value) ? 1 : 2] ?? 0;

/** The comment behind such a value is not part of it, and stays as it is. */
const isOnLine = (value: Node | null): boolean =>
  isScalar(value) ? value.type !== "BLOCK_LITERAL" && value.type !== "BLOCK_FOLDED" : !isCollection(value) || value.flow === true;

const isInLines = (nodes: readonly Node[]): boolean => nodes.every((node) => !isCollection(node) || node.flow !== true);

/** In the order of the text, without those that are inside another one. */
function outermost(parts: readonly Part[]): readonly Part[] {
  const ordered = [...parts].sort((a, b) => a.start - b.start || b.end - a.end);
  const found: Part[] = [];
  for (const part of ordered) if (part.end > (found.at(-1)?.end ?? -1)) found.push(part);
  return found;
}

/** Lists and maps in brackets and braces are printed as they are written, unless something in them changes. */
function keepFlow(tree: Tree, paths: readonly Path[]): void {
  const { document, source } = tree;
  const changed = new Set(paths.flatMap((path) => nodesOn(path, document)));
  visit(document, {
    Collection: (_, node) => {
      const [start = 0, end = 0] = node.range ?? [];
      if (node.flow !== true) return;
      const written = source.slice(start, end).replaceAll("\r\n", "\n");
      if (changed.has(node)) setPadding(node, written);
      // The lines of a part are indented after it is printed.
      else node.toString = () => written.replaceAll(new RegExp(`\n {0,${tree.column}}`, "gu"), "\n");
    },
  });
}

/** The space inside the brackets or braces, as it is written. */
function setPadding(node: YAMLMap | YAMLSeq, written: string): void {
  const flowCollectionPadding = /^.[ \n]/u.test(written) || (isMap(node) && /^(?:\{\s*\})?$/u.test(written)) ? " " : "";
  const { prototype } = isMap(node) ? YAMLMap : YAMLSeq;
  node.toString = (context, ...rest) => prototype.toString.call(node, context && { ...context, flowCollectionPadding }, ...rest);
}

/** A member of a map, as dimsync prints it. */
function newPair(path: Path, value: JsonValue, { step }: Tree): Pair<Node, Node | null> {
  const { contents } = parseByLibrary(memberLines(path.at(-1) ?? "", value, { column: 0, step }).join("\n"), parserOptions);
  visit(contents, { Collection: (_, node) => void (node.flow === true && setPadding(node, "")) });
  const [pair] = (contents as YAMLMap<Node, Node | null>).items; // as the lines say
  if (pair === undefined) throw new Error("a map without members");
  return pair;
}

function make({ path, value }: Edit, tree: Tree): void {
  const parent = collectionAt(path.slice(0, -1), tree);
  if (!isMap<Node, Node | null>(parent)) return;
  const known = pairOf(parent, path.at(-1) ?? "");
  if (value === undefined) {
    parent.items = parent.items.filter((pair) => pair !== known);
    return;
  }
  const pair = newPair(path, value, tree);
  if (known === undefined) parent.items.push(pair);
  else if (pair.value) known.value = like(known.value, pair.value);
}

/** A new value with the comments, the anchor and the quotes of the one that it replaces. */
function like<T extends Node>(old: Node | null | undefined, value: T): T {
  if (old === null || old === undefined) return value;
  value.commentBefore = old.commentBefore ?? null;
  value.comment = old.comment ?? null;
  value.spaceBefore = old.spaceBefore ?? false;
  if ("anchor" in old && old.anchor !== undefined && !isAlias(value)) Object.assign(value, { anchor: old.anchor });
  if (isScalar(old) && (old.type === "QUOTE_DOUBLE" || old.type === "QUOTE_SINGLE") && isScalar(value) && typeof value.value === "string")
    value.type = old.type;
  return value;
}

/** The list or map at a path. Aliases on the way are written out, and missing maps are made. */
function collectionAt(path: Path, tree: Tree): Node | null {
  const { document } = tree;
  let node: Node | null = document.contents;
  for (const [depth, key] of path.entries()) {
    const child = childOf(node, key);
    if (isCollection(child)) {
      node = child as YAMLMap | YAMLSeq;
      continue;
    }
    const copy: Node = isAlias(child) ? copyOf(child, tree) : like(child, new YAMLMap<Node, Node | null>());
    if (isMap<Node, Node | null>(node)) {
      const pair = pairOf(node, key);
      if (pair !== undefined) pair.value = copy;
      else node.items.push(document.createPair(key, copy) as Pair<Node, Node | null>);
      if (!isAlias(child)) tree.created.push({ map: node, path: path.slice(0, depth + 1) });
    } else if (isSeq<Node>(node)) node.items[Number(key)] = copy;
    node = copy;
  }
  return node;
}

function copyOf(alias: Alias, { document, source }: Tree): Node {
  const copy = alias.resolve(document)?.clone() as Node; // aliases without anchors are refused before
  visit(copy, {
    Node: (_, node) => {
      if ("anchor" in node) delete node.anchor;
      if (isCollection(node) && node.flow === true)
        setPadding(node as YAMLMap | YAMLSeq, source.slice(node.range?.[0] ?? 0, node.range?.[1] ?? 0));
    },
  });
  return like(alias, copy);
}

/** Prints the new maps at a path as dimsync does: the inner ones on one line. */
function compact(map: YAMLMap<Node, Node | null>, path: Path, tree: Tree): void {
  const pair = pairOf(map, path.at(-1) ?? "");
  const value = newPair(path, (pair?.value?.toJS(tree.document) ?? null) as JsonValue, tree);
  if (pair !== undefined) Object.assign(pair, { key: like(pair.key, value.key), value: value.value && like(pair.value, value.value) });
}

/** A list or map in brackets or braces that has become longer than a line, or has comments, is printed in lines. */
function breakLongFlow(path: Path, { document, step }: Tree): void {
  const nodes = nodesOn(path, document);
  const depth = nodes.findIndex((node) => isCollection(node) && node.flow === true);
  const flow = nodes[depth];
  if (!isCollection(flow) || depth === 0) return;
  const key = path[depth - 1] ?? "";
  const value = flow.toJS(document) as JsonValue;
  let isCommented = false;
  visit(flow, {
    Node: (_, node) => {
      isCommented ||= node !== flow && Boolean(node.comment ?? node.commentBefore);
    },
  });
  const column = step * (depth - 1);
  const length = column + key.length + 2 + inlineYaml(value).length;
  if (isCommented || length > lineWidth) flow.flow = false;
}

/** A part with its edits made, in the place of the part as it was. */
function printed({ start, end, pair }: Part, tree: Tree): string {
  const { document, source, step } = tree;
  const indentSeq = !/^( *)[^\s#][^\n]*:[ \t]*(?:#[^\n]*)?\r?\n\1-\s/mu.test(source);
  const options = { indent: step, indentSeq, lineWidth: 0, verifyAliasOrder: false };
  tree.column = start - (source.lastIndexOf("\n", start - 1) + 1);
  if (pair === undefined) return withEol(document.toString(options), source) + (/\s*$/u.exec(source)?.[0] ?? "");
  const holder = new Document(undefined, parserOptions);
  const map = new YAMLMap<Node, Node | null>();
  map.items = [pair];
  holder.contents = map;
  // What is above the key is not part of it.
  pair.key.commentBefore = null;
  pair.key.spaceBefore = false;
  const text = holder.toString(options);
  return withEol(text.replaceAll(/\n(?=[^\n])/gu, `\n${" ".repeat(tree.column)}`), source.slice(0, end));
}

const withEol = (text: string, source: string): string => text.trimEnd().replaceAll("\n", eolOf(source));
