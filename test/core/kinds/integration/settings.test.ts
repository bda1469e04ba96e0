// Settings are requests only with the switch on, and otherwise steps by hand.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { LiveIntegration } from "../../../../src/core/base/model/live.ts";
import type { IntegrationSettings, Manifest } from "../../../../src/core/base/model/manifest.ts";
import { integration } from "../../../../src/core/kinds/integration/index.ts";
import type { Account } from "../../../../src/core/kinds/kind.ts";
import { settings } from "../../../../src/core/kinds/lists.ts";
import { accountViewOf, liveIntegration, requestsOf, resourceOf, type SmallAccount } from "../../../support/accounts/view.ts";
import { inLists } from "../../../support/steps.ts";

const details = { replicationFrequency: "60", cronExpression: null, baseTime: null, destinationSchema: "orders", agentId: null };
const live = liveIntegration("8f1c", "Orders", "orders-pg", { ...details, onSchemaUpdate: "enableColumnChanges" });
const extended = { missing: new Set<never>() };
const orders = (declared: IntegrationSettings, more: Partial<Manifest> = {}): Manifest =>
  resourceOf("Integration", "orders", { settings: declared }, { id: "8f1c", ...more });
const config = resourceOf("SchemaConfig", "orders", { integration: "orders", rules: [] });

function compared(manifests: readonly Manifest[], { shown = live, ...more }: SmallAccount & { readonly shown?: LiveIntegration } = {}) {
  const view: Account = accountViewOf(manifests, { integrations: [shown], extended, ...more });
  const [unit] = integration.units(manifests.slice(0, 1), view).units;
  if (unit === undefined) throw new Error("no unit");
  const found = inLists(integration.diff(unit, shown, view));
  return { ...found, items: found.items.filter(({ verb }) => verb !== "bind") };
}

describe("with the switch on, PATCH has the settings that differ", () => {
  test.each<[string, IntegrationSettings, readonly object[]]>([
    ["none, if all are equal", { name: "Orders", paused: false, replicationFrequency: "60", cronExpression: null }, []],
    ["null, which clears", { cronExpression: null, baseTime: null }, []],
    ["none of a name, a destination schema or an agent", { name: "Orders (EU)", destinationSchema: "eu", agentId: "a-2" }, []],
    [
      "a schedule",
      { replicationFrequency: "cron", cronExpression: "0 4 * * *" },
      [{ replicationFrequency: "cron", cronExpression: "0 4 * * *" }],
    ],
    [
      "what protects in a request of its own",
      { paused: true, onSchemaUpdate: "ignoreAll" },
      [{ onSchemaUpdate: "ignoreAll" }, { paused: true }],
    ],
  ])("%s", (_, declared, bodies) => {
    expect(requestsOf(compared([orders(declared)]))).toEqual(bodies.map((body) => ["PATCH /v1/integrations/8f1c", body]));
  });

  test.each<[string, Partial<LiveIntegration>, IntegrationSettings, string]>([
    ["pausing is neutral", {}, { paused: true }, "neutral"],
    ["resuming exposes", { paused: true }, { paused: false }, "exposes"],
    ["replicating new columns exposes", { onSchemaUpdate: "ignoreAll" }, { onSchemaUpdate: "enableAll" }, "exposes"],
    ["a value that dimsync does not know may expose", { onSchemaUpdate: "ignoreAll" }, { onSchemaUpdate: "other" }, "exposes"],
    ["ignoring new columns protects", {}, { onSchemaUpdate: "pauseConnection" }, "protects"],
    ["a schedule is neutral", {}, { replicationFrequency: "1440" }, "neutral"],
  ])("%s", (_, change, declared, risk) => {
    const { items } = compared([orders(declared)], { shown: { ...live, ...change } });
    expect(items.flatMap(({ changes }) => changes.map((one) => one.risk))).toEqual([risk]);
  });

  test("a plan says what a setting exposes; a drift report, where nothing is about to happen, does not", () => {
    const [shown, declared] = [
      { ...live, paused: true },
      { paused: false, onSchemaUpdate: "enableAll" },
    ];
    const reasonsOf = (more: SmallAccount) =>
      compared([orders(declared)], { shown, ...more }).items.flatMap(({ changes }) => changes.map(({ cause }) => cause?.reason));
    expect(reasonsOf({})).toEqual(["replication resumes", expect.stringContaining("new columns can be replicated, unhashed")]);
    expect(reasonsOf({ isDrift: true })).toEqual([undefined, undefined]);
  });

  test("replication resumes after the schemas", () => {
    const paused = { shown: { ...live, paused: true } };
    const requiredBy = (manifests: readonly Manifest[]) => compared(manifests, paused).items.map(({ requires }) => requires);
    expect(requiredBy([orders({ paused: false }), config])).toEqual([["Schemas/orders"]]);
    expect(requiredBy([orders({ paused: false })])).toEqual([undefined]);
    expect(compared([orders({ baseTime: "04:00" }), config], paused).items.map(({ requires }) => requires)).toEqual([undefined]);
  });

  test("a value that the service accepted and did not keep is not sent again, until it or the account changes", () => {
    const kept = { wanted: "04:00", live: null, since: "2026-01-01T00:00:00Z" };
    const notKept = new Map([["Integration/orders", new Map([["/baseTime", kept]])]]);
    expect(compared([orders({ baseTime: "04:00" })], { notKept })).toMatchObject({
      items: [],
      notKept: [{ path: "/baseTime", wanted: "04:00" }],
    });
    expect(requestsOf(compared([orders({ baseTime: "05:00" })], { notKept }))).toHaveLength(1);
  });

  test("a value that protects is sent again, and said, although the service did not keep it", () => {
    const kept = { wanted: "ignoreAll", live: "enableColumnChanges", since: "2026-01-01T00:00:00Z" };
    const found = compared([orders({ onSchemaUpdate: "ignoreAll" })], {
      notKept: new Map([["Integration/orders", new Map([["/onSchemaUpdate", kept]])]]),
    });
    expect(requestsOf(found)).toEqual([["PATCH /v1/integrations/8f1c", { onSchemaUpdate: "ignoreAll" }]]);
    expect(found.notKept).toMatchObject([{ path: "/onSchemaUpdate", wanted: "ignoreAll" }]);
  });

  test("what the service does not show is unseen, and not sent", () => {
    const brief = liveIntegration("8f1c", "Orders", "orders-pg");
    const { items, unseen } = compared([orders({ paused: true, baseTime: "04:00" })], { shown: brief });
    expect(items.flatMap(({ requests }) => requests.map(({ body }) => body))).toEqual([{ paused: true }]);
    expect(unseen).toMatchObject([{ paths: ["/baseTime"], reason: expect.stringContaining("sends only values that protect") }]);
  });

  test("what protects and the service does not show is sent once, whatever a create has recorded", () => {
    const brief = liveIntegration("8f1c", "Orders", "orders-pg");
    const ignoring = orders({ onSchemaUpdate: "ignoreAll" });
    const found = compared([ignoring], { shown: brief });
    expect(requestsOf(found)).toEqual([["PATCH /v1/integrations/8f1c", { onSchemaUpdate: "ignoreAll" }]]);
    expect(found).toMatchObject({ items: [{ changes: [{ risk: "protects" }] }], unseen: [] });
    const { sent = {} } = found.items[0]?.binding ?? {};
    const bindings = new Map([["Integration/orders", { id: "8f1c", sent }]]);
    const again = compared([ignoring], { shown: brief, bindings });
    expect(again).toMatchObject({
      items: [],
      unseen: [{ paths: ["/onSchemaUpdate"], reason: expect.stringContaining("has sent it") }],
    });
    expect(requestsOf(compared([orders({ onSchemaUpdate: "pauseConnection" })], { shown: brief, bindings }))).toHaveLength(1);
    expect(requestsOf(compared([orders({ onSchemaUpdate: "enableAll" })], { shown: brief }))).toEqual([]);
    const created = resourceOf(
      "Integration",
      "orders",
      { create: { name: "Orders" }, settings: { onSchemaUpdate: "ignoreAll" } },
      { id: "8f1c" },
    );
    expect(compared([created], { shown: brief, bindings }).byHand).toEqual([]);
  });
});

