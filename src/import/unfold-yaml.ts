import { type Document, isAlias, isMap, type Node, visit, type YAMLMap } from "yaml";
import type { JsonValue } from "../model/json.ts";
import { indented, inlineYaml, memberLines } from "./print-yaml.ts";
import { applyEdits, type Edit, type Path } from "./value-edits.ts";
import { nodeAt, pairOf } from "./yaml-nodes.ts";
import { endOf, isBlock, lineStart, startOf } from "./yaml-offsets.ts";

const longest = 120;

/** A member whose value is written anew, in lines. `edits` are those that it stands for. */
export interface Unfolding {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly edits: readonly Edit[];
}

/**
 * Members whose value stands on one line, in braces, and would grow beyond a line: a person wants to read it in several then, as a first import would have
 * written it. Values with comments, anchors or aliases in them stay in braces.
 */
export function unfoldings(edits: readonly Edit[], document: Document.Parsed, text: string): readonly Unfolding[] {
  const groups = new Map<string, { readonly found: Found; readonly edits: Edit[] }>();
  for (const edit of edits) {
    const found = flowAbove(edit, document);
    if (found === undefined) continue;
    const key = JSON.stringify(found.path);
    const group = groups.get(key) ?? { found, edits: [] };
    groups.set(key, group);
    group.edits.push(edit);
  }
  return [...groups.values()].flatMap(({ found, edits: inside }) => {
    const made = unfolding(found, inside, document, text);
    return made === undefined ? [] : [made];
  });
}

interface Found {
  readonly key: Node;
  readonly value: YAMLMap;
  readonly path: Path;
}

/** The outermost map in braces on the way to what is edited, with its key in a map that is written in lines. */
function flowAbove({ path }: Edit, document: Document.Parsed): Found | undefined {
  for (let depth = 0; depth < path.length; depth++) {
    const map = nodeAt(document, path.slice(0, depth));
    const pair = isMap<Node, Node | null>(map) && isBlock(map) ? pairOf(map, String(path[depth])) : undefined;
    if (pair !== undefined && isMap(pair.value) && !isBlock(pair.value))
      return { key: pair.key, value: pair.value, path: path.slice(0, depth + 1) };
  }
  return undefined;
}

function unfolding({ key, value, path }: Found, edits: readonly Edit[], document: Document.Parsed, text: string): Unfolding | undefined {
  const [start, end] = [startOf(key), endOf(value)];
  const lineEnd = text.indexOf("\n", end);
  const column = start - lineStart(text, start);
  const isPlain = !/[#\n]/u.test(text.slice(start, lineEnd === -1 ? undefined : lineEnd)) && !hasReferences(value);
  // A person who likes long lines keeps them.
  if (!isPlain || column + end - start > longest) return undefined;
  const inside = edits.map((edit) => ({ ...edit, path: edit.path.slice(path.length) }));
  const after = applyEdits(value.toJS(document) as JsonValue, inside); // what YAML's core schema reads is JSON
  const lines = memberLines(String(path.at(-1)), after);
  if (lines.length === 1 || column + `${String(path.at(-1))}: ${inlineYaml(after)}`.length <= longest) return undefined;
  const [first = "", ...rest] = lines;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return { start, end, text: [first, ...indented(rest, " ".repeat(column))].join(eol), edits };
}

function hasReferences(value: Node): boolean {
  let found = false;
  visit(value, {
    Node: (_, node) => {
      found ||= isAlias(node) || ("anchor" in node && node.anchor !== undefined);
    },
  });
  return found;
}
