import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { EmbeddedOptions } from "../../src/embedded/index.ts";
import type { Plan } from "../../src/index.ts";
import { type Ran, runCommand } from "../support/command.ts";
import { configText, keyVariable, writeProject } from "../support/project-folder.ts";
import { returnsManifest } from "../support/returns.ts";
import { startService, type TestService } from "../support/service.ts";

// Policies in whole runs, against the embedded service. Its Orders (8f1c) has public.customers with email and phone in clear.

const integration =
  "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders, labels: { domain: sales } }\nspec: { match: { name: Orders } }\n";
const config = (...lines: readonly string[]): string =>
  `apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: orders }\nspec:\n  integration: orders\n${lines.map((line) => `  ${line}\n`).join("")}`;
const policy = (spec: string, name = "pii"): string =>
  `apiVersion: dimsync/v1\nkind: Policy\nmetadata: { name: ${name} }\nspec:\n  severity: error\n  message: in clear\n${spec}`;
const emails = policy("  when: { column: { name: email, enabled: true } }\n  require: { hashed: true }\n");
const hash = "{ id: hash, match: { column: email }, set: { hashed: true } }";
const email = (table: string): string => `/schemas/public/tables/${table}/columns/email/hashed`;

interface World {
  readonly service: TestService;
  readonly folder: string;
  readonly run: (...argv: readonly string[]) => Promise<Ran>;
  readonly made: (...argv: readonly string[]) => Promise<Plan>;
}

async function world(
  files: Readonly<Record<string, string>>,
  parts: Readonly<Record<string, unknown>> = {},
  options: EmbeddedOptions = {},
): Promise<World> {
  const service = await startService(options);
  onTestFinished(() => service.close());
  const manifests = Object.fromEntries(
    Object.entries(files).map(([path, text]) => [path.includes(".mjs") ? path : `manifests/${path}`, text]),
  );
  const folder = writeProject({ "dimsync.yaml": configText(service.url, parts), ...manifests });
  const run: World["run"] = (...argv) => runCommand([...argv, "-q"], folder, { [keyVariable]: service.apiKey });
  return { service, folder, run, made: async (...argv) => JSON.parse((await run(...argv, "-o", "json")).stdout) as Plan };
}

const told = ({ policy: findings }: Plan): readonly string[] =>
  findings.map(({ policy: by, path, file, line }) => `${by} ${path} ${file}:${line}`);
const reads = ({ requests }: TestService, part: string): number => requests.filter(({ path }) => path.endsWith(part)).length;

describe("the state that is judged", () => {
  test("is the planned one in a plan, the live one in a drift report, and both after apply", async () => {
    const { made, run } = await world({ "a.yaml": integration, "b.yaml": config("rules:", `  - ${hash}`), "p.yaml": emails });
    const planned = await made("plan");
    expect([told(planned), planned.guards, planned.executable, planned.exit.code]).toEqual([[], [], true, 0]);
    const live = await made("drift");
    // The account is not as the manifests say: the policy's own line.
    expect(told(live)).toEqual([`pii ${email("customers")} manifests/p.yaml:8`, `pii ${email("users")} manifests/p.yaml:8`]);
    expect(live.exit).toEqual({ code: 3, reasons: ["policy", "drift"] });
    expect((await run("apply", "--yes")).code).toBe(0);
    expect([told(await made("plan")), told(await made("drift"))]).toEqual([[], []]);
  });

  test("an error refuses plan, drift and apply, until it is lifted by name with a reason", async () => {
    const { made, run, service } = await world({
      "a.yaml": integration,
      "b.yaml": config("rules:", "  - { match: { column: phone }, set: { hashed: true } }"),
      "p.yaml": emails,
    });
    expect((await made("plan")).guards).toEqual([
      { guard: "policy", message: "2 policy findings with severity error: pii.", limit: 0, actual: 2 },
    ]);
    expect((await run("apply", "--yes")).code).toBe(3);
    expect(service.counts()).toEqual({ GET: expect.any(Number) });
    const lifted = await made("plan", "--allow", "policy=agreed with legal");
    expect([lifted.exit.code, lifted.executable, lifted.guards[0]?.allowed]).toEqual([0, true, "agreed with legal"]);
    expect((await made("drift", "--allow", "policy=agreed with legal")).exit.code).toBe(2);
    const result = JSON.parse((await run("apply", "--yes", "--allow", "policy=agreed with legal", "-o", "json")).stdout);
    expect([result.exit.code, result.guards[0].allowed, result.policy.length, service.counts()["PATCH"]]).toEqual([
      0,
      "agreed with legal",
      2,
      1,
    ]);
  });

  test("a warning is told and refuses nothing, but for --fail-on warnings", async () => {
    const { made, run } = await world({ "a.yaml": integration, "p.yaml": emails.replace("error", "warning") });
    const planned = await made("plan");
    expect([planned.policy.map(({ severity }) => severity), planned.guards, planned.exit.code]).toEqual([["warning", "warning"], [], 0]);
    expect((await run("plan", "--fail-on", "warnings")).code).toBe(2);
  });

  test("a leaf that is left to others by an ignore entry is judged as it is", async () => {
    const ignore = [{ address: "SchemaConfig/orders", path: "/schemas/public/tables/users", reason: "theirs" }];
    const { made } = await world({ "a.yaml": integration, "b.yaml": config("rules:", `  - ${hash}`), "p.yaml": emails }, { ignore });
    expect(told(await made("plan"))).toEqual([`pii ${email("users")} manifests/p.yaml:8`]);
  });
});

