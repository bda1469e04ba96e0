// A second import adds what is new, and changes nothing that a manifest covers.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AccountState, SchemaMap } from "../../../src/embedded/index.ts";
import { runDrift } from "../../../src/features/drift/command.ts";
import type { DriftFlags } from "../../../src/features/drift/index.ts";
import { type AccountProject, openAccountProject } from "../../support/accounts/project.ts";

let project: AccountProject;
beforeEach(async () => {
  project = await openAccountProject();
});
afterEach(() => project.close());

const ordersSchemas = (account: AccountState): SchemaMap => account.integrations.find(({ id }) => id === "8f1c")?.schemas ?? {};

test("a second import adds manifests of new objects, and changes no SchemaConfig", async () => {
  await project.importJson();
  const before = await project.files();
  project.service.mutate((account) => {
    const schemas = ordersSchemas(account);
    Object.assign(schemas["public"]?.tables["customers"]?.columns["email"] ?? {}, { hashed: true });
    Object.assign(schemas["public"]?.tables ?? {}, {
      audit_logins: { nameInDestination: "x", enabled: false, syncMode: "full", columns: {} },
    });
    const orders = account.integrations.find(({ id }) => id === "8f1c");
    if (orders !== undefined) account.integrations.push({ ...structuredClone(orders), id: "n3w", name: "Returns" });
  });
  const report = await project.importJson();
  expect(report.remaining).toEqual([]);
  const after = await project.files();
  const added = Object.keys(after).filter((file) => !(file in before));
  expect(added).toEqual(["manifests/integrations/returns.yaml"]);
  for (const file of Object.keys(before).filter((name) => name.startsWith("manifests/"))) expect(after[file]).toBe(before[file]);
  expect(after["manifests/integrations/returns.yaml"]).toContain("audit_logins");
  expect((await project.importJson()).files).toEqual([]);
});

describe("what a manifest covers stays as it is, and the plan after the import reports", () => {
  test.each<readonly [sentence: string, change: (account: AccountState) => void, remaining: readonly string[]]>([
    [
      "an integration that is paused",
      ({ integrations: [orders] }) => void Object.assign(orders ?? {}, { paused: true }),
      [
        'Integration/orders: /paused: Resume the integration "Orders" (8f1c) in the service, or correct spec.expect.paused: spec.expect is never sent. With service: { extended: true }, dimsync sends spec.settings.paused.',
      ],
    ],
    [
      "no column that is gone, which is a warning of the plan",
      (account) => void delete ordersSchemas(account)["reporting"]?.tables["daily_sales"]?.columns["total_cents"],
      [],
    ],
    [
      "another owner and description",
      ({ tags: [pii] }) => void Object.assign(pii ?? {}, { owner: "sam@example.com", description: "Personal" }),
      ["Tag/pii: update /description, /owner"],
    ],
    [
      "not the name of the owner in place of the e-mail address",
      ({ tags: [pii] }) => void Object.assign(pii ?? {}, { owner: "Privacy team" }),
      [],
    ],
    ["a tag without an owner", ({ tags: [pii] }) => void Object.assign(pii ?? {}, { owner: "" }), ["Tag/pii: update /owner"]],
    [
      "an asset that is renamed",
      ({ integrations }) => {
        for (const { destination } of integrations) destination.name = "Main warehouse";
      },
      ["Asset/warehouse: update /name"],
    ],
  ])("%s", async (_, change, remaining) => {
    await project.importJson();
    const before = await project.files();
    project.service.mutate(change);
    const report = await project.importJson();
    expect(report.files).toEqual([]);
    expect(await project.files()).toEqual(before);
    expect(report.remaining).toEqual(remaining);
    expect([report.exit.code, report.command]).toEqual(
      remaining.length === 0 ? [0, undefined] : [1, "dimsync drift --resolve accept -t prod"],
    );
  });

  test("and the command that accepts it makes the plan empty", async () => {
    expect((await project.runImport()).out).toContain("created   manifests/integrations/orders.yaml");
    project.service.mutate(({ integrations: [orders] }) => {
      if (orders !== undefined) orders.paused = true;
    });
    const { out, code } = await project.runImport();
    expect(out).toMatch(
      /The plan after the import is not empty:\n {4}Integration\/orders: \/paused: [\s\S]*\n {6}dimsync drift --resolve accept -t prod\n$/u,
    );
    expect(code).toBe(1);
    await project.run<DriftFlags>(runDrift, { target: ["prod"], resolve: "accept", failOn: [], allow: [] });
    expect((await project.importJson()).remaining).toEqual([]);
  });
});

