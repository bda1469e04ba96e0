import { describe, expect, test } from "vitest";
import { checkGuards, type GuardInput } from "../../src/engine/guards.ts";
import { defaultGuards } from "../../src/model/config.ts";
import type { Deferred, DraftItem, Item } from "../../src/model/plan.ts";
import { resourceOf } from "../support/world.ts";
import { draft, planOf } from "./drafts.ts";

describe("guards", () => {
  const judge = (items: readonly DraftItem[], more: Partial<GuardInput> = {}) =>
    checkGuards(planOf({ items }).items as readonly Item[], {
      ...{ limits: defaultGuards, population: 0, before: { created: 0, exposed: 0 }, allowed: new Map<string, string>() },
      ...{ resources: [], deferred: [], policy: [], inScope: () => true },
      ...more,
    }).map(({ guard, actual, allowed }) => [guard, actual, allowed].filter((one) => one !== undefined).join(" "));
  const creates = (count: number) => Array.from({ length: count }, (_, index) => draft(`Asset/a${index}`, "create"));
  const updates = (count: number) => Array.from({ length: count }, (_, index) => draft(`Tag/a${index}`, "update", { liveId: `t${index}` }));
  const exposing = (count: number) => [draft("SchemaConfig/a@x", "update", { exposedColumns: count })];
  const integration = (enabled: boolean) =>
    draft("Integration/i", "create", { requests: [{ method: "POST", path: "/v1/integrations", body: { enabled } }] });
  const hashing = (desired: Deferred["desired"]): Deferred => ({ address: "SchemaConfig/s@i", waitsFor: ["Integration/i"], desired });
  const hashed = { schemas: { public: { tables: { t: { columns: { c: { hashed: true } } } } } } };
  const accepted = resourceOf("Integration", "i", {}, { lifecycle: { create: "ifMissing", acceptExposureWindow: "a test account" } });
  const plain = resourceOf("Integration", "i", {});

  const rows: readonly [sentence: string, items: readonly DraftItem[], more: Partial<GuardInput>, guards: readonly string[]][] = [
    ["as many creates as may be", creates(5), {}, []],
    ["one create too many", creates(6), {}, ["maxCreates 6"]],
    ["one create too many, over several rounds", creates(1), { before: { created: 5, exposed: 0 } }, ["maxCreates 6"]],
    ["as many exposed columns as may be", exposing(50), {}, []],
    ["one exposed column too many", exposing(51), {}, ["maxExposedColumns 51"]],
    ["one exposed column too many, over several rounds", exposing(1), { before: { created: 0, exposed: 50 } }, ["maxExposedColumns 51"]],
    ["a large part of a small population", updates(9), { population: 9 }, []],
    ["a small part of a large one", updates(3), { population: 10 }, []],
    ["a large part of a large one", updates(4), { population: 10 }, ["maxChangedPercent 40"]],
    ["a limit that was lifted", creates(6), { allowed: new Map([["maxCreates", "import"]]) }, ["maxCreates 6 import"]],
    ["an exposure window", [integration(true)], { resources: [plain], deferred: [hashing(hashed)] }, ["exposureWindow"]],
    ["none where it begins switched off", [integration(false)], { resources: [plain], deferred: [hashing(hashed)] }, []],
    [
      "none where nothing is protected",
      [integration(true)],
      { resources: [plain], deferred: [hashing({ schemas: { p: { enabled: true } } })] },
      [],
    ],
    [
      "one where the rest is disabled",
      [integration(true)],
      { resources: [plain], deferred: [hashing({ unmatched: { tables: "disable" } })] },
      ["exposureWindow"],
    ],
    ["none where a person accepted it", [integration(true)], { resources: [accepted], deferred: [hashing(hashed)] }, []],
  ];
  test.each(rows)("%s", (_, items, more, guards) => {
    expect(judge(items, more)).toEqual(guards);
  });
});
