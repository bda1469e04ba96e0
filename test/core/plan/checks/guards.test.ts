// A guard refuses above its limit, names what it counts, and is lifted by name only.
import { describe, expect, test } from "vitest";
import { waitingStep } from "../../../../src/core/base/model/draft-steps.ts";
import type { PolicyFinding } from "../../../../src/core/base/model/findings.ts";
import { defined, type JsonValue } from "../../../../src/core/base/model/json/json.ts";
import type { DraftFacts, DraftItem, ReadyStep } from "../../../../src/core/base/model/plan.ts";
import { type AllowEntry, defaultGuards } from "../../../../src/core/base/model/settings/config.ts";
import { nameMatcher } from "../../../../src/core/kinds/patterns/names.ts";
import { type Counted, checkGuards, type GuardInput } from "../../../../src/core/plan/checks/guards.ts";
import { resourceOf } from "../../../support/accounts/view.ts";
import { grouped } from "../../../support/changes.ts";
import { readySteps } from "../../../support/steps.ts";
import { draft, planOf } from "../drafts.ts";

const isNamed: GuardInput["isNamed"] = (pattern, address) => nameMatcher([pattern])(address);

/** Of a plan in which only the changes matter. */
const nothingElse = {
  ...{ manifests: [], waiting: [], findings: [], entries: [] },
  reviewedEntries: undefined,
  inScope: () => true,
  isNamed,
};

