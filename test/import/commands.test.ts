import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type CompareFlags, type Comparison, runCompare } from "../../src/commands/adopt/compare.ts";
import { runSnapshot, type SnapshotFlags } from "../../src/commands/adopt/snapshot.ts";
import { runTest, type TestFlags, type TestReport } from "../../src/commands/adopt/test-manifests.ts";
import { runPlan } from "../../src/commands/core/plan.ts";
import { type AuditFlags, runAudit } from "../../src/commands/inspect/audit.ts";
import { type DoctorReport, runDoctor } from "../../src/commands/setup/doctor.ts";
import { clockCheck } from "../../src/commands/setup/doctor-checks.ts";
import { transportChecks } from "../../src/commands/setup/doctor-transport.ts";
import type { PlanFlags } from "../../src/commands/shared/flags.ts";
import { readSnapshotFile } from "../../src/snapshot/file.ts";
import { readsOf } from "../../src/snapshot/snapshot.ts";
import { type ImportWorld, importWorld } from "./world.ts";

let world: ImportWorld;
beforeEach(async () => {
  world = await importWorld();
});
afterEach(() => world.close());

/** A snapshot as JSON that a test damages. */
interface Draft {
  [member: string]: unknown;
  readonly integrations: (Record<string, unknown> | null)[];
  readonly users: unknown[];
  readonly schemas: Record<string, object>;
}

const json = { output: ["json"] };

describe("doctor", () => {
  const doctor = async (): Promise<DoctorReport> => JSON.parse((await world.run(runDoctor, json)).out) as DoctorReport;
  const verdicts = ({ checks }: DoctorReport): Readonly<Record<string, string>> =>
    Object.fromEntries(checks.map(({ check, verdict }) => [check, verdict]));

  test("of an adopted account everything is well, and only GET was sent", async () => {
    await world.importJson();
    const report = await doctor();
    expect(report.checks.filter(({ verdict }) => verdict !== "ok")).toEqual([]);
    expect(report.exit).toEqual({ code: 0, reasons: [] });
    expect(Object.keys(world.service.counts())).toEqual(["GET"]);
    expect((await world.run(runDoctor, {})).out).toContain("Nothing stands in the way of a plan.");
  });

  test.each([
    ["a key that is refused", "GET /v1/integrations$=status:401", "service", "fail"],
    ["an audit log that is out of reach is only worth a warning", "GET /v1/audit-logs=status:403", "read audit log", "warn"],
    ["users that can't be read", "GET /v1/users=status:403", "read users", "fail"],
    ["schemas that can't be read", "GET /schemas$=status:403", "answer form", "fail"],
  ])("%s", async (_, fault, check, verdict) => {
    await world.importJson();
    world.service.addFault(fault);
    const report = await doctor();
    expect(verdicts(report)[check]).toBe(verdict);
    const found = report.checks.find((one) => one.check === check);
    expect(found?.advice).toBeTruthy();
    expect(report.exit.code).toBe(verdict === "fail" ? 1 : 0);
  });

  test("a key that isn't there is named", async () => {
    const { out } = await world.run(runDoctor, json, [], { DIMSYNC_API_KEY: "" });
    const key = (JSON.parse(out) as DoctorReport).checks.findLast(({ check }) => check === "key");
    expect(key).toMatchObject({ verdict: "fail", found: expect.stringContaining("DIMSYNC_API_KEY") });
  });

  test("a binding whose object is gone fails, one without a manifest warns", async () => {
    await world.importJson();
    world.service.mutate((account) => {
      account.tags = account.tags.filter(({ id }) => id !== "t-3");
    });
    const file = join(world.folder, "dimsync.bindings.yaml");
    await writeFile(file, (await readFile(file, "utf8")).replace("Tag/finance:", "Tag/old:"));
    const found = (await doctor()).checks.filter(({ check }) => check === "bindings");
    expect(found.map(({ verdict, found: text }) => `${verdict} ${text}`).sort()).toEqual([
      "fail Tag/gold is bound to t-3, which is gone from the account.",
      "warn Tag/old is bound to t-2, and no manifest has that address.",
    ]);
  });

  test.each([
    [undefined, "ok"],
    [1_000_000, "ok"],
    [1_060_000, "warn"],
    [1_400_000, "fail"],
    [600_000, "fail"],
  ] as const)("a clock at 1000000 ms while the service's is at %s is %s", (serverMs, verdict) => {
    expect(clockCheck(serverMs, 1_000_000).verdict).toBe(verdict);
  });
});