describe("without a request for it, a difference is a step by hand that says why", () => {
  test.each([
    ["the switch is off", undefined, "service: { extended: true }"],
    ["the service does not have it", { missing: new Set(["PATCH /v1/integrations/{id}"] as const) }, "the service has no PATCH"],
  ] as const)("%s", (_, off, why) => {
    const { items, byHand } = compared([orders({ paused: true })], { extended: off });
    expect(items).toEqual([]);
    expect(byHand).toMatchObject([{ path: "/paused", expected: true, actual: false, instruction: expect.stringContaining(why) }]);
    expect(byHand[0]?.instruction).toContain('Pause the integration "Orders" (8f1c)');
  });
});

test.each([
  ["name", "Orders (EU)", 'Rename the integration "Orders" (8f1c) to "Orders (EU)"'],
  ["destinationSchema", "eu", "Set the schema at the destination"],
  ["agentId", "a-2", "Set the agent"],
])("%s is compared, and changed by hand with the switch on, too", (name, value, step) => {
  const { items, byHand } = compared([orders({ [name]: value })]);
  expect(items).toEqual([]);
  expect(byHand).toMatchObject([{ path: `/${name}`, expected: value, instruction: expect.stringContaining(step) }]);
  expect(byHand[0]?.instruction).toContain("dimsync never sends it");
});

test("a setting that is also in create or expect is compared once", () => {
  const spec = { settings: { name: "Orders", replicationFrequency: "60" }, expect: { name: "Other" } };
  const found = compared([resourceOf("Integration", "orders", spec, { id: "8f1c" })]);
  expect([found.items, found.byHand]).toEqual([[], []]);
});

test("expect and settings that contradict each other are refused at expect", () => {
  const found = (expected: object, sent: IntegrationSettings) =>
    integration
      .hints?.(resourceOf("Integration", "orders", { settings: sent, expect: expected }))
      ?.map(({ code, place }) => [code, place?.pointer]);
  expect(found({ paused: true, name: "Orders" }, { paused: false, name: "Orders" })).toEqual([["E_WRONG_VALUE", "/spec/expect/paused"]]);
  expect(found({ paused: true }, { name: "Orders" })).toEqual([]);
});

test("the schema of the manifest has exactly the settings of the table", () => {
  const schema = JSON.parse(readFileSync(new URL("../../../../schema/integration.schema.json", import.meta.url), "utf8"));
  expect(Object.keys(schema.properties.spec.properties.settings.properties)).toEqual(Object.keys(settings));
});

test("import writes the settings that the service shows, and without the switch what to expect", () => {
  const context = (more: Partial<Account>) => ({ account: accountViewOf([], more), name: "orders", nameOf: () => undefined });
  const { cronExpression: _, baseTime: __, agentId: ___, ...shown } = { ...details, onSchemaUpdate: "enableColumnChanges" };
  const source = { name: "orders-pg", type: "postgres" };
  expect(integration.imported?.manifest(live, context({ extended })).body).toMatchObject({
    spec: { settings: { name: "Orders", paused: false, ...shown }, expect: { source } },
  });
  expect(integration.imported?.manifest(live, context({})).body).toMatchObject({
    spec: { expect: { name: "Orders", paused: false, source } },
  });
});
