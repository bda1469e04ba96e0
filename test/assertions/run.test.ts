import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TestReport } from "../../src/assertions/report.ts";
import { runSnapshot } from "../../src/commands/adopt/snapshot.ts";
import { runTest } from "../../src/commands/adopt/test.ts";
import type { SnapshotFlags, TestFlags } from "../../src/commands/shared/flags.ts";
import { type AccountProject, openAccountProject } from "../support/accounts/project.ts";

let project: AccountProject;
beforeEach(async () => {
  project = await openAccountProject();
});
afterEach(() => project.close());

const json = { output: ["json"] };

describe("test", () => {
  const run = async (tests: string, flags: Partial<TestFlags> = {}): Promise<TestReport> => {
    await writeFile(join(project.folder, "dimsync.tests.yaml"), `apiVersion: dimsync/v1\nkind: Tests\ntests:\n${tests}`);
    const { out, err } = await project.run<TestFlags>(runTest, { ...json, ...flags });
    if (out === "") throw new Error(err);
    return JSON.parse(out) as TestReport;
  };

  test("a test passes, fails, or fails because it checks nothing", async () => {
    await project.importJson();
    const { tests, exit } = await run(`
  - { name: password hashes are off, that: { schema: public, table: users, column: password_hash }, is: { enabled: false } }
  - { name: addresses are hashed in tables with personal data, integrations: { tagged: pii }, that: { table: users, column: "*EMAIL*", ignoreCase: true }, is: { hashed: true } }
  - { name: nobody looks, that: { table: usres }, is: { enabled: true } }
  - { name: Orders runs, integrations: { names: [Orders] }, is: { paused: false, sourceType: postgres } }
  - { name: audit tables are not replicated, that: { table: "audit_*", flows: true }, is: { enabled: false }, atLeast: 0 }
`);
    expect(tests.map(({ name, passed, checked, failed }) => [name, passed, checked, failed])).toEqual([
      ["password hashes are off", true, 3, 0],
      ["addresses are hashed in tables with personal data", false, 1, 1],
      ["nobody looks", false, 0, 0],
      ["Orders runs", true, 1, 0],
      ["audit tables are not replicated", true, 0, 0],
    ]);
    expect(tests[1]?.failures).toEqual([
      { integration: "orders", node: "public.users.email", key: "hashed", expected: true, actual: false },
    ]);
    expect(exit.code).toBe(1);
  });

  test("a failed test is reported with its location, as text and as JUnit", async () => {
    await project.importJson();
    await writeFile(
      join(project.folder, "dimsync.tests.yaml"),
      "apiVersion: dimsync/v1\nkind: Tests\ntests:\n  # why\n  - name: <all> hashed\n    that: { column: email }\n    is: { hashed: true }\n  - { name: on, that: { schema: reporting }, is: { enabled: true } }\n",
    );
    const { out, code } = await project.run<TestFlags>(runTest, {});
    expect(code).toBe(1);
    expect(out).toContain("failed   <all> hashed   6 checked   dimsync.tests.yaml:5\n");
    expect(out).toContain("         orders public.customers.email: hashed is false, not true\n");
    const { out: xml } = await project.run<TestFlags>(runTest, { output: ["junit"] });
    expect(xml).toContain('tests="2" failures="1"');
    expect(xml).toContain('<testcase name="&lt;all&gt; hashed" classname="dimsync.tests.yaml" time="0">');
    expect(xml).toContain(">dimsync.tests.yaml:5\norders public.customers.email: hashed is false, not true\n");
  });

  test("planned is the state after apply, live is the state now", async () => {
    await project.importJson();
    const file = join(project.folder, "manifests/integrations/orders.yaml");
    const text = await readFile(file, "utf8");
    await writeFile(
      file,
      text
        .replace("  rules:\n", "  rules:\n    - { match: { column: never }, set: { hashed: true }, minMatches: 0 }\n")
        .replace(/(column: )\[iban\]/u, "$1[iban, email]")
        .replace(/^ +- email\n/mu, ""),
    );
    const test_ = "{ name: hashed, that: { table: users, column: email }, integrations: { names: [orders] }, is: { hashed: true }";
    const { tests } = await run(`  - ${test_} }\n  - ${test_}, state: live }\n`);
    expect(tests.map(({ passed }) => passed)).toEqual([true, false]);
  });

  test("works with a snapshot and without a key, and selects by label", async () => {
    await project.importJson();
    const file = join(project.folder, "manifests/integrations/orders.yaml");
    await writeFile(
      file,
      (await readFile(file, "utf8")).replace("metadata: { name: orders }", "metadata: { name: orders, labels: { domain: sales } }"),
    );
    await project.run<SnapshotFlags>(runSnapshot, { out: "a.json" });
    project.service.addFault("* .*=status:401");
    const { tests } = await run(
      "  - { name: on, integrations: { labels: { domain: sales } }, that: { schema: reporting }, is: { enabled: true } }\n",
      { snapshot: "a.json" },
    );
    expect(tests[0]).toMatchObject({ passed: true, checked: 1 });
  });

  test.each([
    ["a mistyped member", "  - { name: x, taht: { table: a }, is: { enabled: true } }", /E_UNKNOWN_KEY.*"taht".*Did you mean that/su],
    [
      "an attribute of columns in a test of tables",
      "  - { name: x, that: { table: a }, is: { hashed: true } }",
      /exists only for columns/u,
    ],
    [
      "an attribute of tables in a test of columns",
      "  - { name: x, that: { table: a, column: b }, is: { syncMode: full } }",
      /exists only for tables/u,
    ],
    [
      "an attribute of nodes in a test of integrations",
      "  - { name: x, is: { enabled: true } }",
      /exists only for schemas, tables and columns/u,
    ],
    [
      "an attribute of integrations in a test of nodes",
      "  - { name: x, that: { schema: a }, is: { paused: true } }",
      /exists only for integrations/u,
    ],
    ["a test without `is`", "  - { name: x, that: { table: a } }", /E_MISSING_KEY.*`is`/su],
    ["a test without a name", "  - { is: { paused: false } }", /E_MISSING_KEY.*`name`/su],
    ["invalid YAML", "  - { name: x: y }", /dimsync\.tests\.yaml:4:/u],
    [
      "`that` without a level",
      "  - { name: x, that: { flows: true }, is: { enabled: true } }",
      /at least one of `schema`, `table`, `column` and `label`/u,
    ],
    ["a number of the wrong type", "  - { name: x, is: { paused: false }, atLeast: all }", /E_WRONG_TYPE.*atLeast/su],
  ])("%s is refused", async (_, tests, message) => {
    await project.importJson();
    await expect(run(`${tests}\n`)).rejects.toThrow(message);
  });

  test("all problems of a file are reported at once, with their lines", async () => {
    const refused = run("  - { name: x }\n  - { name: y, is: { paused: 1 } }\n");
    await expect(refused).rejects.toThrow(/dimsync\.tests\.yaml:4:.*dimsync\.tests\.yaml:5:/su);
  });

  test("a missing file of tests is an error", async () => {
    const { code, err } = await project.run<TestFlags>(runTest, {}, ["more.tests.yaml"]);
    expect([code, err]).toEqual([1, expect.stringContaining("E_TESTS: more.tests.yaml does not exist")]);
  });
});