test.each([
  ["lists that are cut off in silence", { paging: { style: "silent", size: 50 } }, "paging", "warn"],
  ["answers without columns", { schemaForm: "snake" }, "answer form", "warn"],
] as const)("doctor warns of %s", async (_, options, check, verdict) => {
  const other = await importWorld(undefined, options);
  try {
    const { out } = await other.run(runDoctor, json);
    expect((JSON.parse(out) as DoctorReport).checks.find((one) => one.check === check)?.verdict).toBe(verdict);
  } finally {
    await other.close();
  }
});

test("doctor names a manifest of another schema version", async () => {
  await world.importJson();
  await writeFile(
    join(world.folder, "manifests/later.yaml"),
    "apiVersion: dimsync/v2\nkind: Tag\nmetadata: { name: z }\nspec: { name: Z }\n",
  );
  const { out, code } = await world.run(runDoctor, {});
  expect(code).toBe(1);
  expect(out).toContain("fail  manifests       manifests/later.yaml is of another schema version: this dimsync reads dimsync/v1.");
});

const proxied = { HTTPS_PROXY: "http://user:word@proxy.example.com:3128" };
test.each<readonly [sentence: string, env: Readonly<Record<string, string>>, check: string, verdict: string, found: string]>([
  ["no proxy", {}, "proxy", "ok", "directly"],
  ["a proxy", proxied, "proxy", "ok", "through the proxy of HTTPS_PROXY."],
  ["the lower-case variable goes first", { ...proxied, https_proxy: "http://other" }, "proxy", "ok", "of https_proxy."],
  ["a host that NO_PROXY names", { ...proxied, NO_PROXY: "x.org, api.example.com:443" }, "proxy", "ok", "directly"],
  ["a domain that NO_PROXY names", { ...proxied, NO_PROXY: ".example.com" }, "proxy", "ok", "directly"],
  ["another port", { ...proxied, NO_PROXY: "api.example.com:8443" }, "proxy", "ok", "through the proxy"],
  ["a host that only begins alike", { ...proxied, NO_PROXY: "api.example" }, "proxy", "ok", "through the proxy"],
  ["no own certificates", {}, "TLS", "ok", "that Node comes with."],
  ["certificates that aren't there", { NODE_EXTRA_CA_CERTS: "/nowhere/ca.pem" }, "TLS", "warn", "can't be read"],
  ["no checking at all", { NODE_TLS_REJECT_UNAUTHORIZED: "0" }, "TLS", "fail", "whoever is in between"],
])("doctor tells how calls go: %s", (_, env, check, verdict, found) => {
  const seen = transportChecks("https://api.example.com", env).find((one) => one.check === check);
  expect(seen).toMatchObject({ verdict, found: expect.stringContaining(found) });
  expect(seen?.found).not.toContain("word");
});

test.each([
  ["that ends before it begins", { since: "2026-05-01", until: "2026-01-01" }],
  ["that begins tomorrow", { since: "2999-01-01" }],
])("audit refuses a window %s", async (_, flags) => {
  const { code, err } = await world.run<AuditFlags>(runAudit, flags);
  expect([code, err]).toEqual([1, expect.stringContaining("E_USAGE: No time lies between --since")]);
});

