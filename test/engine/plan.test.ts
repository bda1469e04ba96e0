import { describe, expect, test } from "vitest";
import { checkGuards, type GuardInput } from "../../src/engine/guards.ts";
import { makePlan, type PlanInput } from "../../src/engine/plan.ts";
import { type DiffResult, emptyDiff } from "../../src/kinds/kind.ts";
import { defaultGuards } from "../../src/model/config.ts";
import type { Deferred, DraftItem, Item, Plan } from "../../src/model/plan.ts";
import { resourceOf } from "../support/world.ts";

const draft = (address: string, action: DraftItem["action"], more: Partial<DraftItem> = {}): DraftItem => ({
  address,
  kind: address.slice(0, address.indexOf("/")),
  action,
  changes: [],
  requests: [],
  observed: {},
  ...more,
});

function planOf(found: Partial<DiffResult>, more: Partial<PlanInput> = {}): Plan {
  return makePlan({
    ...{ kind: "Plan", planId: "p", createdAt: "2026-06-01T12:00:00Z", version: "0", target: "t", account: "a", manifestDigest: "" },
    found: [{ ...emptyDiff, ...found }],
    ...{ problems: [], complete: true, equal: 0, unmanaged: { integrations: [], tags: [] }, readCalls: {}, policy: [] },
    inScope: () => true,
    whyNotCreate: () => undefined,
    guards: () => [],
    locate: ({ file }) => ({ file }),
    ...more,
  });
}

const waiting = (address: string, ...waitsFor: string[]): Deferred => ({ address, waitsFor, desired: {} });

describe("a plan", () => {
  test("puts items in the order of kinds, then of addresses, an object's binding first", () => {
    const items = [
      draft("Tag/b#x", "relate"),
      draft("Tag/b", "update"),
      draft("Tag/b", "bind"),
      draft("SchemaConfig/a@x", "update"),
      draft("Integration/a", "create"),
      draft("Asset/z", "create"),
    ];
    const made = planOf({ items }).items.map(({ id, action, address }) => `${id} ${action} ${address}`);
    expect(made).toEqual([
      "i1 create Asset/z",
      "i2 create Integration/a",
      "i3 update SchemaConfig/a@x",
      "i4 bind Tag/b",
      "i5 update Tag/b",
      "i6 relate Tag/b#x",
    ]);
    expect(planOf({ items: [...items].reverse() }).items.map(({ id, action, address }) => `${id} ${action} ${address}`)).toEqual(made);
  });

  test("knows what an item depends on: its object's binding, and the items that it comes after", () => {
    const items = [
      draft("Integration/a", "bind"),
      draft("SchemaConfig/s@a", "update", { after: ["Integration/a"] }),
      draft("Tag/t", "update"),
    ];
    expect(planOf({ items }).items.map(({ dependsOn }) => dependsOn)).toEqual([[], ["i1"], []]);
  });

  test("sorts changes by path", () => {
    const changes = ["/b", "/a/c", "/a"].map((path) => ({ path, risk: "neutral" as const }));
    expect(planOf({ items: [draft("Tag/t", "update", { changes })] }).items[0]?.changes.map(({ path }) => path)).toEqual([
      "/a",
      "/a/c",
      "/b",
    ]);
  });

  test("counts the calls of items, and none of what is deferred", () => {
    const requests: DraftItem["requests"] = [
      { method: "PATCH", path: "/x", body: {} },
      { method: "PATCH", path: "/x", body: {} },
    ];
    expect(
      planOf({ items: [draft("SchemaConfig/a@x", "update", { requests })], deferred: [waiting("Tag/t#a", "Asset/a")] }).calls.planned,
    ).toEqual({
      PATCH: 2,
    });
  });

  test("leaves out what is not in scope, in every list", () => {
    const other = { address: "Tag/other" };
    const made = planOf(
      {
        items: [draft("Tag/other", "update")],
        manual: [{ ...other, path: "", instruction: "x" }],
        blocked: [{ ...other, code: "E_X", message: "x" }],
        deferred: [waiting("Tag/other#x", "Asset/x")],
      },
      { inScope: (address) => !address.startsWith("Tag/other") },
    );
    expect(made).toMatchObject({ items: [], manual: [], blocked: [], deferred: [] });
  });

  test("gives a manual difference the same id in every report", () => {
    const step = { address: "Integration/a", path: "/paused", instruction: "x" };
    const [first] = planOf({ manual: [{ ...step, actual: true }] }).manual;
    expect(
      planOf({
        manual: [
          { ...step, actual: false },
          { ...step, path: "/name" },
        ],
      }).manual.map(({ id }) => id),
    ).toContain(first?.id);
    expect(first?.id).toMatch(/^m-[0-9a-f]{8}$/);
  });

  test("is not to be run where it has errors, a guard refuses, or a read failed", () => {
    const executable = (more: Partial<PlanInput>): boolean => planOf({}, more).executable;
    expect(executable({})).toBe(true);
    expect(executable({ complete: false })).toBe(false);
    expect(executable({ guards: () => [{ guard: "maxCreates", message: "x" }] })).toBe(false);
    expect(executable({ guards: () => [{ guard: "maxCreates", message: "x", allowed: "because" }] })).toBe(true);
    expect(executable({ problems: [{ code: "E_X", severity: "error", summary: "x", message: "x" }] })).toBe(false);
    expect(executable({ problems: [{ code: "W_X", severity: "warning", summary: "x", message: "x" }] })).toBe(true);
  });
});

describe("what may not be created", () => {
  test("is blocked, and so is what waits for it, and what waits for that", () => {
    const made = planOf(
      {
        items: [draft("Asset/a", "create"), draft("Asset/b", "update")],
        deferred: [waiting("Integration/i", "Asset/a"), waiting("SchemaConfig/s@i", "Integration/i"), waiting("Tag/t#x", "Asset/x")],
      },
      { whyNotCreate: ({ address }) => ({ address, code: "E_LIST_INCOMPLETE", message: "x" }) },
    );
    expect(made.items.map(({ address }) => address)).toEqual(["Asset/b"]);
    expect(made.blocked.map(({ address, code }) => `${address} ${code}`)).toEqual([
      "Asset/a E_LIST_INCOMPLETE",
      "Integration/i E_DEPENDENCY",
      "SchemaConfig/s@i E_DEPENDENCY",
    ]);
    expect(made.deferred.map(({ address }) => address)).toEqual(["Tag/t#x"]);
  });

  test("is an error where two manifests would create the same", () => {
    const twin = (address: string, name: string) => draft(address, "create", { naturalKey: { name } });
    expect(planOf({ items: [twin("Asset/a", "x"), twin("Asset/b", "x"), twin("Asset/c", "y")] }).diagnostics).toMatchObject([
      { code: "E_SHARED_IDENTITY", address: "Asset/b" },
    ]);
  });
});

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
