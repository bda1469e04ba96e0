// What is kept of integrations that no unit stands for: gone, created again, or not selected any more.

import { expect, test } from "vitest";
import { ServiceError } from "../../../../src/core/base/model/errors.ts";
import type { KeptIntegration } from "../../../../src/core/base/model/kept.ts";
import type { LiveIntegration, LiveSchemas } from "../../../../src/core/base/model/live.ts";
import type { Account } from "../../../../src/core/kinds/kind.ts";
import { emptyDiff } from "../../../../src/core/kinds/kind.ts";
import { integrations } from "../../../../src/core/kinds/lists.ts";
import type { Comparison, Found } from "../../../../src/core/plan/checks/check.ts";
import { checkKept } from "../../../../src/core/plan/checks/kept.ts";
import type { Reviewed } from "../../../../src/core/plan/origin.ts";
import { everything } from "../../../../src/core/plan/scope.ts";
import { accountViewOf, comparingRun, liveIntegration } from "../../../support/accounts/view.ts";
import { fromLists, inLists } from "../../../support/steps.ts";
import { column, readsOf, schema, table } from "../../kinds/schema-config/fleet.ts";

const kept = (name: string, columns: readonly string[] = ["email", "phone"]): KeptIntegration => ({
  identity: [name, `${name}-pg`, "postgres", "d-12"],
  schemas: new Map([
    ["public", new Map([["users", [{ as: "hashed", by: "SchemaConfig/pii", since: "2026-11-02T08:00:00.000Z", columns }]]])],
  ]),
});
const tree = (isHashed: boolean, isPhoneHashed = true): LiveSchemas => ({
  public: schema({ users: table({ email: column({ hashed: isHashed }), phone: column({ hashed: isPhoneHashed }) }) }),
});
const shop = (id: string, name: string, source = "Shop-pg"): LiveIntegration =>
  liveIntegration(id, name, source, {
    source: { id: `s-${id}`, name: source, type: "postgres" },
    destination: { id: "d-12", name: "W", type: "snowflake" },
  });

interface Given {
  readonly live: readonly LiveIntegration[];
  /** Schemas by id; undefined: they cannot be read. */
  readonly trees?: Readonly<Record<string, LiveSchemas>>;
  readonly view?: Partial<Account>;
  readonly objects?: readonly string[];
  readonly blocked?: readonly string[];
  readonly waiting?: readonly string[];
  readonly left?: readonly string[];
  /** The objects that the manifests at the base have. Absent: there is no base. */
  readonly atBase?: readonly string[];
  /** Whether the run compares only a part of the account. */
  readonly isPart?: boolean;
}

async function judged({ live, trees = {}, view = {}, objects = [], left = [], atBase, isPart = false, ...given }: Given) {
  const account = { ...accountViewOf([], { integrations: live }), kept: new Map([["a1", kept("Shop")]]), ...view };
  const reads = readsOf({
    schemas: async (id) => {
      const found = trees[id];
      if (found !== undefined) return { tree: found };
      throw new ServiceError("E_SERVICE_STATUS", "403", { method: "GET", path: "", sent: "answered" });
    },
  });
  const blocked = (given.blocked ?? []).map((address) => ({ address, code: "E_GONE" as const, message: "" }));
  const waiting = (given.waiting ?? []).map((address) => ({ address, verb: "update" as const, waitsFor: [], desired: {}, later: [] }));
  const differences = [{ ...emptyDiff, ...fromLists({ blocked, waiting }) }];
  const pairs = new Map((atBase ?? []).map((object) => [object, { unit: {} }]));
  // Nothing else of these is needed.
  const reviewed = (atBase && { pairs, isComplete: true, isNow: false }) as Reviewed | undefined;
  const comparison = { objects: new Set(objects), differences } as Partial<Comparison> as Comparison;
  const { end } = checkKept({ run: comparingRun(reads, isPart ? { scope: { ...everything } } : {}), account, reviewed });
  const { differences: found = [] } = (await end?.(comparison, { left: new Set(left) } as Partial<Found> as Found)) ?? {};
  return {
    byHand: found.flatMap((one) =>
      inLists(one).byHand.map(({ address, instruction, command, actual, expected, liveName, obligation, origin }) => ({
        ...{ address, instruction, command, actual, expected, liveName, obligation, origin },
      })),
    ),
    ended: found.flatMap(({ kept: now }) => (now?.schemas.size === 0 ? [now.id] : [])),
  };
}

const resolveShop = "dimsync resolve Schemas/Shop --reason REASON";

test.each<[what: string, given: Given]>([
  ["a unit stands for it", { live: [shop("a1", "Shop")], objects: ["SchemaConfig a1"] }],
  ["its rename is a finding already", { live: [shop("a1", "Forum")], left: ["a1"] }],
  ["it is blocked by name", { live: [], blocked: ["Schemas/Shop"] }],
  ["it is blocked by id", { live: [], blocked: ["Schemas/a1"] }],
  ["its schemas wait for another step", { live: [], waiting: ["Schemas/Shop"] }],
  ["the run compares only a part", { live: [], isPart: true }],
  ["not all of the account was read", { live: [], view: { isComplete: false } }],
  ["the list of integrations could not be read", { live: [], view: { unreadLists: new Set([integrations]) } }],
  ["nothing is kept of it", { live: [], view: { kept: new Map([["a1", { ...kept("Shop"), schemas: new Map() }]]) } }],
  ["no manifest selects it, and the account keeps everything", { live: [shop("a1", "Shop")], trees: { a1: tree(true) } }],
])("nothing is said if %s", async (_, given) => {
  expect(await judged(given)).toEqual({ byHand: [], ended: [] });
});