describe("snapshot", () => {
  const take = (out: string) => world.run<SnapshotFlags>(runSnapshot, { out });

  test("holds what the account shows, in the same bytes each time but for the time", async () => {
    expect(await take("a.json")).toMatchObject({ code: 0, err: "" });
    await take("b.json.gz");
    const [a, b] = [await readSnapshotFile(join(world.folder, "a.json")), await readSnapshotFile(join(world.folder, "b.json.gz"))];
    expect({ ...a, takenAt: "" }).toEqual({ ...b, takenAt: "" });
    expect((await readFile(join(world.folder, "b.json.gz")))[0]).toBe(0x1f);
    const reads = readsOf(a);
    expect((await reads.integrations()).items.map(({ id }) => id)).toEqual(["51a1", "51a2", "8f1c", "b27d"]);
    expect((await reads.schemas("8f1c"))?.["public"]?.tables["users"]?.columns?.["password_hash"]).toMatchObject({ enabled: false });
    expect((await reads.tag("t-1"))?.taggedResources?.map(({ id }) => id)).toEqual(["8f1c", "da-7"]);
    expect(await reads.integration("gone")).toBeUndefined();
    await expect(reads.auditLogs({})).rejects.toThrow("no audit log");
  });

  test("has no secret in it: neither the key nor a connection", async () => {
    await take("a.json");
    const text = await readFile(join(world.folder, "a.json"), "utf8");
    expect(text).not.toContain(world.service.apiKey);
    expect(text).not.toContain("db.internal");
  });

  test("a read that fails leaves no file behind", async () => {
    world.service.addFault("GET /v1/integrations/b27d/schemas=status:403");
    const { code } = await take("a.json");
    expect(code).toBe(1);
    expect(Object.keys(await world.files())).toEqual(["dimsync.yaml"]);
  });

  test.each([
    ["no JSON", "x", "is no JSON"],
    ["another document", "{}", "is no snapshot"],
    ["a later format", '{"kind":"Snapshot","formatVersion":"2.0","integrations":[],"tags":[],"users":[],"schemas":{}}', "format 2.0"],
  ])("a file that is %s is refused", async (_, text, message) => {
    await writeFile(join(world.folder, "x.json"), text);
    await expect(readSnapshotFile(join(world.folder, "x.json"))).rejects.toThrow(message);
  });

  test.each<readonly [member: string, damage: (snapshot: Draft) => void]>([
    ["/completeness", (snapshot) => void delete snapshot["completeness"]],
    ["/takenAt", (snapshot) => void Object.assign(snapshot, { takenAt: "2026-01-01 (<b>)" })],
    ["/integrations/4", ({ integrations }) => void integrations.push(null)],
    ["/integrations/0/source", ({ integrations }) => void delete integrations[0]?.["source"]],
    ["/users/5/email", ({ users }) => void users.push({ id: "u-9" })],
    ["/schemas/8f1c/public", ({ schemas }) => void Object.assign(schemas["8f1c"] ?? {}, { public: null })],
  ])("a file whose %s is damaged is refused, and the member named", async (member, damage) => {
    await take("a.json");
    const file = join(world.folder, "a.json");
    const snapshot = JSON.parse(await readFile(file, "utf8")) as Draft;
    damage(snapshot);
    await writeFile(file, JSON.stringify(snapshot));
    await expect(readSnapshotFile(file)).rejects.toThrow(`${file} is damaged: ${member} is not what`);
  });

  test("an empty plan says that the snapshot equals the manifests, and one of another account is told", async () => {
    await world.importJson();
    await take("a.json");
    const file = join(world.folder, "a.json");
    const plan = () => world.run<PlanFlags>(runPlan, { snapshot: "a.json", quiet: false, failOn: [], allow: [], ignore: [] });
    expect((await plan()).out).toMatch(/No changes\. The snapshot of \S+Z equals the manifests/u);
    expect((await plan()).out).not.toContain("W_SNAPSHOT_OF_ANOTHER");
    const snapshot = JSON.parse(await readFile(file, "utf8")) as Draft;
    await writeFile(file, JSON.stringify({ ...snapshot, target: "staging", account: "https://staging.example.com" }));
    expect((await plan()).out).toContain("W_SNAPSHOT_OF_ANOTHER");
    expect((await plan()).out).toContain("is a snapshot of staging (https://staging.example.com)");
  });
});

