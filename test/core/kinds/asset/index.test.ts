// An asset is created once, updated where it can be, and its secrets are never compared by value.

import { describe, expect, test } from "vitest";
import type { Binding } from "../../../../src/core/base/model/address.ts";
import type { AssetSpec, Manifest } from "../../../../src/core/base/model/manifest.ts";
import { kindNamed } from "../../../../src/core/kinds/index.ts";
import { leafDigests } from "../../../../src/core/kinds/leaves.ts";
import { assets, type LiveAsset } from "../../../../src/core/kinds/lists.ts";
import { seedAccount } from "../../../../src/embedded/index.ts";
import {
  accountViewOf,
  foundIn,
  liveIntegration,
  liveTag,
  requestsOf,
  resourceOf,
  type SmallAccount,
  warehouse,
} from "../../../support/accounts/view.ts";
import { inLists } from "../../../support/steps.ts";
import { assetManifest, endings, scene, together } from "../../apply/scene.ts";

const key = { $secret: { env: "KEY" } };
const connection = { account: "analytics", private_key: key };
const spec: AssetSpec = { name: "Warehouse", type: "snowflake", description: "Central", secretVersion: 3, connection };
const sent = leafDigests({ name: "Warehouse", description: "Central", connection: { account: "analytics" } });
const recorded: Binding = { id: "d-12", secretVersion: 3, sent };

const asset = (change: Partial<AssetSpec> = {}, more: Partial<Manifest> = {}): Manifest =>
  resourceOf("Asset", "warehouse", { ...spec, ...change }, more);
const bound = (binding: Binding, more: SmallAccount = {}): SmallAccount => ({
  bindings: new Map([["Asset/warehouse", binding]]),
  ...more,
});
const path = "PATCH /v1/assets/d-12";

test.each([
  [undefined, ""],
  [null, ""],
  ["Raw", "Raw"],
  [7.5, undefined],
  [{ text: "Raw" }, undefined],
])("a description %o in a response is read as %o", (shown, read) => {
  const value = { id: "d-12", description: shown };
  expect(assets.decode({ value, above: "", where: { method: "GET", path: "/v1/assets/d-12", sent: "answered" } }).description).toBe(read);
});

describe("for a bound asset, plan sends", () => {
  const rows: readonly [sentence: string, manifest: Manifest, view: SmallAccount, body: object | undefined][] = [
    ["nothing, if it equals the record", asset(), bound(recorded), undefined],
    ["only the description, if that changed", asset({ description: "New" }), bound(recorded), { description: "New" }],
    ["name and description, if both changed", asset({ name: "W", description: "New" }), bound(recorded), { name: "W", description: "New" }],
    [
      "the whole connection, if one of its members changed",
      asset({ connection: { account: "other", private_key: key } }),
      bound(recorded),
      { connection: { account: "other", private_key: key } },
    ],
    [
      "the whole connection, if a member was removed",
      asset({ connection: { private_key: key } }),
      bound(recorded),
      { connection: { private_key: key } },
    ],
    [
      "no connection, if the manifest no longer has one",
      resourceOf("Asset", "warehouse", { name: "Warehouse" }),
      bound(recorded),
      undefined,
    ],
    ["only the connection, if the version was raised", asset({ secretVersion: 4 }), bound(recorded), { connection }],
    [
      "all owners as ids, if one of them changed",
      asset({ owners: [{ user: "dana@example.com" }, "u-9"] }),
      bound({ ...recorded, sent: { ...sent, ...leafDigests({ owners: ["u-8", "u-9"] }) } }),
      { owners: ["u-1", "u-9"] },
    ],
    ["no owners, if the manifest has an empty list", asset({ owners: [] }), bound(recorded), { owners: [] }],
    [
      "the authentication and the configuration, if they were added",
      asset({ authMethod: "keyPair", configuration: { agentId: "a" } }),
      bound(recorded),
      { authMethod: "keyPair", configuration: { agentId: "a" } },
    ],
    ["nothing, if the version was lowered", asset({ secretVersion: 2 }), bound(recorded), undefined],
    ["the connection, if a version was added that was not sent before", asset(), bound({ id: "d-12", sent }), { connection }],
    ["never the connection with version 0", asset({ secretVersion: 0, connection: { account: "x" } }), bound(recorded), undefined],
    [
      "once what is not recorded, but no connection",
      asset({ description: "New" }),
      bound({ id: "d-12", secretVersion: 3 }),
      { description: "New" },
    ],
    [
      "once what was added after an import",
      resourceOf("Asset", "warehouse", { name: "Warehouse", secretVersion: 0, owners: ["u-9"], configuration: { agentId: "a" } }),
      bound({ id: "d-12", secretVersion: 0 }),
      { owners: ["u-9"], configuration: { agentId: "a" } },
    ],
    [
      "lists of the configuration without blanks and doubles",
      asset({ configuration: { additionalDatabases: ["A", "A ", "B"] } }),
      bound(recorded),
      { configuration: { additionalDatabases: ["A", "B"] } },
    ],
    [
      "everything that integrations do not show, if the version was raised without a record",
      asset(),
      bound({ id: "d-12", secretVersion: 2 }),
      { description: "Central", connection },
    ],
    [
      "the name, if integrations show another one",
      asset({ name: "Renamed" }),
      bound({ ...recorded, sent: { ...sent, "/name": leafDigests({ name: "Renamed" })["/name"] ?? "" } }),
      { name: "Renamed" },
    ],
    [
      "no name, if integrations already show it, whatever was sent before",
      asset(),
      bound({ ...recorded, sent: { ...sent, "/name": "000000000000" } }),
      undefined,
    ],
    ["the name, if no integration shows the asset", asset({ name: "W" }), bound(recorded, { integrations: [] }), { name: "W" }],
    ["no ignored fields", asset({ description: "New" }), bound(recorded, { ignored: (_, at) => at === "/description" }), undefined],
  ];
  test.each(rows)("%s", (_, manifest, view, body) => {
    expect(requestsOf(foundIn(accountViewOf([manifest], view), "Asset"))).toEqual(body === undefined ? [] : [[path, body]]);
  });
});

