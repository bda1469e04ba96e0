// An integration is found before it is created, and what a request cannot change is a step by hand.
import { describe, expect, test } from "vitest";
import type { Binding } from "../../../../src/core/base/model/address.ts";
import type { LiveIntegration } from "../../../../src/core/base/model/live.ts";
import type { IntegrationCreate, IntegrationSource, IntegrationSpec, Manifest } from "../../../../src/core/base/model/manifest.ts";
import { integration } from "../../../../src/core/kinds/integration/index.ts";
import { leafDigests } from "../../../../src/core/kinds/leaves.ts";
import {
  accountViewOf,
  foundIn,
  liveIntegration,
  liveTag,
  requestsOf,
  resourceOf,
  type SmallAccount,
  user,
} from "../../../support/accounts/view.ts";

const create = {
  destinationSchema: "orders",
  replicationFrequency: "60",
  onSchemaUpdate: "enableColumnChanges",
  enabled: false,
  sourceConfig: {
    type: "postgres",
    name: "returns-pg",
    authMethod: "direct",
    connectionType: "source",
    owners: [{ user: "DANA@example.com" }, { user: "bot@example.com", as: "email" }, { user: "bot@example.com", as: "name" }, "plain"],
    connection: { hostname: "db", port: 5432, password: { $secret: { env: "DB" } } },
  },
  sourceSettings: { max_clients: 4, incremental_mode: "Change Stream" },
} satisfies IntegrationCreate;
const fromSource = { destinationSchema: "orders_copy", replicationFrequency: "60", sourceId: "s-8f1c" } satisfies IntegrationCreate;
const spec: IntegrationSpec = { destination: { id: "d-12" }, create };
const returns = (change: Partial<IntegrationSpec> = {}, more: Partial<Manifest> = {}): Manifest =>
  resourceOf("Integration", "returns", { ...spec, ...change }, more);
const existing = (change: Partial<IntegrationSpec> = {}): Manifest =>
  returns({ create: { ...create, sourceConfig: { ...create.sourceConfig, name: "orders-pg" } }, ...change });
const bound = (binding: Binding): SmallAccount => ({ bindings: new Map([["Integration/returns", binding]]) });
const never: Partial<Manifest> = { lifecycle: { create: "never" } };
const lake = (create: "ifMissing" | "never") => resourceOf("Asset", "lake", { name: "Lake", type: "s3" }, { lifecycle: { create } });

test("the body of a create has exactly the values of the manifest, with users as ids", () => {
  const { owners: _, ...sourceConfig } = create.sourceConfig;
  expect(requestsOf(foundIn(accountViewOf([returns()]), "Integration"))).toEqual([
    [
      "POST /v1/integrations",
      {
        destinationId: "d-12",
        destinationSchema: "orders",
        replicationFrequency: "60",
        onSchemaUpdate: "enableColumnChanges",
        enabled: false,
        sourceConfig: { ...sourceConfig, owners: ["u-1", "bot@example.com", "Automation", "plain"] },
        sourceSettings: { max_clients: 4, incremental_mode: "Change Stream" },
      },
    ],
  ]);
});

test("a create from an existing source has only what the manifest has, with tags as ids", () => {
  const more = { name: "Copy", tags: ["pii", { id: "t-9" }], agentId: null, cronExpression: "0 4 * * *", destinationSettings: { db: "x" } };
  const manifests = [returns({ create: { ...fromSource, ...more } }), resourceOf("Tag", "pii", { name: "PII" })];
  const found = foundIn(accountViewOf(manifests, { integrations: [], tags: [liveTag("t-1", "PII")] }), "Integration");
  const body = { ...fromSource, destinationId: "d-12", ...more, tags: ["t-1", "t-9"] };
  expect(requestsOf(found)).toEqual([["POST /v1/integrations", body]]);
  expect(found.items[0]?.naturalKey).toEqual({ sourceId: "s-8f1c", destinationId: "d-12", destinationSchema: "orders_copy" });
});

test("a create waits for its source, and is blocked if a tag is not in the account", () => {
  const [waits, tagged] = [
    { ...fromSource, sourceId: { asset: "lake" } },
    { ...fromSource, tags: ["pii"] },
  ].map((one) => returns({ create: one }));
  if (waits === undefined || tagged === undefined) throw new Error("two manifests");
  const view = accountViewOf([waits, lake("ifMissing")], { integrations: [] });
  expect(view.identities.get("Integration/returns")).toEqual({ state: "waits", on: ["Asset/lake"] });
  const found = foundIn(accountViewOf([tagged, resourceOf("Tag", "pii", { name: "Other" })], { integrations: [] }), "Integration");
  expect([found.items, found.blocked.map(({ code }) => code)]).toEqual([[], ["E_DEPENDENCY"]]);
});

