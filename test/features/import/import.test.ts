// After an import the plan is empty, and nothing is written that was not shown.
import { readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openFolderRecords } from "../../../src/core/records/folder/index.ts";
import { type AccountProject, openAccountProject } from "../../support/accounts/project.ts";
import { writeProject } from "../../support/project-folder.ts";

let project: AccountProject;
beforeEach(async () => {
  project = await openAccountProject();
});
afterEach(() => project.close());

test("a dry run shows what import would write, and writes nothing", async () => {
  const { out, code } = await project.runImport({ dryRun: true });
  expect(out).toContain("would create   manifests/integrations/orders.yaml");
  expect(out).toContain("would bind     12 objects");
  expect(code).toBe(0);
  expect(Object.keys(await project.files())).toEqual(["dimsync.yaml"]);
});

test("the first import says to set the user who tags, unless the config does", async () => {
  const { notices } = await project.importJson({ dryRun: true });
  expect(notices).toEqual([expect.stringContaining("set defaults.taggedBy in dimsync.yaml")]);
  await project.write("dimsync.yaml", `${await project.read("dimsync.yaml")}defaults: { taggedBy: dana@example.com }\n`);
  expect((await project.importJson()).notices).toEqual([]);
});

test("with addresses, only these objects and the assets that they use are imported", async () => {
  const report = await project.importJson({}, ["Integration/orders", "Tag/fin*"]);
  expect(report.remaining).toEqual([]);
  expect(Object.keys(report.bindings)).toEqual(["Asset/orders-pg", "Asset/warehouse", "Integration/orders", "Tag/finance"]);
  // Its integration has no manifest, so the tag refers to it by id.
  expect(await project.read("manifests/tags.yaml")).toContain("    - integration: { id: b27d }");
});

test("an address that no object has is an error, and nothing is written", async () => {
  const { code, err } = await project.runImport({}, ["Tag/pii", "Integration/order"]);
  expect(code).toBe(1);
  expect(err).toContain('"Integration/order". Did you mean Integration/orders?');
  expect(Object.keys(await project.files())).toEqual(["dimsync.yaml"]);
});

test("a SchemaConfig can be imported by its own address", async () => {
  await project.write(
    "manifests/shared.yaml",
    "apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: shop }\nspec: { integration: { id: 8f1c }, schemas: { public: { enabled: false } } }\n",
  );
  const report = await project.importJson({}, ["SchemaConfig/shop"]);
  expect([report.remaining, report.exit.code]).toEqual([[], 0]);
  expect(report.notices).toEqual([expect.stringContaining("is stricter than the account")]);
});

test("names with a NUL character, which no manifest can contain, are left out and counted", async () => {
  await project.service.mutate((account) => {
    const { tables = {} } = account.integrations.find(({ id }) => id === "8f1c")?.schemas["public"] ?? {};
    const { columns = {} } = tables["users"] ?? {};
    Object.assign(columns, { "a\0b": { ...columns["email"], enabled: true, hashed: true } });
    Object.assign(tables, { "t\0": { nameInDestination: "t", enabled: true, syncMode: "full", columns } });
  });
  const report = await project.importJson();
  expect([report.remaining, report.exit.code]).toEqual([[], 0]);
  expect(report.notices).toContainEqual(expect.stringContaining("2 names in the schemas of Integration/orders contain a NUL character"));
});

test("--out writes new files to that folder", async () => {
  const report = await project.importJson({ out: "manifests/adopted" });
  expect(report.remaining).toEqual([]);
  expect(report.files.map((file) => file.path)).toContain("manifests/adopted/integrations/orders.yaml");
});

test.each<readonly [sentence: string, manifests: string, out: string | undefined, folder: string | undefined]>([
  ["--out outside the config's manifests is refused", "[manifests]", "elsewhere", undefined],
  ["--out with a hidden folder is refused", "[manifests]", "manifests/.adopted", undefined],
  ["--out below a glob that does not reach its sub-folders is refused", '["manifests/*.yaml"]', "manifests", undefined],
  ["without --out, import uses the first suitable folder", '[one.yaml, "manifests/*.yaml", more]', undefined, "more"],
  ["import uses the base of a glob that matches sub-folders", '["team/**/*.yaml"]', undefined, "team"],
  ["a config without a folder is refused", "[one.yaml]", undefined, undefined],
])("%s", async (_, manifests, out, folder) => {
  await project.write("dimsync.yaml", (await project.read("dimsync.yaml")).replace("[manifests]", manifests));
  await project.write("one.yaml", "");
  await project.write("manifests/empty.yaml", "");
  const { code, err } = await project.runImport(out === undefined ? {} : { out });
  expect([code, err.includes("E_USAGE")]).toEqual(folder === undefined ? [1, true] : [0, false]);
  expect(Object.keys(await project.files()).some((file) => file === `${folder}/integrations/orders.yaml`)).toBe(folder !== undefined);
});

