import { type Document, isAlias, isMap, isScalar, isSeq, type Node } from "yaml";
import { composeDocuments } from "./parse.ts";
import { aliasProblem, duplicateKeyProblem, syntaxProblem, type YamlProblem } from "./problems.ts";
import type { ValueDocument } from "./read.ts";

/**
 * Values and problems of any text, by the YAML library: some fifty times slower than the fast path.
 * Never throws.
 */
export function readByLibrary(text: string): {
  readonly documents: readonly ValueDocument[];
  readonly problems: readonly YamlProblem[];
} {
  let composed: readonly Document.Parsed[];
  try {
    composed = composeDocuments(text);
  } catch {
    return { documents: [], problems: [syntaxProblem(0, 0, "RESOURCE_EXHAUSTION")] };
  }
  const documents: ValueDocument[] = [];
  const problems: YamlProblem[] = [];
  composed.forEach((document, index) => {
    const found = problemsOf(document, index);
    problems.push(...found);
    if (found.length > 0 || document.contents === null) return;
    const outcome = toValue(document, index);
    if ("problem" in outcome) problems.push(outcome.problem);
    else if (outcome.value !== null) documents.push({ index, value: outcome.value });
  });
  return { documents, problems };
}

/**
 * The first syntax error, since others follow from it; without one, every unknown tag and every
 * duplicate key.
 */
function problemsOf(document: Document.Parsed, index: number): readonly YamlProblem[] {
  const [first] = document.errors;
  if (first !== undefined) return [syntaxProblem(index, first.pos[0], first.code)];
  const tags = document.warnings.map((warning) => syntaxProblem(index, warning.pos[0], warning.code));
  try {
    const duplicates: number[] = [];
    collectDuplicates(document.contents, duplicates);
    return [...tags, ...duplicates.map((offset) => duplicateKeyProblem(index, offset))];
  } catch {
    return [syntaxProblem(index, 0, "RESOURCE_EXHAUSTION")];
  }
}

function collectDuplicates(node: Node | null, duplicates: number[]): void {
  if (isSeq<Node>(node)) for (const item of node.items) collectDuplicates(item, duplicates);
  if (!isMap<Node, Node | null>(node)) return;
  const seen = new Set<unknown>();
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? key.value : undefined;
    if (seen.has(name)) duplicates.push(key.range?.[0] ?? 0);
    seen.add(name);
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
    if (error instanceof RangeError) return { problem: syntaxProblem(index, 0, "RESOURCE_EXHAUSTION") };
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
