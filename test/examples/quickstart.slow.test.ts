import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { seedAccount } from "../../src/embedded/index.ts";
import { builtCli, dimsync, dimsyncHere, ended, quickstart, quickstartSecrets, repository } from "../cli/built-cli.ts";

const kinds = ["Asset", "Integration", "Policy", "RuleSet", "SchemaConfig", "Tag"];

test("the quick start is valid and contains every kind", async () => {
  const cwd = quickstart();
  expect((await dimsync(["validate"], { cwd })).code).toBe(0);
  const texts = readdirSync(join(cwd, "manifests")).map((name) => readFileSync(join(cwd, "manifests", name), "utf8"));
  for (const kind of kinds) expect(texts.join("\n")).toMatch(new RegExp(`^kind: ${kind}$`, "mu"));
});

test("the demo shows its steps in order, ends with 0, and leaves no files", async () => {
  const example = join(repository, "examples/quickstart");
  const before = readdirSync(example, { recursive: true }).sort();
  // The demo runs the build beside it.
  expect(builtCli).toContain("dist");
  const { code, stdout, stderr } = await ended(
    execFile(process.execPath, [join(example, "demo.mjs")], {
      env: { PATH: process.env["PATH"] ?? "", DIMSYNC_TARGET: "not-this-one" },
    }),
  );
  expect(stderr).toBe("");
  expect(code).toBe(0);
  const steps = [
    "$ dimsync validate",
    "Valid: 9 manifests in 5 files",
    "$ dimsync plan --detailed-exitcode",
    "+ Integration/returns",
    "Exit 2 (changes)",
    "$ dimsync apply --yes",
    "9 done",
    "$ dimsync plan --detailed-exitcode",
    "No changes.",
    "dana@example.com",
    "PATCH /v1/integrations/8f1c/schemas",
    "$ dimsync drift",
    "public.customers.email hashed   live false, desired true",
    "✗ Policy/contact-is-hashed",
    "Exit 3 (policy, drift)",
    "$ dimsync plan --detailed-exitcode",
    "Apply will send: 1 PATCH.",
    "$ dimsync apply --yes",
    "1 done",
    "$ dimsync plan --detailed-exitcode",
    "No changes.",
  ];
  let at = 0;
  expect(stdout.slice(stdout.indexOf("$ dimsync apply --yes")), "after apply, nothing is deferred").not.toContain("I_POLICY_WAITS");
  for (const step of steps) {
    const found = stdout.indexOf(step, at);
    expect(found, `${step}, in ${stdout.slice(at)}`).toBeGreaterThanOrEqual(at);
    at = found + step.length;
  }
  expect(readdirSync(example, { recursive: true }).sort()).toEqual(before);
});

test.each([false, true])("with extended requests, the account ends in an empty plan and stays there (observed: %j)", async (observed) => {
  const cwd = quickstart();
  const edit = (file: string, from: string, to: string): void =>
    writeFileSync(join(cwd, file), readFileSync(join(cwd, file), "utf8").replace(from, to));
  edit("dimsync.yaml", "    vars:", `    observed: ${observed}\n    service: { extended: true }\n    vars:`);
  edit("manifests/warehouse.yaml", "id: d-12", `id: ${seedAccount(observed).assets[0]?.id}`);
  const run = (...args: readonly string[]) => dimsyncHere(args, { cwd, env: quickstartSecrets });
  const codes = [await run("apply", "--yes"), await run("plan", "--detailed-exitcode"), await run("drift"), await run("apply", "--yes")];
  expect(codes.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  expect(codes[3]?.stdout).toContain("Nothing to apply.");
});