describe("which line a finding names", () => {
  const rows: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    [
      "the rule that changes the column",
      ["rules:", "  - { id: clear, match: { column: iban }, set: { hashed: false } }"],
      ["8f1c iban manifests/b.yaml:7"],
    ],
    [
      "the literal that changes it",
      ["schemas:", "  public:", "    tables:", "      payments:", "        columns:", "          iban: { hashed: false }"],
      ["8f1c iban manifests/b.yaml:11"],
    ],
    [
      "the rule by which it stays as it is",
      ["rules:", "  - { id: clear, match: { column: card_last_four }, set: { hashed: false } }"],
      ["8f1c card_last_four manifests/b.yaml:7"],
    ],
    [
      "the literal by which it stays as it is",
      ["schemas:", "  public: { tables: { payments: { columns: {", "    card_last_four: { hashed: false }", "    } } } }"],
      ["8f1c card_last_four manifests/b.yaml:8"],
    ],
    [
      "the rule that lets it flow, where nobody speaks of the hash",
      ["rules:", "  - { id: on, match: { table: audit_events }, set: { enabled: true } }"],
      ["8f1c actor_email manifests/b.yaml:7"],
    ],
    ["what unmatched makes of its table", ["unmatched:", "  tables: enable"], ["8f1c actor_email manifests/b.yaml:7"]],
    [
      "the policy's own, where nobody decides anything",
      ["rules:", "  - { match: { column: phone }, set: { enabled: true } }"],
      ["8f1c card_last_four manifests/p.yaml:8"],
    ],
  ];
  test.each(rows)("%s", async (_sentence, lines, [expected = ""]) => {
    const [, name = "", line] = expected.split(" ");
    const { made } = await world({
      "a.yaml": integration,
      "b.yaml": config(...lines),
      "p.yaml": policy(`  when: { column: { name: ${name} } }\n  require: { hashed: true }\n`),
    });
    const planned = await made("plan");
    expect(planned.policy.map(({ file, line: at }) => `${file}:${at}`)).toEqual([line]);
  });

  test("in a drift report the rule, as long as the account is as it says", async () => {
    const rule = "  - { id: clear, match: { table: customers, column: email }, set: { hashed: false } }";
    const { made } = await world({
      "a.yaml": integration,
      "b.yaml": config("rules:", rule, `  - ${hash.replace("column", "table: users, column")}`),
      "p.yaml": emails,
    });
    expect(told(await made("drift"))).toEqual([`pii ${email("customers")} manifests/b.yaml:7`, `pii ${email("users")} manifests/p.yaml:8`]);
  });
});

