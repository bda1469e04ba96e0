// A plan has what policies find, what that does to the exit code, and the line that decides it.
import { describe, expect, test } from "vitest";
import { guardFindings, type PolicyFinding, policyFindings } from "../../../../src/core/base/model/findings.ts";
import type { Result } from "../../../../src/core/base/model/plan.ts";
import type { EmbeddedOptions } from "../../../../src/embedded/index.ts";
import type { Plan } from "../../../../src/index.ts";
import { diagnosticsOf, guard } from "../../../support/findings.ts";
import { openProject } from "../../../support/open-project.ts";
import { returnsManifest } from "../../../support/returns.ts";
import type { TestService } from "../../../support/service.ts";
import { byHandSteps, outcomes, unseenSteps } from "../../../support/steps.ts";

// Policies in whole runs, against the embedded service. Its Orders (8f1c) has public.customers with email and phone unhashed.

const integration =
  "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders, labels: { domain: sales } }\nspec: { match: { name: Orders } }\n";
const config = (...lines: readonly string[]): string =>
  `apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: orders }\nspec:\n  integration: orders\n${lines.map((line) => `  ${line}\n`).join("")}`;
const policy = (spec: string, name = "pii"): string =>
  `apiVersion: dimsync/v1\nkind: Policy\nmetadata: { name: ${name} }\nspec:\n  severity: error\n  message: unhashed\n${spec}`;
const emails = policy("  when: { column: { name: email, enabled: true } }\n  require: { hashed: true }\n");
const hash = "{ id: hash, match: { column: email }, set: { hashed: true } }";
const email = (table: string): string => `/schemas/public/tables/${table}/columns/email/hashed`;

const start = (
  files: Readonly<Record<string, string>>,
  parts: Readonly<Record<string, unknown>> = {},
  options: EmbeddedOptions = {},
  env: Readonly<Record<string, string>> = {},
) => openProject(Object.fromEntries(Object.entries(files).map(([path, text]) => [`manifests/${path}`, text])), { parts, options, env });

const linesOf = (plan: Plan): readonly string[] =>
  policyFindings(plan).map(({ rule: by, state, path, file, line }) => `${by} ${state} ${path} ${file}:${line}`);
const reads = ({ requests }: TestService, part: string): number => requests.filter(({ path }) => path.endsWith(part)).length;

describe("the state that policies check", () => {
  test("is the planned one in a plan, the live one in a drift report, and both after apply", async () => {
    const { made, run } = await start({ "a.yaml": integration, "b.yaml": config("rules:", `  - ${hash}`), "p.yaml": emails });
    const planned = await made("plan");
    // The rule that fixes them.
    expect(linesOf(planned)).toEqual([
      `Policy/pii fixed ${email("customers")} manifests/b.yaml:7`,
      `Policy/pii fixed ${email("users")} manifests/b.yaml:7`,
    ]);
    expect([guardFindings(planned), planned.executable, planned.exit.code]).toEqual([[], true, 0]);
    const live = await made("drift");
    // The account differs from the manifests, so the finding names the policy's own line.
    expect(linesOf(live)).toEqual([
      `Policy/pii existing ${email("customers")} manifests/p.yaml:8`,
      `Policy/pii existing ${email("users")} manifests/p.yaml:8`,
    ]);
    expect(live.exit).toEqual({ code: 3, reasons: ["policy", "drift"] });
    expect((await run("apply", "--yes")).code).toBe(0);
    expect([linesOf(await made("plan")), linesOf(await made("drift"))]).toEqual([[], []]);
  });

  test.each([true, false])(
    "an integration is in the scope of the name that it has, not of the one in settings (extended: %s)",
    async (extended) => {
      const files = {
        "a.yaml": integration.replace("match: { name: Orders }", "match: { name: Orders }, settings: { name: Prod }"),
        "p.yaml": policy(
          "  when: { integration: { names: [Prod] }, column: { name: phone, enabled: true } }\n  require: { hashed: true }\n",
        ),
      };
      const { made } = await start(files, { service: { extended } }, { observed: true, ids: "short" });
      const planned = await made("plan");
      expect([policyFindings(planned), byHandSteps(planned).map(({ path }) => path)]).toEqual([[], ["/name"]]);
    },
  );

  test("a leaf that `ignore` in the config excludes is checked with its live value", async () => {
    const ignore = [{ address: "SchemaConfig/orders", path: "/schemas/public/tables/users", reason: "theirs" }];
    const { made } = await start({ "a.yaml": integration, "b.yaml": config("rules:", `  - ${hash}`), "p.yaml": emails }, { ignore });
    expect(linesOf(await made("plan"))).toEqual([
      `Policy/pii fixed ${email("customers")} manifests/b.yaml:7`,
      `Policy/pii existing ${email("users")} manifests/p.yaml:8`,
    ]);
  });
});