describe("of an asset that can be read, plan compares what is shown", () => {
  const live: LiveAsset = {
    ...{ id: "d-12", name: "Warehouse", type: "snowflake", description: "Central" },
    ...{ authMethod: undefined, connectionType: "destination", owners: ["u-1", "dana@example.com"] },
    ...{ configuration: undefined, connection: undefined },
  };
  const compared = (change: Partial<AssetSpec>, shown: Partial<LiveAsset>, binding: Binding, more: SmallAccount = {}) => {
    const view = accountViewOf([asset({ secretVersion: 3, ...change })], bound(binding, more));
    const kind = kindNamed("Asset");
    const unit = kind?.units(view.manifests, view).units[0];
    if (kind === undefined || unit === undefined) throw new Error("There is no unit.");
    return inLists(kind.diff(unit, { references: [], asset: { ...live, ...shown } }, view));
  };

  test.each<[sentence: string, change: Partial<AssetSpec>, shown: Partial<LiveAsset>, binding: Binding, body: object | undefined]>([
    ["also if nothing is recorded", { description: "New" }, {}, { id: "d-12", secretVersion: 3 }, { description: "New" }],
    ["not the record, which is older", {}, { description: "Changed by somebody" }, recorded, { description: "Central" }],
    ["a description that is empty", { description: "" }, { description: "" }, recorded, undefined],
    ["owners in any order and form", { owners: [{ user: "dana@example.com" }, "u-1"] }, {}, recorded, undefined],
    ["owners that differ", { owners: ["u-1"] }, {}, recorded, { owners: ["u-1"] }],
    ["owners that are to be removed", { owners: [] }, {}, recorded, { owners: [] }],
    ["owners that are not shown with the record", { owners: ["u-1"] }, { owners: undefined }, recorded, { owners: ["u-1"] }],
    [
      "the configuration, with lists in any order",
      { configuration: { defaultDatabase: "A", additionalDatabases: ["B", " C "] } },
      { configuration: { agentId: "a", defaultDatabase: "A", additionalDatabases: ["C", "B"] } },
      recorded,
      undefined,
    ],
    [
      "the configuration, which is sent as it is declared",
      { configuration: { defaultDatabase: "A", additionalDatabases: [] } },
      { configuration: { defaultDatabase: "A", additionalDatabases: ["C"] } },
      recorded,
      { configuration: { defaultDatabase: "A", additionalDatabases: [] } },
    ],
    ["shown members of the connection", {}, { connection: { account: "analytics", port: 1 } }, recorded, undefined],
    [
      "numbers of the connection as texts",
      { connection: { port: 5432, private_key: key } },
      { connection: { port: "5432" } },
      { id: "d-12", secretVersion: 3 },
      undefined,
    ],
    ["and sends the whole connection, if one of them differs", {}, { connection: { account: "other" } }, recorded, { connection }],
    ["and what is not shown with the record", { authMethod: "direct" }, {}, recorded, { authMethod: "direct" }],
    ["the name", {}, { name: "Renamed" }, recorded, { name: "Warehouse" }],
    [
      "and no connection that is flat, if the asset is multi_purpose",
      { secretVersion: 4 },
      { connectionType: "multi_purpose" },
      recorded,
      undefined,
    ],
    [
      "but one with blocks",
      { secretVersion: 4, connection: { etl: connection } },
      { connectionType: "multi_purpose" },
      recorded,
      { connection: { etl: connection } },
    ],
  ])("%s", (_, change, shown, binding, body) => {
    expect(requestsOf(compared(change, shown, binding))).toEqual(body === undefined ? [] : [[path, body]]);
  });

  test("a text that the service keeps with other white space counts as equal", () => {
    const spaced = { wanted: "Central ", live: "Central", since: "2026-01-01T00:00:00Z" };
    const notKept = new Map([["Asset/warehouse", new Map([["/description", spaced]])]]);
    expect(compared({ description: "Central " }, {}, recorded, { notKept })).toMatchObject({ items: [], notKept: [] });
  });

  test("and reports what only a create sets, and a flat connection", () => {
    const found = compared({ connectionType: "source", type: "bigquery" }, {}, recorded);
    expect(found.byHand.map((step) => [step.path, step.expected, step.actual])).toEqual([
      ["/type", "bigquery", "snowflake"],
      ["/connectionType", "source", "destination"],
    ]);
    const multiPurpose = { connectionType: "multi_purpose" };
    expect(compared({ connectionType: "destination" }, multiPurpose, recorded).byHand).toEqual([]);
    expect(compared({ secretVersion: 4 }, multiPurpose, recorded).blocked).toMatchObject([{ code: "E_FLAT_CONNECTION" }]);
  });

  test("and a PATCH that changes nothing of it did not converge", async () => {
    const at = await scene(together(assetManifest("warehouse", ", description: New").replace("ifMissing", "never")), {
      service: { observed: true, ids: "short", state: seedAccount() },
      config: { service: { extended: true }, client: { settleSeconds: 0 } },
      meddle: ({ method, path: at }) =>
        method === "GET" && at === "/v1/assets/d-13" ? { code: "OK", data: { id: "d-13", name: "warehouse", type: "s3" } } : undefined,
    });
    expect((await at.run(["bind", "Asset/warehouse=d-13"])).code).toBe(0);
    expect(endings((await at.apply()).result)).toEqual({ "update Asset/warehouse": "not-converged E_NOT_CONVERGED" });
  });
});

