import { expect, test } from "vitest";
import type { Tables } from "../../../src/core/catalog/seen.ts";
import { columnsSeen, recordedGroups } from "../../../src/core/catalog/seen.ts";

const users = (...names: readonly string[]): Tables => new Map([["public", new Map([["users", new Set(names)]])]]);
const [monday, tuesday] = ["2026-11-02T08:00:00.000Z", "2026-11-03T08:00:00.000Z"];

const first = {
  at: monday,
  groups: recordedGroups(
    undefined,
    new Map([
      ["a", users("id")],
      ["b", users("id")],
    ]),
  ),
};

test("the first recording has no dates, and equal integrations share a group", () => {
  expect(first.groups).toEqual([{ integrations: ["a", "b"], schemas: { public: { users: ["id"] } } }]);
});

test("a new column was added after the recording before", () => {
  const groups = recordedGroups(
    first,
    new Map([
      ["a", users("id", "email")],
      ["b", users("id")],
    ]),
  );
  expect(groups).toEqual([
    { integrations: ["a", "b"], schemas: { public: { users: ["id"] } } },
    { integrations: ["a"], after: monday, schemas: { public: { users: ["email"] } } },
  ]);
  // The next recording keeps the date.
  expect(recordedGroups({ at: tuesday, groups }, new Map([["a", users("id", "email")]]))).toEqual(groups);
});

test("a column that is gone is dropped, and gets a new date if it comes back", () => {
  const without = { at: tuesday, groups: recordedGroups(first, new Map([["a", users("name")]])) };
  expect(columnsSeen(without).since("a", { schema: "public", table: "users", column: "id" })).toBe(tuesday);
  expect(columnsSeen(without).since("b", { schema: "public", table: "users", column: "id" })).toBeUndefined();
});

test("integrations that were not compared stay as they are, and new ones have no dates", () => {
  expect(recordedGroups(first, new Map([["c", users("id", "email")]]))).toEqual([
    { integrations: ["a", "b", "c"], schemas: { public: { users: ["id"] } } },
    { integrations: ["c"], schemas: { public: { users: ["email"] } } },
  ]);
});
