import { isAlias, isCollection, isMap, isSeq, type Node, visit, type YAMLMap, type YAMLSeq } from "yaml";
import type { JsonValue } from "../../model/json/json.ts";
import { getOrAdd } from "../../model/maps.ts";
import { applyEdits, type Edit, type Path } from "../diff.ts";
import { columnOf, dashOffsets, endOf, eolOf, isBlock, nodeAt, pairOf, startOf, stepTo } from "../nodes.ts";
import { inlineYaml, itemLines, lineWidth, memberLines, stringYaml } from "../print.ts";
import type { EditContext, Splice } from "./splice.ts";

/** A member or an item that is printed again, as lines, with its edits made. */
interface Reflow {
  readonly splice: Splice;
  readonly edits: readonly Edit[];
}

/** A collection in braces or brackets whose parent is in lines. */
interface FlowValue {
  readonly value: YAMLMap | YAMLSeq;
  /** Of its key or dash. */
  readonly start: number;
  readonly path: Path;
}

/**
 * Collections that are on one line, in braces or brackets, and that the edits would make longer
 * than a line: they become lines, as `dimsync fmt` would write them. Collections with comments,
 * anchors or aliases, and those that are too long already, stay as they are.
 */
export function reflows(edits: readonly Edit[], context: EditContext): readonly Reflow[] {
  const groups = new Map<string, { readonly found: FlowValue; readonly edits: Edit[] }>();
  for (const edit of edits) {
    const found = flowValueAbove(edit.path, context);
    if (found === undefined) continue;
    getOrAdd(groups, JSON.stringify(found.path), () => ({ found, edits: [] })).edits.push(edit);
  }
  return [...groups.values()].flatMap(({ found, edits: inside }) => {
    const splice = asLines(found, inside, context);
    return splice === undefined ? [] : [{ splice, edits: inside }];
  });
}

/** The outermost flow collection on the path of the edit. */
function flowValueAbove(path: Path, { document }: EditContext): FlowValue | undefined {
  for (let depth = 0; depth < path.length; depth++) {
    const parent = nodeAt(document, path.slice(0, depth));
    const at = path.slice(0, depth + 1);
    if (isMap<Node, Node | null>(parent) && isBlock(parent)) {
      const pair = pairOf(parent, String(path[depth]));
      if (pair !== undefined && isFlow(pair.value)) return { value: pair.value, start: startOf(pair.key), path: at };
    } else if (isSeq<Node>(parent) && isBlock(parent)) {
      const item = parent.items[Number(path[depth])];
      const start = dashOffsets(parent)[Number(path[depth])];
      if (item !== undefined && start !== undefined && isFlow(item)) return { value: item, start, path: at };
    }
  }
  return undefined;
}

const isFlow = (node: Node | null): node is YAMLMap | YAMLSeq => isCollection(node) && !isBlock(node);

function asLines({ value, start, path }: FlowValue, edits: readonly Edit[], { document, text }: EditContext): Splice | undefined {
  const end = endOf(value);
  const lineEnd = text.indexOf("\n", end);
  const column = columnOf(text, start);
  const isAlone = !text.slice(start, end).includes("\n") && !text.slice(end, lineEnd === -1 ? undefined : lineEnd).includes("#");
  if (!isAlone || hasReferencesOrComments(value) || column + end - start > lineWidth) return undefined;
  const inside = edits.map((edit) => ({ ...edit, path: edit.path.slice(path.length) }));
  const after = applyEdits(value.toJS(document) as JsonValue, inside); // YAML's core schema gives JSON
  const layout = { column, step: stepTo(document, path, text) };
  const key = path.at(-1);
  const head = typeof key === "string" ? `${stringYaml(key)}: ` : "- ";
  if (column + head.length + inlineYaml(after).length <= lineWidth) return undefined;
  const [first = "", ...rest] = typeof key === "string" ? memberLines(key, after, layout) : itemLines(after, layout);
  return { start, end, text: [first.trimStart(), ...rest].join(eolOf(text)) };
}

function hasReferencesOrComments(value: Node): boolean {
  let found = false;
  visit(value, {
    Node: (_, node) => {
      found ||= isAlias(node) || ("anchor" in node && node.anchor !== undefined) || Boolean(node.comment ?? node.commentBefore);
    },
  });
  return found;
}
