// What users see of labels, with the seeded account of the embedded service.

import { beforeEach, describe, expect, test } from "vitest";
import { policyFindings } from "../../../../src/core/base/model/findings.ts";
import type { Plan } from "../../../../src/index.ts";
import { type Ran, runCommand } from "../../../support/command.ts";
import { diagnosticsOf } from "../../../support/findings.ts";
import { writeProject } from "../../../support/project-folder.ts";
import { readySteps } from "../../../support/steps.ts";
import { dbtManifest } from "./dbt-manifest.ts";

const manifests = {
  "dimsync.yaml":
    "apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets: { demo: { baseUrl: 'embedded:.dimsync/account.json' } }\n",
  "manifests/personal.yaml":
    'apiVersion: dimsync/v1\nkind: Classification\nmetadata: { name: personal }\nspec:\n  labels:\n    - { label: pii, match: { column: ["*email*"] }, reason: GDPR register 12 }\n',
  "manifests/orders.yaml":
    "apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: orders }\nspec:\n  integration: Orders\n  rules:\n    - { id: hash, match: { schema: public, table: customers, label: pii }, set: { hashed: true } }\n",
  "manifests/policy.yaml":
    "apiVersion: dimsync/v1\nkind: Policy\nmetadata: { name: p }\nspec:\n  severity: error\n  when: { column: { label: pii, enabled: true }, table: { name: customers } }\n  require: { hashed: true }\n  message: readable\n",
};
const chain = "hash, manifests/orders.yaml:7 ← label pii ← Classification/personal (manifests/personal.yaml:6): GDPR register 12";

let run: (...argv: readonly string[]) => Promise<Ran>;
let change: (file: string, text: string) => void;
beforeEach(() => {
  const files: Record<string, string> = { ...manifests };
  let folder: string | undefined;
  change = (file, text) => {
    files[file] = text;
  };
  run = (...argv) => {
    folder ??= writeProject(files);
    return runCommand([...argv, "-q", "--no-color"], folder, { COLUMNS: "200" });
  };
});

describe("a label as a part of a cause", () => {
  test.each<[string, readonly string[], string]>([
    ["the plan", ["plan"], chain],
    ["Markdown", ["plan", "-o", "markdown"], chain.replaceAll("←", "&#8592;")],
    ["HTML", ["plan", "-o", "html"], chain],
    [
      "annotations",
      ["drift", "-o", "github"],
      "Orders customers.email: not hashed (hash, manifests/orders.yaml:7 ← label pii ← Classification/personal (manifests/personal.yaml:6): GDPR register 12)",
    ],
    [
      "explain",
      ["explain", "Schemas/Orders", "public.customers.email"],
      "manifests/orders.yaml:7 ← label pii ← Classification/personal (manifests/personal.yaml:6): GDPR register 12",
    ],
    ["the register", ["register", "-o", "csv"], "Classification/personal (manifests/personal.yaml:6): GDPR register 12"],
  ])("is shown by %s", async (_, argv, expected) => {
    const { stdout, stderr } = await run(...argv);
    expect((stdout + stderr).replaceAll(/ +/gu, " ")).toContain(expected);
  });

  test("is a member in JSON", async () => {
    const plan = JSON.parse((await run("plan", "-o", "json")).stdout) as Plan;
    expect(readySteps(plan).flatMap(({ changes }) => changes.map(({ cause }) => cause))).toEqual([
      {
        rule: "hash",
        label: { name: "pii", source: "Classification/personal (manifests/personal.yaml:6): GDPR register 12" },
        file: "manifests/orders.yaml",
        line: 7,
      },
    ]);
  });
});

test("with a dbt manifest of another version, apply says where it is named, and sends nothing", async () => {
  change("dbt.json", dbtManifest({ customers: { columns: { email: {} } } }, 9));
  change(
    "manifests/personal.yaml",
    `${manifests["manifests/personal.yaml"]}  from:\n    - dbt: { manifest: dbt.json, label: pii, where: { tag: pii } }\n`,
  );
  change("manifests/orders.yaml", manifests["manifests/orders.yaml"].replace("hashed: true", "enabled: false"));
  const writes = async (): Promise<unknown> => JSON.parse((await run("audit", "-o", "json")).stdout).totalItems;
  const before = await writes();
  const { code, stdout, stderr } = await run("apply", "--yes", "--allow", "maxChangedPercent=test");
  expect([code, await writes()]).toEqual([1, before]);
  expect(stdout + stderr).toContain("manifests/personal.yaml:8:");
  expect((stdout + stderr).replaceAll(/\s+/gu, " ")).toContain(
    "dbt.json is a dbt manifest of version 9, but dimsync reads versions 10 to 12 and 20",
  );
});