describe("the record contains", () => {
  const plainAsset = (more: Partial<Manifest> = {}) => resourceOf("Asset", "warehouse", { name: "Warehouse", secretVersion: 3 }, more);
  const unconnected = leafDigests({ name: "Warehouse", description: "Central" });
  const rows: readonly [sentence: string, manifest: Manifest, view: SmallAccount, binding: unknown][] = [
    ["the id, if it is pinned", plainAsset({ id: "d-12" }), {}, { id: "d-12", secretVersion: 3 }],
    [
      "the digests of what is sent or shown with it, but not of the connection",
      asset({}, { id: "d-12" }),
      {},
      { id: "d-12", secretVersion: 3, sent: unconnected },
    ],
    ["nothing new, if everything is recorded", asset(), bound(recorded), undefined],
    ["the version, if only the id is recorded", plainAsset(), bound({ id: "d-12" }), { id: "d-12", secretVersion: 3 }],
    ["the raised version, with the connection", asset({ secretVersion: 4 }), bound(recorded), { id: "d-12", secretVersion: 4, sent }],
    [
      "the old version, if the connection was not sent",
      asset({ secretVersion: 2, description: "New" }),
      bound(recorded),
      { id: "d-12", secretVersion: 3, sent: { ...sent, "/description": leafDigests({ description: "New" })["/description"] } },
    ],
    [
      "nothing of another object, if the id changed",
      asset({}, { id: "d-13" }),
      bound({ ...recorded, secretVersion: 2 }),
      { id: "d-13", secretVersion: 3, sent: leafDigests({ description: "Central" }) },
    ],
  ];
  test.each(rows)("%s", (_, manifest, view, binding) => {
    expect(foundIn(accountViewOf([manifest], view), "Asset").items.map((item) => item.binding)).toEqual(
      binding === undefined ? [] : [binding],
    );
  });

  test("no digest of a secret", () => {
    expect(Object.keys(sent)).toEqual(["/name", "/description", "/connection/account"]);
    expect(Object.keys(leafDigests({ connection }))).toEqual(["/connection/account"]);
  });
});

