import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runSnapshot } from "../../src/commands/adopt/snapshot.ts";
import { runTest, type TestReport } from "../../src/commands/adopt/test-manifests.ts";
import type { SnapshotFlags, TestFlags } from "../../src/commands/shared/flags.ts";
import { type AccountProject, openAccountProject } from "../support/account-project.ts";

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

  test("a test that holds, one that doesn't, and one that looks at nothing", async () => {
    await project.importJson();
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
    await project.importJson();
    await writeFile(
      join(project.folder, "dimsync.tests.yaml"),
      "apiVersion: dimsync/v1\nkind: Tests\ntests:\n  # why\n  - name: <all> hashed\n    that: { column: email }\n    is: { hashed: true }\n  - { name: on, that: { schema: reporting }, is: { enabled: true } }\n",
    );
    const { out, code } = await project.run<TestFlags>(runTest, {});
    expect(code).toBe(1);
    expect(out).toContain("failed  <all> hashed (6 checked)  dimsync.tests.yaml:5\n");
    expect(out).toContain("          orders public.customers.email: hashed is false, not true\n");
    const { out: xml } = await project.run<TestFlags>(runTest, { output: ["junit"] });
    expect(xml).toContain('tests="2" failures="1"');
    expect(xml).toContain('<testcase name="&lt;all&gt; hashed" classname="dimsync.tests.yaml" time="0">');
    expect(xml).toContain(">dimsync.tests.yaml:5\norders public.customers.email: hashed is false, not true\n");
  });

  test("planned is what an apply would leave, live is what is there now", async () => {
    await project.importJson();
    const file = join(project.folder, "manifests/integrations/orders.yaml");
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
    ["a mistyped member", "  - { name: x, taht: { table: a }, is: { enabled: true } }", 'no member "taht"'],
    ["an attribute of another level", "  - { name: x, that: { table: a }, is: { hashed: true } }", 'no member "hashed"'],
    ["nothing to hold", "  - { name: x, that: { table: a } }", "no `is`"],
    ["what is no YAML", "  - { name: x: y }", "dimsync.tests.yaml:4: It is no YAML."],
    ["no level", "  - { name: x, that: { flows: true }, is: { enabled: true } }", "names no level"],
  ])("%s is refused", async (_, tests, message) => {
    await project.importJson();
    await expect(run(`${tests}\n`)).rejects.toThrow(message);
  });
});
