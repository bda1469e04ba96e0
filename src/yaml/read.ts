import { type Document, isAlias, isMap, isScalar, isSeq, type LineCounter, type Node, type ParsedNode, parseAllDocuments } from "yaml";
import { aliasFault, duplicateKeyFault, type Fault, syntaxFault } from "./errors.ts";
import { parsePlainYaml } from "./fast/transcode.ts";

/**
 * The documents of a text as syntax trees, errors included. YAML 1.2 core whatever a %YAML line says; keys are their source text (`1.0`, `~`
 * and `true` are names like any other); duplicate keys are left to the caller, since the library's own check is quadratic.
 * Throws RangeError where the nesting is too deep for the stack.
 */
export function composeDocuments(text: string, lineCounter?: LineCounter): readonly Document.Parsed<ParsedNode>[] {
  return parseAllDocuments(text, {
    version: "1.2",
    schema: "core",
    merge: false,
    stringKeys: true,
    uniqueKeys: false,
    resolveKnownTags: false,
    prettyErrors: false,
    ...(lineCounter === undefined ? {} : { lineCounter }),
  });
}

/** One document as plain values; maps and lists behind one anchor are the same object. */
export interface ValueDocument {
  /** Position in the file, from 0, empty documents counted. */
  readonly index: number;
  readonly value: unknown;
  /** Of its canonical JSON, where it was asked for and the fast path could tell it in passing. */
  readonly digest?: string;
}

export interface Values {
  /** Without the empty ones, and without those that hold a mistake. */
  readonly documents: readonly ValueDocument[];
  readonly faults: readonly Fault[];
  /** Nothing in the text refers to anything (`${…}`, `$secret`, aliases), is deeply nested, or is a number that JSON can't hold. */
  readonly isInert: boolean;
}

/** A text as plain values, with the mistakes in the YAML itself. Never throws. */
export function parseValues(text: string, digestOf?: (canonicalJson: Uint8Array) => string): Values {
  const plain = parsePlainYaml(text, digestOf);
  // What the fast path reads has no escape that makes a dollar sign, no aliases and no such numbers.
  return plain === undefined ? parseAnyValues(text) : { documents: plain, faults: [], isInert: !text.includes("$") };
}

/** The same by the YAML library, for any text; some fifty times slower. */
export function parseAnyValues(text: string): Values {
  let composed: readonly Document.Parsed[];
  try {
    composed = composeDocuments(text);
  } catch {
    return { documents: [], faults: [syntaxFault(0, 0, "RESOURCE_EXHAUSTION")], isInert: false };
  }
  const documents: ValueDocument[] = [];
  const faults: Fault[] = [];
  composed.forEach((document, index) => {
    const found = faultsOf(document, index);
    faults.push(...found);
    if (found.length > 0 || document.contents === null) return;
    const outcome = toValue(document, index);
    if ("fault" in outcome) faults.push(outcome.fault);
    else if (outcome.value !== null) documents.push({ index, value: outcome.value });
  });
  return { documents, faults, isInert: false };
}

/** The first mistake of syntax, since others follow from it; where there is none, every unknown tag and every key given twice. */
function faultsOf(document: Document.Parsed, index: number): readonly Fault[] {
  const [first] = document.errors;
  if (first !== undefined) return [syntaxFault(index, first.pos[0], first.code)];
  const tags = document.warnings.map((warning) => syntaxFault(index, warning.pos[0], warning.code));
  try {
    const twice: number[] = [];
    collectDuplicates(document.contents, twice);
    return [...tags, ...twice.map((offset) => duplicateKeyFault(index, offset))];
  } catch {
    return [syntaxFault(index, 0, "RESOURCE_EXHAUSTION")];
  }
}

function collectDuplicates(node: Node | null, twice: number[]): void {
  if (isSeq<Node>(node)) for (const item of node.items) collectDuplicates(item, twice);
  if (!isMap<Node, Node | null>(node)) return;
  const seen = new Set<unknown>();
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? key.value : undefined;
    if (seen.has(name)) twice.push(key.range?.[0] ?? 0);
    seen.add(name);
    collectDuplicates(value, twice);
  }
}

/**
 * The number of times that an anchor may be used, weighted with the aliases inside it. The library shares what is behind an anchor, so that
 * this bounds the work of whoever walks the values.
 */
const maxAliasCount = 10_000;

function toValue(document: Document.Parsed, index: number): { readonly value: unknown } | { readonly fault: Fault } {
  try {
    return { value: document.toJS({ maxAliasCount }) };
  } catch (error) {
    if (error instanceof RangeError) return { fault: syntaxFault(index, 0, "RESOURCE_EXHAUSTION") };
    const offset = document.contents?.range?.[0] ?? 0;
    const excessive = error instanceof Error && error.message.startsWith("Excessive");
    return { fault: excessive ? aliasFault(index, offset, "too many") : aliasFault(index, unresolvedAt(document) ?? offset, "unresolved") };
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
