import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTwoFilesPatch } from "diff";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AccountState, SchemaMap } from "../../src/embedded/index.ts";
import { recordListLengths } from "../../src/records/list-lengths.ts";
import { acquireLock } from "../../src/records/lock.ts";
import { type AccountProject, openAccountProject } from "../support/account-project.ts";

let world: AccountProject;
beforeEach(async () => {
  world = await openAccountProject();
});
afterEach(() => world.close());

const path = (file: string): string => join(world.folder, file);
const text = (file: string): Promise<string> => readFile(path(file), "utf8");
const write = async (file: string, content: string): Promise<void> => {
  await mkdir(join(path(file), ".."), { recursive: true });
  await writeFile(path(file), content);
};

/** Lines that went and came, without the rest of the diff. */
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

describe("a second import touches the lines that it must", () => {
  test.each<readonly [sentence: string, change: (account: AccountState) => void, lines: readonly string[]]>([
    [
      "an integration is paused",
      ({ integrations: [orders] }) => void Object.assign(orders ?? {}, { paused: true }),
      ["-    paused: false", "+    paused: true"],
    ],
    [
      "a column is hashed in one table: an exception in the tree",
      (account) => void Object.assign(ordersSchemas(account)["public"]?.tables["customers"]?.columns["email"] ?? {}, { hashed: true }),
      ["+  schemas:", "+    public:", "+      tables:", "+        customers: { columns: { email: { hashed: true } } }"],
    ],
    [
      "a table is switched off",
      (account) => void Object.assign(ordersSchemas(account)["public"]?.tables["users"] ?? {}, { enabled: false }),
      ["+  schemas:", "+    public:", "+      tables:", "+        users: { enabled: false }"],
    ],
    [
      "a new column in clear joins the list",
      (account) => void Object.assign(ordersSchemas(account)["reporting"]?.tables["daily_sales"]?.columns ?? {}, { region: column }),
      [
        "-      match: { schema: [reporting], column: [day, total_cents] }",
        "+      match: { schema: [reporting], column: [day, region, total_cents] }",
      ],
    ],
    [
      "a new table that is off joins the list of those that are off",
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
      "a column that is gone leaves the list",
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
    ["an owner in another form is the same person", ({ tags: [pii] }) => void Object.assign(pii ?? {}, { owner: "Privacy team" }), []],
    [
      "a tag is attached to an integration, and to something unknown",
      ({ tags: [, finance] }) =>
        void finance?.relations.push(
          { resourceId: "8f1c", resourceType: "Integration", taggedBy: "u-1" },
          { resourceId: "m-1", resourceType: "Monitor", taggedBy: "u-1" },
        ),
      [
        "+    - integration: orders",
        "+  # Tagged too, but the service doesn't say what these are. To manage one, add it to resources (a monitor as `monitor`):",
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
      "a tag has no owner any more",
      ({ tags: [pii] }) => void Object.assign(pii ?? {}, { owner: "" }),
      ["-  owner: { user: privacy@example.com }"],
    ],
    ["a tag's last resource goes", ({ tags: [, finance] }) => void finance?.relations.pop(), ["-    - integration: billing", "+    []"]],
    [
      "an asset is renamed",
      ({ integrations }) => {
        for (const { destination } of integrations) destination.name = "Main warehouse";
      },
      ["-  name: Warehouse", "+  name: Main warehouse"],
    ],
  ])("%s", async (_, change, lines) => {
    await world.importJson();
    const before = await world.files();
    world.service.mutate(change);
    const report = await world.importJson();
    expect(report.remaining).toEqual([]);
    expect(changedLines(before, await world.files())).toEqual(lines);
    expect((await world.importJson()).files).toEqual([]);
  });

  test("the first import shows what it created, the second one its diff", async () => {
    expect((await world.runImport()).out).toContain("created  manifests/integrations/orders.yaml");
    world.service.mutate(({ integrations: [orders] }) => {
      if (orders !== undefined) orders.paused = true;
    });
    const { out, code } = await world.runImport();
    expect(out).toContain("changed  manifests/integrations/orders.yaml");
    expect(out).toContain("-    paused: false");
    expect(out).toContain("+    paused: true");
    expect(out).toContain("the plan after it is empty");
    expect(code).toBe(0);
  });
});

test("rules of a person stay, and what they leave alone is left alone", async () => {
  await write(
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
  const report = await world.importJson({}, ["Integration/sales"]);
  expect(report.remaining).toEqual([]);
  const after = await text("manifests/hand.yaml");
  expect(after).toContain("expect: { paused: false }");
  expect(after).toContain("# GDPR register 12\n    - { id: pii,");
  expect(after).toContain("        users: { columns: { email: { hashed: false } } }");
  expect(after).not.toContain("live-");
  expect(report.bindings["Integration/sales"]).toBe("8f1c");
  expect(Object.keys(await world.files()).filter((file) => file.includes("integrations/"))).toEqual([]);
});

test("an integration that shows no schemas keeps its configuration, and a note says so", async () => {
  await world.importJson();
  const before = await world.files();
  world.service.mutate(({ integrations: [orders] }) => void Object.assign(orders ?? {}, { schemas: {} }));
  const report = await world.importJson();
  expect(report.notices).toEqual(["Integration/orders shows no schemas now, so SchemaConfig/orders was left as it is."]);
  expect(report.remaining).toEqual(["SchemaConfig/orders@orders: waits for Integration/orders"]);
  expect(changedLines(before, await world.files())).toEqual([]);
});

test("what many integrations share is not changed to fit one of them", async () => {
  await write(
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
  const before = await text("manifests/fleet.yaml");
  world.service.mutate((account) => {
    const users = account.integrations.find(({ id }) => id === "51a1")?.schemas["public"]?.tables["users"];
    if (users !== undefined) users.enabled = false;
  });
  const report = await world.importJson();
  expect(report.remaining).toEqual([]);
  expect(await text("manifests/fleet.yaml")).toBe(before);
  const shard = await text("manifests/integrations/shop-shard-01.yaml");
  expect(shard).toContain("priority: 1");
  expect(shard).toContain("users: { enabled: false }");
  expect(await text("manifests/integrations/shop-shard-02.yaml")).not.toContain("SchemaConfig");
});

test("a second target gets bindings, not files", async () => {
  await world.importJson();
  const before = await world.files();
  const staging = await openAccountProject();
  try {
    staging.service.mutate((account) => {
      for (const integration of account.integrations) integration.id = `st-${integration.id}`;
      for (const tag of account.tags) {
        tag.id = `st-${tag.id}`;
        for (const relation of tag.relations) relation.resourceId = `st-${relation.resourceId}`;
      }
      const [orders] = account.integrations;
      const email = orders?.schemas["public"]?.tables["users"]?.columns["email"];
      if (email !== undefined) email.hashed = true;
    });
    await writeFile(
      path("dimsync.yaml"),
      `${before["dimsync.yaml"]}  staging: { baseUrl: "${staging.service.url}", apiKey: { $secret: { env: DIMSYNC_API_KEY } } }\n`,
    );
    // The environment's key comes before that of any target.
    const env = { DIMSYNC_API_KEY: staging.service.apiKey };
    const report = await world.importJson({ target: ["staging"] }, [], env);
    expect(report.files).toEqual([]);
    expect(report.notices).toEqual(["SchemaConfig/orders speaks for another target too, so it was not changed to fit this one."]);
    expect(report.bindings).toMatchObject({ "Integration/orders": "st-8f1c", "Tag/pii": "st-t-1", "Asset/warehouse": "d-12" });
    // What is different there is said, and changes nothing.
    expect(report.remaining).toEqual(["SchemaConfig/orders@orders: update /schemas/public/tables/users/columns/email/hashed"]);
    expect(report.exit.code).toBe(1);
    const after = await world.files();
    expect(Object.keys(after).sort()).toEqual(
      Object.keys(before)
        .sort()
        .filter(() => true),
    );
    for (const file of Object.keys(before).filter((one) => one.startsWith("manifests/"))) expect(after[file]).toBe(before[file]);
    expect((await world.importJson({ target: ["prod"] })).files).toEqual([]);
  } finally {
    await staging.close();
  }
});

test("a dry run shows everything and writes nothing", async () => {
  const { out, code } = await world.runImport({ dryRun: true });
  expect(out).toContain("would create  manifests/integrations/orders.yaml");
  expect(out).toContain("would bind    12 objects");
  expect(code).toBe(0);
  expect(Object.keys(await world.files())).toEqual(["dimsync.yaml"]);
});

test("only what is asked for is imported, with the assets that it refers to", async () => {
  const report = await world.importJson({}, ["Integration/orders", "Tag/fin*"]);
  expect(report.remaining).toEqual([]);
  expect(Object.keys(report.bindings)).toEqual(["Asset/orders-pg", "Asset/warehouse", "Integration/orders", "Tag/finance"]);
  // Its integration has no manifest yet, so the id stands for it.
  expect(await text("manifests/tags.yaml")).toContain("    - integration: { id: b27d }");
});

test("an address that nothing has is an error, and nothing of the others is written", async () => {
  const { code, err } = await world.runImport({}, ["Tag/pii", "Integration/order"]);
  expect(code).toBe(1);
  expect(err).toContain('"Integration/order". Did you mean Integration/orders?');
  expect(Object.keys(await world.files())).toEqual(["dimsync.yaml"]);
});

test("a schema configuration is asked for by its own name", async () => {
  await write(
    "manifests/shared.yaml",
    "apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: shop }\nspec: { integration: { id: 8f1c }, schemas: { public: { enabled: false } } }\n",
  );
  const report = await world.importJson({}, ["SchemaConfig/shop"]);
  expect(report.remaining).toEqual([]);
  expect(await text("manifests/shared.yaml")).toContain("public: { enabled: true }");
});

test("--literal writes the plain tree, and keeps it up to date when asked again", async () => {
  expect((await world.importJson({ literal: true })).remaining).toEqual([]);
  const before = await text("manifests/integrations/orders.yaml");
  expect(before).not.toContain("rules:");
  expect(before).toContain("            password_hash: { enabled: false, hashed: false }");
  world.service.mutate(
    (account) => void Object.assign(ordersSchemas(account)["reporting"]?.tables["daily_sales"]?.columns ?? {}, { region: column }),
  );
  expect((await world.importJson()).files).toEqual([]);
  await world.importJson({ literal: true });
  expect(await text("manifests/integrations/orders.yaml")).toBe(
    before.replace(/( +)total_cents: \{ enabled: true, hashed: false \}\n(?=---)/u, "$&$1region: { enabled: true, hashed: false }\n"),
  );
});

test("--out puts new files where it says", async () => {
  const report = await world.importJson({ out: "manifests/adopted" });
  expect(report.remaining).toEqual([]);
  expect(report.files.map((file) => file.path)).toContain("manifests/adopted/integrations/orders.yaml");
});

test.each<readonly [sentence: string, manifests: string, out: string | undefined, folder: string | undefined]>([
  ["a folder that the config doesn't load is refused", "[manifests]", "elsewhere", undefined],
  ["a hidden folder is refused", "[manifests]", "manifests/.adopted", undefined],
  ["a glob that stops above is refused", '["manifests/*.yaml"]', "manifests", undefined],
  ["without --out, files and such globs are passed over", '[one.yaml, "manifests/*.yaml", more]', undefined, "more"],
  ["a glob that goes deep enough has its base", '["team/**/*.yaml"]', undefined, "team"],
  ["no folder at all is told", "[one.yaml]", undefined, undefined],
])("%s", async (_, manifests, out, folder) => {
  await writeFile(path("dimsync.yaml"), (await text("dimsync.yaml")).replace("[manifests]", manifests));
  await write("one.yaml", "");
  await write("manifests/empty.yaml", "");
  const { code, err } = await world.runImport(out === undefined ? {} : { out });
  expect([code, err.includes("E_USAGE")]).toEqual(folder === undefined ? [1, true] : [0, false]);
  expect(Object.keys(await world.files()).some((file) => file === `${folder}/integrations/orders.yaml`)).toBe(folder !== undefined);
});

test("a value that comes from a variable is not written over", async () => {
  await write(
    "manifests/hand.yaml",
    "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders, id: 8f1c }\nspec:\n  expect: \u0024{var.expected}\n",
  );
  await writeFile(path("dimsync.yaml"), `${await text("dimsync.yaml")}vars: { expected: { paused: true } }\n`);
  const report = await world.importJson({}, ["Integration/orders"]);
  expect(report.failures).toMatchObject([{ address: "Integration/orders" }]);
  expect(report.exit).toEqual({ code: 1, reasons: ["failures", "not-empty"] });
  expect(await text("manifests/hand.yaml")).toContain("\u0024{var.expected}");
});

test("schemas that can't be read are a failure, and the others go on", async () => {
  world.service.addFault("GET /v1/integrations/b27d/schemas=status:403");
  const report = await world.importJson();
  expect(report.failures.map(({ address }) => address)).toEqual(["SchemaConfig/billing"]);
  expect(report.exit.code).toBe(1);
  expect(await text("manifests/integrations/orders.yaml")).toContain("kind: SchemaConfig");
  expect((await world.runImport()).out).toContain("manifests stand for what could be read, and the plan after it is empty.");
});

test("a list that can't be read ends the import before anything is written", async () => {
  world.service.addFault("GET /v1/tags$=status:403");
  expect((await world.runImport()).code).toBe(1);
  expect(Object.keys(await world.files())).toEqual(["dimsync.yaml"]);
});

test("a file that can't be written is told, and is no mistake in dimsync", async () => {
  await write("manifests/integrations", "");
  const { code, err } = await world.runImport();
  expect([code, err]).toEqual([1, expect.stringContaining("E_OUTPUT: Import could not go on: EEXIST")]);
});

test("a list that may be one page of more is told by the first import too, until a longer one was seen", async () => {
  world.service.mutate(({ integrations }) => {
    const [orders] = integrations;
    for (let number = integrations.length; orders !== undefined && number < 10; number++)
      integrations.push({ ...structuredClone(orders), id: `i-${number}`, name: `Integration ${number}` });
  });
  const notice = "GET /v1/integrations answered exactly 10 integrations, which may be one page of more.";
  expect((await world.importJson()).notices).toContain(notice);
  await recordListLengths(world.folder, "prod", { integrations: 11 });
  expect((await world.importJson()).notices).not.toContain(notice);
});

test("a project with mistakes is not imported into", async () => {
  await write("manifests/a.yaml", "apiVersion: dimsync/v1\nkind: Integraton\nmetadata: { name: a }\n");
  const { code, err } = await world.runImport();
  expect(code).toBe(1);
  expect(err).toContain("E_UNKNOWN_KIND");
});

test("while an apply runs, nothing is imported; a dry run may look", async () => {
  const lock = await acquireLock(world.folder, "prod", { runId: "another", waitMs: 0 });
  try {
    expect((await world.runImport()).code).toBe(6);
    expect((await world.runImport({ dryRun: true })).code).toBe(0);
    expect(Object.keys(await world.files())).toEqual(["dimsync.yaml"]);
  } finally {
    await lock.release();
  }
});