describe("which integrations are judged, and what that costs", () => {
  test("those that a manifest manages, with one read; no others", async () => {
    const { made, service } = await world({ "a.yaml": integration, "p.yaml": emails });
    const planned = await made("plan");
    expect(planned.policy.map(({ address }) => address)).toEqual(["Integration/orders", "Integration/orders"]);
    expect(service.requests.map(({ path }) => path).sort()).toEqual(["/v1/integrations", "/v1/integrations/8f1c/schemas"]);
    service.resetCounts();
    await made("plan", "--ignore", "Integration/orders:/x");
    expect(service.requests).toHaveLength(2);
  });
  test("those that policies select: no read for others", async () => {
    const { made, service } = await world({
      "a.yaml": integration,
      "p.yaml": emails.replace("enabled: true } }", "enabled: true }, integration: { labels: { domain: hr } } }"),
    });
    expect(told(await made("plan"))).toEqual([]);
    expect(service.requests.map(({ path }) => path)).toEqual(["/v1/integrations"]);
  });
  test("in the scope of --only: an integration in it is judged although its configuration is not", async () => {
    const files = {
      "a.yaml": `${integration}---\n${integration.replace("orders", "billing").replace("Orders", "Billing")}`,
      "b.yaml": config("rules:", `  - ${hash}`),
      "p.yaml": emails.replace("name: email", 'name: "*email"'),
    };
    const { made } = await world(files);
    const addresses = async (...argv: readonly string[]) => [
      ...new Set((await made("plan", ...argv)).policy.map(({ address }) => address)),
    ];
    expect(await addresses()).toEqual(["Integration/billing", "SchemaConfig/orders@orders"]);
    expect(await addresses("--only", "Integration/billing")).toEqual(["Integration/billing"]);
    expect(await addresses("--only", "SchemaConfig/orders")).toEqual(["SchemaConfig/orders@orders"]);
    expect(await addresses("--only", "Integration/orders")).toEqual(["Integration/orders"]);
  });
  test("labels are those of the manifest that means the live object, whatever else has its name", async () => {
    const misnamed = integration.replace("name: orders", "name: shop-shard-01");
    const { made } = await world({
      "a.yaml": misnamed,
      "b.yaml": config("rules: []")
        .replace("integration: orders", "integration: { id: 51a1 }")
        .replace("{ name: orders }", "{ name: shop }"),
      "p.yaml": emails.replace("enabled: true } }", "enabled: true }, integration: { labels: { domain: sales } } }"),
    });
    expect([...new Set((await made("plan")).policy.map(({ address }) => address))]).toEqual(["Integration/shop-shard-01"]);
  });
  test("columns that the schemas answer leaves out are read for policies: enabled tables that they judge, each once", async () => {
    const { made, service } = await world(
      {
        "a.yaml": integration,
        "b.yaml": config("rules:", "  - { match: { table: users }, set: { enabled: true } }"),
        "p.yaml": emails.replace("enabled: true }", "enabled: true }, table: { name: [users, customers, audit_events] }"),
      },
      {},
      { schemaForm: "snake" },
    );
    expect((await made("plan")).policy).toHaveLength(2);
    expect(service.requests.map(({ path }) => path).sort()).toEqual([
      "/v1/integrations",
      "/v1/integrations/8f1c/schemas",
      "/v1/integrations/8f1c/schemas/public/tables/customers/columns",
      "/v1/integrations/8f1c/schemas/public/tables/users/columns",
    ]);
  });
  test("without a policy no columns are read, and with one about tables neither", async () => {
    const { made, service } = await world(
      { "a.yaml": integration, "p.yaml": policy("  when: { table: { name: users } }\n  require: { enabled: false }\n") },
      {},
      { schemaForm: "snake" },
    );
    expect((await made("plan")).policy).toHaveLength(1);
    expect(reads(service, "/columns")).toBe(0);
  });
  test("a read that failed is not tried again for policies", async () => {
    const { made, service } = await world(
      { "a.yaml": integration, "b.yaml": config("rules:", `  - ${hash}`), "p.yaml": emails },
      {},
      { faults: ["GET /v1/integrations/8f1c/schemas=status:500"] },
    );
    const planned = await made("plan");
    expect([planned.complete, planned.exit.code, reads(service, "/schemas")]).toEqual([false, 1, 1]);
  });
  test("columns that can't be seen are told", async () => {
    const { made } = await world(
      { "a.yaml": integration, "p.yaml": emails },
      {},
      { schemaForm: "snake", faults: ["GET /tables/users/columns=status:404"] },
    );
    const { diagnostics } = await made("plan");
    expect(diagnostics).toEqual([
      expect.objectContaining({ code: "W_POLICY_UNSEEN", severity: "warning", message: expect.stringContaining("public.users of orders") }),
    ]);
  });
});

