import { expect, test } from "vitest";
import { groupProblems } from "../../src/engine/group-problems.ts";
import type { Problem } from "../../src/model/problem.ts";

const missing = (address: string | undefined, pointer = "/spec/rules/0/match/table", message = `${address} lacks it.`): Problem => ({
  code: "E_MISSING_NAME",
  severity: "error",
  summary: "Unknown table",
  message,
  place: { file: "shops.yaml", document: 0, pointer },
  ...(address === undefined ? {} : { address }),
});
const told = (problems: readonly Problem[]) => groupProblems(problems).map(({ address, message }) => [address, message]);

test.each<[string, readonly Problem[], readonly (readonly [string | undefined, string])[]]>([
  ["a single problem stays unchanged", [missing("SchemaConfig/shops@a")], [["SchemaConfig/shops@a", "SchemaConfig/shops@a lacks it."]]],
  [
    "two problems of one line become one, whatever their order",
    [missing("SchemaConfig/shops@b"), missing("SchemaConfig/shops@a")],
    [["SchemaConfig/shops", "SchemaConfig/shops@a lacks it. The same problem is in one more integration: b."]],
  ],
  [
    "many integrations are counted, and a few are named",
    ["e", "d", "c", "b", "a"].map((name) => missing(`SchemaConfig/shops@${name}`)),
    [["SchemaConfig/shops", "SchemaConfig/shops@a lacks it. The same problem is in 4 more integrations: b, c, d and 1 more."]],
  ],
  [
    "problems of two configurations that use one RuleSet have no common manifest",
    [missing("SchemaConfig/x@a"), missing("SchemaConfig/y@b")],
    [["SchemaConfig/x@a", "SchemaConfig/x@a lacks it. The same problem is in one more integration: b."]],
  ],
  [
    "different lines are different problems",
    [missing("SchemaConfig/shops@a", "/one"), missing("SchemaConfig/shops@b", "/two")],
    [
      ["SchemaConfig/shops@a", "SchemaConfig/shops@a lacks it."],
      ["SchemaConfig/shops@b", "SchemaConfig/shops@b lacks it."],
    ],
  ],
  [
    "equal problems of one integration are reported once",
    [missing("SchemaConfig/shops@a"), missing("SchemaConfig/shops@a")],
    [["SchemaConfig/shops@a", "SchemaConfig/shops@a lacks it."]],
  ],
  [
    "different problems of one integration stay separate",
    [
      missing("SchemaConfig/shops@a", "", "first"),
      missing("SchemaConfig/shops@a", "", "second"),
      missing("SchemaConfig/shops@b", "", "third"),
    ],
    [
      ["SchemaConfig/shops@a", "first"],
      ["SchemaConfig/shops@a", "second"],
      ["SchemaConfig/shops@b", "third"],
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