describe("guards", () => {
  const guardsFor = (items: readonly DraftItem[], more: Partial<GuardInput> = {}) =>
    checkGuards(readySteps(planOf({ items })) as readonly ReadyStep[], {
      ...{ limits: defaultGuards, isStrict: false, sizes: [], before: [], allowed: new Map<string, string>() },
      ...nothingElse,
      ...more,
    }).guards.map(({ rule, guard: { actual, allowed, until } }) =>
      [rule, actual, allowed, until].filter((one) => one !== undefined).join(" "),
    );
  const earlier = (counts: Partial<Counted>): readonly Counted[] => [
    { address: "Asset/b", created: 0, removed: 0, resynced: 0, exposed: 0, ...counts },
  ];
  const entry = (guard: AllowEntry["guard"], address?: string, until = "2026-12-15"): AllowEntry => ({
    ...defined({ address }),
    ...{ guard, reason: "DPIA-41", until },
  });
  const finding = (address: string): PolicyFinding => ({
    ...{ rule: "Policy/pii", severity: "error", state: "new", refuses: "policy", address, path: "", message: "" },
  });
  const creates = (count: number) => Array.from({ length: count }, (_, index) => draft(`Asset/a${index}`, "create"));
  const updates = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      draft(`Tag/a${index}`, "update", { liveId: `t${index}`, changes: [{ path: "/name", after: "new", risk: "neutral" }] }),
    );
  const fields = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ address: `Tag/a${index}`, count: 1, unit: "fields" as const }));
  const nodes = (name: string, count: number) => ({ address: `Schemas/${name}`, count, unit: "nodes" as const });
  const modes = (name: string, count: number) => [
    draft(`Schemas/${name}`, "update", {
      liveId: name,
      changes: grouped<DraftFacts>(
        Array.from({ length: count }, (_, index) =>
          ["syncMode", "cursorField"].map((key) => ({
            path: `/schemas/public/tables/t${index}/${key}`,
            after: "x",
            risk: "neutral" as const,
          })),
        ).flat(),
      ),
    }),
  ];
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
  const hashing = (desired: JsonValue) => waitingStep({ verb: "update", address: "Schemas/i", waitsFor: ["Integration/i"], desired });
  const hashed = { schemas: { public: { tables: { t: { columns: { c: { hashed: true } } } } } } };
  const plain = resourceOf("Integration", "i", {});

  const outside = [
    draft("Tag/a", "update", {
      changes: (["drift", "conflict", "config"] as const).map((origin) => ({ path: `/${origin}`, after: "new", risk: "neutral", origin })),
    }),
  ];

  const rows: readonly [sentence: string, items: readonly DraftItem[], more: Partial<GuardInput>, guards: readonly string[]][] = [
    ["as many creates as allowed", creates(5), {}, []],
    ["one create too many", creates(6), {}, ["maxCreates 6"]],
    ["one create too many, over several rounds", creates(1), { before: earlier({ created: 5 }) }, ["maxCreates 6"]],
    ["as many exposed columns as allowed", exposing(50), {}, []],
    ["one exposed column too many", exposing(51), {}, ["maxExposedColumns 51"]],
    ["one exposed column too many, over several rounds", exposing(1), { before: earlier({ exposed: 50 }) }, ["maxExposedColumns 51"]],
    ["most fields of a small project", updates(9), { sizes: fields(99) }, []],
    ["a few fields of a large project", updates(30), { sizes: fields(100) }, []],
    [
      "more relations removed than allowed",
      [1, 2, 3, 4].map((n) => draft(`Tag/a#${n}`, "unrelate")),
      { before: earlier({ removed: 2 }) },
      ["maxRemovedRelations 6"],
    ],
    [
      "modes of too many tables, with those of earlier rounds",
      modes("a", 2),
      { before: earlier({ resynced: 4 }), sizes: [nodes("a", 50)] },
      ["maxResyncedTables 6"],
    ],
    ["modes of an integration that this run has created", modes("new", 9), { sizes: [nodes("a", 50)] }, []],
    ["too many fields of a large project", updates(31), { sizes: fields(100) }, ["maxChangedPercent 31"]],
    ["a percentage just above the limit", updates(3001), { sizes: fields(10_000) }, ["maxChangedPercent 30.1"]],
    ["one of many integrations", flips("a", 15_000), { sizes: [nodes("a", 15_000), nodes("b", 10_000_000)] }, ["maxChangedPercent 100"]],
    ["a small one of many integrations", flips("a", 99), { sizes: [nodes("a", 99), nodes("b", 10_000)] }, []],
    ["few nodes of each integration", [...flips("a", 30), ...flips("b", 30)], { sizes: [nodes("a", 100), nodes("b", 100)] }, []],
    ["two changes of each column, counted once", flips("a", 30, ["enabled", "hashed"]), { sizes: [nodes("a", 100)] }, []],
    ["an integration that this run has created", flips("new", 5000), { sizes: [nodes("a", 100)] }, []],
    ["a limit that was lifted", creates(6), { allowed: new Map([["maxCreates", "import"]]) }, ["maxCreates 6 import"]],
    ["more changes than nodes, which cannot be", flips("a", 200), { sizes: [nodes("a", 100)] }, ["maxChangedPercent 100"]],
    ["an entry without an address lifts all", creates(7), { entries: [entry("maxCreates")] }, ["maxCreates 7 DPIA-41 2026-12-15"]],
    ["an entry of another guard lifts nothing", creates(7), { entries: [entry("policy")] }, ["maxCreates 7"]],
    [
      "entries lift a guard if the rest is within the limit; the earliest day counts",
      creates(7),
      { entries: [entry("maxCreates", "Asset/a1"), entry("maxCreates", "Asset/a[23]", "2026-12-01")] },
      ["maxCreates 7 DPIA-41 2026-12-01"],
    ],
    ["the rest is still too much", creates(7), { entries: [entry("maxCreates", "Asset/a1")] }, ["maxCreates 7"]],
    [
      "what an earlier round did is lifted, too",
      creates(1),
      { before: earlier({ created: 5 }), entries: [entry("maxCreates", "Asset/b")] },
      ["maxCreates 6 DPIA-41 2026-12-15"],
    ],
    [
      "one integration of two that change too much",
      [...flips("a", 60), ...flips("b", 90)],
      { sizes: [nodes("a", 100), nodes("b", 100), nodes("c", 1000)], entries: [entry("maxChangedPercent", "Schemas/a")] },
      ["maxChangedPercent 90"],
    ],
    [
      "both of them",
      [...flips("a", 60), ...flips("b", 90)],
      { sizes: [nodes("a", 100), nodes("b", 100), nodes("c", 1000)], entries: [entry("maxChangedPercent", "Schemas/[ab]")] },
      ["maxChangedPercent 90 DPIA-41 2026-12-15"],
    ],
    [
      "a policy finding of another object",
      [],
      { findings: [finding("Schemas/a"), finding("Schemas/b")], entries: [entry("policy", "Schemas/a")] },
      ["policy 2"],
    ],
    [
      "columns that nobody has reviewed",
      [],
      {
        findings: [{ rule: "never-reviewed", refuses: "unreviewed", severity: "warning", message: "", address: "Schemas/a", count: 3 }],
        entries: [entry("unreviewed", "Schemas/a")],
      },
      ["unreviewed 3 DPIA-41 2026-12-15"],
    ],
    [
      "an exposure window that an entry lifts",
      [integration(true)],
      { manifests: [plain], waiting: [hashing(hashed)], entries: [entry("exposureWindow", "Integration/*")] },
      ["exposureWindow DPIA-41 2026-12-15"],
    ],
    ["an exposure window", [integration(true)], { manifests: [plain], waiting: [hashing(hashed)] }, ["exposureWindow"]],
    [
      "no exposure window if the integration is created disabled",
      [integration(false)],
      { manifests: [plain], waiting: [hashing(hashed)] },
      [],
    ],
    [
      "no exposure window if nothing is protected",
      [integration(true)],
      { manifests: [plain], waiting: [hashing({ schemas: { p: { enabled: true } } })] },
      [],
    ],
    [
      "an exposure window if the rest is disabled",
      [integration(true)],
      { manifests: [plain], waiting: [hashing({ unmatched: { tables: "disable" } })] },
      ["exposureWindow"],
    ],
    ["what someone changed in the account, in a strict review", outside, { isStrict: true }, ["outsideChanges 2"]],
    ["what someone changed in the account, in other reviews", outside, {}, []],
  ];
  test("the message and the members of maxChangedPercent name the integrations", () => {
    const {
      guards: [finding],
    } = checkGuards(readySteps(planOf({ items: [...flips("a", 60), ...flips("b", 90)] })), {
      ...{ limits: defaultGuards, isStrict: false, before: [], allowed: new Map() },
      ...nothingElse,
      sizes: [nodes("a", 120), nodes("b", 100), nodes("c", 1000)],
    });
    expect(finding).toEqual({
      rule: "maxChangedPercent",
      severity: "error",
      message:
        "Schemas, tables and columns that would change: 90 of 100 (90%) in Schemas/b, 60 of 120 (50%) in Schemas/a; the limit for one integration is 30%. Check the patterns of the rules that changed.",
      guard: {
        limit: 30,
        actual: 90,
        changed: 150,
        population: 1220,
        integrations: [
          { address: "Schemas/b", changed: 90, population: 100 },
          { address: "Schemas/a", changed: 60, population: 120 },
        ],
      },
    });
  });

  test.each(rows)("%s", (_, items, more, guards) => {
    expect(guardsFor(items, more)).toEqual(guards);
  });

  test.each([
    [creates(1), "1 object would be created, and dimsync has no request that deletes it; the limit is 0."],
    [exposing(1), "1 column would become readable; the limit is 0."],
  ])("counts one thing as one", (items, message) => {
    const found = checkGuards(readySteps(planOf({ items })), {
      ...{
        limits: { ...defaultGuards, maxCreates: 0, maxExposedColumns: 0 },
        isStrict: false,
        sizes: [],
        before: [],
        allowed: new Map(),
        entries: [],
        isNamed,
      },
      ...{ manifests: [], waiting: [], findings: [], reviewedEntries: undefined, inScope: () => true },
    });
    expect(found.guards.map((guard) => guard.message)).toEqual([message]);
  });

  test("entries that lift nothing are unused", () => {
    const entries = [entry("maxCreates", "Asset/a*"), entry("maxCreates", "Asset/x*"), entry("policy")];
    const { unused } = checkGuards(readySteps(planOf({ items: creates(7) })), {
      ...{ limits: defaultGuards, isStrict: false, sizes: [], before: [], allowed: new Map(), entries, isNamed },
      ...{ manifests: [], waiting: [], findings: [], reviewedEntries: undefined, inScope: () => true },
    });
    expect(unused).toEqual(entries.slice(1));
  });
});