test("rules past their day are findings, once each, at their line, in a plan that has them in scope", async () => {
  const rule = (day: string) =>
    `  - { id: r${day.slice(0, 4)}, match: { column: email }, set: { hashed: true }, reason: DPIA-41, expires: ${day} }`;
  const set = `apiVersion: dimsync/v1\nkind: RuleSet\nmetadata: { name: old }\nspec:\n  rules:\n  ${rule("2024-02-29")}\n`;
  const { made } = await world({
    "a.yaml": integration,
    "b.yaml": config("rules:", "  - use: old", rule("2025-12-31"), rule("2999-12-31")),
    "s.yaml": set,
  });
  const planned = await made("plan");
  expect(planned.policy).toEqual([
    {
      policy: "rule-expired",
      severity: "warning",
      address: "RuleSet/old",
      path: "/spec/rules/0",
      message: 'Rule "r2024" was meant to hold until 2024-02-29 (DPIA-41). It still holds: remove it, or agree on a later day.',
      file: "manifests/s.yaml",
      line: 6,
    },
    expect.objectContaining({
      policy: "rule-expired",
      address: "SchemaConfig/orders",
      path: "/spec/rules/1",
      file: "manifests/b.yaml",
      line: 8,
    }),
  ]);
  expect(planned.diagnostics.filter(({ severity }) => severity === "warning")).toEqual([]);
  expect(planned.exit.code).toBe(0);
  expect((await made("plan", "--only", "Integration/orders")).policy).toEqual([]);
});

describe("what isn't there yet", () => {
  const returns = returnsManifest({ destination: "{ id: d-12 }", secretEnv: "PW" });
  const configOf = (...lines: readonly string[]) => config(...lines).replace("integration: orders", "integration: returns");
  const env = { PW: "pw-canary" };
  test("is noted, and judged by apply before it is changed", async () => {
    const service = await startService();
    onTestFinished(() => service.close());
    const folder = writeProject({
      "dimsync.yaml": configText(service.url),
      "manifests/a.yaml": returns,
      "manifests/b.yaml": configOf(
        "rules:",
        "  - { match: { column: phone }, set: { hashed: true } }",
        "schemas:",
        "  public: { enabled: true, tables: { customers: { enabled: true } } }",
      ),
      "manifests/p.yaml": emails,
    });
    const run = (...argv: readonly string[]) =>
      runCommand([...argv, "-q", "-o", "json"], folder, { ...env, [keyVariable]: service.apiKey });
    const planned = JSON.parse((await run("plan")).stdout) as Plan;
    expect(planned.diagnostics).toEqual([
      expect.objectContaining({ code: "I_POLICY_WAITS", message: expect.stringContaining("SchemaConfig/orders@returns") }),
    ]);
    const applied = await run("apply", "--yes");
    expect([applied.code, service.counts()["POST"], service.counts()["PATCH"]]).toEqual([3, 1, undefined]);
    expect(
      JSON.parse(applied.stdout).items.map(
        ({ address, outcome, code }: { address: string; outcome: string; code?: string }) => `${address} ${outcome} ${code}`,
      ),
    ).toEqual(["Integration/returns done undefined", "SchemaConfig/orders@returns blocked E_GUARD"]);
    // Judged by then: to say that policies wait would no longer be true.
    expect(JSON.parse(applied.stdout).diagnostics).toEqual([]);
  });
  test("a schema of which only a part is discovered breaks no policy", async () => {
    const service = await startService();
    onTestFinished(() => service.close());
    const folder = writeProject({
      "dimsync.yaml": configText(service.url, { client: { schemaWaitSeconds: 1 } }),
      "manifests/a.yaml": returns.replace("allow_columns", "allow_all"),
      "manifests/b.yaml": configOf("rules:", `  - ${hash}`, "schemas:", "  public: { tables: { not-yet: { enabled: true } } }"),
      "manifests/p.yaml": emails,
    });
    const applied = await runCommand(["apply", "--yes", "-q", "-o", "json"], folder, { ...env, [keyVariable]: service.apiKey });
    const { policy: findings, exit } = JSON.parse(applied.stdout);
    expect([exit, findings]).toEqual([{ code: 4, reasons: ["deferred"] }, []]);
  }, 60_000);
  test("a schema that is only being discovered breaks no policy", async () => {
    const service = await startService({ discoverAfterReads: 2 });
    onTestFinished(() => service.close());
    const folder = writeProject({
      "dimsync.yaml": configText(service.url, { client: { schemaWaitSeconds: 30 } }),
      "manifests/a.yaml": returns,
      "manifests/b.yaml": configOf("rules:", `  - ${hash}`),
      "manifests/p.yaml": emails,
    });
    const applied = await runCommand(["apply", "--yes", "-q", "-o", "json"], folder, { ...env, [keyVariable]: service.apiKey });
    expect([applied.code, JSON.parse(applied.stdout).policy]).toEqual([0, []]);
  }, 60_000);
});

