import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Plan } from "../../../src/index.ts";
import { runCommand } from "../../support/command.ts";
import { writeProject } from "../../support/project-folder.ts";
import { dbtManifest } from "../labels/dbt-manifest.ts";

const customers = "source.analytics.shop.customers";
const node = (kind: string, name: string, reads: string, more: object): object => ({
  ...{ resource_type: kind, name, original_file_path: `models/${name}.sql`, depends_on: { nodes: [reads] }, ...more },
});

/** A dbt project whose source is public.customers, in the destination ORDERS.customers. */
const dbt = {
  ...JSON.parse(dbtManifest({ customers: { schema: "ORDERS", columns: { email: { meta: { pii: true } } } } })),
  nodes: {
    "model.a.stg": node("model", "stg", customers, { raw_code: "select email as contact, id from {{ source('shop', 'customers') }}" }),
    "model.a.ids": node("model", "ids", customers, { raw_code: "select id from {{ source('shop', 'customers') }}" }),
    "test.a.accepted_contact": node("test", "accepted_contact", "model.a.stg", {
      column_name: "contact",
      test_metadata: { name: "accepted_values", kwargs: { column_name: "contact" } },
    }),
  },
  exposures: { "exposure.a.board": node("exposure", "board", "model.a.stg", { owner: { email: "finance@example.com" } }) },
};

const config =
  "apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets: { demo: { baseUrl: 'embedded:.dimsync/account.json' } }\n";

/** `manifest`: its text or value; undefined: there is none. */
const written = (manifest: object | string | undefined): Readonly<Record<string, string>> =>
  manifest === undefined ? {} : { "target/manifest.json": typeof manifest === "string" ? manifest : JSON.stringify(manifest) };

const project = (rule: string, manifest: object = dbt): string =>
  writeProject({
    "dimsync.yaml": config,
    ...written(manifest),
    "manifests/personal.yaml":
      "apiVersion: dimsync/v1\nkind: Classification\nmetadata: { name: personal }\nspec:\n  from:\n    - dbt: { manifest: target/manifest.json, label: pii, where: { meta: { pii: true } } }\n",
    "manifests/orders.yaml": `apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: orders }\nspec:\n  integration: Orders\n  rules:\n    - ${rule}\n`,
  });
const hash = "{ id: hash, match: { label: pii }, set: { hashed: true } }";

const column = {
  addresses: ["Schemas/Orders"],
  schema: "public",
  table: "customers",
  column: "email",
  readers: [
    { kind: "test", name: "accepted_contact", path: "models/accepted_contact.sql", via: "stg", certainty: "certain" },
    { kind: "model", name: "stg", path: "models/stg.sql", via: "shop.customers", certainty: "mentions" },
    { kind: "exposure", name: "board", path: "models/board.sql", owner: "finance@example.com", via: "stg", certainty: "mayRead" },
  ],
  tableReaders: 1,
};

test.each<[string, string, readonly string[], number, readonly unknown[]]>([
  ["a plan that hashes a column", hash, ["plan"], 0, [column]],
  ["with --fail-on impact", hash, ["plan", "--fail-on", "impact"], 2, [column]],
  ["drift", hash, ["drift"], 2, [column]],
  [
    "a plan that switches off a table",
    "{ match: { table: customers }, set: { enabled: false } }",
    ["plan"],
    0,
    [{ ...{ addresses: ["Schemas/Orders"], schema: "public", table: "customers" }, readers: expect.objectContaining({ length: 4 }) }],
  ],
  [
    "a plan that changes another column",
    "{ match: { table: orders, column: status }, set: { hashed: true } }",
    ["plan", "--fail-on", "impact"],
    0,
    [],
  ],
])("%s says who reads what changes", async (_, rule, argv, code, expected) => {
  const ran = await runCommand([...argv, "-o", "json", "-q"], project(rule), {});
  const { impact } = JSON.parse(ran.stdout) as Plan;
  expect({ code: ran.code, impact }).toEqual({ code, impact: expected });
});