test("the user's manifests stay, also if they are stricter than the account", async () => {
  await project.write(
    "manifests/hand.yaml",
    `apiVersion: dimsync/v1
kind: Integration
metadata: { name: sales, id: 8f1c } # pinned by hand
spec: { expect: { paused: true } }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: sales }
spec:
  integration: sales
  rules:
    # GDPR register 12
    - { id: pii, match: { column: "*email*" }, set: { hashed: true } }
`,
  );
  const before = await project.read("manifests/hand.yaml");
  const report = await project.importJson({}, ["Integration/sales"]);
  expect(report.remaining).toEqual([
    'Integration/sales: /paused: Pause the integration "Orders" (8f1c) in the service, or correct spec.expect.paused: spec.expect is never sent. With service: { extended: true }, dimsync sends spec.settings.paused.',
  ]);
  expect(report.notices).toEqual([
    expect.stringMatching(
      /^Schemas\/sales is stricter than the account, and import leaves that as it is\. Apply would protect public\.\S+\.\S+, .* and 1 more node\.$/u,
    ),
  ]);
  const after = await project.read("manifests/hand.yaml");
  expect([after.slice(0, before.length), after.slice(before.length)]).toEqual([before, expect.stringContaining("kind: Asset")]);
  expect(report.bindings["Integration/sales"]).toBe("8f1c");
  expect(Object.keys(await project.files()).filter((file) => file.includes("integrations/"))).toEqual([]);
});

test("if the service returns no schemas, the SchemaConfig stays and waits", async () => {
  await project.importJson();
  const before = await project.files();
  project.service.mutate(({ integrations: [orders] }) => void Object.assign(orders ?? {}, { schemas: {} }));
  const report = await project.importJson();
  expect(report.remaining).toEqual(["Schemas/orders: waits for Integration/orders"]);
  expect(await project.files()).toEqual(before);
});

test("a SchemaConfig of many integrations is not changed for one of them", async () => {
  await project.write(
    "manifests/fleet.yaml",
    `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: shops }
spec:
  integrations: { names: ["shop-shard-*"] }
  rules:
    - { id: iban, match: { schema: public, table: payments, column: iban }, set: { hashed: true } }
    - { id: all, match: { schema: public, table: users }, set: { enabled: true } }
`,
  );
  const before = await project.read("manifests/fleet.yaml");
  project.service.mutate((account) => {
    const users = account.integrations.find(({ id }) => id === "51a1")?.schemas["public"]?.tables["users"];
    if (users !== undefined) users.enabled = false;
  });
  const report = await project.importJson();
  expect(report.remaining).toEqual(["Schemas/shop-shard-01: update /schemas/public/tables/users/enabled"]);
  expect(await project.read("manifests/fleet.yaml")).toBe(before);
  for (const shard of ["01", "02"])
    expect(await project.read(`manifests/integrations/shop-shard-${shard}.yaml`)).not.toContain("SchemaConfig");
});

test("a rule that hashes by label, for all integrations, wins over what import wrote", async () => {
  await project.importJson();
  await project.write(
    "manifests/labels.yaml",
    `apiVersion: dimsync/v1
kind: Classification
metadata: { name: personal }
spec: { labels: [{ label: pii, match: { column: [email, phone] } }] }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: fleet }
spec: { integrations: { names: ["*"] }, priority: -5, rules: [{ id: pii, match: { label: pii }, set: { hashed: true } }] }
`,
  );
  const { notices } = await project.importJson();
  expect(notices.join(" ")).toContain("Apply would make 9 changes that protect");
});