describe("compare", () => {
  const compare = async (from: string, to: string): Promise<Comparison> =>
    JSON.parse((await world.run<CompareFlags>(runCompare, { ...json, from, to })).out) as Comparison;

  test("a target and its snapshot are alike; what changes live is told leaf by leaf", async () => {
    await world.run<SnapshotFlags>(runSnapshot, { out: "before.json" });
    expect(await compare("before.json", "prod")).toMatchObject({ differences: [], exit: { code: 0 } });
    world.service.mutate((account) => {
      const [orders, billing] = account.integrations;
      const email = orders?.schemas["public"]?.tables["users"]?.columns["email"];
      if (email !== undefined) email.hashed = true;
      if (billing !== undefined) billing.paused = true;
      const [pii, finance] = account.tags;
      if (pii !== undefined) pii.owner = "u-1";
      if (finance !== undefined) finance.name = "Money";
      pii?.relations.splice(0, 1);
    });
    const { differences, exit } = await compare("before.json", "prod");
    expect(exit.code).toBe(2);
    expect(differences).toEqual([
      { object: "Integration Billing", path: "/paused", from: false, to: true },
      { object: "Integration Orders", path: "/schemas/public/tables/users/columns/email/hashed", from: false, to: true },
      { object: "Tag Finance", path: "", from: "t-2" },
      { object: "Tag Money", path: "", to: "t-2" },
      { object: "Tag PII", path: "/owner", from: "privacy@example.com", to: "dana@example.com" },
      { object: "Tag PII", path: "/resources/Orders", from: true },
    ]);
    const { out } = await world.run<CompareFlags>(runCompare, { from: "before.json", to: "prod" });
    expect(out).toContain("schemas/public/tables/users/columns/email/hashed: false → true");
    expect(out).toContain("6 differences in 5 objects.");
  });

  test("columns that one side's answer leaves out are unknown, which is no difference; those of both are compared", async () => {
    const snake = await importWorld(undefined, { schemaForm: "snake" });
    try {
      const email = { schema: "public", table: "users", column: "email" };
      snake.service.mutate(({ integrations: [orders] }) => {
        const column = orders?.schemas[email.schema]?.tables[email.table]?.columns[email.column];
        if (column !== undefined) column.hashed = true;
      });
      const file = join(world.folder, "snake.json");
      await snake.run<SnapshotFlags>(runSnapshot, { out: file });
      const { differences } = await compare("prod", file);
      expect(differences).toEqual([
        { object: "Integration Orders", path: "/schemas/public/tables/users/columns/email/hashed", from: false, to: true },
      ]);
      expect((await compare(file, "prod")).differences).toHaveLength(1);
    } finally {
      await snake.close();
    }
  });

  test("a snapshot that isn't there is told as a file, not as a target", async () => {
    const { code, err } = await world.run<CompareFlags>(runCompare, { from: "gone.json", to: "prod" });
    expect(code).toBe(1);
    expect(err).toContain("E_SNAPSHOT");
  });
});

