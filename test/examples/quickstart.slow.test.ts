// The quick start has every kind, and its demo ends well.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type EmbeddedOptions, startEmbeddedService } from "../../src/embedded/index.ts";
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
    "create       Integration/returns",
    "Exit 2 (changes)",
    "$ dimsync apply --yes",
    "9 done",
    "$ dimsync plan --detailed-exitcode",
    "No changes.",
    "dana@example.com",
    "PATCH /v1/integrations/8f1c/schemas",
    "$ dimsync drift",
    "orders customers.email readable; 1 policy finding",
    "✗ Policy/contact-is-hashed",
    "Exit 3 (policy, drift)",
    "$ dimsync plan --detailed-exitcode",
    "Apply sends 1 PATCH.",
    "$ dimsync apply --yes",
    "1 done",
    "$ dimsync plan --detailed-exitcode",
    "No changes.",
  ];
  let at = 0;
  expect(stdout.slice(stdout.indexOf("$ dimsync apply --yes")), "after apply, nothing waits").not.toContain("I_POLICY_WAITS");
  for (const step of steps) {
    const found = stdout.indexOf(step, at);
    expect(found, `${step}, in ${stdout.slice(at)}`).toBeGreaterThanOrEqual(at);
    at = found + step.length;
  }
  expect(readdirSync(example, { recursive: true }).sort()).toEqual(before);
});

const patch = "PATCH /v1/integrations/[^/]+/schemas$";

test.each<[sentence: string, applies: number, options: EmbeddedOptions]>([
  ["of the documented profile", 1, {}],
  ["of the observed profile", 1, { observed: true }],
  ["that shows writes late", 1, { readLag: 2 }],
  ["that accepts changes and carries them out later", 1, { observed: true, readLag: 1, faults: [`${patch}=accepted`] }],
  ["that drops a change once", 2, { observed: true, faults: [`${patch}@1=dropped`] }],
  ["that shows times as numbers, and takes only small requests", 1, { observed: true, oddMembers: true, maxBodyBytes: 700 }],
])("with extended requests, an account %s is protected after %i apply, and stays in sync", async (_, applies, options) => {
  const service = await startEmbeddedService(options);
  onTestFinished(() => service.close());
  const cwd = quickstart();
  const edit = (file: string, from: string, to: string): void =>
    writeFileSync(join(cwd, file), readFileSync(join(cwd, file), "utf8").replace(from, to));
  const target = `baseUrl: ${service.url}\n    apiKey: { $secret: { env: DIMSYNC_API_KEY } }\n    service: { extended: true }`;
  edit("dimsync.yaml", "baseUrl: embedded:.dimsync/account.json", target);
  edit("manifests/warehouse.yaml", "id: d-12", `id: ${service.state().assets[0]?.id}`);
  const env = { ...quickstartSecrets, DIMSYNC_API_KEY: service.apiKey };
  const code = async (...args: readonly string[]) => (await dimsyncHere(args, { cwd, env })).code;
  for (let n = 1; n < applies; n++) expect(await code("apply", "--yes")).toBe(4);
  expect([await code("apply", "--yes"), await code("plan", "--detailed-exitcode"), await code("drift")]).toEqual([0, 0, 0]);
  const { integrations } = service.state();
  const hashed = [integrations[0], integrations.at(-1)].map((one) => one?.schemas["public"]?.tables["customers"]?.columns["email"]?.hashed);
  expect(hashed).toEqual([true, true]);
});
