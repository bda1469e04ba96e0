// Two weeks of a data team, one step after the other: 40 integrations, 3,420 columns, two accounts. Each step checks what the team
// sees, and that no reviewed column is switched off or unhashed on the way.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eachChange } from "../../src/core/base/model/changes.ts";
import { guardFindings } from "../../src/core/base/model/findings.ts";
import type { Plan } from "../../src/core/base/model/plan.ts";
import type { ColumnEntry, SchemaMap, TableEntry } from "../../src/embedded/data/account.ts";
import { type AccountState, type EmbeddedService, seedAccount, startEmbeddedService } from "../../src/embedded/index.ts";
import { type Ran, runCommand } from "../support/command.ts";
import { diagnosticsOf } from "../support/findings.ts";
import { gitEnv } from "../support/git/env.ts";
import { commitAll, git } from "../support/git/remote.ts";
import { writeFolder } from "../support/project-folder.ts";
import { blockedSteps, readySteps } from "../support/steps.ts";

const names = [
  ...Array.from({ length: 30 }, (_, index) => `shop-shard-${String(index + 1).padStart(2, "0")}`),
  ...["Payroll", "Billing EU", "Billing US", "CRM", "Support desk", "Marketing", "Stock", "Forum", "Recruiting", "Legal archive"],
];

/** Columns by table: ! is a key, # is hashed, - is off. */
const columns: Readonly<Record<string, string>> = {
  customers: "!id email first_name last_name phone birth_date country city street postcode created_at updated_at #national_id",
  orders: "!id customer_id contact_email amount currency status placed_at shipped_at discount channel note country",
  payments: "!id order_id #iban method amount currency paid_at status -card_number provider",
  sessions: "!id customer_id ip_address user_agent started_at ended_at pages referrer",
  audit_events: "!id actor action at payload",
  products: "!id sku name price currency weight colour stock created_at",
};

const isPersonal = (column: string): boolean => /email|^phone$|^birth_date$|^national_id|^iban$/u.test(column);

const column = (name: string, more: Partial<ColumnEntry> = {}): ColumnEntry => ({
  ...{ nameInDestination: name, enabled: true, hashed: false, isPrimaryKey: false },
  ...more,
});