describe("test", () => {
  const run = async (tests: string, flags: Partial<TestFlags> = {}): Promise<TestReport> => {
    await writeFile(join(world.folder, "dimsync.tests.yaml"), `apiVersion: dimsync/v1\nkind: Tests\ntests:\n${tests}`);
    const { out, err } = await world.run<TestFlags>(runTest, { ...json, ...flags });
    if (out === "") throw new Error(err);
    return JSON.parse(out) as TestReport;
  };

  test("a test that holds, one that doesn't, and one that looks at nothing", async () => {
    await world.importJson();
    const { tests, exit } = await run(`
  - { name: password hashes are off, that: { schema: public, table: users, column: password_hash }, is: { enabled: false } }
  - { name: addresses are hashed where personal data is, integrations: { tagged: pii }, that: { table: users, column: "*EMAIL*", ignoreCase: true }, is: { hashed: true } }
  - { name: nobody looks, that: { table: usres }, is: { enabled: true } }
  - { name: Orders runs, integrations: { names: [Orders] }, is: { paused: false, sourceType: postgres } }
  - { name: audit tables don't flow, that: { table: "audit_*", flows: true }, is: { enabled: false }, atLeast: 0 }
`);
    expect(tests.map(({ name, passed, checked, failed }) => [name, passed, checked, failed])).toEqual([
      ["password hashes are off", true, 3, 0],
      ["addresses are hashed where personal data is", false, 1, 1],
      ["nobody looks", false, 0, 0],
      ["Orders runs", true, 1, 0],
      ["audit tables don't flow", true, 0, 0],
    ]);
    expect(tests[1]?.failures).toEqual([
      { integration: "orders", node: "public.users.email", key: "hashed", expected: true, actual: false },
    ]);
    expect(exit.code).toBe(1);
  });

  test("a failed test is told with its place, in lines and as JUnit", async () => {
    await world.importJson();
    await writeFile(
      join(world.folder, "dimsync.tests.yaml"),
      "apiVersion: dimsync/v1\nkind: Tests\ntests:\n  # why\n  - name: <all> hashed\n    that: { column: email }\n    is: { hashed: true }\n  - { name: on, that: { schema: reporting }, is: { enabled: true } }\n",
    );
    const { out, code } = await world.run<TestFlags>(runTest, {});
    expect(code).toBe(1);
    expect(out).toContain("failed  <all> hashed (6 checked)  dimsync.tests.yaml:5\n");
    expect(out).toContain("          orders public.customers.email: hashed is false, not true\n");
    const { out: xml } = await world.run<TestFlags>(runTest, { output: ["junit"] });
    expect(xml).toContain('tests="2" failures="1"');
    expect(xml).toContain('<testcase name="&lt;all&gt; hashed" classname="dimsync.tests.yaml" time="0">');
    expect(xml).toContain(">dimsync.tests.yaml:5\norders public.customers.email: hashed is false, not true\n");
  });

  test("planned is what an apply would leave, live is what is there now", async () => {
    await world.importJson();
    const file = join(world.folder, "manifests/integrations/orders.yaml");
    const text = await readFile(file, "utf8");
    await writeFile(
      file,
      text
        .replace("  rules:\n", "  rules:\n    - { match: { column: never }, set: { hashed: true }, minMatches: 0 }\n")
        .replace(/(column: )\[iban\]/u, "$1[iban, email]")
        .replace(/(?<= )email,/u, ""),
    );
    const test_ = "{ name: hashed, that: { table: users, column: email }, integrations: { names: [orders] }, is: { hashed: true }";
    const { tests } = await run(`  - ${test_} }\n  - ${test_}, state: live }\n`);
    expect(tests.map(({ passed }) => passed)).toEqual([true, false]);
  });

  test("works from a snapshot without a key, and by label", async () => {
    await world.importJson();
    const file = join(world.folder, "manifests/integrations/orders.yaml");
    await writeFile(
      file,
      (await readFile(file, "utf8")).replace("metadata: { name: orders }", "metadata: { name: orders, labels: { domain: sales } }"),
    );
    await world.run<SnapshotFlags>(runSnapshot, { out: "a.json" });
    world.service.addFault("* .*=status:401");
    const { tests } = await run(
      "  - { name: on, integrations: { labels: { domain: sales } }, that: { schema: reporting }, is: { enabled: true } }\n",
      { snapshot: "a.json" },
    );
    expect(tests[0]).toMatchObject({ passed: true, checked: 1 });
  });

  test.each([
    ["a mistyped member", "  - { name: x, taht: { table: a }, is: { enabled: true } }", 'no member "taht"'],
    ["an attribute of another level", "  - { name: x, that: { table: a }, is: { hashed: true } }", 'no member "hashed"'],
    ["nothing to hold", "  - { name: x, that: { table: a } }", "no `is`"],
    ["what is no YAML", "  - { name: x: y }", "dimsync.tests.yaml:4: It is no YAML."],
    ["no level", "  - { name: x, that: { flows: true }, is: { enabled: true } }", "names no level"],
  ])("%s is refused", async (_, tests, message) => {
    await world.importJson();
    await expect(run(`${tests}\n`)).rejects.toThrow(message);
  });
});
