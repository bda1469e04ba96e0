import { expect, test } from "vitest";
import type { Plan } from "../../../src/index.ts";
import { dbtManifest } from "../../classification/dbt-manifest.ts";
import { runCommand } from "../../support/command.ts";
import { writeProject } from "../../support/project-folder.ts";

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
    "test.a.unique_contact": node("test", "unique_contact", "model.a.stg", {
      column_name: "contact",
      test_metadata: { name: "unique", kwargs: { column_name: "contact" } },
    }),
  },
  exposures: { "exposure.a.board": node("exposure", "board", "model.a.stg", { owner: { email: "finance@example.com" } }) },
};

const project = (rule: string, manifest: object = dbt): string =>
  writeProject({
    "dimsync.yaml":
      "apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets: { demo: { baseUrl: 'embedded:.dimsync/account.json' } }\n",
    "target/manifest.json": JSON.stringify(manifest),
    "manifests/personal.yaml":
      "apiVersion: dimsync/v1\nkind: Classification\nmetadata: { name: personal }\nspec:\n  from:\n    - dbt: { manifest: target/manifest.json, label: pii, where: { meta: { pii: true } } }\n",
    "manifests/orders.yaml": `apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: orders }\nspec:\n  integration: Orders\n  rules:\n    - ${rule}\n`,
  });
const hash = "{ id: hash, match: { label: pii }, set: { hashed: true } }";

const column = {
  address: "Schemas/Orders",
  schema: "public",
  table: "customers",
  column: "email",
  readers: [
    { kind: "test", name: "unique_contact", path: "models/unique_contact.sql", via: "stg", certainty: "certain" },
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
    [{ ...{ address: "Schemas/Orders", schema: "public", table: "customers" }, readers: expect.objectContaining({ length: 4 }) }],
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
