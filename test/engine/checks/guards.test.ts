import { describe, expect, test } from "vitest";
import { checkGuards, type GuardInput } from "../../../src/engine/checks/guards.ts";
import type { Deferred, DraftFacts, DraftItem, Item } from "../../../src/model/plan.ts";
import { defaultGuards } from "../../../src/model/settings/config.ts";
import { resourceOf } from "../../support/accounts/view.ts";
import { grouped } from "../../support/changes.ts";
import { draft, planOf } from "../drafts.ts";

describe("guards", () => {
  const guardsFor = (items: readonly DraftItem[], more: Partial<GuardInput> = {}) =>
    checkGuards(planOf({ items }).items as readonly Item[], {
      ...{ limits: defaultGuards, covered: [], before: { created: 0, exposed: 0 }, allowed: new Map<string, string>() },
      ...{ resources: [], deferred: [], policy: [], inScope: () => true },
      ...more,
    }).map(({ guard, actual, allowed }) => [guard, actual, allowed].filter((one) => one !== undefined).join(" "));
  const creates = (count: number) => Array.from({ length: count }, (_, index) => draft(`Asset/a${index}`, "create"));
  const updates = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      draft(`Tag/a${index}`, "update", { liveId: `t${index}`, changes: [{ path: "/name", after: "new", risk: "neutral" }] }),
    );
  const fields = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ address: `Tag/a${index}`, count: 1, unit: "fields" as const }));
  const nodes = (name: string, count: number) => ({ address: `Schemas/${name}`, count, unit: "nodes" as const });
  const flips = (name: string, count: number, keys: readonly string[] = ["hashed"]) => [
    draft(`Schemas/${name}`, "update", {
      liveId: name,
      changes: grouped<DraftFacts>(
        Array.from({ length: count }, (_, index) =>
          keys.map((key) => ({
            path: `/schemas/public/tables/t/columns/c${index}/${key}`,
            before: false,
            after: true,
            risk: "neutral" as const,
          })),
        ).flat(),
      ),
    }),
  ];
  const exposing = (count: number) => [draft("Schemas/x", "update", { exposedColumns: count })];
  const integration = (enabled: boolean) =>
    draft("Integration/i", "create", { requests: [{ method: "POST", path: "/v1/integrations", body: { enabled } }] });
  const hashing = (desired: Deferred["desired"]): Deferred => ({ address: "Schemas/i", waitsFor: ["Integration/i"], desired });
  const hashed = { schemas: { public: { tables: { t: { columns: { c: { hashed: true } } } } } } };
  const accepted = resourceOf("Integration", "i", {}, { lifecycle: { create: "ifMissing", acceptExposureWindow: "a test account" } });
  const plain = resourceOf("Integration", "i", {});

  const rows: readonly [sentence: string, items: readonly DraftItem[], more: Partial<GuardInput>, guards: readonly string[]][] = [
    ["as many creates as allowed", creates(5), {}, []],
    ["one create too many", creates(6), {}, ["maxCreates 6"]],
    ["one create too many, over several rounds", creates(1), { before: { created: 5, exposed: 0 } }, ["maxCreates 6"]],
    ["as many exposed columns as allowed", exposing(50), {}, []],
    ["one exposed column too many", exposing(51), {}, ["maxExposedColumns 51"]],
    ["one exposed column too many, over several rounds", exposing(1), { before: { created: 0, exposed: 50 } }, ["maxExposedColumns 51"]],
    ["most fields of a small project", updates(9), { covered: fields(99) }, []],
    ["a few fields of a large project", updates(30), { covered: fields(100) }, []],
    ["too many fields of a large project", updates(31), { covered: fields(100) }, ["maxChangedPercent 31"]],
    ["a percentage just above the limit", updates(3001), { covered: fields(10_000) }, ["maxChangedPercent 30.1"]],
    ["one of many integrations", flips("a", 15_000), { covered: [nodes("a", 15_000), nodes("b", 10_000_000)] }, ["maxChangedPercent 100"]],
    ["a small one of many integrations", flips("a", 99), { covered: [nodes("a", 99), nodes("b", 10_000)] }, []],
    ["few nodes of each integration", [...flips("a", 30), ...flips("b", 30)], { covered: [nodes("a", 100), nodes("b", 100)] }, []],
    ["two changes of each column, counted once", flips("a", 30, ["enabled", "hashed"]), { covered: [nodes("a", 100)] }, []],
    ["an integration that this run has created", flips("new", 5000), { covered: [nodes("a", 100)] }, []],
    ["a limit that was lifted", creates(6), { allowed: new Map([["maxCreates", "import"]]) }, ["maxCreates 6 import"]],
    ["an exposure window", [integration(true)], { resources: [plain], deferred: [hashing(hashed)] }, ["exposureWindow"]],
    [
      "no exposure window if the integration is created disabled",
      [integration(false)],
      { resources: [plain], deferred: [hashing(hashed)] },
      [],
    ],
    [
      "no exposure window if nothing is protected",
      [integration(true)],
      { resources: [plain], deferred: [hashing({ schemas: { p: { enabled: true } } })] },
      [],
    ],
    [
      "an exposure window if the rest is disabled",
      [integration(true)],
      { resources: [plain], deferred: [hashing({ unmatched: { tables: "disable" } })] },
      ["exposureWindow"],
    ],
    ["no exposure window if a user accepted it", [integration(true)], { resources: [accepted], deferred: [hashing(hashed)] }, []],
  ];
  test("the message and the members of maxChangedPercent name the integrations", () => {
    const [finding] = checkGuards(planOf({ items: [...flips("a", 60), ...flips("b", 90)] }).items, {
      ...{ limits: defaultGuards, before: { created: 0, exposed: 0 }, allowed: new Map() },
      ...{ resources: [], deferred: [], policy: [], inScope: () => true },
      covered: [nodes("a", 120), nodes("b", 100), nodes("c", 1000)],
    });
    expect(finding).toEqual({
      guard: "maxChangedPercent",
      message:
        "Covered schemas, tables and columns that would change: 90 of 100 (90%) in Schemas/b, 60 of 120 (50%) in Schemas/a; the limit for one integration is 30%. Check the patterns of the rules that changed.",
      limit: 30,
      actual: 90,
      changed: 150,
      population: 1220,
      integrations: [
        { address: "Schemas/b", changed: 90, population: 100 },
        { address: "Schemas/a", changed: 60, population: 120 },
      ],
    });
  });

  test.each(rows)("%s", (_, items, more, guards) => {
    expect(guardsFor(items, more)).toEqual(guards);
  });
});
