import { isAlias, isCollection, isMap, isSeq, type Node, visit, type YAMLMap, type YAMLSeq } from "yaml";
import { type JsonValue, sameJson } from "../../model/json/json.ts";
import { addAll, getOrAdd } from "../../model/maps.ts";
import { applyEdits, type Edit, type Path } from "../diff.ts";
import { documentRanges } from "../document-ranges.ts";
import { columnOf, dashOffsets, endOf, eolOf, isBlock, nodeAt, pairOf, startOf, stepTo } from "../nodes.ts";
import { composeDocuments, maxAliasCount } from "../parse.ts";
import { inlineYaml, itemLines, lineWidth, memberLines, stringYaml } from "../print.ts";
import { read } from "../read.ts";
import { applySplices, type EditContext, type Splice, splicesOf } from "./splice.ts";
import { planSteps, type Refusal, type Step } from "./steps.ts";

// A file is changed by replacing pieces of its text, never by printing it again: comments, order,
// anchors, quotes and blank lines stay, and a diff shows only what changed. The syntax tree says
// where the pieces are; each edit becomes one or more splices. The result is read back and compared
// with the expected values, so a form that this code does not understand is refused, never broken.

interface Edited {
  readonly text: string;
  /** All other edits are made. */
  readonly refused: readonly Refusal[];
}

/**
 * Makes the edits in document `index` of the text. Paths begin at the document's root. A value
 * behind an alias is written out before it is edited. `${` in new strings is escaped, so that they
 * contain no references.
 */
export function editYaml(text: string, index: number, edits: readonly Edit[]): Edited {
  if (edits.length === 0) return { text, refused: [] };
  const [start, end] = documentRanges(text)[index] ?? [0, 0];
  const edited = editDocument(text.slice(start, end), edits);
  return { text: text.slice(0, start) + edited.text + text.slice(end), refused: edited.refused };
}

const refuse = (edits: readonly Edit[], why: string): readonly Refusal[] => edits.map((edit) => ({ edit, why }));

function editDocument(text: string, edits: readonly Edit[]): Edited {
  const [document, ...others] = composeDocuments(text, { keepSourceTokens: true });
  if (document === undefined || others.length > 0 || document.errors.length > 0 || !isCollection(document.contents))
    return { text, refused: refuse(edits, "the document cannot be read") };
  const context: EditContext = { document, text };
  const planned = planSteps(edits, document);
  const refused = [...planned.refused];
  const made: { readonly step: Step; readonly splices: readonly Splice[] }[] = [];
  const reflowed = reflows(
    planned.steps.map(({ edit }) => edit),
    context,
  );
  const inReflow = new Set(reflowed.flatMap(({ edits: inside }) => inside));
  for (const step of planned.steps) {
    const splices = inReflow.has(step.edit) ? [] : splicesOf(step.edit, context);
    if (splices === undefined) addAll(refused, refuse(step.origins, cannot));
    else made.push({ step, splices });
  }
  const after = applySplices(text, [...reflowed.map(({ splice }) => splice), ...made.flatMap(({ splices }) => splices)]);
  const steps = made.map(({ step }) => step);
  const before = document.toJS({ maxAliasCount }) as JsonValue; // YAML's core schema gives JSON
  const expected = applyEdits(
    before,
    steps.map(({ edit }) => edit),
  );
  if (holds(after, expected)) return { text: after, refused };
  const unmade = steps.flatMap(({ origins }) => origins);
  return { text, refused: [...refused, ...refuse(unmade, cannot)] };
}

const cannot = "the file cannot be edited there without changing something else";

function holds(text: string, expected: JsonValue): boolean {
  const { documents, problems } = read(text);
  return problems.length === 0 && documents.length === 1 && sameJson(documents[0]?.value, expected);
}

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
 * than a line: they become lines, as import writes them. Collections with comments,
 * anchors or aliases, and those that are too long already, stay as they are.
 */
function reflows(edits: readonly Edit[], context: EditContext): readonly Reflow[] {
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
