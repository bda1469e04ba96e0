import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, visit, type YAMLMap } from "yaml";
import { emptyRecord, isObject, type JsonScalar, sameJson } from "../model/json.ts";
import { composeDocuments } from "../yaml/parse.ts";
import { blockLines, flowMembers, scalarText, type Tree } from "./yaml-text.ts";

// Editing YAML as a person would: a value is replaced where it stands, a missing key is added below its siblings, in their style and indentation,
// and every other byte stays. The text is cut at the places that the parser gives, never printed anew. Afterwards old and new text are read again:
// the wanted values must be there and nothing else may have changed, else the edit is refused as a whole.

/** A scalar that is to stand at a path of one of the text's documents. */
export interface Wish {
  readonly document: number;
  /** Keys from the top of the document; the index in a list. */
  readonly path: readonly string[];
  readonly value: JsonScalar;
}

export interface Edited {
  readonly text: string;
  /** Wishes that can't be granted by such an edit, and why, as the end of a sentence. The others are granted. */
  readonly refused: readonly { readonly wish: Wish; readonly why: string }[];
}

interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

type Branch = Map<string, Branch | Leaf>;
interface Leaf {
  readonly value: JsonScalar;
  readonly wish: Wish;
}

export function editYaml(text: string, wishes: readonly Wish[]): Edited {
  const documents = composeDocuments(text);
  const refused: { wish: Wish; why: string }[] = [];
  const splices: Splice[] = [];
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  for (const [index, branch] of branches(wishes)) {
    const document = documents[index];
    const root = document?.contents;
    const refuse = (node: Branch | Leaf, why: string): void => {
      for (const wish of wishesIn(node)) refused.push({ wish, why });
    };
    if (document === undefined || document.errors.length > 0 || !isMap<Node, Node | null>(root))
      refuse(branch, "the document can't be read");
    else walk(root, branch, { text, eol, document, aliased: aliasedIn(document), refuse, splices }, 0);
  }
  const changed = applied(text, splices);
  const ungranted = new Set(refused.map(({ wish }) => wish));
  const granted = wishes.filter((wish) => !ungranted.has(wish));
  if (granted.length === 0) return { text, refused };
  if (isExactly(text, changed, granted)) return { text: changed, refused };
  return {
    text,
    refused: [...refused, ...granted.map((wish) => ({ wish, why: "the file can't be edited there without changing something else" }))],
  };
}

interface Site {
  readonly text: string;
  readonly eol: string;
  readonly document: Document.Parsed;
  /** Names of anchors that are used. */
  readonly aliased: ReadonlySet<string>;
  readonly refuse: (node: Branch | Leaf, why: string) => void;
  readonly splices: Splice[];
}

function walk(map: YAMLMap<Node, Node | null>, branch: Branch, site: Site, step: number): void {
  const missing: Branch = new Map();
  for (const [key, wanted] of branch) {
    const pair = map.items.findLast((item) => isScalar(item.key) && String(item.key.value) === key);
    if (pair === undefined) missing.set(key, wanted);
    else enter(pair.value, wanted, site, stepBelow(map, pair, site) ?? step);
  }
  if (missing.size > 0) add(map, missing, site, step);
}

function enter(node: Node | null, wanted: Branch | Leaf, site: Site, step: number): void {
  const why = obstacle(node, wanted, site);
  if (why !== undefined) site.refuse(wanted, why);
  else if (isLeafWish(wanted)) replace(node, wanted, site);
  else if (isMap<Node, Node | null>(node)) walk(node, wanted, site, step);
  else if (isSeq<Node>(node))
    for (const [key, inner] of wanted) {
      const item = node.items[Number(key)];
      if (item === undefined) site.refuse(inner, "the list has no such entry");
      else enter(item, inner, site, step);
    }
}

/** Why nothing at or below the node may be edited, if so. */
function obstacle(node: Node | null, wanted: Branch | Leaf, { aliased }: Site): string | undefined {
  if (node !== null && "anchor" in node && node.anchor !== undefined && aliased.has(node.anchor))
    return `it is shared by the anchor &${node.anchor}, so other places would change as well`;
  const reference = isScalar(node) && typeof node.value === "string" ? substitutionIn(node.value) : undefined;
  if (reference !== undefined) return `its value comes from ${reference}; change the variable instead`;
  if (isLeafWish(wanted))
    return node?.range === undefined || node.range === null ? "it has no value in the file that could be replaced" : undefined;
  if (isAlias(node)) return `it is the alias *${node.source}, so the place that it stands for would change as well`;
  return isMap(node) || isSeq(node) ? undefined : "there is a plain value where a map would be needed";
}

function replace(node: Node | null, { value }: Leaf, { text, eol, splices }: Site): void {
  const [from, to] = node?.range ?? [0, 0];
  const before = text.slice(from, to);
  const lineEnd = /^[|>]/u.test(before) && before.endsWith("\n") ? eol : "";
  if (before === "") splices.push({ from, to, text: ` ${scalarText(value)}` });
  else splices.push({ from, to: (node === null ? undefined : endOf(node)) ?? to, text: scalarText(value, before) + lineEnd });
}

