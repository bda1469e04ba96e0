// The command with the seeded account of the embedded service.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { RegisterRow } from "../../../src/features/register/current.ts";
import { dayIn } from "../../support/clock.ts";
import { type Ran, runCommand } from "../../support/command.ts";
import { writeProject } from "../../support/project-folder.ts";

const personal = `apiVersion: dimsync/v1
kind: Classification
metadata: { name: personal }
spec:
  labels:
    - { label: pii, match: { column: ["email", "phone"], table: customers } }
    - { label: payment, match: { column: iban } }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: Orders
  rules:
    - { id: hash, match: { label: pii, column: email }, set: { hashed: true }, reason: GDPR register 12 }
    - { id: dial, match: { label: pii, column: phone }, set: { hashed: false }, reason: call centre }
---
apiVersion: dimsync/v1
kind: Policy
metadata: { name: pii-hashed }
spec:
  severity: error
  when: { column: { label: pii, enabled: true }, integration: { names: [Orders] } }
  require: { hashed: true }
  message: readable
  exemptions:
    - { integration: Orders, column: phone, reason: DPIA-41, approvedBy: privacy@example.com, expires: ${dayIn(100)} }
`;

let folder: string;
let run: (...argv: readonly string[]) => Promise<Ran>;
beforeEach(() => {
  folder = writeProject({
    "dimsync.yaml":
      "apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets: { demo: { baseUrl: 'embedded:.dimsync/account.json' } }\n",
    "manifests/personal.yaml": personal,
  });
  run = (...argv) => runCommand([...argv, "-q", "--no-color"], folder, { COLUMNS: "160" });
});

const register = (...argv: readonly string[]) => run("register", ...argv);
async function rows(...argv: readonly string[]): Promise<readonly RegisterRow[]> {
  return JSON.parse((await register(...argv, "-o", "json")).stdout).rows;
}
test.each([
  ["too wide", "integration: Orders, column: phone, reason", "column: phone, reason", "E_EXEMPTION_TOO_WIDE"],
  ["too long", dayIn(100), dayIn(500), "E_DATE_TOO_LATE"],
])("an exemption that is %s ends the register, with its place and what to do", async (_, from, to, code) => {
  edit(from, to);
  const { code: exit, stdout, stderr } = await register();
  expect([exit, stdout + stderr]).toEqual([1, expect.stringMatching(new RegExp(`manifests/personal.yaml:\\d+:\\d+ +${code}`, "u"))]);
});

const states = (all: readonly RegisterRow[]): readonly string[] =>
  all.map(
    (row) => `${row.integration} ${row.table}.${row.column} ${row.label} ${row.replicated ? (row.hashed ? "hashed" : "readable") : "off"}`,
  );
const edit = (from: string, to: string): void => {
  const file = join(folder, "manifests/personal.yaml");
  const text = readFileSync(file, "utf8");
  expect(text).toContain(from);
  writeFileSync(file, text.replace(from, to));
};

describe("the register", () => {
  test("has every labelled column of the account, also of integrations without a manifest", async () => {
    expect(states(await rows())).toEqual([
      "Orders customers.email pii readable",
      "Orders customers.phone pii readable",
      "Orders payments.iban payment hashed",
      "shop-shard-01 customers.email pii readable",
      "shop-shard-01 customers.phone pii readable",
      "shop-shard-01 payments.iban payment hashed",
      "shop-shard-02 customers.email pii readable",
      "shop-shard-02 customers.phone pii readable",
      "shop-shard-02 payments.iban payment hashed",
    ]);
  });

  test("says what decides a column, and which exemption covers it", async () => {
    await run("apply", "--yes", "--allow", "maxChangedPercent=test");
    const [email, phone] = await rows("--integration", "Orders");
    expect(email).toMatchObject({
      ...{ integrationId: "8f1c", source: "orders-pg (postgres)", destination: "Warehouse (snowflake)" },
      ...{ destinationSchema: "orders", destinationTable: "customers", destinationColumn: "email" },
      ...{ labelSource: "Classification/personal (manifests/personal.yaml:6)", replicated: true, hashed: true },
      ...{ rule: "hash (manifests/personal.yaml:15)", reason: "GDPR register 12", exemption: "", breaks: [] },
    });
    expect(phone).toMatchObject({
      ...{ rule: "dial (manifests/personal.yaml:16)", reason: "call centre", hashed: false, breaks: [] },
      ...{ exemption: "DPIA-41", approvedBy: "privacy@example.com", expires: dayIn(100) },
    });
  });

  test("names no rule for a state that the account has against it", async () => {
    const [email] = await rows("--integration", "Orders");
    expect([email?.hashed, email?.rule, email?.breaks]).toEqual([false, "", ["Policy/pii-hashed"]]);
  });

  test("exits with 3 as long as a column breaks an error policy", async () => {
    expect((await register()).code).toBe(3);
    await run("apply", "--yes", "--allow", "maxChangedPercent=test");
    expect((await register()).code).toBe(0);
    edit(dayIn(100), "2020-01-01");
    expect((await register()).code).toBe(3);
    expect((await register("--label", "payment")).code).toBe(0);
  });

  test("has the columns of its CSV file in the documented order", async () => {
    const { stdout } = await register("-o", "csv", "--label", "payment", "--integration", "Orders");
    const [head, row, end] = stdout.split("\r\n");
    expect(head).toBe(
      "integration,integration_id,schema,table,column,destination_schema,destination_table,destination_column,label,label_source,replicated,hashed,rule,reason,exemption,approved_by,expires",
    );
    expect(row).toMatch(
      /^Orders,8f1c,public,payments,iban,orders,payments,iban,payment,Classification\/personal \(manifests\/personal\.yaml:7\),true,true,,,,,$/u,
    );
    expect(end).toBe("");
  });

  test("sums up by integration and label", async () => {
    const { stdout } = await register("--integration", "Orders");
    expect(stdout).toContain("3 labelled columns in 1 integration: 1 hashed, 2 readable (1 exempt), 0 not replicated. 1 breaks a policy.");
    expect(stdout.replaceAll(/ +/gu, " ")).toContain("\n Orders payment 1 1 0 0 0 0\n Orders pii 2 0 2 1 0 1\n");
  });

  test.each<[string, readonly string[], string]>([
    ["an unknown label", ["--label", "pij"], '--label selects columns by label "pij", which no Classification defines. Did you mean pii?'],
  ])("refuses %s", async (_, argv, message) => {
    const { code, stderr } = await register(...argv);
    expect(code).toBe(1);
    expect(stderr.replaceAll(/\s+/gu, " ")).toContain(message);
  });

  test("refuses an integration that the account does not have", async () => {
    const { code, stderr } = await register("--integration", "Ordesr");
    expect([code, stderr]).toEqual([1, expect.stringContaining("Did you mean Orders?")]);
  });

  test("needs a Classification", async () => {
    writeFileSync(
      join(folder, "manifests/personal.yaml"),
      "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: o }\nspec: { match: { name: Orders } }\n",
    );
    expect(await register()).toMatchObject({ code: 1, stderr: expect.stringContaining("The project has no Classification") });
  });
});