describe("modules", () => {
  const moduled = policy("  module: policies/pii.mjs\n").replace("in clear", "see the module");
  const judging = `export default ({ integration, labels, schemas }) =>
  Object.entries(schemas.public.tables.customers.columns).flatMap(([name, { hashed }]) =>
    name === "email" && !hashed ? [{ path: "/schemas/public/tables/customers/columns/email", message: integration + " of " + labels.domain }] : []);\n`;
  test("judge the planned state", async () => {
    const { made } = await world({
      "a.yaml": integration,
      "b.yaml": config("rules:", `  - ${hash}`),
      "p.yaml": moduled,
      "policies/pii.mjs": judging,
    });
    expect((await made("plan")).policy).toEqual([]);
    expect((await made("drift")).policy).toEqual([
      {
        policy: "pii",
        severity: "error",
        address: "SchemaConfig/orders@orders",
        path: "/schemas/public/tables/customers/columns/email",
        message: "orders of sales",
        file: "manifests/p.yaml",
        line: 7,
      },
    ]);
  });
  const faults: readonly (readonly [string, string | undefined, RegExp])[] = [
    [
      "throws",
      "export default () => { throw new Error('boom'); };",
      /pii\.mjs threw Error: boom, when it was asked about integration "orders"/u,
    ],
    ["returns nothing", "export default () => {};", /pii\.mjs returned nothing and no list/u],
    ["has no default export", "export const judge = () => [];", /pii\.mjs has no function as its default export/u],
    ["isn't JavaScript", "export default (", /pii\.mjs could not be loaded: \w*Error: /u],
    ["fails while it is loaded", "throw new Error('at once');", /pii\.mjs could not be loaded: Error: at once\./u],
    ["isn't there", undefined, /There is no file policies\/pii\.mjs/u],
  ];
  test.each(faults)("one that %s stops plan and apply with its place, and no stack", async (_sentence, text, message) => {
    const { run, service } = await world({
      "a.yaml": integration,
      "p.yaml": moduled,
      ...(text === undefined ? {} : { "policies/pii.mjs": text }),
    });
    for (const command of [["plan"], ["drift"], ["apply", "--yes"]]) {
      const { code, stdout, stderr } = await run(...command);
      const said = (stdout + stderr).replaceAll(/\s+/gu, " ");
      expect(code).toBe(1);
      expect(said).toMatch(/manifests\/p\.yaml:7:\d+/u);
      expect(said).toMatch(message);
      expect(said).toContain("E_POLICY_MODULE");
      expect(said).not.toMatch(/ at .*\.mjs:|E_INTERNAL/u);
    }
    expect(Object.keys(service.counts()).filter((method) => method !== "GET")).toEqual([]);
  });
  test("are not run by validate, which says whether they are there", async () => {
    const touching =
      'import { writeFileSync } from "node:fs";\nwriteFileSync(new URL("ran.txt", import.meta.url), "");\nexport default () => [];\n';
    const { run, folder } = await world({ "a.yaml": integration, "p.yaml": moduled, "policies/pii.mjs": touching });
    expect((await run("validate")).code).toBe(0);
    expect(existsSync(join(folder, "policies/ran.txt"))).toBe(false);
    const absent = await world({ "a.yaml": integration, "p.yaml": moduled });
    const { code, stdout } = await absent.run("validate");
    expect([code, stdout]).toEqual([1, expect.stringContaining("E_POLICY_MODULE")]);
  });
});

describe("policies that could never find anything are errors, in validate and plan", () => {
  test.each<[string, string, string]>([
    ["nothing required", "  when: { column: { name: email } }\n", "5 requires nothing"],
    ["nothing judged", "  when: { integration: { names: [orders] } }\n  require: { hashed: true }\n", "7 judges nothing"],
    ["no condition at all", "  require: { hashed: true }\n", "5 judges nothing"],
    ["tables that are hashed", "  when: { table: { name: users } }\n  require: { hashed: true }\n", "8 to require there"],
    ["both ways to judge", "  when: { column: {} }\n  require: { hashed: true }\n  module: x.mjs\n", "9 judges twice"],
  ])("%s", async (_sentence, spec, expected) => {
    const { run, made } = await world({ "a.yaml": integration, "p.yaml": policy(spec), "x.mjs": "export default () => [];\n" });
    const validated = await run("validate", "-o", "json");
    for (const [code, diagnostics] of [
      [validated.code, JSON.parse(validated.stdout).diagnostics],
      [(await run("plan")).code, (await made("plan")).diagnostics],
    ] as const) {
      expect(code).toBe(1);
      const [line = "", words = ""] = [expected.slice(0, 1), expected.slice(2)];
      expect(diagnostics).toEqual([
        expect.objectContaining({
          code: "E_POLICY_SAYS_NOTHING",
          file: "manifests/p.yaml",
          line: Number(line),
          summary: expect.stringContaining(words),
        }),
      ]);
    }
  });
});
