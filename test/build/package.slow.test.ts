// The package as users get it: packed, and installed into an empty folder offline.
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { packedPackage } from "../features/ci/rehearsal-job.ts";
import { writeFolder, writeProject } from "../support/project-folder.ts";

let [folder, tarball] = ["", ""];
beforeAll(async () => {
  if (!existsSync(join(process.env["DIMSYNC_TEST_DIST"] ?? "dist", "index.d.ts")))
    throw new Error("The build has no types. Run `npm run build` first.");
  tarball = await packedPackage();
  folder = writeFolder({ "package.json": '{ "name": "empty", "private": true, "type": "module" }' });
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", tarball], { cwd: folder, stdio: "pipe" });
  return () => rmSync(folder, { recursive: true, force: true });
});

const run = (...args: readonly string[]): string =>
  execFileSync(process.execPath, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
const installed = (path: string): string => join(folder, "node_modules/dimsync", path);

test("it runs as a command and as a library without other packages", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
  expect(run("node_modules/.bin/dimsync", "--version")).toBe(`${version}\n`);
  expect(run("node_modules/.bin/dimsync", "schema", "tag")).toContain('"title": "Tag"');
  const script =
    'import { startEmbeddedService } from "dimsync"; const s = await startEmbeddedService(); console.log(s.url.slice(0, 17)); await s.close();';
  expect(run("--input-type=module", "--eval", script)).toBe("http://127.0.0.1:\n");
});

// This Node. DIMSYNC_TEST_NODES adds others, separated by colons.
const nodes = [process.execPath, ...(process.env["DIMSYNC_TEST_NODES"] ?? "").split(":").filter((path) => path !== "")];

test.each(nodes)("validate, plan, apply and drift on %s", (node) => {
  const cwd = mkdtempSync(join(folder, "project-"));
  for (const name of ["dimsync.yaml", "manifests"]) cpSync(join("examples/quickstart", name), join(cwd, name), { recursive: true });
  const env = { PATH: process.env["PATH"] ?? "", LAKE_SECRET_KEY: "a", RETURNS_DB_PASSWORD: "b" };
  const dimsync = (...args: readonly string[]): string =>
    execFileSync(node, [installed("dist/bin.cjs"), ...args], { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  expect(dimsync("validate")).toContain("no problems found");
  expect(dimsync("plan", "--out", "plan.json")).toMatch(/^demo: \d+ to create/u);
  expect(JSON.parse(dimsync("apply", "plan.json", "-o", "json"))).toMatchObject({ kind: "Result", exit: { code: 0 } });
  expect(dimsync("plan", "--detailed-exitcode")).toContain("No changes.");
  expect(dimsync("drift")).toContain("No drift.");
});

test("its types resolve for ES modules and for CommonJS, by Are The Types Wrong", () => {
  const cli = resolve("node_modules/@arethetypeswrong/cli/dist/index.js");
  // The schemas are JSON files, not modules. Without `exports`, as in node10, there is no library.
  const flags = ["--profile", "node16", "--exclude-entrypoints", "./schema/*", "--format", "ascii", "--no-color", "--no-emoji"];
  const report = run(cli, tarball, ...flags);
  expect(report).toMatch(/node16 \(from CJS\): .*\(CJS\)/u);
  expect(report).toMatch(/node16 \(from ESM\): .*\(ESM\)/u);
});

test.each([
  ["with the types of Node", ["--types", "node", "--typeRoots", resolve("node_modules/@types")]],
  ["without any other types", ["--types", ""]],
])("its types are complete: strict code compiles %s", (_, types) => {
  writeFileSync(
    join(folder, "consumer.ts"),
    `import { apply, createClient, DimsyncError, drift, loadProject, type Plan, plan, renderers } from "dimsync";
const made: Plan = await plan(await loadProject({ cwd: "." }));
export const text: string = renderers.markdown(made, { color: false, verbose: false });
// @ts-expect-error a plan is read-only
made.counts.create = 1;
export const all = [apply, createClient, drift, DimsyncError];
`,
  );
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2023", "--lib", "es2023"];
  run(resolve("node_modules/typescript/bin/tsc"), ...options, ...types, "consumer.ts");
});

test("it contains the built files, and no sources or tests", () => {
  const files = execFileSync("tar", ["--list", "--gzip", "--file", tarball], { encoding: "utf8" }).trim().split("\n");
  expect(
    files.filter(
      (file) =>
        !/^package\/(?:dist\/|schema\/|templates\/|docs\/reference\/(?:dimsync\.1|README\.md)$|package\.json$|README\.md$|LICENSE$)/u.test(
          file,
        ),
    ),
  ).toEqual([]);
  expect(files.filter((file) => /(?:\.test\.|(?<!\.d)\.ts$|\.map$)/u.test(file))).toEqual([]);
});

test("it contains the licences of the packages whose code it contains", () => {
  const text = readFileSync(installed("dist/THIRD_PARTY_LICENSES.txt"), "utf8");
  for (const name of ["ajv", "commander", "diff", "lossless-json", "picomatch", "undici", "yaml"])
    expect(text).toMatch(new RegExp(`^${name} [0-9.]+ \\(`, "mu"));
});

// What every job downloads. The code is in it twice: as CommonJS, which starts faster, and as ES modules, which can be bundled.
// The client of PostgreSQL is 88 kB in each.
const packedBudgetBytes = 2_000_000;

test("it is smaller than its budget", () => {
  expect(statSync(tarball).size).toBeLessThanOrEqual(packedBudgetBytes);
});

test("pre-commit can pack this repository: npm prints only the name of the file, although a script builds it first", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly scripts: Readonly<Record<string, string>> };
  expect(scripts).toHaveProperty("prepack");
  const folder = writeProject({ "package.json": '{ "name": "x", "version": "1.0.0", "scripts": { "prepack": "echo built" } }' });
  copyFileSync(".npmrc", join(folder, ".npmrc"));
  expect(execFileSync("npm", ["pack"], { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })).toBe("x-1.0.0.tgz\n");
});
