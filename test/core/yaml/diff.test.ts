import { expect, test } from "vitest";
import { canonicalJson, type JsonValue } from "../../../src/core/model/json/json.ts";
import { toPointer } from "../../../src/core/model/json/pointer.ts";
import { applyEdits } from "../../../src/core/yaml/diff.ts";
import { editYaml } from "../../../src/core/yaml/edit.ts";
import fc from "../../support/fast-check.ts";
import { valueEdits } from "./value-edits.ts";
import { json } from "./values.ts";

test("the edits turn one value into the other", () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      expect(canonicalJson(applyEdits(a, valueEdits(a, b)))).toBe(canonicalJson(b));
    }),
    { numRuns: 500 },
  );
});

test.each<readonly [sentence: string, before: JsonValue, after: JsonValue, paths: readonly string[]]>([
  ["a map that changes at its place is edited", [{ a: 1, b: 1 }, { a: 2 }], [{ a: 1, b: 2 }, { a: 2 }], ["set /0/b"]],
  ["all maps of a list", [{ a: 1 }, { a: 2 }], [{ a: 3 }, { a: 4 }], ["set /0/a", "set /1/a"]],
  ["between items that stay", ["x", { a: 1 }, "y"], ["x", { a: 2 }, "y"], ["set /1/a"]],
  ["an item with another id is another item", [{ id: "a", n: 1 }, { id: "b" }], [{ id: "c", n: 1 }, { id: "b" }], ["items "]],
  ["a list with another length", [{ a: 1 }, { b: 1 }], [{ a: 2 }, { b: 1 }, { c: 1 }], ["items "]],
  ["an item that moved is not edited into another one", [{ a: 1 }, { b: 1 }, { c: 1 }], [{ b: 1 }, { c: 1 }, { a: 2 }], ["items "]],
  ["scalars are replaced", ["a", "b"], ["a", "c"], ["items "]],
])("lists of maps: %s", (_, before, after, paths) => {
  expect(valueEdits(before, after).map(({ type, path }) => `${type} ${toPointer(path)}`)).toEqual(paths);
  expect(canonicalJson(applyEdits(before, valueEdits(before, after)))).toBe(canonicalJson(after));
});

const variable = (name: string): string => `\${var.${name}}`;

test("comments and variables beside a changed value stay", () => {
  const text = `spec:
  expect:
    # Orders are incremental.
    - { match: { schema: public, table: "\${var.orders}" }, syncMode: incremental } # ticket 7
    - match: { schema: public, table: users } # ours
      # why full
      syncMode: full
      cursorField: "\${var.cursor}"
`;
  const value = (mode: string): JsonValue => ({
    spec: {
      expect: [
        { match: { schema: "public", table: variable("orders") }, syncMode: "incremental" },
        { match: { schema: "public", table: "users" }, syncMode: mode, cursorField: variable("cursor") },
      ],
    },
  });
  const { text: edited, refused } = editYaml(text, 0, valueEdits(value("full"), value("incremental")));
  expect(refused).toEqual([]);
  expect(edited).toBe(text.replace("syncMode: full", "syncMode: incremental"));
});