test.each<[what: string, given: Given, said: RegExp, command?: string, actual?: string]>([
  [
    "no manifest selects it, and a column is readable",
    { live: [shop("a1", "Shop")], trees: { a1: tree(false) } },
    /No manifest selects the integration Shop \(a1\) any more\. SchemaConfig\/pii kept 2 nodes of it hashed or disabled, and public\.users\.email is readable now\./u,
  ],
  [
    "no manifest selects it, and several columns are readable",
    { live: [shop("a1", "Shop")], trees: { a1: tree(false, false) } },
    /public\.users\.email, public\.users\.phone are readable now\./u,
  ],
  [
    "that, and the base did not select it either",
    { live: [shop("a1", "Shop")], trees: { a1: tree(false) }, atBase: [] },
    /No manifest selects/u,
  ],
  ["its schemas cannot be read", { live: [shop("a1", "Shop")] }, /and its schemas cannot be read\./u],
  [
    "it is in no list",
    { live: [shop("b2", "Other", "other-pg")] },
    /Shop \(a1\) is in no list of the service any more, and 2 nodes of it were kept/u,
  ],
  ["the manifests at the base know it", { live: [], atBase: ["SchemaConfig a1"] }, /Shop \(a1\) is in no list of the service any more/u],
  [
    "one column of it was kept",
    { live: [], view: { kept: new Map([["a1", kept("Shop", ["email"])]]) } },
    /1 node of it was kept hashed or disabled\./u,
  ],
  [
    "one was created in its place",
    { live: [shop("b2", "Shop")], trees: { b2: tree(false) } },
    /Shop \(a1\) is gone, and Shop \(b2\) has the same source and destination\. .*public\.users\.email is readable there.*Have a SchemaConfig keep them there/u,
    "dimsync resolve Schemas/a1 --reason REASON",
    "b2",
  ],
  [
    "several columns of that one are readable",
    { live: [shop("b2", "New")], trees: { b2: tree(false, false) } },
    /Of 2 nodes that were kept .*, public\.users\.email, public\.users\.phone are readable there, or may have replaced some\. /u,
    resolveShop,
    "b2",
  ],
  [
    "one column was kept, which is readable in that one",
    { live: [shop("b2", "New")], trees: { b2: tree(false) }, view: { kept: new Map([["a1", kept("Shop", ["email"])]]) } },
    /Of 1 node that was kept .*, public\.users\.email is readable there, or may have replaced one\. /u,
    resolveShop,
    "b2",
  ],
  ["that one cannot be read", { live: [shop("b2", "New")] }, /Its schemas cannot be read, and 2 nodes were kept/u, resolveShop, "b2"],
  [
    "its manifest is bound to the one that is gone",
    {
      live: [shop("b2", "New")],
      trees: { b2: tree(false) },
      view: { bindings: new Map(["z9", "a1"].map((id) => [`Integration/${id === "a1" ? "shop" : "other"}`, { id }])) },
    },
    /If it is the same, bind it:/u,
    "dimsync bind Integration/shop=b2",
    "b2",
  ],
  [
    "of two in its place, one is known already",
    {
      live: [shop("b2", "Known"), shop("c3", "New")],
      trees: { b2: tree(false), c3: tree(false) },
      view: {
        kept: new Map([
          ["a1", kept("Shop")],
          ["b2", kept("Known")],
        ]),
      },
      objects: ["SchemaConfig b2"],
    },
    /New \(c3\) has the same source/u,
    resolveShop,
    "c3",
  ],
  [
    "the only one in its place is known already",
    {
      live: [shop("b2", "Known")],
      trees: { b2: tree(false) },
      view: {
        kept: new Map([
          ["a1", kept("Shop")],
          ["b2", kept("Known")],
        ]),
      },
      objects: ["SchemaConfig b2"],
    },
    /Known \(b2\) has the same source/u,
    resolveShop,
    "b2",
  ],
])("it is named if %s", async (_, given, said, command = resolveShop, actual = undefined) => {
  const { byHand, ended } = await judged(given);
  expect(ended).toEqual([]);
  expect(byHand).toEqual([
    {
      address: command.includes("Schemas/a1") ? "Schemas/a1" : "Schemas/Shop",
      instruction: expect.stringMatching(said),
      command,
      actual,
      expected: "a1",
      liveName: given.live.find(({ id }) => id === "a1")?.name,
      obligation: true,
      origin: "drift",
    },
  ]);
});

test.each<[what: string, given: Given]>([
  ["the base selects it, and the manifests do not", { live: [shop("a1", "Shop")], atBase: ["SchemaConfig a1"] }],
  ["the one in its place keeps everything", { live: [shop("b2", "Shop")], trees: { b2: tree(true) } }],
])("its obligation ends if %s", async (_, given) => {
  expect(await judged(given)).toEqual({ byHand: [], ended: ["a1"] });
});

test("the columns of a table are read if columns of it were kept", () => {
  const itself: KeptIntegration = {
    ...kept("Shop"),
    schemas: new Map([["public", new Map([["logs", [{ as: "disabled", by: "SchemaConfig/pii", since: "2026-11-02T08:00:00.000Z" }]]])]]),
  };
  const account = {
    ...accountViewOf([], {}),
    kept: new Map([
      ["a1", kept("Shop")],
      ["b2", itself],
    ]),
  };
  const { columns } = checkKept({ run: comparingRun({}), account, reviewed: undefined });
  expect(columns?.("a1")?.("public", "users", undefined)).toBe(true);
  expect(columns?.("a1")?.("public", "logs", undefined)).toBe(false);
  expect(columns?.("b2")?.("public", "logs", undefined)).toBe(false);
  expect(columns?.("c3")).toBeUndefined();
});