describe("an asset without an id", () => {
  const absent: Partial<AssetSpec> = { name: "Lake", type: "s3", connectionType: "destination" };
  const ifMissing: Partial<Manifest> = { lifecycle: { create: "ifMissing" } };
  const orders = resourceOf("Integration", "orders", {
    destination: { asset: "warehouse" },
    create: { sourceConfig: { name: "orders-pg", type: "postgres" } },
  });
  const rows: readonly [sentence: string, manifests: readonly Manifest[], command: string | undefined][] = [
    ["is blocked by default", [asset(absent)], "dimsync bind Asset/warehouse=ID"],
    ["is blocked if integrations show an asset with its name and type", [asset({}, ifMissing)], "dimsync bind Asset/warehouse=d-12"],
    [
      "is blocked if an integration that uses it exists with another destination",
      [asset(absent, ifMissing), orders],
      "dimsync bind Asset/warehouse=d-12",
    ],
    ["is created if no asset is similar", [asset(absent, ifMissing)], undefined],
    ["is created if only the type differs", [asset({ type: "bigquery" }, ifMissing)], undefined],
  ];
  test.each(rows)("%s", (_, manifests, command) => {
    const found = foundIn(accountViewOf(manifests), "Asset");
    if (command === undefined) {
      expect(found.items.map(({ verb }) => verb)).toEqual(["create"]);
      expect(found.blocked).toEqual([]);
    } else {
      expect(found.items).toEqual([]);
      expect(found.blocked).toMatchObject([{ address: "Asset/warehouse", code: "E_UNBOUND", command }]);
    }
  });

  test("takes over the id and the record of an address without a manifest", () => {
    const account = accountViewOf([asset({}, ifMissing)], { bindings: new Map([["Asset/other", { ...recorded, id: "d-12" }]]) });
    expect(foundIn(account, "Asset").items).toMatchObject([{ verb: "bind", renamedFrom: "Asset/other", binding: recorded }]);
  });

  test("is blocked if another manifest is bound to the asset with its name and type", () => {
    const other = resourceOf("Asset", "other", { name: "Other" });
    const account = accountViewOf([asset({}, ifMissing), other], { bindings: new Map([["Asset/other", { id: "d-12" }]]) });
    expect(foundIn(account, "Asset")).toMatchObject({ blocked: [{ code: "E_UNBOUND", command: "dimsync bind Asset/warehouse=d-12" }] });
  });

  test("is created if another manifest is bound to an asset with another name or type", () => {
    const other = resourceOf("Asset", "other", { name: "Other" });
    for (const change of [{ name: "Lake" }, { type: "s3" }]) {
      const account = accountViewOf([asset(change, ifMissing), other], { bindings: new Map([["Asset/other", { id: "d-12" }]]) });
      expect(foundIn(account, "Asset").items.map(({ verb, address }) => `${verb} ${address}`)).toContain("create Asset/warehouse");
    }
  });

  test("is created with exactly the values of the manifest, and shows each leaf", () => {
    const found = foundIn(accountViewOf([asset(absent, ifMissing)]), "Asset");
    const body = { name: "Lake", description: "Central", connection, type: "s3", connectionType: "destination" };
    expect(requestsOf(found)).toEqual([["POST /v1/assets", body]]);
    expect(found.items[0]?.changes.map((entry) => "path" in entry && [entry.path, entry.after])).toEqual([
      ["/name", "Lake"],
      ["/description", "Central"],
      ["/connection/account", "analytics"],
      ["/connection/private_key", key],
      ["/type", "s3"],
      ["/connectionType", "destination"],
    ]);
  });
});

