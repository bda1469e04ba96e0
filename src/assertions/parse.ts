import { unknownLabel } from "../kinds/label-references.ts";
import { wantedLabels } from "../kinds/patterns/labels.ts";
import { type NodePatterns, nodePatterns } from "../kinds/patterns/nodes.ts";
import { yamlProblems } from "../manifests/config/file.ts";
import { makeLocate } from "../manifests/locate.ts";
import { schemaProblems } from "../manifests/schema/validate.ts";
import { readSource, type Source, shownPath } from "../manifests/source.ts";
import { tests as validateTests } from "../manifests/validators.generated.js";
import { DimsyncError, ProblemsError } from "../model/errors.ts";
import type { Problem, SourceLocation } from "../model/problem.ts";
import type { IntegrationSelector } from "../model/resource.ts";
import { read } from "../yaml/read.ts";

/** One test of `dimsync test`. */
export interface Assertion {
  readonly name: string;
  /** As shown. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Which integrations; all if empty. */
  readonly integrations: IntegrationSelector & { readonly tagged?: string };
  /** Which schemas, tables or columns; undefined: the integrations themselves. */
  readonly nodes: NodeMatch | undefined;
  /** The values that each must have. */
  readonly expected: Readonly<Record<string, string | boolean>>;
  /** "planned": the state after apply; "live": the state now. */
  readonly state: "planned" | "live";
  /** The test fails if it checks fewer: a test that checks nothing proves nothing. */
  readonly atLeast: number;
}

export interface NodeMatch {
  /** The level that is checked: 0 schemas, 1 tables, 2 columns. */
  readonly depth: 0 | 1 | 2;
  readonly patterns: NodePatterns;
  /** Only columns with one of these labels. */
  readonly labels?: readonly string[];
  /** Only replicated nodes: enabled together with everything above. */
  readonly replicated: boolean;
}

/** A file of kind Tests as its schema describes it (schema/tests.schema.json). */
interface TestsFile {
  readonly tests: readonly {
    readonly name: string;
    readonly integrations?: Assertion["integrations"];
    readonly that?: That;
    readonly is: Assertion["expected"];
    readonly state?: Assertion["state"];
    readonly atLeast?: number;
  }[];
}

interface That {
  readonly schema?: string | readonly string[];
  readonly table?: string | readonly string[];
  readonly column?: string | readonly string[];
  readonly label?: string | readonly string[];
  readonly ignoreCase?: boolean;
  readonly flows?: boolean;
}

/** The tests of a file. `path` is absolute; `labels` are those that Classifications define. Throws E_TESTS if it does not exist, and ProblemsError for mistakes in it. */
export function readAssertions(cwd: string, path: string, labels: readonly string[]): readonly Assertion[] {
  const { source, problems } = readSource(cwd, path);
  if (source !== undefined) return parseAssertions(source, cwd, labels);
  if (problems.every(({ code }) => code !== "E_PATH_NOT_FOUND")) throw new ProblemsError(problems);
  throw new DimsyncError(
    "E_TESTS",
    `${shownPath(cwd, path)} does not exist. Pass the path of a file with tests, or create dimsync.tests.yaml beside dimsync.yaml.`,
  );
}

function parseAssertions(source: Source, cwd: string, labels: readonly string[]): readonly Assertion[] {
  const { documents, problems } = read(source.text);
  const place: SourceLocation = { file: source.file, document: documents[0]?.index ?? 0, pointer: "" };
  const value = documents[0]?.value;
  const found = [...yamlProblems(source, problems), ...(problems.length > 0 ? [] : structureProblems(value, documents.length, place))];
  const locate = makeLocate(cwd, (file) => (file === source.file ? source.text : undefined));
  if (found.length > 0) throw new ProblemsError(found, locate);
  const unknown = unknownLabelsIn(value as TestsFile, labels, place);
  if (unknown.length > 0) throw new ProblemsError(unknown, locate);
  return (value as TestsFile).tests.map((test, index) => ({
    name: test.name,
    file: source.file,
    line: locate({ ...place, pointer: `/tests/${index}` }).line ?? 1,
    integrations: test.integrations ?? {},
    nodes: test.that === undefined ? undefined : nodeMatch(test.that),
    expected: test.is,
    state: test.state ?? "planned",
    atLeast: test.atLeast ?? 1,
  }));
}

function structureProblems(value: unknown, documents: number, place: SourceLocation): readonly Problem[] {
  if (documents > 1) {
    const message = "A file of tests has one document. Put the other documents into files of their own.";
    return [{ code: "E_WRONG_TYPE", severity: "error", summary: "Several documents in a file of tests", message, place }];
  }
  if (validateTests(value)) return [];
  const errors = validateTests.errors ?? [];
  return schemaProblems(errors, { kind: "Tests", value, place, replaced: new Set(), known: new Set() });
}

function unknownLabelsIn({ tests }: TestsFile, defined: readonly string[], place: SourceLocation): readonly Problem[] {
  return tests.flatMap(({ name, that }, index) =>
    (wantedLabels(that?.label) ?? [])
      .filter((label) => !defined.includes(label))
      .map((label) => ({
        ...unknownLabel(`Test ${JSON.stringify(name)} matches`, label, defined),
        place: { ...place, pointer: `/tests/${index}/that/label` },
      })),
  );
}

function nodeMatch({ schema, table, column, label, ignoreCase, flows = false }: That): NodeMatch {
  const labels = wantedLabels(label);
  const patterns = nodePatterns([schema, table, column].map((name) => (name === undefined ? undefined : { name, ignoreCase })));
  // The schema of the file requires a level.
  if (labels === undefined) return { depth: patterns.depth ?? 0, patterns, replicated: flows };
  return { depth: 2, patterns, labels, replicated: flows };
}
