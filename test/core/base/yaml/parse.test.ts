// What dimsync reads, the package `yaml` reads as the same values: js-yaml reads, and forms of which the two libraries think differently are refused.
import { describe, expect, test } from "vitest";
import { read } from "../../../../src/core/base/yaml/read.ts";
import fc from "../../../support/fast-check.ts";
import { runs } from "../../../support/sample.ts";
import { brokenFlows } from "./flow-texts.ts";
import { asText, valuesByLibrary } from "./library.ts";
import { blocksAndAnchors, foldedScalars, mutatedManifest, yamlLines } from "./texts.ts";

/** The values; a text without any is the sentences of its problems. */
function byDimsync(text: string): { readonly values?: string; readonly sentences: readonly string[] } {
  const { documents, problems } = read(text);
  const sentences = problems.map(({ message }) => message);
  return problems.length > 0 ? { sentences } : { values: asText(documents.map(({ value }) => value)), sentences };
}

const isSentence = (text: string): boolean => /^(?:[A-Z]|`).*[.!]$/u.test(text) && text !== "This is not valid YAML.";

const kinds = {
  "lines made of ordinary and unusual pieces": yamlLines,
  "manifests with problems": mutatedManifest,
  "flow collections over several lines": brokenFlows,
  "block scalars, anchors and aliases": blocksAndAnchors,
  "scalars over several lines": foldedScalars,
};
const separator = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom("---\n", "--- # c\n", "# c\n---\n") },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "...\n",
      "...\n---\n",
      " ---\n",
      "---\t\n",
      "--- ",
      "\t\n---\n",
      "---x\n",
      "\ufeff---\n",
      "%YAML 1.2\n---\n",
    ),
  },
);
const several = fc
  .array(fc.tuple(separator, fc.oneof(yamlLines, mutatedManifest, blocksAndAnchors, fc.constantFrom("a: 0x1F\n", "", "# c"))), {
    minLength: 2,
    maxLength: 4,
  })
  .map((parts) => parts.map(([mark, part]) => `${mark}${part}\n`).join(""));

describe("the values are those of the package `yaml`, or the text is refused with a sentence:", () => {
  const numRuns = runs(200, 60_000);
  test.each(Object.entries({ ...kinds, "several documents": several }))("%s", (_name, texts) => {
    let answered = 0;
    fc.assert(
      fc.property(texts, fc.boolean(), (lines, isWindows) => {
        const text = isWindows ? lines.replaceAll("\n", "\r\n") : lines;
        const { values, sentences } = byDimsync(text);
        if (values === undefined) {
          expect(sentences.filter((sentence) => !isSentence(sentence))).toEqual([]);
          return;
        }
        answered++;
        expect(values).toBe(valuesByLibrary(text));
      }),
      { numRuns },
    );
    // A reader that refuses everything would agree, too.
    expect(answered).toBeGreaterThan(numRuns / 30);
  });
});

describe("only js-yaml reads, or reads as other values, and dimsync refuses", () => {
  const rows: readonly (readonly [what: string, text: string, offset: number, says: RegExp])[] = [
    ["a map on the line of its key", "a: &x b :\n", 3, /second `key: value`/u],
    ["a list behind an empty key", ": - a\n", 2, /second `key: value`/u],
    ["a key behind an item of a list", "a:\n- {} b: 1\n", 8, /Unexpected text/u],
    ["a name with a colon at its end", "a: &x: 1\n", 3, /name of an anchor/u],
    ["a name without a space behind it", "a: &x[1]\n", 3, /name of an anchor/u],
    ["an anchor behind a tab", "a:\n  \t&x b\n\n  c\n", 6, /tabs/u],
    ["a tab in an empty line of a text", "a: 'b\n\t\n  c'\n", 6, /tabs/u],
    ["a tab below a block", "a: |\n  b\n\t\nc: 1\n", 9, /tabs/u],
    ["an empty line behind a backslash", 'a: "b\\\n\n  c"\n', 5, /empty line/u],
    ["an escape beyond the last character", 'a: "\\UFFFFFFFF"\n', 4, /escape/u],
    ["spaces at the end of a block", "a: |+\n  b\n   ", 10, /spaces/u],
    ["spaces that are a whole block", "a: >2\n    \nb: 1\n", 6, /spaces/u],
    ["a comment in the first column before a text", "a:\n# c\n  b\n", 3, /first column/u],
    ["a comment in the first column before a bracket", "a: { b: 1\n# c\n  }\n", 10, /first column/u],
    ["a colon on another line than its key", "a: { b\n  : 1 }\n", 6, /behind the key/u],
    ["an empty line with a tab behind a key without a value", "a: &x\nb:\n\t\nc: *x\n", 9, /has a tab/u],
    ["an indented marker", "  ---\n", 2, /first column/u],
    ["a key of more than 1024 characters", `${"a".repeat(1025)}: 1\n`, 0, /1024/u],
  ];
  test.each(rows)("%s", (_what, text, offset, says) => {
    expect(read(text)).toMatchObject({
      documents: [],
      problems: [{ code: "E_YAML_SYNTAX", offset, message: expect.stringMatching(says) }],
    });
  });
});

describe("only the package `yaml` reads, and dimsync refuses", () => {
  const rows: readonly (readonly [what: string, text: string, offset: number, says: RegExp])[] = [
    ["a last bracket in the column of its key", "a: [\n  1\n]\n", 9, /Indent it/u],
    ["a last brace in the column of its key", "a:\n  b: {\n  }\n", 12, /Indent it/u],
    ["the tag of a string", "a: ! b\n", 3, /Tags/u],
    ["a control character", "a: \u0001\n", 3, /not allowed/u],
  ];
  test.each(rows)("%s", (_what, text, offset, says) => {
    expect(valuesByLibrary(text)).toBeDefined();
    expect(read(text)).toMatchObject({
      documents: [],
      problems: [{ code: "E_YAML_SYNTAX", offset, message: expect.stringMatching(says) }],
    });
  });
});