describe("differences that no call can fix", () => {
  test("another type", () => {
    expect(foundIn(accountViewOf([asset({ type: "bigquery" })], bound(recorded)), "Asset")).toMatchObject({
      items: [],
      byHand: [{ address: "Asset/warehouse", path: "/type", expected: "bigquery", actual: "snowflake" }],
    });
  });

  test("a name and a connection that dimsync has not sent are unseen", () => {
    const unseen = (view: SmallAccount, manifest = asset()) =>
      foundIn(accountViewOf([manifest], view), "Asset").unseen.map(({ paths, reason }) => [...paths, reason.split(". ").at(-1)]);
    const raise = "To send the connection, set spec.secretVersion to 4.";
    expect(unseen(bound({ id: "d-12", secretVersion: 3 }))).toEqual([["/connection/account", raise]]);
    expect(unseen(bound({ id: "d-12", secretVersion: 3, sent: { "/description": "x" } }))).toEqual([["/connection/account", raise]]);
    expect(unseen(bound({ id: "d-12", secretVersion: 3 }, { integrations: [] }))[0]).toContain("/name");
    expect(unseen(bound(recorded))).toEqual([]);
    expect(unseen(bound({ id: "d-12", secretVersion: 2 }))).toEqual([]);
    const never = "dimsync does not send the connection while spec.secretVersion is 0.";
    expect(unseen(bound({ id: "d-12" }), asset({ secretVersion: 0 }))).toEqual([["/connection", never]]);
  });

  test("hostile ids are encoded in the path", () => {
    const hostile = { ...warehouse, id: "a/b" };
    const view = accountViewOf([asset({ name: "New" })], {
      ...bound({ ...recorded, id: "a/b" }),
      integrations: [liveIntegration("8f1c", "Orders", "orders-pg", { destination: hostile })],
    });
    expect(requestsOf(foundIn(view, "Asset"))).toEqual([["PATCH /v1/assets/a%2Fb", { name: "New" }]]);
  });
});

describe("a create", () => {
  const body = (change: Partial<AssetSpec>) => {
    const lifecycle = { create: "ifMissing" } as const;
    const manifests = [asset({ name: "New", ...change }, { lifecycle }), resourceOf("Tag", "pii", { name: "PII" })];
    const [request] = requestsOf(foundIn(accountViewOf(manifests, { tags: [liveTag("t-1", "PII")] }), "Asset"));
    return request?.[1];
  };
  test("has owners and tags as ids, and what else the manifest has", () => {
    const sent = body({
      owners: [{ user: "dana@example.com" }],
      tags: ["pii", { id: "t-2" }],
      connectionOverrides: { catalog: { role: "R" } },
    });
    expect(sent).toMatchObject({ owners: ["u-1"], tags: ["t-1", "t-2"], connectionOverrides: { catalog: { role: "R" } } });
  });
  test("of a multi_purpose asset has no connectionType", () => {
    expect(body({ connectionType: "multi_purpose", connection: { etl: connection } })).not.toHaveProperty("connectionType");
    expect(body({ connectionType: "destination" })).toHaveProperty("connectionType", "destination");
  });
});

test("a flat connection of a multi_purpose asset is a warning, because a change of it would not be written", () => {
  const codes = (change: Partial<AssetSpec>) =>
    (kindNamed("Asset")?.hints?.(asset({ connectionType: "multi_purpose", ...change })) ?? []).map(({ code }) => code);
  expect(codes({})).toEqual(["W_FLAT_CONNECTION"]);
  expect([codes({ connection: { etl: connection } }), codes({ secretVersion: 0 }), codes({ connectionType: "source" })]).toEqual([
    [],
    [],
    [],
  ]);
  expect(codes({ authMethod: "password", connection: { etl: connection } })).toEqual(["I_VALUE_NOT_KNOWN"]);
});