describe("the effect of a finding with severity error", () => {
  const iban = "/schemas/public/tables/payments/columns/iban/hashed";
  /** A plan that unhashes the iban, which one policy forbids, while another finds the emails that are unhashed anyway. */
  const causing = {
    "a.yaml": integration,
    "b.yaml": config("rules:", "  - { id: readable, match: { column: iban }, set: { hashed: false } }"),
    "p.yaml": `${emails}---\n${policy("  when: { column: { name: iban } }\n  require: { hashed: true }\n", "iban")}`,
  };
  /** A plan that only protects. */
  const protecting = {
    "a.yaml": integration,
    "b.yaml": config("rules:", "  - { match: { column: phone }, set: { hashed: true } }"),
    "p.yaml": emails,
  };

  const fixing = { ...protecting, "b.yaml": config("rules:", `  - ${hash}`) };
  const warning = { "a.yaml": integration, "p.yaml": emails.replace("error", "warning") };
  const strict = { review: "strict" };
  const lift = ["--allow", "policy=agreed with legal"];

  interface Row {
    readonly files: Readonly<Record<string, string>>;
    readonly argv: readonly string[];
    readonly parts?: Readonly<Record<string, unknown>>;
    readonly exit: Plan["exit"];
    readonly guard?: number;
  }
  const rows: Readonly<Record<string, Row>> = {
    "a new one refuses a plan": { files: causing, argv: ["plan"], exit: { code: 3, reasons: ["policy"] }, guard: 1 },
    "an existing one does not stop a plan that only protects": { files: protecting, argv: ["plan"], exit: { code: 0, reasons: [] } },
    "any refuses drift": { files: protecting, argv: ["drift"], exit: { code: 3, reasons: ["policy", "drift"] }, guard: 2 },
    "none refuses drift if the guard is lifted": {
      ...{ files: protecting, argv: ["drift", ...lift], exit: { code: 2, reasons: ["drift"] }, guard: 2 },
    },
    "an existing one refuses a plan with `review: strict`": {
      ...{ files: protecting, argv: ["plan"], parts: strict, exit: { code: 3, reasons: ["policy"] }, guard: 2 },
    },
    "an existing one does not stop `--protect-only` with `review: strict`": {
      ...{ files: protecting, argv: ["plan", "--protect-only"], parts: strict, exit: { code: 0, reasons: [] } },
    },
    "an existing one fails a plan with --fail-on policy": {
      ...{ files: protecting, argv: ["plan", "--fail-on", "policy"], exit: { code: 2, reasons: ["policy"] } },
    },
    "a fixed one does not": { files: fixing, argv: ["plan", "--fail-on", "policy"], exit: { code: 0, reasons: [] } },
    "a warning refuses nothing": { files: warning, argv: ["drift"], exit: { code: 0, reasons: [] } },
    "a warning fails a plan with --fail-on warnings": {
      ...{ files: warning, argv: ["plan", "--fail-on", "warnings"], exit: { code: 2, reasons: ["warnings"] } },
    },
  };
  test.each(Object.entries(rows))("%s", async (_sentence, { files, argv, parts, exit, guard: actual }) => {
    const { made } = await start(files, parts);
    const planned = await made(...argv);
    const refusing = policyFindings(planned).filter(({ refuses }) => refuses === "policy");
    expect([planned.exit, refusing.length]).toEqual([exit, actual ?? 0]);
    expect(guardFindings(planned).map((one) => one.guard.actual)).toEqual(actual === undefined ? [] : [actual]);
  });

  test("is in the plan with its state, and in the guard that refuses", async () => {
    const { made } = await start(causing);
    const planned = await made("plan");
    expect(linesOf(planned)).toEqual([
      `Policy/iban new ${iban} manifests/b.yaml:7`,
      `Policy/pii existing ${email("customers")} manifests/p.yaml:8`,
      `Policy/pii existing ${email("users")} manifests/p.yaml:8`,
    ]);
    expect([planned.executable, guardFindings(planned)]).toEqual([
      false,
      [guard("policy", { message: "1 policy finding with severity error: Policy/iban.", limit: 0, actual: 1 })],
    ]);
  });
});