test.each([{}, { dryRun: true }])("nothing is written through a link that leads out of the project, with %j", async (flags) => {
  const outside = writeProject({});
  await project.write("manifests/empty.yaml", "");
  symlinkSync(outside, join(project.folder, "manifests/integrations"));
  const { code, err } = await project.runImport(flags);
  expect([code, err, readdirSync(outside)]).toEqual([1, expect.stringContaining("E_PATH_OUTSIDE"), []]);
});

test("schemas that cannot be read are a failure, and the other integrations are imported", async () => {
  project.service.addFault("GET /v1/integrations/b27d/schemas=status:403");
  const report = await project.importJson();
  expect(report.failures.map(({ address }) => address)).toEqual(["SchemaConfig/billing"]);
  expect(report.exit.code).toBe(1);
  expect(await project.read("manifests/integrations/orders.yaml")).toContain("kind: SchemaConfig");
  expect((await project.runImport()).out).toContain(
    "manifests for the part of the account that was imported. The plan after the import is empty.",
  );
});

test("if a list cannot be read, nothing is written", async () => {
  project.service.addFault("GET /v1/tags$=status:403");
  expect((await project.runImport()).code).toBe(1);
  expect(Object.keys(await project.files())).toEqual(["dimsync.yaml"]);
});

test("a file that cannot be written is an error with advice", async () => {
  await project.write("manifests/integrations", "");
  const { code, err } = await project.runImport();
  expect([code, err]).toEqual([1, expect.stringContaining("E_OUTPUT: Import stopped: EEXIST")]);
});

test("a list whose length looks like a page size is reported", async () => {
  project.service.mutate(({ integrations }) => {
    const [orders] = integrations;
    for (let number = integrations.length; orders !== undefined && number < 10; number++)
      integrations.push({ ...structuredClone(orders), id: `i-${number}`, name: `Integration ${number}` });
  });
  const notice = "GET /v1/integrations returned exactly 10 integrations, which may be only the first page.";
  expect((await project.importJson()).notices).toContainEqual(expect.stringContaining(notice));
});

test("a project with errors is not changed", async () => {
  await project.write("manifests/a.yaml", "apiVersion: dimsync/v1\nkind: Integraton\nmetadata: { name: a }\n");
  const { code, err } = await project.runImport();
  expect(code).toBe(1);
  expect(err).toContain("E_UNKNOWN_KIND");
});

test("while an apply runs, import is refused, and a dry run is not", async () => {
  const bindingsFile = join(project.folder, "dimsync.bindings.yaml");
  const lock = await openFolderRecords({ folder: project.folder, target: "prod", bindingsFile }).begin({ runId: "another", waitMs: 0 });
  await lock.take();
  try {
    expect((await project.runImport()).code).toBe(6);
    expect((await project.runImport({ dryRun: true })).code).toBe(0);
    expect(Object.keys(await project.files())).toEqual(["dimsync.yaml"]);
  } finally {
    await lock.release();
  }
});

test("a draft is skipped, and an integration without schemas gets no SchemaConfig; notices say so", async () => {
  const observed = await openAccountProject(undefined, { observed: true });
  const { notices, failures, remaining, bindings } = await observed.importJson();
  await observed.close();
  expect([failures, remaining]).toEqual([[], []]);
  expect(notices).toContainEqual(
    expect.stringMatching(/^The integration "Untitled" \([0-9a-f]{24}\) is a draft, so import wrote no manifest for it\.$/u),
  );
  expect(notices).toContainEqual(expect.stringMatching(/^The service shows no schemas of Integration\/customers-crm, so import wrote/u));
  expect(Object.keys(bindings)).not.toContain("Integration/untitled");
});