test("the columns of equal integrations are one entry, and those with other readers another", async () => {
  const folder = project(hash);
  await runCommand(["plan", "-q"], folder, {});
  const file = join(folder, ".dimsync/account.json");
  const account = JSON.parse(readFileSync(file, "utf8"));
  const [orders] = account.integrations.filter(({ name }: { readonly name: string }) => name === "Orders");
  const copy = (number: number): object => ({
    ...structuredClone(orders),
    id: `copy-${number}`,
    number: `9${number}`,
    name: `Orders ${number}`,
  });
  const elsewhere = copy(3) as typeof orders;
  elsewhere.schemas.public.tables.customers.nameInDestination = "clients";
  writeFileSync(file, JSON.stringify({ ...account, integrations: [copy(2), ...account.integrations, elsewhere] }));
  const manifest = join(folder, "manifests/orders.yaml");
  const rules = readFileSync(manifest, "utf8").replace("label: pii", "column: email");
  writeFileSync(manifest, rules.replace("integration: Orders", 'integrations: { names: ["Orders*"] }'));
  const others = { ...dbt, sources: { ...dbt.sources, x: { ...dbt.sources[customers], name: "clients", identifier: "clients" } } };
  const model = node("model", "clients", "x", { raw_code: "select email from {{ source('shop', 'clients') }}" });
  writeFileSync(join(folder, "target/manifest.json"), JSON.stringify({ ...others, nodes: { ...dbt.nodes, "model.a.clients": model } }));
  const { impact = [] } = JSON.parse((await runCommand(["plan", "-o", "json", "-q"], folder, {})).stdout) as Plan;
  expect(impact.map(({ addresses, readers }) => [addresses, readers.map(({ name }) => name)])).toEqual([
    [
      ["Schemas/Orders", "Schemas/Orders 2"],
      ["accepted_contact", "stg", "board"],
    ],
    [["Schemas/Orders 3"], ["clients"]],
  ]);
  const ran = await runCommand(["plan"], folder, { COLUMNS: "120" });
  expect(ran.stdout).toContain("Who reads what changes (3):\n! Schemas/Orders and 1 more integration   public.customers.email   read by");
});

test("a cycle in the lineage is a warning with its place, and nothing else changes", async () => {
  const cycle = {
    "model.a.x": node("model", "x", customers, { depends_on: { nodes: [customers, "model.a.y"] } }),
    "model.a.y": node("model", "y", "model.a.x", {}),
  };
  const { stdout, code } = await runCommand(["plan", "-o", "json", "-q"], project(hash, { ...dbt, nodes: cycle, exposures: {} }), {});
  const { diagnostics, items } = JSON.parse(stdout) as Plan;
  expect({ code, items: items.length }).toEqual({ code: 0, items: 1 });
  expect(diagnostics.map(({ code: of, severity, file, line }) => [of, severity, file, line])).toContainEqual([
    "W_DBT_LINEAGE",
    "warning",
    "manifests/personal.yaml",
    6,
  ]);
});

test("a manifest with other values where the lineage is has no readers", async () => {
  const strange = { ...dbt, nodes: [7], exposures: { x: null, y: { depends_on: { nodes: "z" } } }, metrics: "m" };
  const { stdout, code } = await runCommand(["plan", "-o", "json", "-q"], project(hash, strange), {});
  expect({ code, impact: (JSON.parse(stdout) as Plan).impact }).toEqual({ code: 0, impact: [] });
});