describe("an integration whose SchemaConfig cannot be compared", () => {
  const files = { "a.yaml": integration, "p.yaml": emails };
  const skipped = expect.objectContaining({
    code: "W_POLICY_SKIPPED",
    severity: "warning",
    message: expect.stringContaining("on orders:"),
  });
  const rows: readonly (readonly [string, string, EmbeddedOptions])[] = [
    [
      "because a rule is invalid",
      config("rules:", "  - { match: { schema: public, where: { hashed: true } }, set: { enabled: true } }"),
      {},
    ],
    ["because a name does not exist", config("schemas: { nope: { enabled: true } }"), {}],
    ["because it disables a primary key", config("rules:", "  - { match: { table: users, column: id }, set: { enabled: false } }"), {}],
    ["because its schemas cannot be read", config("rules:", `  - ${hash}`), { faults: ["GET /v1/integrations/8f1c/schemas=status:500"] }],
  ];
  test.each(rows)("%s, is not checked, and the plan says so", async (_sentence, manifest, options) => {
    const { made } = await start({ ...files, "b.yaml": manifest }, {}, options);
    const planned = await made("plan");
    expect(policyFindings(planned)).toEqual([]);
    expect(diagnosticsOf(planned)).toContainEqual(skipped);
    expect(planned.exit.code).toBe(1);
  });
  test("is checked in a drift report, as long as its schemas can be read", async () => {
    const { made } = await start({ ...files, "b.yaml": config("schemas: { nope: { enabled: true } }") });
    const report = await made("drift");
    expect(policyFindings(report).map(({ path }) => path)).toEqual([email("customers"), email("users")]);
    expect(diagnosticsOf(report)).not.toContainEqual(skipped);
  });
});

describe("the line that a finding names", () => {
  const rows: Readonly<Record<string, readonly [lines: readonly string[], found: Readonly<Record<string, string>>]>> = {
    "the rule that changes the column, that keeps it, or that enables its table if no rule sets hashed": [
      [
        "rules:",
        "  - { id: clear, match: { column: iban }, set: { hashed: false } }",
        "  - { id: kept, match: { column: card_last_four }, set: { hashed: false } }",
        "  - { id: on, match: { table: audit_events }, set: { enabled: true } }",
      ],
      { iban: "manifests/b.yaml:7", card_last_four: "manifests/b.yaml:8", actor_email: "manifests/b.yaml:9" },
    ],
    "the literal entry that changes the column, or keeps it": [
      [
        ...["schemas:", "  public:", "    tables:", "      payments:", "        columns:", "          iban: { hashed: false }"],
        "          card_last_four: { hashed: false }",
      ],
      { iban: "manifests/b.yaml:11", card_last_four: "manifests/b.yaml:12" },
    ],
    "`unmatched`, if that enables the table, and the policy if no manifest decides": [
      ["unmatched:", "  tables: enable"],
      { actor_email: "manifests/b.yaml:7", card_last_four: "manifests/p.yaml:8" },
    ],
  };
  test.each(Object.entries(rows))("%s", async (_sentence, [lines, found]) => {
    const { made } = await start({
      "a.yaml": integration,
      "b.yaml": config(...lines),
      "p.yaml": policy(`  when: { column: { name: [${Object.keys(found)}] } }\n  require: { hashed: true }\n`),
    });
    const lineOf = (one: PolicyFinding): [string, string] => [one.path.split("/").at(-2) ?? "", `${one.file}:${one.line}`];
    expect(Object.fromEntries(policyFindings(await made("plan")).map(lineOf))).toEqual(found);
  });

  test("in a drift report the rule, if the account matches it", async () => {
    const rule = "  - { id: clear, match: { table: customers, column: email }, set: { hashed: false } }";
    const { made } = await start({
      "a.yaml": integration,
      "b.yaml": config("rules:", rule, `  - ${hash.replace("column", "table: users, column")}`),
      "p.yaml": emails,
    });
    expect(linesOf(await made("drift"))).toEqual([
      `Policy/pii existing ${email("customers")} manifests/b.yaml:7`,
      `Policy/pii existing ${email("users")} manifests/p.yaml:8`,
    ]);
  });
});

