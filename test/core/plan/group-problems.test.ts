// A problem of many integrations is one.
import { expect, test } from "vitest";
import type { Problem } from "../../../src/core/base/model/problem.ts";
import { groupProblems } from "../../../src/core/plan/group-problems.ts";

const missing = (address: string | undefined, pointer = "/spec/rules/0/match/table", message = `${address} lacks it.`): Problem => ({
  code: "E_MISSING_NAME",
  severity: "error",
  message,
  place: { file: "shops.yaml", document: 0, pointer },
  ...(address === undefined ? {} : { address }),
});
const told = (problems: readonly Problem[]) => groupProblems(problems).map(({ address, message }) => [address, message]);

test.each<[string, readonly Problem[], readonly (readonly [string | undefined, string])[]]>([
  ["a single problem stays unchanged", [missing("Schemas/a")], [["Schemas/a", "Schemas/a lacks it."]]],
  [
    "two problems of one line become one, whatever their order",
    [missing("Schemas/b"), missing("Schemas/a")],
    [["Schemas/a", "Schemas/a lacks it. The same problem is in one more integration: b."]],
  ],
  [
    "many integrations are counted, and a few are named",
    ["e", "d", "c", "b", "a"].map((name) => missing(`Schemas/${name}`)),
    [["Schemas/a", "Schemas/a lacks it. The same problem is in 4 more integrations: b, c, d and 1 more integration."]],
  ],
  [
    "different lines are different problems",
    [missing("Schemas/a", "/one"), missing("Schemas/b", "/two")],
    [
      ["Schemas/a", "Schemas/a lacks it."],
      ["Schemas/b", "Schemas/b lacks it."],
    ],
  ],
  [
    "equal problems of one integration are reported once",
    [missing("Schemas/a"), missing("Schemas/a")],
    [["Schemas/a", "Schemas/a lacks it."]],
  ],
  [
    "different problems of one integration stay separate",
    [missing("Schemas/a", "", "first"), missing("Schemas/a", "", "second"), missing("Schemas/b", "", "third")],
    [
      ["Schemas/a", "first"],
      ["Schemas/a", "second"],
      ["Schemas/b", "third"],
    ],
  ],
  [
    "problems without an integration stay unchanged",
    [missing("Tag/pii"), missing("Tag/pii"), missing(undefined), missing(undefined)],
    [
      ["Tag/pii", "Tag/pii lacks it."],
      ["Tag/pii", "Tag/pii lacks it."],
      [undefined, "undefined lacks it."],
      [undefined, "undefined lacks it."],
    ],
  ],
])("%s", (_sentence, problems, expected) => {
  expect(told(problems)).toEqual(expected);
});

test.each<[string, Partial<Problem>]>([
  ["code", { code: "W_NO_MATCH" }],
  ["severity", { severity: "warning" }],
  ...Object.entries({ file: "other.yaml", document: 1, pointer: "/other", on: "key" as const }).map(
    ([key, value]): [string, Partial<Problem>] => [key, { place: { file: "shops.yaml", document: 0, pointer: "", [key]: value } }],
  ),
])("problems with another %s are different problems", (_, other) => {
  const [a, b] = [missing("Schemas/a", ""), { ...missing("Schemas/b", ""), ...other }];
  expect(groupProblems([a, b])).toEqual([a, b]);
});