const schemaOf = (name: string): SchemaMap[string] => ({
  nameInDestination: `raw_${name.toLowerCase().replaceAll(/\W/gu, "_")}`,
  enabled: true,
  tables: Object.fromEntries(
    Object.entries(columns).map(([table, text]): [string, TableEntry] => {
      const entries = text.split(" ").map((word): [string, ColumnEntry] => {
        const plain = word.replace(/^[!#-]/u, "");
        return [plain, column(plain, { isPrimaryKey: word[0] === "!", hashed: word[0] === "#", enabled: word[0] !== "-" })];
      });
      return [
        table,
        { nameInDestination: table, enabled: table !== "audit_events", syncMode: "incremental", columns: Object.fromEntries(entries) },
      ];
    }),
  ),
});

/** The same integrations in each account, with ids that begin with the prefix: "p05" is shop-shard-05. */
function accountOf(prefix: string): AccountState {
  const seed = seedAccount();
  const assets = seed.assets.filter(({ connectionType }) => connectionType === "destination");
  const integrations = names.map((name, index) => {
    const id = `${prefix}${String(index + 1).padStart(2, "0")}`;
    const source = { id: `s-${id}`, name: `${name} db`, type: "postgres" };
    assets.push({ ...source, description: "", connectionType: "source", connection: {} });
    return {
      ...{ id, name, number: String(1000 + index), createdAt: "2026-02-02T09:30:00.000Z", paused: false, source },
      destination: { id: "d-12", name: "Warehouse", type: "snowflake" },
      settings: {
        ...{ destinationSchema: "raw", replicationFrequency: "60", onSchemaUpdate: "enableColumnChanges" },
        ...{ sourceConfig: { type: "postgres", name: source.name }, sourceSettings: {} },
      },
      schemas: { public: schemaOf(name), ...(index % 2 === 0 ? {} : { crm: schemaOf(name) }) },
    };
  });
  return { ...seed, assets, integrations, auditLogs: [], tags: [] };
}

const keys = { prod: "prod-key", dev: "dev-key" };
const env = { ...gitEnv, PROD_API_KEY: keys.prod, DEV_API_KEY: keys.dev };
const sam = "sam@example.com";

let folder: string;
let prod: EmbeddedService;
let dev: EmbeddedService;

beforeAll(async () => {
  const start = (prefix: string, key: string) => startEmbeddedService({ state: accountOf(prefix), apiKeys: { [key]: "bot@example.com" } });
  [prod, dev] = await Promise.all([start("p", keys.prod), start("d", keys.dev)]);
  folder = writeFolder({ "dimsync.yaml": config() });
  git(folder, "init", "--quiet", "--initial-branch=main");
});

afterAll(async () => {
  await Promise.all([prod.close(), dev.close()]);
  rmSync(folder, { recursive: true, force: true });
});

const config = (ofDev = "", more = ""): string => `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
targets:
  prod:
    baseUrl: ${prod.url}
    apiKey: { $secret: { env: PROD_API_KEY } }
    catalog: dimsync.catalog.prod.yaml
  dev:
    baseUrl: ${dev.url}
    apiKey: { $secret: { env: DEV_API_KEY } }
${ofDev}${more}`;

const run = (...argv: readonly string[]): Promise<Ran> => runCommand([...argv, "-q"], folder, env);
const read = (file: string): string => readFileSync(join(folder, file), "utf8");
const write = (file: string, text: string): void => {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
};
const commit = (message: string): void => {
  commitAll(folder, message);
};
const plan = async (...argv: readonly string[]): Promise<Plan> => {
  const { stdout, stderr } = await run("plan", "-t", "prod", "-o", "json", ...argv);
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as Plan;
};
const changesOf = (made: Plan) => readySteps(made).flatMap((item) => [...eachChange(item)]);

/** Someone changes tables in the web console of the service. */
function edit(id: string, change: (schemas: SchemaMap) => void): void {
  const name = names[Number(id.slice(1)) - 1];
  prod.mutate(
    ({ integrations }) => {
      const found = integrations.find((one) => one.id === id);
      if (found === undefined) throw new Error(`There is no integration ${id}.`);
      change(found.schemas);
    },
    { email: sam },
    `Schema configuration of integration ${id} "${name}" changed`,
  );
}

const tableOf = (schemas: SchemaMap, table: string): Record<string, ColumnEntry> => schemas["public"]?.tables[table]?.columns ?? {};

interface Live extends ColumnEntry {
  /** "p05 public.customers.email" */
  readonly path: string;
  readonly name: string;
}

const liveColumns = (service: EmbeddedService): readonly Live[] =>
  service
    .state()
    .integrations.flatMap(({ id, schemas }) =>
      Object.entries(schemas).flatMap(([schema, { tables }]) =>
        Object.entries(tables).flatMap(([table, { columns: all }]) =>
          Object.entries(all).map(([name, entry]) => ({ ...entry, name, path: `${id} ${schema}.${table}.${name}` })),
        ),
      ),
    );

/** The personal columns of an account that are replicated and not hashed. */
const readable = (service: EmbeddedService): readonly string[] =>
  liveColumns(service).flatMap(({ name, enabled, hashed, path }) => (isPersonal(name) && enabled && !hashed ? [path] : []));

const switchedOff = (service: EmbeddedService): readonly string[] =>
  liveColumns(service).flatMap(({ name, enabled, path }) => (!enabled && name !== "card_number" ? [path] : []));

const rules = (hashed: boolean): string => `apiVersion: dimsync/v1
kind: Classification
metadata: { name: personal }
spec:
  labels:
    - { label: pii, match: { column: ["*email*", phone, birth_date, "national_id*", iban] }, reason: GDPR register 12 }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: fleet }
spec:
  integrations: { names: ["*"] }
  priority: 10
  unreviewed: disable
  rules:
    - { id: pii, match: { label: pii }, set: { hashed: ${hashed} } }
`;

describe("two weeks of a team", () => {
  test("import writes manifests, and says how to go on; accepting the columns makes the plan empty", async () => {
    const imported = await run("import", "-t", "prod");
    expect(imported.code).toBe(1);
    expect(imported.stdout).toMatch(
      /\nThe plan after the import has errors:\n✗ E_CATALOG_MISSING\n {4}dimsync\.catalog\.prod\.yaml does not exist[\s\S]*\n {6}dimsync catalog accept --all -t prod\n$/u,
    );
    const accepted = await run("catalog", "accept", "--all", "-t", "prod");
    expect(accepted.stdout).toBe(
      "prod: accepted 3420 columns (40 integrations for the first time) in dimsync.catalog.prod.yaml. Commit it.\n",
    );
    expect(read("dimsync.catalog.prod.yaml").split("\n").length).toBeLessThan(80);
    expect(await plan()).toMatchObject({ calls: { planned: {} }, findings: [], exit: { code: 0 } });
    commit("import");
  });

  test("the first rule protects and is not refused", async () => {
    write("manifests/fleet.yaml", rules(true));
    const first = await plan("--base", "main");
    expect(guardFindings(first)).toEqual([]);
    expect(first).toMatchObject({ executable: true, counts: { update: 40, protects: 240, exposes: 0 } });
    const { stdout } = await run("plan", "-t", "prod");
    expect(stdout).toContain("prod: 240 changes, all protect.");
    expect((await run("apply", "-t", "prod", "--yes")).code).toBe(0);
    expect([readable(prod), switchedOff(prod)]).toEqual([[], []]);
    commit("hash personal data");
  });

  test("a policy refuses the change that exposes, and the comment has the entries that lift it", async () => {
    write(
      "manifests/policies.yaml",
      "apiVersion: dimsync/v1\nkind: Policy\nmetadata: { name: pii-hashed }\nspec: { severity: error, when: { column: { label: pii, enabled: true } }, require: { hashed: true }, message: Hash it. }\n",
    );
    expect(await plan()).toMatchObject({ calls: { planned: {} }, findings: [] });
    commit("policy");
    write("manifests/fleet.yaml", rules(false));
    const { code, stdout } = await run("plan", "-t", "prod", "--base", "main", "-o", "markdown");
    expect(code).toBe(3);
    expect(stdout).toContain("**Guard maxExposedColumns refuses: 360 found, at most 50 allowed.**");
    expect(stdout).toContain('```yaml\nallow:\n  - { guard: maxExposedColumns, reason: "…", until: YYYY-MM-DD }\n```');
    expect(stdout).toContain(
      "or add an exemption to the spec of Policy/pii-hashed:\n\n```yaml\nexemptions:\n  - { integration: billing-eu,",
    );
    expect((await run("apply", "-t", "prod", "--yes")).code).toBe(3);
    expect(readable(prod)).toEqual([]);
    git(folder, "checkout", "--quiet", ".");
  });

  test("a second account: integrations of one name get manifests of their own, and what is stricter is one note", async () => {
    dev.mutate(({ integrations }) => {
      for (const integration of integrations) if (integration.name === "Legal archive") integration.name = "Forum";
    });
    const first = await run("import", "-t", "dev");
    expect(first.stdout.match(/^created {3}\S+/gmu)).toEqual([
      "created   manifests/integrations/forum-d38.yaml",
      "created   manifests/integrations/forum-d40.yaml",
    ]);
    expect(first.stdout.replaceAll(/\s+/gu, " ")).toContain("metadata.targets: [prod]: forum, legal-archive.");
    expect(first.stdout).toMatch(/✗ SchemaConfig\/fleet {3}E_NO_CATALOG\n[\s\S]*\n {6}dimsync catalog accept --all -t dev\n$/u);
    write("dimsync.yaml", config("    catalog: dimsync.catalog.dev.yaml\n"));
    expect((await run("catalog", "accept", "--all", "-t", "dev")).code).toBe(0);
    const again = await run("import", "-t", "dev");
    expect(again.stdout.match(/^note/gmu)).toHaveLength(1);
    expect(again.stdout.replaceAll(/\s+/gu, " ")).toMatch(
      /^note Schemas\/billing-eu, Schemas\/billing-us, Schemas\/crm and 37 more objects are stricter than the account, and import leaves that as it is\. Apply would make 240 changes that protect; dimsync plan -t dev shows them\./u,
    );
    expect(again.stdout).not.toMatch(/E_/u);
    expect((await run("apply", "-t", "dev", "--yes")).code).toBe(0);
    expect([readable(dev), switchedOff(dev)]).toEqual([[], []]);
    const left = await plan();
    expect([readySteps(left), blockedSteps(left), diagnosticsOf(left)]).toEqual([[], [], []]);
    commit("dev");
  });

  test("new columns are switched off until someone accepts them, and only they", async () => {
    edit("p05", (schemas) => Object.assign(tableOf(schemas, "customers"), { national_id2: column("national_id2"), tier: column("tier") }));
    edit("p07", (schemas) => void delete tableOf(schemas, "orders")["channel"]);
    const { stdout } = await run("plan", "-t", "prod");
    expect(stdout).toMatch(/2 new columns \(not reviewed\):\n {4}public\.customers\.national_id2 +replicated, unhashed, label pii +shop-/u);
    expect(stdout).toContain("1 reviewed column is gone:\n    public.orders.channel   shop-shard-07\n");
    const drift = (await run("drift", "-t", "prod")).stdout;
    expect(drift).toMatch(/replicated +[^\n]*customers\.tier/u);
    expect(drift).toMatch(/shop-shard-05 was changed by sam@example\.com, 20\d\d-/u);
    expect((await run("apply", "-t", "prod", "--yes")).code).toBe(0);
    expect(switchedOff(prod)).toEqual(["p05 public.customers.national_id2", "p05 public.customers.tier"]);
    expect((await run("catalog", "accept", "Schemas/shop-shard-05", "public.customers.tier", "-t", "prod")).code).toBe(0);
    // One table of one integration.
    expect(git(folder, "diff", "--numstat", "dimsync.catalog.prod.yaml")).toMatch(/^3\t0\t/u);
    expect((await run("catalog", "accept", "--all", "-t", "prod")).stdout).toBe(
      "prod: accepted 1 column, removed 1 column that is gone in dimsync.catalog.prod.yaml. Commit it.\n",
    );
    expect(await plan()).toMatchObject({ calls: { planned: {} }, findings: [] });
    commit("new columns");
  });

  test("a plan sets apart what someone changed, with who and when, and a guard refuses to undo it", async () => {
    edit("p09", (schemas) => {
      Object.assign(tableOf(schemas, "customers")["email"] ?? {}, { hashed: false });
      Object.assign(tableOf(schemas, "orders")["note"] ?? {}, { hashed: true });
    });
    edit("p11", (schemas) => Object.assign(tableOf(schemas, "sessions")["ip_address"] ?? {}, { hashed: true }));
    write(
      "manifests/fleet.yaml",
      rules(true).replace("  rules:\n", "  rules:\n    - { id: names, match: { column: last_name }, set: { hashed: true } }\n"),
    );
    const changes = changesOf(await plan("--base", "main"));
    expect(changes.filter(({ origin }) => origin === "config")).toHaveLength(60);
    expect(changes.flatMap(({ origin, path }) => (origin === "config" ? [] : [[path, origin]]))).toEqual([
      ["/schemas/public/tables/customers/columns/email/hashed", "drift"],
    ]);
    const human = await run("plan", "-t", "prod", "--base", "main");
    expect(human.stdout.replaceAll(/\s+/gu, " ")).toContain("; 1 outside change is undone.");
    expect(human.stdout).toMatch(/\n {2}hash again +public\.customers\.email +shop-shard-09\s+changed in the account\n/u);
    expect(human.stdout).toMatch(/\n +shop-shard-09 was changed by sam@example\.com, 20/u);
    write("dimsync.yaml", `${read("dimsync.yaml")}review: strict\n`);
    const { code, stdout } = await run("plan", "-t", "prod", "--base", "main", "-o", "markdown");
    expect(code).toBe(3);
    expect(stdout).toContain('  - { guard: outsideChanges, address: Schemas/shop-shard-09, reason: "…", until: YYYY-MM-DD }\n');
    git(folder, "checkout", "--quiet", ".");
  });

  test("drift is not accepted if a policy does not allow it, and reverted; what no manifest covers is not drift", async () => {
    const accepted = await run("drift", "-t", "prod", "--resolve", "accept");
    expect(accepted.stdout + accepted.stderr).toContain("not accepted: 1.");
    expect(accepted.stdout + accepted.stderr).toContain("Policy/pii-hashed does not allow the live value.");
    expect(git(folder, "diff", "--numstat")).toBe("");
    expect(readable(prod)).toEqual(["p09 public.customers.email"]);
    expect((await run("drift", "-t", "prod", "--resolve", "revert")).code).toBe(3);
    expect((await run("apply", "-t", "prod", "revert.plan.json", "--yes")).code).toBe(0);
    rmSync(join(folder, "revert.plan.json"));
    expect(readable(prod)).toEqual([]);
    expect((await run("drift", "-t", "prod")).code).toBe(0);
  });

  test("manifests deleted and renamed, an integration renamed in the service: nothing is new, nothing is switched off", async () => {
    const before = liveColumns(prod);
    rmSync(join(folder, "manifests/integrations/forum.yaml"));
    renameSync(join(folder, "manifests/integrations/payroll.yaml"), join(folder, "manifests/payroll-eu.yaml"));
    write(
      "manifests/payroll-eu.yaml",
      read("manifests/payroll-eu.yaml").replaceAll(/(name|integration): payroll\b(?!-)/gu, "$1: payroll-eu"),
    );
    prod.mutate(({ integrations }) => {
      for (const integration of integrations) if (integration.name === "Billing EU") integration.name = "Billing Europe";
    });
    for (const flags of [[], ["--protect-only"]]) {
      const made = await plan("--base", "main", ...flags);
      expect(changesOf(made).filter(({ path }) => path.startsWith("/schemas"))).toEqual([]);
      expect(made.findings.filter(({ rule }) => /column/u.test(rule))).toEqual([]);
      expect(guardFindings(made)).toEqual([]);
      expect(blockedSteps(made)).toEqual([]);
    }
    const { stdout } = await run("plan", "-t", "prod", "--base", "main");
    expect(stdout).toContain("Integration/payroll-eu, renamed from Integration/payroll");
    expect(stdout).toMatch(
      /\n! Asset\/forum-db +released\n[^!]*! Integration\/forum +released\n {4}It is not managed any more, with \d+ columns\. dimsync sends\s+nothing/u,
    );
    expect(stdout).toContain('1. Integration/billing-eu   name   is "Billing Europe", must be "Billing EU"');
    expect((await run("apply", "-t", "prod", "--yes")).code).toBe(0);
    expect(liveColumns(prod)).toEqual(before);
    expect((await run("catalog", "accept", "--all", "-t", "prod")).stdout).toBe(
      "prod: updated 1 name in dimsync.catalog.prod.yaml. Commit it.\n",
    );
  });

  test("the register shows that every personal column is hashed", async () => {
    const { stdout } = await run("register", "-t", "prod", "--label", "pii", "-o", "csv");
    const [header = "", ...rows] = stdout.trimEnd().split("\n");
    const at = (row: string, name: string): string | undefined => row.split(",")[header.split(",").indexOf(name)];
    expect(rows).toHaveLength(361);
    expect(rows.filter((row) => at(row, "replicated") === "true" && at(row, "hashed") !== "true")).toEqual([]);
  });
});