describe("the integrations that policies check, and their reads", () => {
  test("those with a manifest, with one read each", async () => {
    const { made, service } = await start({ "a.yaml": integration, "p.yaml": emails });
    const planned = await made("plan");
    expect(policyFindings(planned).map(({ address }) => address)).toEqual(["Schemas/orders", "Schemas/orders"]);
    expect(service.requests.map(({ path }) => path).sort()).toEqual(["/v1/integrations", "/v1/integrations/8f1c/schemas"]);
  });
  test("those that policies select, without reads for others", async () => {
    const { made, service } = await start({
      "a.yaml": integration,
      "p.yaml": emails.replace("enabled: true } }", `enabled: true }, integration: { names: ["none-*"] } }`),
    });
    expect(linesOf(await made("plan"))).toEqual([]);
    expect(service.requests.map(({ path }) => path)).toEqual(["/v1/integrations"]);
  });
  test("those in the scope of --only, even if their SchemaConfig is not", async () => {
    const files = {
      "a.yaml": `${integration}---\n${integration.replace("orders", "billing").replace("Orders", "Billing")}`,
      "b.yaml": config("rules:", `  - ${hash}`),
      "p.yaml": emails.replace("name: email", 'name: "*email"'),
    };
    const { made } = await start(files);
    const addresses = async (...argv: readonly string[]) => [
      ...new Set(policyFindings(await made("plan", ...argv)).map(({ address }) => address)),
    ];
    expect(await addresses()).toEqual(["Schemas/billing", "Schemas/orders"]);
    expect(await addresses("--only", "Integration/billing")).toEqual(["Schemas/billing"]);
    expect(await addresses("--only", "SchemaConfig/orders")).toEqual(["Schemas/orders"]);
    expect(await addresses("--only", "Integration/orders")).toEqual(["Schemas/orders"]);
  });
  test("those with the labels of the manifest that identifies the live object, whatever its name", async () => {
    const misnamed = integration.replace("name: orders", "name: shop-shard-01");
    const { made } = await start({
      "a.yaml": misnamed,
      "b.yaml": config("rules: []")
        .replace("integration: orders", "integration: { id: 51a1 }")
        .replace("{ name: orders }", "{ name: shop }"),
      "p.yaml": emails.replace("enabled: true } }", "enabled: true }, integration: { labels: { domain: sales } } }"),
    });
    expect([...new Set(policyFindings(await made("plan")).map(({ address }) => address))]).toEqual(["Schemas/Integration/shop-shard-01"]);
  });
  test("columns that the schemas response leaves out are read once for each enabled table that a policy checks", async () => {
    const { made, service } = await start(
      {
        "a.yaml": integration,
        "b.yaml": config("rules:", "  - { match: { table: users }, set: { enabled: true } }"),
        "p.yaml": emails.replace("enabled: true }", "enabled: true }, table: { name: [users, customers, audit_events] }"),
      },
      {},
      { schemaForm: "snake" },
    );
    expect(policyFindings(await made("plan"))).toHaveLength(2);
    expect(service.requests.map(({ path }) => path).sort()).toEqual([
      "/v1/integrations",
      "/v1/integrations/8f1c/schemas",
      "/v1/integrations/8f1c/schemas/public/tables/customers/columns",
      "/v1/integrations/8f1c/schemas/public/tables/users/columns",
    ]);
  });
  test("a failed read is not repeated for policies", async () => {
    const { made, service } = await start(
      { "a.yaml": integration, "b.yaml": config("rules:", `  - ${hash}`), "p.yaml": emails },
      {},
      { faults: ["GET /v1/integrations/8f1c/schemas=status:500"] },
    );
    const planned = await made("plan");
    expect([planned.complete, planned.exit.code, reads(service, "/schemas")]).toEqual([false, 1, 1]);
  });
  test("columns that the service does not return are reported", async () => {
    const { made } = await start(
      { "a.yaml": integration, "p.yaml": emails },
      {},
      { schemaForm: "snake", faults: ["GET /tables/users/columns=status:404"] },
    );
    const planned = await made("plan");
    const diagnostics = diagnosticsOf(planned);
    expect(diagnostics).toEqual([
      expect.objectContaining({
        code: "W_COLUMNS_UNKNOWN",
        severity: "warning",
        message: expect.stringContaining("public.users of orders"),
      }),
    ]);
    expect(unseenSteps(planned)).toEqual([
      {
        address: "Schemas/orders",
        paths: ["/schemas/public/tables/users/columns"],
        reason: "the service returned no columns for the table",
      },
    ]);
  });
  test("a SchemaConfig is not in sync if the service does not return columns that only a policy needs", async () => {
    const files = { "a.yaml": integration, "b.yaml": config("rules:", "  - { match: { table: users }, set: { enabled: true } }") };
    const faults = ["GET /tables/users/columns=status:404"];
    const withPolicy = await start({ ...files, "p.yaml": emails }, {}, { schemaForm: "snake", faults });
    await withPolicy.run("apply", "--yes");
    const planned = await withPolicy.made("plan", "--fail-on", "unseen");
    expect([unseenSteps(planned).map(({ address }) => address), planned.counts.equal, planned.exit]).toEqual([
      ["Schemas/orders"],
      1,
      { code: 2, reasons: ["unseen"] },
    ]);
    const withoutPolicy = await start(files, {}, { schemaForm: "snake", faults });
    await withoutPolicy.run("apply", "--yes");
    const same = await withoutPolicy.made("plan");
    expect([unseenSteps(same), same.counts.equal]).toEqual([[], 2]);
  });
});

