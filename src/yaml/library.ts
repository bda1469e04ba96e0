import { type Document, isAlias, isMap, isScalar, isSeq, type Node } from "yaml";
import { lineAndColumn, lineStartsOf } from "../text/lines.ts";
import { composeDocuments } from "./parse.ts";
import {
  aliasProblem,
  duplicateKeyProblem,
  messageFor,
  missingSeparatorProblem,
  syntaxProblem,
  tooDeep,
  type YamlProblem,
} from "./problems.ts";
import { firstSyntaxError } from "./syntax-errors.ts";

/**
 * Values and problems of any text, from the YAML library: about fifty times slower than the fast
 * path. Never throws.
 */
export function readByLibrary(text: string): {
  readonly documents: readonly { readonly index: number; readonly value: unknown }[];
  readonly problems: readonly YamlProblem[];
} {
  let composed: readonly Document.Parsed[];
  try {
    composed = composeDocuments(text);
  } catch {
    return { documents: [], problems: [tooDeep(0)] };
  }
  const documents: { index: number; value: unknown }[] = [];
  const problems: YamlProblem[] = [];
  composed.forEach((document, index) => {
    const found = problemsOf(document, index, text);
    problems.push(...found);
    if (found.length > 0 || document.contents === null) return;
    const outcome = toValue(document, index);
    if ("problem" in outcome) problems.push(outcome.problem);
    else if (outcome.value !== null) documents.push({ index, value: outcome.value });
  });
  return { documents, problems };
}

/** The first syntax error; without one, every unknown tag and every duplicate key. */
function problemsOf(document: Document.Parsed, index: number, text: string): readonly YamlProblem[] {
  const error = firstSyntaxError(document, index, text);
  if (error !== undefined) return [error];
  const tags = document.warnings.map((warning) => syntaxProblem(index, warning.pos[0], messageFor(warning.code)));
  try {
    return [...tags, ...duplicateProblems(document, index, text)];
  } catch {
    return [tooDeep(index)];
  }
}

/** Offsets of a key and of the first one of that name in its map. */
interface Duplicate {
  readonly offset: number;
  readonly first: number;
  readonly name: unknown;
  readonly isAtTop: boolean;
}

function duplicateProblems(document: Document.Parsed, index: number, text: string): readonly YamlProblem[] {
  const duplicates: Duplicate[] = [];
  collectDuplicates(document.contents, duplicates, true);
  if (duplicates.length === 0) return [];
  const lineStarts = lineStartsOf(text);
  const lineOf = (offset: number): number => lineAndColumn(lineStarts, offset).line;
  const starts = documentStarts(duplicates.filter(({ isAtTop }) => isAtTop));
  return [
    ...starts.map(({ offset, first }) => missingSeparatorProblem(index, offset, lineOf(first))),
    ...duplicates
      .filter(({ isAtTop }) => !isAtTop || starts.length === 0)
      .map(({ offset, first }) => duplicateKeyProblem(index, offset, lineOf(first))),
  ];
}

/**
 * The keys at which documents seem to begin without a `---` line: if several keys at the top
 * repeat.
 */
function documentStarts(duplicates: readonly Duplicate[]): readonly Duplicate[] {
  let names = new Set(duplicates.map(({ name }) => name));
  if (names.size < 2) return [];
  return duplicates.filter(({ name }) => {
    const isStart = names.has(name);
    names = isStart ? new Set([name]) : names.add(name);
    return isStart;
  });
}

function collectDuplicates(node: Node | null, duplicates: Duplicate[], isAtTop = false): void {
  if (isSeq<Node>(node)) for (const item of node.items) collectDuplicates(item, duplicates);
  if (!isMap<Node, Node | null>(node)) return;
  const firstByName = new Map<unknown, number>();
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? key.value : undefined;
    const offset = key.range?.[0] ?? 0;
    const first = firstByName.get(name);
    if (first === undefined) firstByName.set(name, offset);
    else duplicates.push({ offset, first, name, isAtTop });
    collectDuplicates(value, duplicates);
  }
}

/**
 * How often an anchor may be used, weighted with the aliases inside it. The library shares the
 * value behind an anchor, so this bounds the work of everything that walks the values.
 */
const maxAliasCount = 10_000;

function toValue(document: Document.Parsed, index: number): { readonly value: unknown } | { readonly problem: YamlProblem } {
  try {
    return { value: document.toJS({ maxAliasCount }) };
  } catch (error) {
    if (error instanceof RangeError) return { problem: tooDeep(index) };
    const offset = document.contents?.range?.[0] ?? 0;
    const isExcessive = error instanceof Error && error.message.startsWith("Excessive");
    return {
      problem: isExcessive ? aliasProblem(index, offset, "too many") : aliasProblem(index, unresolvedAt(document) ?? offset, "unresolved"),
    };
  }
}

function unresolvedAt(document: Document.Parsed): number | undefined {
  const find = (node: Node | null): number | undefined => {
    if (isAlias(node)) return node.resolve(document) === undefined ? node.range?.[0] : undefined;
    const children = isSeq<Node>(node) ? node.items : isMap<Node, Node | null>(node) ? node.items.map((pair) => pair.value) : [];
    for (const child of children) {
      const found = find(child);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return find(document.contents);
}
