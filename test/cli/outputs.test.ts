// stdout has one document, colour only for people, and the exit codes tell changes, drift and nothing apart.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { dimsync, dimsyncHere, emptyFolder, ended, quickstart, quickstartSecrets, startCli } from "./built-cli.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: colour begins with ESC.
const colored = /\u001b\[/u;

const twoTargets = {
  "dimsync.yaml":
    "apiVersion: dimsync/v1\nkind: Config\nmanifests: [m.yaml]\ntargets:\n  a: { baseUrl: 'embedded:a.json' }\n  b: { baseUrl: 'embedded:b.json' }\n",
  "m.yaml": "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec: { name: PII }\n",
};

describe("output", () => {
  test("is human on stdout if every format has a file", async () => {
    const cwd = quickstart();
    const { stdout } = await dimsyncHere(["validate", "-o", "json=v.json"], { cwd });
    expect(stdout).toBe("Valid: 9 manifests in 5 files, no problems found.\n");
    expect(JSON.parse(readFileSync(join(cwd, "v.json"), "utf8"))).toMatchObject({ kind: "Validation", findings: [], exit: { code: 0 } });
  });

  test.each(["validate", "plan", "drift", "get schemaconfig 8f1c"])(
    "of %s -o json is one JSON document and nothing else",
    async (command) => {
      const { stdout, stderr } = await dimsyncHere([...command.split(" "), "-o", "json"], { cwd: quickstart() });
      expect(() => JSON.parse(stdout)).not.toThrow();
      expect(stderr).toBe("");
    },
  );

  test("of several targets is a list in JSON", async () => {
    const cwd = emptyFolder(twoTargets);
    const all = await dimsyncHere(["--all-targets", "plan", "-o", "json"], { cwd });
    expect(JSON.parse(all.stdout).map(({ target }: { readonly target: string }) => target)).toEqual(["a", "b"]);
    const twice = await dimsyncHere(["-t", "b", "-t", "b", "plan", "-o", "json"], { cwd });
    expect(JSON.parse(twice.stdout)).toMatchObject({ target: "b" });
    const none = await dimsyncHere(["plan"], { cwd });
    expect(none).toMatchObject({ code: 1, stdout: "" });
    expect(none.stderr).toContain("-t");
  });

  test("of a plan and a drift report can be shown again from a file", async () => {
    const cwd = quickstart();
    const made = await dimsyncHere(["plan", "--out", "plan.json"], { cwd });
    expect(await dimsyncHere(["show", "plan.json"], { cwd })).toEqual({ code: 0, stdout: made.stdout, stderr: "" });
    const report = await dimsyncHere(["drift", "-o", "json"], { cwd });
    writeFileSync(join(cwd, "drift.json"), report.stdout);
    expect((await dimsyncHere(["show", "drift.json", "-o", "json"], { cwd })).stdout).toBe(report.stdout);
  });

  test("of a plan from -o json can be shown, but not applied", async () => {
    const cwd = quickstart();
    const made = await dimsyncHere(["plan", "-o", "json"], { cwd });
    writeFileSync(join(cwd, "plan.json"), made.stdout);
    expect(await dimsyncHere(["show", "plan.json", "-o", "json"], { cwd })).toEqual({ code: 0, stdout: made.stdout, stderr: "" });
    expect(await dimsyncHere(["apply", "plan.json"], { cwd })).toMatchObject({
      code: 5,
      stderr: expect.stringContaining("E_PLAN_TAMPERED"),
    });
  });

  test("of several targets can be shown again from one file", async () => {
    const cwd = emptyFolder(twoTargets);
    const made = await dimsyncHere(["--all-targets", "plan", "-o", "json=plans.json"], { cwd });
    expect((await dimsyncHere(["show", "plans.json"], { cwd })).stdout).toBe(made.stdout);
  });

  test("ends without an error if its reader closes the pipe", async () => {
    const child = startCli(["get", "schemaconfig", "8f1c", "-o", "json"], { cwd: quickstart() });
    child.stdout?.once("data", () => child.stdout?.destroy());
    expect(await ended(child)).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("colour", () => {
  const rows: Readonly<
    Record<string, { readonly env: Readonly<Record<string, string>>; readonly flags?: readonly string[]; readonly is: boolean }>
  > = {
    "is off in a pipe": { env: {}, is: false },
    "is on in a pipe with FORCE_COLOR": { env: { FORCE_COLOR: "1" }, is: true },
    "stays off with FORCE_COLOR=0": { env: { FORCE_COLOR: "0" }, is: false },
    "is off with NO_COLOR, whatever else is set": { env: { FORCE_COLOR: "1", NO_COLOR: "1" }, is: false },
    "does not depend on an empty NO_COLOR": { env: { FORCE_COLOR: "1", NO_COLOR: "" }, is: true },
    "is off with --no-color, whatever else is set": { env: { FORCE_COLOR: "1" }, flags: ["--no-color"], is: false },
    "never gets into JSON": { env: { FORCE_COLOR: "1" }, flags: ["-o", "json"], is: false },
    "never gets into Markdown": { env: { FORCE_COLOR: "1" }, flags: ["-o", "markdown"], is: false },
  };
  for (const [what, { env, flags = [], is }] of Object.entries(rows))
    test(what, async () => {
      // Whether it is a terminal depends on the process.
      const run = what === "is off in a pipe" ? dimsync : dimsyncHere;
      const { stdout } = await run(["plan", ...flags], { cwd: quickstart(), env });
      expect(colored.test(stdout)).toBe(is);
    });

  test("of an error follows the same rules", async () => {
    expect((await dimsyncHere(["plann"])).stderr).not.toMatch(colored);
    expect((await dimsyncHere(["plann"], { env: { FORCE_COLOR: "1" } })).stderr).toMatch(colored);
  });

  test("never gets into a file", async () => {
    const cwd = quickstart();
    await dimsyncHere(["plan", "-o", "human=plan.txt", "-o", "json"], { cwd, env: { FORCE_COLOR: "1" } });
    expect(readFileSync(join(cwd, "plan.txt"), "utf8")).not.toMatch(colored);
  });
});

describe("exit codes", () => {
  test("distinguish changes, drift and no differences", async () => {
    const cwd = quickstart();
    const code = async (...args: readonly string[]) => (await dimsyncHere(args, { cwd, env: quickstartSecrets })).code;
    expect(await code("plan")).toBe(0);
    expect(await code("plan", "--detailed-exitcode")).toBe(2);
    expect(await code("plan", "--fail-on", "unmanaged")).toBe(2);
    expect(await code("drift")).toBe(3);
    expect(await code("drift", "--allow", "policy=known")).toBe(2);
    expect(await code("apply", "--yes")).toBe(0);
    expect(await code("plan", "--detailed-exitcode")).toBe(0);
    expect(await code("drift")).toBe(0);
  });
});

test("-C, --config, --var, --var-file and DIMSYNC_CONFIG select the files and variables", async () => {
  const cwd = quickstart();
  const frequency = async (...args: readonly string[]) => {
    const { stdout } = await dimsyncHere([...args, "plan", "--only", "Integration/returns", "-o", "json"], { cwd: join(cwd, "manifests") });
    return /"replicationFrequency": "(\w+)"/u.exec(stdout)?.[1];
  };
  writeFileSync(join(cwd, "vars.yaml"), "frequency: 3h\n");
  expect(await frequency()).toBe("60");
  expect(await frequency("--var", "frequency=2h")).toBe("2h");
  expect(await frequency("--var-file", "../vars.yaml")).toBe("3h");
  expect(await frequency("-C", "..", "--var-file", "vars.yaml")).toBe("3h");
  expect(await frequency("--config", "../dimsync.yaml")).toBe("60");
  const elsewhere = await dimsyncHere(["validate"], { env: { DIMSYNC_CONFIG: join(cwd, "dimsync.yaml") } });
  expect(elsewhere.stdout).toContain("Valid: ");
});