/** New keys below the last one of a block, or before the closing brace. */
function add(map: YAMLMap<Node, Node | null>, missing: Branch, { text, eol, splices, refuse }: Site, step: number): void {
  const last = map.items.at(-1);
  const start = map.range?.[0];
  if (map.flow === true && start !== undefined) {
    const members = flowMembers(treeOf(missing));
    const at = last === undefined ? start + 1 : endOfPair(last);
    splices.push({ from: at, to: at, text: last === undefined ? ` ${members} ` : `, ${members}` });
    return;
  }
  const end = last === undefined ? undefined : endOfPair(last);
  const column = columnOf(map, text);
  if (end === undefined || column === undefined) {
    refuse(missing, "the map has no place in the file");
    return;
  }
  const lines = blockLines(treeOf(missing), column, step === 0 ? 2 : step);
  if (text[end - 1] === "\n") {
    splices.push({ from: end, to: end, text: lines.join(eol) + eol });
    return;
  }
  const newline = text.indexOf("\n", end);
  const at = newline === -1 ? text.length : text[newline - 1] === "\r" ? newline - 1 : newline;
  splices.push({ from: at, to: at, text: eol + lines.join(eol) });
}

/** How much deeper the map behind a key is indented than the key; undefined where it stands on one line. */
function stepBelow(map: YAMLMap<Node, Node | null>, { value }: Pair<Node, Node | null>, { text }: Site): number | undefined {
  if (!isMap<Node, Node | null>(value) || value.flow === true) return undefined;
  const [outer, inner] = [columnOf(map, text), columnOf(value, text)];
  return outer === undefined || inner === undefined || inner <= outer ? undefined : inner - outer;
}

function columnOf(map: YAMLMap<Node, Node | null>, text: string): number | undefined {
  const at = map.items[0]?.key.range?.[0];
  return at === undefined ? undefined : at - (text.lastIndexOf("\n", at - 1) + 1);
}

function endOfPair({ key, value }: Pair<Node, Node | null>): number {
  return (value === null ? undefined : endOf(value)) ?? key.range?.[1] ?? 0;
}

/** Where the node's own text ends, without comments and blank lines after it; undefined where it has none. */
function endOf(node: Node): number | undefined {
  if (isMap<Node, Node | null>(node) && node.flow !== true) {
    const last = node.items.at(-1);
    return last === undefined ? node.range?.[1] : endOfPair(last);
  }
  if (isSeq<Node>(node) && node.flow !== true) {
    const last = node.items.at(-1);
    return last === undefined ? node.range?.[1] : (endOf(last) ?? node.range?.[1]);
  }
  const range = node.range;
  return range === undefined || range === null || range[0] === range[1] ? undefined : range[1];
}

/** The first substitution in a scalar, as written; `$${` is none. */
function substitutionIn(text: string): string | undefined {
  return text.replaceAll("$${", "").match(/\$\{[^}]*\}?/u)?.[0];
}

function aliasedIn(document: Document.Parsed): ReadonlySet<string> {
  const names = new Set<string>();
  visit(document, {
    Alias: (_key, alias) => {
      names.add(alias.source);
    },
  });
  return names;
}

const isLeafWish = (node: Branch | Leaf): node is Leaf => !(node instanceof Map);

const wishesIn = (node: Branch | Leaf): readonly Wish[] => (isLeafWish(node) ? [node.wish] : [...node.values()].flatMap(wishesIn));

const treeOf = (branch: Branch): Tree => branch;

/** The wishes of each document as a tree of keys. Of two for one place the later one holds. */
function branches(wishes: readonly Wish[]): ReadonlyMap<number, Branch> {
  const byDocument = new Map<number, Branch>();
  for (const wish of wishes) {
    let branch = byDocument.get(wish.document) ?? new Map<string, Branch | Leaf>();
    byDocument.set(wish.document, branch);
    for (const key of wish.path.slice(0, -1)) {
      const known = branch.get(key);
      const next: Branch = known === undefined || isLeafWish(known) ? new Map() : known;
      branch.set(key, next);
      branch = next;
    }
    branch.set(wish.path.at(-1) ?? "", { value: wish.value, wish });
  }
  return byDocument;
}

/** Of splices at one place, the ones found first come first: those of inner maps. */
function applied(text: string, splices: readonly Splice[]): string {
  let result = "";
  let done = 0;
  for (const { from, to, text: inserted } of [...splices].sort((a, b) => a.from - b.from)) {
    result += text.slice(done, from) + inserted;
    done = to;
  }
  return result + text.slice(done);
}

function isExactly(before: string, after: string, wishes: readonly Wish[]): boolean {
  const [was, is] = [before, after].map((text) => composeDocuments(text));
  if (was === undefined || is === undefined || was.length !== is.length || is.some(({ errors }) => errors.length > 0)) return false;
  const byDocument = branches(wishes);
  return was.every((document, index) => {
    const value: unknown = document.toJS({ maxAliasCount: -1 });
    const branch = byDocument.get(index);
    return sameJson(branch === undefined ? value : withValues(value, branch), is[index]?.toJS({ maxAliasCount: -1 }));
  });
}

/** What the values must be afterwards: a copy where something changes, so that what an alias shares stays as it is. */
function withValues(value: unknown, wanted: Branch | Leaf): unknown {
  if (isLeafWish(wanted)) return typeof wanted.value === "string" ? wanted.value.replaceAll("${", () => "$${") : wanted.value;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => {
      const inner = wanted.get(String(index));
      return inner === undefined ? item : withValues(item, inner);
    });
  const copy = emptyRecord<unknown>();
  if (isObject(value)) for (const [name, member] of Object.entries(value)) copy[name] = member;
  for (const [key, inner] of wanted) copy[key] = withValues(copy[key], inner);
  return copy;
}
