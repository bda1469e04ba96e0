import { createTwoFilesPatch } from "diff";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AccountState, SchemaMap } from "../../src/embedded/index.ts";
import { type AccountProject, openAccountProject } from "../support/accounts/project.ts";

let project: AccountProject;
beforeEach(async () => {
  project = await openAccountProject();
});
afterEach(() => project.close());

/** The removed and added lines of the diff. */
function changedLines(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap((file) =>
    createTwoFilesPatch("", "", before[file] ?? "", after[file] ?? "", "", "", { context: 0 })
      .split("\n")
      .slice(3)
      .filter((line) => /^[-+](?![-+]{2})/u.test(line)),
  );
}

const ordersSchemas = (account: AccountState): SchemaMap => account.integrations.find(({ id }) => id === "8f1c")?.schemas ?? {};
const column = { nameInDestination: "c", enabled: true, hashed: false, isPrimaryKey: false };

describe("a second import changes only the lines that have to change", () => {
  test.each<readonly [sentence: string, change: (account: AccountState) => void, lines: readonly string[]]>([
    [
      "an integration is paused",
      ({ integrations: [orders] }) => void Object.assign(orders ?? {}, { paused: true }),
      ["-    paused: false", "+    paused: true"],
    ],
    [
      "a column is hashed in one table: it becomes an exception in the literal tree",
      (account) => void Object.assign(ordersSchemas(account)["public"]?.tables["customers"]?.columns["email"] ?? {}, { hashed: true }),
      ["+  schemas:", "+    public:", "+      tables:", "+        customers: { columns: { email: { hashed: true } } }"],
    ],
    [
      "a table is disabled",
      (account) => void Object.assign(ordersSchemas(account)["public"]?.tables["users"] ?? {}, { enabled: false }),
      ["+  schemas:", "+    public:", "+      tables:", "+        users: { enabled: false }"],
    ],
    [
      "a new unhashed column is added to the list",
      (account) => void Object.assign(ordersSchemas(account)["reporting"]?.tables["daily_sales"]?.columns ?? {}, { region: column }),
      [
        "-      match: { schema: [reporting], column: [day, total_cents] }",
        "+      match: { schema: [reporting], column: [day, region, total_cents] }",
      ],
    ],
    [
      "a new disabled table is added to the list of disabled tables",
      (account) =>
        void Object.assign(ordersSchemas(account)["public"]?.tables ?? {}, {
          audit_logins: { nameInDestination: "x", enabled: false, syncMode: "full", columns: {} },
        }),
      [
        "-      match: { schema: [public], table: [audit_events] }",
        "+      match: { schema: [public], table: [audit_events, audit_logins] }",
      ],
    ],
    [
      "a column that no longer exists is removed from the list",
      (account) => void delete ordersSchemas(account)["reporting"]?.tables["daily_sales"]?.columns["total_cents"],
      ["-      match: { schema: [reporting], column: [day, total_cents] }", "+      match: { schema: [reporting], column: [day] }"],
    ],
    [
      "an owner and a description change",
      ({ tags: [pii] }) => void Object.assign(pii ?? {}, { owner: "sam@example.com", description: "Personal" }),
      [
        "-  description: Contains personal data",
        "-  owner: { user: privacy@example.com }",
        "+  description: Personal",
        "+  owner: { user: sam@example.com }",
      ],
    ],
    [
      "the owner's name instead of the e-mail address is not a change",
      ({ tags: [pii] }) => void Object.assign(pii ?? {}, { owner: "Privacy team" }),
      [],
    ],
    [
      "a tag is attached to an integration, and to a resource of unknown type",
      ({ tags: [, finance] }) =>
        void finance?.relations.push(
          { resourceId: "8f1c", resourceType: "Integration", taggedBy: "u-1" },
          { resourceId: "m-1", resourceType: "Monitor", taggedBy: "u-1" },
        ),
      [
        "+    - integration: orders",
        "+  # Also tagged; the service does not return the type of these. To manage one, add it to resources (a monitor as `monitor`):",
        "+  # - dataAsset: { id: m-1 }",
      ],
    ],
    [
      "a tag moves from its only integration to another",
      ({ tags: [, finance] }) => void Object.assign(finance?.relations[0] ?? {}, { resourceId: "8f1c" }),
      ["-    - integration: billing", "+    - integration: orders"],
    ],
    [
      "a schema and its only table are renamed",
      (account) => {
        const schemas = ordersSchemas(account);
        const { reporting } = schemas;
        delete schemas["reporting"];
        if (reporting?.tables["daily_sales"] !== undefined)
          schemas["reports"] = { ...reporting, tables: { weekly_sales: reporting.tables["daily_sales"] } };
      },
      [
        "-      match: { schema: [public, reporting] }",
        "+      match: { schema: [public, reports] }",
        "-    - id: live-tables-on-2",
        "-      match: { schema: [reporting], table: [daily_sales] }",
        "-      set: { enabled: true }",
        "+    - id: live-tables-on-2",
        "+      match: { schema: [reports], table: [weekly_sales] }",
        "+      set: { enabled: true }",
        "-      match: { schema: [reporting], column: [day, total_cents] }",
        "+      match: { schema: [reports], column: [day, total_cents] }",
      ],
    ],
    [
      "an only schema is renamed",
      ({ integrations }) => {
        const billing = integrations.find(({ id }) => id === "b27d");
        const [schema] = Object.values(billing?.schemas ?? {});
        if (billing !== undefined && schema !== undefined) billing.schemas = { invoicing: schema };
      },
      [
        "-      match: { schema: [billing] }",
        "+      match: { schema: [invoicing] }",
        "-      match: { schema: [billing], table: [accounts, invoices, ledger] }",
        "+      match: { schema: [invoicing], table: [accounts, invoices, ledger] }",
        "-      match: { schema: [billing], column: [contact_email, contact_phone] }",
        "+      match: { schema: [invoicing], column: [contact_email, contact_phone] }",
        "-        schema: [billing]",
        "+        schema: [invoicing]",
      ],
    ],
    [
      "a tag loses its owner",
      ({ tags: [pii] }) => void Object.assign(pii ?? {}, { owner: "" }),
      ["-  owner: { user: privacy@example.com }"],
    ],
    [
      "a tag loses its last resource",
      ({ tags: [, finance] }) => void finance?.relations.pop(),
      ["-  resources:", "-    - integration: billing", "+  resources: []"],
    ],
    [
      "an asset is renamed",
      ({ integrations }) => {
        for (const { destination } of integrations) destination.name = "Main warehouse";
      },
      ["-  name: Warehouse", "+  name: Main warehouse"],
    ],
  ])("%s", async (_, change, lines) => {
    await project.importJson();
    const before = await project.files();
    project.service.mutate(change);
    const report = await project.importJson();
    expect(report.remaining).toEqual([]);
    expect(changedLines(before, await project.files())).toEqual(lines);
    expect((await project.importJson()).files).toEqual([]);
  });

  test("the first import lists the files it created, the second one prints a diff", async () => {
    expect((await project.runImport()).out).toContain("created   manifests/integrations/orders.yaml");
    project.service.mutate(({ integrations: [orders] }) => {
      if (orders !== undefined) orders.paused = true;
    });
    const { out, code } = await project.runImport();
    expect(out).toContain("changed   manifests/integrations/orders.yaml");
    expect(out).toContain("-    paused: false");
    expect(out).toContain("+    paused: true");
    expect(out).toContain("The plan after the import is empty");
    expect(code).toBe(0);
  });
});

