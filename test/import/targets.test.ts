import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type AccountProject, openAccountProject } from "../support/account-project.ts";

let project: AccountProject;
beforeEach(async () => {
  project = await openAccountProject();
});
afterEach(() => project.close());

const path = (file: string): string => join(project.folder, file);
test("import of a second target writes bindings, not files", async () => {
  await project.importJson();
  const before = await project.files();
  const staging = await openAccountProject();
  try {
    staging.service.mutate((account) => {
      for (const integration of account.integrations) integration.id = `st-${integration.id}`;
      for (const tag of account.tags) {
        tag.id = `st-${tag.id}`;
        for (const relation of tag.relations) relation.resourceId = `st-${relation.resourceId}`;
      }
      const [orders] = account.integrations;
      const email = orders?.schemas["public"]?.tables["users"]?.columns["email"];
      if (email !== undefined) email.hashed = true;
    });
    await writeFile(
      path("dimsync.yaml"),
      `${before["dimsync.yaml"]}  staging: { baseUrl: "${staging.service.url}", apiKey: { $secret: { env: DIMSYNC_API_KEY } } }\n`,
    );
    // The environment variable takes precedence over the apiKey of the target.
    const env = { DIMSYNC_API_KEY: staging.service.apiKey };
    const report = await project.importJson({ target: ["staging"] }, [], env);
    expect(report.files).toEqual([]);
    expect(report.notices).toEqual([
      "SchemaConfig/orders also applies to another target, so import did not change it to match this account.",
    ]);
    expect(report.bindings).toMatchObject({ "Integration/orders": "st-8f1c", "Tag/pii": "st-t-1", "Asset/warehouse": "d-12" });
    // The difference is reported, and no file is changed.
    expect(report.remaining).toEqual(["SchemaConfig/orders@orders: update /schemas/public/tables/users/columns/email/hashed"]);
    expect(report.exit.code).toBe(1);
    const after = await project.files();
    expect(Object.keys(after).sort()).toEqual(
      Object.keys(before)
        .sort()
        .filter(() => true),
    );
    for (const file of Object.keys(before).filter((one) => one.startsWith("manifests/"))) expect(after[file]).toBe(before[file]);
    expect((await project.importJson({ target: ["prod"] })).files).toEqual([]);
  } finally {
    await staging.close();
  }
});