test("the reason of a label in a CSV file is shown with its row", async () => {
  change(
    "manifests/personal.yaml",
    manifests["manifests/personal.yaml"].replace(/ {2}labels:[\s\S]*/u, "  from: [{ csv: { file: manifests/register.csv } }]\n"),
  );
  change("manifests/register.csv", "schema,table,column,label,reason\npublic,customers,email,pii,GDPR register 12\n");
  expect((await run("plan")).stdout.replaceAll(/\s+/gu, " ")).toContain("manifests/register.csv:2: GDPR register 12");
});

test("a policy finds columns with a label, in the live and in the planned state", async () => {
  const found = async (command: string) =>
    policyFindings(JSON.parse((await run(command, "-o", "json")).stdout) as Plan).map(({ path, state }) => `${state} ${path}`);
  expect(await found("drift")).toEqual(["existing /schemas/public/tables/customers/columns/email/hashed"]);
  expect(await found("plan")).toEqual(["fixed /schemas/public/tables/customers/columns/email/hashed"]);
});

test("a policy finds literal entries with a label without the account", async () => {
  change(
    "manifests/orders.yaml",
    "apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: orders }\nspec:\n  integration: Orders\n  schemas: { public: { enabled: true, tables: { customers: { enabled: true, columns: { email: { enabled: true, hashed: false }, id: { enabled: true, hashed: false } } } } } }\n",
  );
  const diagnostics = diagnosticsOf(JSON.parse((await run("validate", "-o", "json")).stdout));
  expect(diagnostics.map((one: { code: string; message: string }) => `${one.code} ${one.message.slice(0, 66)}`)).toEqual([
    "E_POLICY SchemaConfig/orders sets hashed of public.customers.email to false",
  ]);
});

describe("with a dbt manifest and a CSV file", () => {
  beforeEach(() => {
    change(
      "manifests/personal.yaml",
      "apiVersion: dimsync/v1\nkind: Classification\nmetadata: { name: personal }\nspec:\n  from:\n    - dbt: { manifest: target/manifest.json, label: pii, where: { meta: { contains_pii: true } } }\n    - csv: { file: register.csv }\n",
    );
    const marked = { meta: { contains_pii: true } };
    change(
      "target/manifest.json",
      dbtManifest({ customers: { schema: "ORDERS", columns: { EMAIL: marked, FAX: marked, PHONE: marked } } }),
    );
    change(
      "register.csv",
      "integration,schema,table,column,label\nOrd*,public,customers,phone,secret\nOrders,public,customers,mobile,secret\n",
    );
  });

  test("the plan ends in the original, and reports what matches nothing and what disagrees", async () => {
    const { stdout, stderr } = await run("plan");
    expect(stdout.replaceAll(/\s+/gu, " ")).toContain(
      "hash customers.email, customers.phone Orders hash, manifests/orders.yaml:7 ← label pii ← models/sources.yml, source shop.customers.EMAIL, meta.contains_pii and 1 more source",
    );
    const shown = (stdout + stderr).split("\n").filter((line) => / [EWI]_/u.test(line));
    expect(shown.map((line) => line.trim().replaceAll(/ +/gu, " "))).toEqual([
      "manifests/personal.yaml:6:7 W_LABELS_DISAGREE Labels disagree",
      "manifests/personal.yaml:6:7 W_NO_MATCH Matches nothing",
      "register.csv:3:1 W_NO_MATCH Matches nothing",
    ]);
  });

  test("a run with --only does not report what matches nothing", async () => {
    const diagnostics = diagnosticsOf(JSON.parse((await run("plan", "--only", "SchemaConfig/orders", "-o", "json")).stdout) as Plan);
    expect(diagnostics).toEqual([]);
  });
});