test("the user's rules stay, and nodes that they do not cover stay unmanaged", async () => {
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
  const report = await project.importJson({}, ["Integration/sales"]);
  expect(report.remaining).toEqual([]);
  const after = await project.read("manifests/hand.yaml");
  expect(after).toContain("expect: { paused: false }");
  expect(after).toContain("# GDPR register 12\n    - { id: pii,");
  expect(after).toContain("        users: { columns: { email: { hashed: false } } }");
  expect(after).not.toContain("live-");
  expect(report.bindings["Integration/sales"]).toBe("8f1c");
  expect(Object.keys(await project.files()).filter((file) => file.includes("integrations/"))).toEqual([]);
});

test("if the service returns no schemas, the SchemaConfig is not changed and a notice says so", async () => {
  await project.importJson();
  const before = await project.files();
  project.service.mutate(({ integrations: [orders] }) => void Object.assign(orders ?? {}, { schemas: {} }));
  const report = await project.importJson();
  expect(report.notices).toEqual(["The service returned no schemas for Integration/orders, so SchemaConfig/orders was not changed."]);
  expect(report.remaining).toEqual(["Schemas/orders: waits for Integration/orders"]);
  expect(changedLines(before, await project.files())).toEqual([]);
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
  expect(report.remaining).toEqual([]);
  expect(await project.read("manifests/fleet.yaml")).toBe(before);
  const shard = await project.read("manifests/integrations/shop-shard-01.yaml");
  expect(shard).toContain("priority: 1");
  expect(shard).toContain("users: { enabled: false }");
  expect(await project.read("manifests/integrations/shop-shard-02.yaml")).not.toContain("SchemaConfig");
});

test("--literal writes a literal tree, and updates it if passed again", async () => {
  expect((await project.importJson({ literal: true })).remaining).toEqual([]);
  const before = await project.read("manifests/integrations/orders.yaml");
  expect(before).not.toContain("rules:");
  expect(before).toContain("            password_hash: { enabled: false, hashed: false }");
  project.service.mutate(
    (account) => void Object.assign(ordersSchemas(account)["reporting"]?.tables["daily_sales"]?.columns ?? {}, { region: column }),
  );
  expect((await project.importJson()).files).toEqual([]);
  await project.importJson({ literal: true });
  expect(await project.read("manifests/integrations/orders.yaml")).toBe(
    before.replace(/( +)total_cents: \{ enabled: true, hashed: false \}\n(?=---)/u, "$&$1region: { enabled: true, hashed: false }\n"),
  );
});

test("a value that comes from a variable is not overwritten", async () => {
  await project.write(
    "manifests/hand.yaml",
    "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders, id: 8f1c }\nspec:\n  expect: \u0024{var.expected}\n",
  );
  await project.write("dimsync.yaml", `${await project.read("dimsync.yaml")}vars: { expected: { paused: true } }\n`);
  const report = await project.importJson({}, ["Integration/orders"]);
  expect(report.failures).toMatchObject([{ address: "Integration/orders" }]);
  expect(report.exit).toEqual({ code: 1, reasons: ["failures", "not-empty"] });
  expect(await project.read("manifests/hand.yaml")).toContain("\u0024{var.expected}");
});