describe("impact.dbt.manifest in dimsync.yaml", () => {
  const hashEmail = "{ match: { column: email }, set: { hashed: true } }";
  const without = (manifest: object | string | undefined, named = "target/manifest.json"): string =>
    writeProject({
      "dimsync.yaml": `${config}impact: { dbt: { manifest: ${named} } }\n`,
      ...written(manifest),
      "manifests/orders.yaml": `apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: orders }\nspec:\n  integration: Orders\n  rules:\n    - ${hashEmail}\n`,
    });

  test("needs no Classification", async () => {
    const { stdout, code } = await runCommand(["plan", "-o", "json", "-q"], without(dbt), {});
    expect({ code, impact: (JSON.parse(stdout) as Plan).impact }).toEqual({ code: 0, impact: expect.arrayContaining([column]) });
  });

  test("must be in the checkout, or be allowed", async () => {
    const outside = join(writeProject(written(dbt)), "target/manifest.json");
    const folder = without(undefined, outside);
    const { stderr, code } = await runCommand(["plan", "-q"], folder, {});
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^dimsync\.yaml:5:28 +E_PATH_OUTSIDE/u)]);
    const allowed = await runCommand(["plan", "-o", "json", "-q", "--allow-path", dirname(outside)], folder, {});
    expect((JSON.parse(allowed.stdout) as Plan).impact).toEqual(expect.arrayContaining([column]));
  });

  const version = (digits: number): object => ({
    ...dbt,
    metadata: { dbt_schema_version: `https://schemas.getdbt.com/dbt/manifest/v${digits}.json` },
  });
  test.each<[string, object | string | undefined, string]>([
    ["does not exist", undefined, "does not exist"],
    ["is of another version", version(13), "is a dbt manifest of version 13, but dimsync reads versions 10 to 12 and 20"],
    ["is empty", "", "is empty"],
    ["is cut off", JSON.stringify(dbt).slice(0, 500), "is not complete JSON: dbt may have been interrupted while it wrote it"],
    ["is nested too deep", `${"[".repeat(300)}${"]".repeat(300)}`, "is nested more than 200 levels deep"],
  ])("that %s is a warning with its place, and the column is hashed", async (_, manifest, said) => {
    const folder = without(manifest);
    const { stdout, code } = await runCommand(["plan", "-o", "json", "-q"], folder, {});
    const { items, diagnostics, impact } = JSON.parse(stdout) as Plan;
    expect({ code, items: items.length, impact }).toEqual({ code: 0, items: 1, impact: [] });
    expect(diagnostics).toEqual([
      expect.objectContaining({
        ...{ code: "W_DBT_LINEAGE", severity: "warning", file: "dimsync.yaml", line: 5, column: 28, command: "dbt parse" },
        message: `target/manifest.json ${said}, so dimsync cannot say who reads a column. Run this in the dbt project:`,
      }),
    ]);
    expect((await runCommand(["plan", "-q", "--fail-on", "impact"], folder, {})).code, "the gate does not pass what is not known").toBe(2);
    expect((await runCommand(["validate", "-q"], folder, {})).code, "only who asks for readers reads it").toBe(0);
  });
});

test("two entries for one manifest with different databases have the sources of both", async () => {
  const sources = { customers: { schema: "ORDERS", database: "one" }, others: { schema: "ORDERS", database: "two", identifier: "users" } };
  const others = "source.analytics.shop.others";
  const nodes = {
    "model.a.stg": node("model", "stg", customers, { raw_code: "select email from {{ source('shop', 'customers') }}" }),
    "model.a.people": node("model", "people", others, { raw_code: "select email from {{ source('shop', 'others') }}" }),
  };
  const folder = project("{ match: { column: email }, set: { hashed: true } }", { ...JSON.parse(dbtManifest(sources)), nodes });
  const entry = (database: string): string =>
    `    - dbt: { manifest: target/manifest.json, database: ${database}, label: pii, where: { meta: { pii: true } } }\n`;
  const classification = (...databases: readonly string[]): string =>
    `apiVersion: dimsync/v1\nkind: Classification\nmetadata: { name: personal }\nspec:\n  from:\n${databases.map(entry).join("")}`;
  for (const [databases, expected] of [
    [
      ["one", "two"],
      ["customers stg", "users people"],
    ],
    [
      ["two", "one"],
      ["customers stg", "users people"],
    ],
    [["ONE"], ["customers stg"]],
    [["three"], []],
  ] as const) {
    writeFileSync(join(folder, "manifests/personal.yaml"), classification(...databases));
    const { impact = [] } = JSON.parse((await runCommand(["plan", "-o", "json", "-q"], folder, {})).stdout) as Plan;
    expect(impact.map(({ table, readers }) => [table, ...readers.map(({ name }) => name)].join(" ")).sort()).toEqual(expected);
  }
});

test("explain says who reads the column, in the words of a plan", async () => {
  const folder = project(hash);
  const { stdout } = await runCommand(["explain", "Schemas/Orders", "public.customers.email"], folder, { COLUMNS: "120" });
  expect(stdout).toContain(`
readers   read by 1 model, 1 test, 1 exposure
          tests that can fail: accepted_contact
          mention it: stg
          may read it: exposure board
          1 more model reads the table.
          Owners: finance@example.com
`);
  const [one] = JSON.parse((await runCommand(["explain", "Schemas/Orders", "public.customers.email", "-o", "json"], folder, {})).stdout);
  expect(one.impact).toEqual(column);
});
