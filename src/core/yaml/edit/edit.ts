import { isCollection } from "yaml";
import { type JsonValue, sameJson } from "../../model/json/json.ts";
import { addAll } from "../../model/maps.ts";
import { applyEdits, type Edit } from "../diff.ts";
import { documentRanges } from "../document-ranges.ts";
import { composeDocuments, maxAliasCount } from "../parse.ts";
import { read } from "../read.ts";
import { reflows } from "./reflow.ts";
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
