import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { makeLocate } from "../../src/manifests/locate.ts";
import { readManifest } from "../../src/manifests/manifest.ts";
import { noConnectors } from "../../src/manifests/schema/connectors.ts";
import { toDiagnostic } from "../../src/model/problem.ts";
import { read } from "../../src/yaml/read.ts";
import fc from "../support/fast-check.ts";
import { runs } from "../support/sample.ts";

const text = readFileSync(new URL("every-kind.yaml", import.meta.url), "utf8");
const context = { variables: { byName: new Map(), env: {} }, connectors: noConnectors, textLength: text.length };

function problemsOf(mutated: string) {
  const { documents, problems: invalid } = read(mutated);
  const problems = documents.flatMap(
    (document) => readManifest(document, { file: "m.yaml", document: document.index, pointer: "" }, context).problems,
  );
  const locate = makeLocate("/", () => mutated);
  return [
    ...problems.map((problem) => toDiagnostic(problem, locate)),
    ...invalid.map(({ offset, document, ...problem }) => ({ ...problem, ...locate({ file: "m.yaml", document, pointer: `@${offset}` }) })),
  ];
}

test("the file that is mutated has no problem", () => {
  expect(problemsOf(text)).toEqual([]);
});

const piece = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.constantFrom(
    "\n",
    "  ",
    "\t",
    ": ",
    "- ",
    "[",
    "{",
    "}",
    "]",
    '"',
    "'",
    "&a ",
    "*a",
    "!x ",
    "|\n",
    "#",
    "---\n",
    "${",
    "$secret: ",
    "null",
    "1e999",
    "__proto__: ",
    "<<: ",
  ),
);

test("any mutation of a manifest causes problems with a line, a code and a message, and never an exception", () => {
  const position = fc.integer({ min: 0, max: text.length });
  fc.assert(
    fc.property(fc.array(fc.tuple(position, fc.nat({ max: 12 }), piece), { minLength: 1, maxLength: 3 }), (edits) => {
      let mutated = text;
      for (const [at, length, insert] of edits) mutated = mutated.slice(0, at) + insert + mutated.slice(at + length);
      for (const { code, message, line, column, excerpt } of problemsOf(mutated)) {
        expect(code).toMatch(/^E_[A-Z0-9_]+$/u);
        expect(message).toMatch(/[.?]$/u);
        expect(message).not.toMatch(/undefined|\[object|NaN|one of[ ,.]*,/u);
        expect([typeof line, typeof column, excerpt?.length]).toEqual(["number", "number", 2]);
      }
    }),
    { numRuns: runs(25, 1_500) },
  );
});

test("any mutation of the values of a manifest", () => {
  const leaf = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constant([]),
    fc.constant({}),
    fc.constant([{}]),
    fc.constant({ $secret: 1 }),
  );
  const documents = read(text).documents.map(({ value }) => value);
  const pointers = documents.flatMap((document, index) => paths(document).map((path) => ({ index, path })));
  fc.assert(
    fc.property(fc.constantFrom(...pointers), leaf, ({ index, path }, value) => {
      const mutated = replaced(structuredClone(documents[index]), path, value);
      const { problems } = readManifest(
        { index, value: mutated, isInert: false },
        { file: "m.yaml", document: index, pointer: "" },
        context,
      );
      for (const { message } of problems) expect(message).not.toMatch(/undefined|\[object|NaN|one of[ ,.]*,/u);
    }),
    { numRuns: runs(75, 5_000) },
  );
});

function paths(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, member]) => paths(member, [...path, key]))];
}

function replaced(value: unknown, [first, ...rest]: readonly string[], next: unknown): unknown {
  if (first === undefined) return next;
  const members = value as Record<string, unknown>;
  members[first] = replaced(members[first], rest, next);
  return value;
}