test("expired rules are findings at their line, once each, in a plan with the rules in scope", async () => {
  const rule = (day: string) =>
    `  - { id: r${day.slice(0, 4)}, match: { column: email }, set: { hashed: true }, reason: DPIA-41, expires: ${day} }`;
  const set = `apiVersion: dimsync/v1\nkind: RuleSet\nmetadata: { name: old }\nspec:\n  rules:\n  ${rule("2024-02-29")}\n`;
  const { made } = await start({
    "a.yaml": integration,
    "b.yaml": config("rules:", "  - use: old", rule("2025-12-31"), rule("2999-12-31")),
    "s.yaml": set,
  });
  const planned = await made("plan");
  expect(policyFindings(planned)).toEqual([
    {
      rule: "Policy/rule-expired",
      severity: "warning",
      state: "existing",
      address: "RuleSet/old",
      path: "/spec/rules/0",
      message: 'Rule "r2024" expired on 2024-02-29 (DPIA-41) and still applies. Remove it, or set a later date.',
      file: "manifests/s.yaml",
      line: 6,
    },
    expect.objectContaining({
      rule: "Policy/rule-expired",
      address: "SchemaConfig/orders",
      path: "/spec/rules/1",
      file: "manifests/b.yaml",
      line: 8,
    }),
  ]);
  expect(diagnosticsOf(planned).filter(({ severity }) => severity === "warning")).toEqual([]);
  expect(planned.exit.code).toBe(0);
  expect(policyFindings(await made("plan", "--only", "Integration/orders"))).toEqual([]);
});

describe("an integration that does not exist yet", () => {
  const returns = returnsManifest({ destination: "{ id: d-12 }", secretEnv: "PW" });
  const configOf = (...lines: readonly string[]) => config(...lines).replace("integration: orders", "integration: returns");
  const env = { PW: "pw-canary" };
  test("is reported, and checked by apply before it is changed", async () => {
    const tree = ["schemas:", "  public: { enabled: true, tables: { customers: { enabled: true } } }"];
    const files = {
      "a.yaml": returns,
      "b.yaml": configOf("rules:", "  - { match: { column: phone }, set: { hashed: true } }", ...tree),
      "p.yaml": emails,
    };
    const { service, run, made } = await start(files, {}, {}, env);
    expect(diagnosticsOf(await made("plan"))).toEqual([
      expect.objectContaining({ code: "I_POLICY_WAITS", message: expect.stringContaining("Schemas/returns") }),
    ]);
    const applied = await run("apply", "--yes", "-o", "json");
    expect([applied.code, service.counts()["POST"], service.counts()["PATCH"]]).toEqual([3, 1, undefined]);
    expect(outcomes(JSON.parse(applied.stdout) as Result).map(({ address, outcome, code }) => `${address} ${outcome} ${code}`)).toEqual([
      "Integration/returns done undefined",
      "Schemas/returns blocked E_GUARD",
    ]);
    // They are checked by then.
    expect(diagnosticsOf(JSON.parse(applied.stdout))).toEqual([]);
  });
  test("is not checked while only a part of the schema is discovered", async () => {
    const files = {
      "a.yaml": returns.replace("enableColumnChanges", "enableAll"),
      "b.yaml": configOf("rules:", `  - ${hash}`, "schemas:", "  public: { tables: { not-yet: { enabled: true } } }"),
      "p.yaml": emails,
    };
    const result = await (await start(files, {}, {}, env)).made<Result>("apply", "--yes");
    expect([result.exit, policyFindings(result)]).toEqual([{ code: 4, reasons: ["waits"] }, []]);
  });
});

test("a policy that could never find anything is an error at its line, in validate and plan", async () => {
  const { made } = await start({ "a.yaml": integration, "p.yaml": policy("  require: { hashed: true }\n") });
  for (const command of ["validate", "plan"]) {
    const document = await made(command);
    const place = { code: "E_WRONG_VALUE", file: "manifests/p.yaml", line: 5 };
    expect([document.exit.code, diagnosticsOf(document)]).toEqual([1, [expect.objectContaining(place)]]);
  }
});
