// -o writes each format where it is asked to, inside and outside CI.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startEmbeddedService } from "../../src/embedded/index.ts";
import { outputsIn } from "../features/ci/action-runner.ts";
import { runCommand } from "../support/command.ts";
import { repositoryIn } from "../support/git/remote.ts";
import { configText, keyVariable, writeProject } from "../support/project-folder.ts";

const manifest = (member: string): string => `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: orders
  schemas: { public: { tables: { customers: { columns: { email: { ${member}: true } } } } } }
---
apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders }
spec: { match: { name: Orders } }
`;

async function startProject(member = "hashed") {
  const service = await startEmbeddedService();
  onTestFinished(() => service.close());
  const root = writeProject({
    "deploy/dimsync.yaml": configText(service.url),
    "deploy/manifests/orders.yaml": manifest(member),
    summary: "",
    output: "",
  });
  const env = {
    [keyVariable]: service.apiKey,
    GITHUB_WORKSPACE: root,
    GITHUB_STEP_SUMMARY: join(root, "summary"),
    GITHUB_OUTPUT: join(root, "output"),
  };
  const read = (path: string): string => readFileSync(join(root, path), "utf8");
  return { root, env, read, run: (...argv: readonly string[]) => runCommand(argv, root, env) };
}

test("several formats are written at once, with file names relative to the root of the repository", async () => {
  const { run, read } = await startProject("hased");
  const { code, stdout } = await run("validate", "-C", "deploy", "-o", "github", "-o", "html=a.html", "-o", "json=a.json");
  expect(code).toBe(1);
  expect(stdout).toMatch(/^::error title=E_UNKNOWN_KEY.*,file=deploy\/manifests\/orders\.yaml,line=6,/mu);
  expect(read("deploy/a.html")).toMatch(/^<!DOCTYPE html>/u);
  expect(JSON.parse(read("deploy/a.json"))).toMatchObject({ kind: "Validation" });
  expect(read("summary")).toContain("## Validation");
  expect(Object.fromEntries(outputsIn(read("output")))).toMatchObject({ exit_code: "1", has_changes: "false", plan_file: "" });
});

test("a saved plan's path is an output, and two commands of one step share its summary", async () => {
  const { root, run, read } = await startProject();
  await run("validate", "-C", "deploy", "-o", "github");
  const { code } = await run("plan", "-C", "deploy", "-o", "github", "--out", "plan.json");
  expect(code).toBe(0);
  expect(read("summary")).toMatch(/## Validation[\s\S]*## `deploy, test`/u);
  expect(Object.fromEntries(outputsIn(read("output")))).toMatchObject({ has_changes: "true", plan_file: join(root, "deploy/plan.json") });
});

test("a failure before there is a document also sets the outputs", async () => {
  const { run, read } = await startProject();
  const { code, stdout } = await run("plan", "-C", "deploy", "--out", "none/plan.json", "-o", "github");
  expect(code).toBe(1);
  expect(stdout).toMatch(/^::error title=dimsync%3A deploy%2C E_OUTPUT::/u);
  expect(outputsIn(read("output")).get("exit_code")).toBe("1");
});

test("a mistake in the configuration is annotated at its line", async () => {
  const { run, read } = await startProject();
  const { code, stdout } = await run("plan", "-C", "deploy", "-t", "nowhere", "-o", "github");
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^::error title=E_UNKNOWN_TARGET%3A [^\n]*,file=deploy\/dimsync\.yaml,line=\d+,col=1::There is no target "nowhere"/u,
  );
  expect(read("summary")).toContain("There is no target");
  expect(Object.fromEntries(outputsIn(read("output")))).toMatchObject({
    exit_code: "1",
    has_changes: "false",
    summary_line: "1 error in 1 file.",
  });
});

test.each([["-o html=a -o markdown=a", /-o html and -o markdown both write \S+deploy\/a\./u]])(
  "%s is refused before anything is read",
  async (flags, message) => {
    const { run } = await startProject();
    for (const command of ["plan", "apply --yes", "drift"]) {
      const { code, stderr } = await run(...command.split(" "), "-C", "deploy", ...flags.split(" "));
      expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
      expect(stderr).toContain("E_OUTPUT");
    }
  },
);

test("an output cannot overwrite a saved plan or a result", async () => {
  const { run } = await startProject();
  for (const [command, message] of [
    ["plan --out a -o json=a", /-o json and --out both write/u],
    ["apply --yes --result a -o json=a", /-o json and --result both write/u],
  ] as const) {
    const { code, stderr } = await run(...command.split(" "), "-C", "deploy");
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
  }
});

test("a file of the step that cannot be written is not a bug in dimsync", async () => {
  const { root, env } = await startProject();
  const elsewhere = { ...env, GITHUB_OUTPUT: join(root, "none/output") };
  const { code, stderr } = await runCommand(["plan", "-C", "deploy", "-o", "github"], root, elsewhere);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/E_OUTPUT: The file \S+none\/output in GITHUB_OUTPUT could not be written/u)]);
});

test("an event file does not make the git tree dirty before the plan is made", async () => {
  const { root, run } = await startProject();
  repositoryIn(root);
  const { stdout } = await run("plan", "-C", "deploy", "-o", "json", "-o", "markdown=a.md");
  expect(JSON.parse(stdout)).toMatchObject({ git: { dirty: false } });
});

test("a summary that is nearly full gets only what fits", async () => {
  const { root, run, read } = await startProject();
  writeFileSync(join(root, "summary"), "x".repeat(999_900));
  await run("plan", "-C", "deploy", "-o", "github");
  expect(Buffer.byteLength(read("summary"))).toBeLessThanOrEqual(1_000_000);
});

test("outside GitHub the format writes no files", async () => {
  const { root, env } = await startProject();
  const { stdout } = await runCommand(["plan", "-C", "deploy", "-o", "github"], root, { [keyVariable]: env[keyVariable] ?? "" });
  expect(stdout).toContain("::group::test: ");
  expect(readFileSync(join(root, "summary"), "utf8") + readFileSync(join(root, "output"), "utf8")).toBe("");
});