test("a create without owners has none in its body", () => {
  const { owners: _, ...sourceConfig } = create.sourceConfig;
  const [request] = requestsOf(foundIn(accountViewOf([returns({ create: { ...create, sourceConfig } })]), "Integration"));
  expect(request?.[1]).toMatchObject({ sourceConfig });
  expect(request?.[1]).not.toHaveProperty("sourceConfig.owners");
});

describe("a manifest is identified with", () => {
  const twins = [liveIntegration("x1", "A", "returns-pg"), liveIntegration("x2", "B", "returns-pg")];
  const rows: readonly [sentence: string, manifests: readonly Manifest[], view: SmallAccount, identity: object][] = [
    [
      "the pinned integration, not the bound one",
      [returns({}, { id: "8f1c" })],
      bound({ id: "b27d" }),
      { state: "found", id: "8f1c", by: "pin" },
    ],
    [
      "the bound integration, not one that a look-up finds",
      [existing()],
      bound({ id: "b27d" }),
      { state: "found", id: "b27d", by: "binding" },
    ],
    ["the one with its source and destination", [existing()], {}, { state: "found", id: "8f1c", by: "look-up" }],
    ["none, if the same source has another destination", [existing({ destination: { id: "d-13" } })], {}, { state: "absent" }],
    ["the one that matches spec.match", [returns({ match: { name: "Billing" } })], {}, { state: "found", id: "b27d", by: "look-up" }],
    ["the one with the manifest's name, without create", [resourceOf("Integration", "Orders", {})], {}, { state: "found", id: "8f1c" }],
    ["a new one, if none is similar", [returns()], {}, { state: "absent" }],
    ["none, if it must not be created", [returns({}, never)], {}, { state: "blocked", code: "E_INTEGRATION_MISSING" }],
    ["none, if it cannot be created", [resourceOf("Integration", "x", {})], {}, { state: "blocked", code: "E_INTEGRATION_MISSING" }],
    [
      "the one that it expects, if that was recorded for a manifest that is gone",
      [resourceOf("Integration", "new", { expect: { name: "Billing", source: { name: "billing-pg" } } })],
      bound({ id: "b27d" }),
      { state: "found", id: "b27d", by: "look-up" },
    ],
    [
      "none, if one that it expects is not bound, with the command",
      [resourceOf("Integration", "new", { expect: { name: "Billing" } })],
      {},
      { state: "blocked", code: "E_INTEGRATION_MISSING", command: "dimsync bind Integration/new=b27d" },
    ],
    [
      "none, if the one that it expects belongs to another manifest",
      [resourceOf("Integration", "new", { expect: { name: "Billing" } }), returns()],
      bound({ id: "b27d" }),
      {
        state: "blocked",
        message: expect.stringMatching(/^The live integration with name "Billing" belongs to another manifest: b27d \(/u),
      },
    ],
    ...[
      ["another manifest still has it", [returns()], { name: "Billing" }],
      ["it expects another name", [], { name: "Orders 2" }],
      ["it expects another source", [], { name: "Billing", source: { name: "orders-pg" } }],
      ["it expects no name", [], { paused: false }],
    ].map(([why, others, expects]): (typeof rows)[number] => [
      `none that was recorded for another manifest, if ${why}`,
      [resourceOf("Integration", "new", { expect: expects }), ...(others as readonly Manifest[])],
      bound({ id: "b27d" }),
      { state: "blocked", code: "E_INTEGRATION_MISSING" },
    ]),
    ["a new one, if the existing source has no integration", [returns({ create: fromSource })], { integrations: [] }, { state: "absent" }],
    [
      "none, if the existing source has one whose schema no list shows",
      [returns({ create: fromSource })],
      {},
      { state: "blocked", code: "E_UNBOUND", command: "dimsync bind Integration/returns=8f1c" },
    ],
    [
      "a new one, if that of the existing source belongs to another manifest",
      [returns({ create: fromSource }), resourceOf("Integration", "one", {})],
      { bindings: new Map([["Integration/one", { id: "8f1c" }]]) },
      { state: "absent" },
    ],
    ["none, without a destination", [returns({ destination: undefined } as never)], {}, { state: "blocked", code: "E_MISSING_KEY" }],
    ["none, if it is gone", [existing({})], { ...bound({ id: "dead" }), goneIds: new Set(["dead"]) }, { state: "gone", id: "dead" }],
    ["the recovered one", [returns()], { recovered: new Map([["Integration/returns", "b27d"]]) }, { state: "found", by: "recovered" }],
    ["never the first of several", [returns()], { integrations: twins }, { state: "blocked", code: "E_AMBIGUOUS" }],
    [
      "none of several that belong to other manifests",
      [returns(), resourceOf("Integration", "one", {}), resourceOf("Integration", "two", {})],
      {
        integrations: twins,
        bindings: new Map([
          ["Integration/one", { id: "x1" }],
          ["Integration/two", { id: "x2" }],
        ]),
      },
      { state: "blocked", code: "E_INTEGRATION_MISSING", message: expect.stringContaining("x1 (Integration/one), x2 (Integration/two)") },
    ],
    [
      "none of several, if only one of them belongs to another manifest",
      [returns(), resourceOf("Integration", "one", {})],
      { integrations: twins, bindings: new Map([["Integration/one", { id: "x1" }]]) },
      { state: "blocked", code: "E_AMBIGUOUS" },
    ],
    ["never the first of several matches", [returns({ match: { destinationId: "d-12" } })], {}, { state: "blocked", code: "E_AMBIGUOUS" }],
    [
      "none, if one with its source and destination does not match spec.match",
      [existing({ match: { name: "Other" } })],
      {},
      { state: "blocked", code: "E_UNBOUND", command: "dimsync bind Integration/returns=8f1c" },
    ],
    [
      "none in a command that does more than it says, whatever the id is",
      [returns({ match: { name: "Other" } })],
      { integrations: [liveIntegration("x; reboot", "A", "returns-pg")] },
      { state: "blocked", code: "E_UNBOUND", command: "dimsync bind 'Integration/returns=x; reboot'" },
    ],
    [
      "one that waits for its destination",
      [returns({ destination: { asset: "lake" } }), lake("ifMissing")],
      {},
      { state: "waits", on: ["Asset/lake"] },
    ],
    [
      "none, if its destination is blocked",
      [returns({ destination: { asset: "lake" } }), lake("never")],
      {},
      { state: "blocked", code: "E_DEPENDENCY" },
    ],
  ];
  test.each(rows)("%s", (_, manifests, view, identity) => {
    expect(accountViewOf(manifests, view).identities.get(manifests[0]?.address ?? "")).toMatchObject(identity);
  });

  test("an ambiguous look-up names every candidate, whatever the order of the list", () => {
    const message = (integrations: readonly LiveIntegration[]) =>
      accountViewOf([returns()], { integrations }).identities.get("Integration/returns");
    expect(message(twins)).toMatchObject({ message: expect.stringMatching(/x1 \("A".*x2 \("B"/) });
    expect(message([...twins].reverse())).toEqual(message(twins));
  });
});

describe("for an existing integration, the steps by hand are", () => {
  const accepted: Binding = { id: "8f1c", sent: leafDigests((existing().spec as IntegrationSpec).create, "/create") };
  const changed = (part: Partial<Omit<IntegrationCreate, keyof IntegrationSource>>): IntegrationCreate => ({
    ...create,
    sourceConfig: { ...create.sourceConfig, name: "orders-pg" },
    ...part,
  });
  const rows: readonly [sentence: string, manifest: Manifest, binding: Binding, byHand: readonly object[]][] = [
    ["none, if it matches the manifest", existing({ expect: { paused: false, name: "Orders" } }), accepted, []],
    ["paused", existing({ expect: { paused: true } }), accepted, [{ path: "/paused", expected: true, actual: false }]],
    ["the name", existing({ expect: { name: "X" } }), accepted, [{ path: "/name", expected: "X", actual: "Orders" }]],
    [
      "source and destination",
      existing({ expect: { source: { type: "mysql" }, destination: { name: "Lake", type: "snowflake" } } }),
      accepted,
      [{ path: "/source/type" }, { path: "/destination/name", expected: "Lake", actual: "Warehouse" }],
    ],
    [
      "the destination that the manifest refers to",
      existing({ destination: { id: "d-13" } }),
      accepted,
      [{ path: "/destination/id", actual: "d-12" }],
    ],
    [
      "the source's name in create",
      returns(),
      { id: "8f1c", sent: leafDigests(create, "/create") },
      [{ path: "/source/name", expected: "returns-pg", actual: "orders-pg" }],
    ],
    [
      "the name and source of a create from an existing source",
      returns({ create: { ...fromSource, name: "Copy", sourceId: "s-1" } }),
      { id: "8f1c", sent: leafDigests({ ...fromSource, name: "Copy", sourceId: "s-1" }, "/create") },
      [
        { path: "/name", expected: "Copy", actual: "Orders" },
        { path: "/source/id", expected: "s-1", actual: "s-8f1c" },
      ],
    ],
    [
      "a member of create that changed later",
      existing({ create: changed({ replicationFrequency: "6h" }) } as Partial<IntegrationSpec>),
      accepted,
      [
        {
          path: "/spec/create/replicationFrequency",
          expected: "6h",
          command: "dimsync bind --accept Integration/returns",
        },
      ],
    ],
    [
      "a member of create that was removed",
      existing({ create: changed({ sourceSettings: { max_clients: 4 } }) } as Partial<IntegrationSpec>),
      accepted,
      [{ path: "/spec/create/sourceSettings/incremental_mode" }],
    ],
  ];
  test.each(rows)("%s", (_, manifest, binding, byHand) => {
    const found = foundIn(accountViewOf([manifest], bound(binding)), "Integration");
    expect(found.byHand).toMatchObject(byHand);
    expect(found.byHand).toHaveLength(byHand.length);
    expect(found).toMatchObject({ items: [], blocked: [], unseen: [] });
  });

  test("without a record of its create, `create` is unseen, but its source is compared", () => {
    const found = foundIn(accountViewOf([existing()], bound({ id: "8f1c" })), "Integration");
    expect(found.byHand).toEqual([]);
    expect(found.unseen[0]?.paths).toContain("/spec/create/replicationFrequency");
    expect(found.unseen[0]?.paths).not.toContain("/spec/create/sourceConfig/name");
    expect(JSON.stringify(found.unseen)).not.toContain('password"');
  });
});

test("an unknown owner is an error at its line, and nothing is created", () => {
  const sourceConfig = { ...create.sourceConfig, owners: ["u-1", { user: "nobody@example.com" }] };
  const found = foundIn(accountViewOf([returns({ create: { ...create, sourceConfig } })]), "Integration");
  expect(found.items).toEqual([]);
  expect(found.problems).toMatchObject([{ code: "E_UNKNOWN_REFERENCE", place: { pointer: "/spec/create/sourceConfig/owners/1" } }]);
});

describe("a value that no description of the service has is a hint", () => {
  const hints = (manifest: Manifest) =>
    (integration.hints?.(manifest) ?? []).map(({ code, severity, place }) => [code, severity, place?.pointer]);
  test.each([["60"], ["1440"], ["manual"], ["cron"]])("not %s", (replicationFrequency) => {
    expect(hints(returns({ create: { ...create, replicationFrequency } }))).toEqual([]);
  });
  test.each([["1h"], ["0"], ["60 "], ["Manual"], [""]])("%j", (replicationFrequency) => {
    expect(hints(returns({ create: { ...create, replicationFrequency } }))).toEqual([
      ["I_VALUE_NOT_KNOWN", "info", "/spec/create/replicationFrequency"],
    ]);
  });
  test("in each of the members, and not for a secret", () => {
    const settings = { incremental_mode: "xmin" };
    const sourceConfig = { type: "mysql", name: "n", authMethod: "password", connectionType: { $secret: { env: "X" } } };
    const found = hints(returns({ create: { ...create, onSchemaUpdate: "all", sourceConfig, sourceSettings: settings } }));
    expect(found.map(([, , pointer]) => pointer)).toEqual([
      "/spec/create/onSchemaUpdate",
      "/spec/create/sourceConfig/authMethod",
      "/spec/create/sourceSettings/incremental_mode",
    ]);
  });
});

test("an owner whose e-mail address several users have is an error at its line, with all of them", () => {
  const users = [user("u-9", "dana@example.com", "Dana"), user("u-8", "dana@example.com", "Dana")];
  const sourceConfig = { ...create.sourceConfig, owners: [{ user: "dana@example.com" }] };
  const found = foundIn(accountViewOf([returns({ create: { ...create, sourceConfig } })], { users }), "Integration");
  expect(found.items).toEqual([]);
  expect(found.problems).toMatchObject([
    { code: "E_AMBIGUOUS", message: expect.stringMatching(/u-8.*u-9/u), place: { pointer: "/spec/create/sourceConfig/owners/0" } },
  ]);
});
