import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startEmbeddedService } from "../../../src/embedded/index.ts";
import { artifactSuffix } from "../../../src/features/ci/job.ts";
import { runCommand } from "../../support/command.ts";
import { gitEnv } from "../../support/git/env.ts";
import { git } from "../../support/git/remote.ts";
import { ordersManifest } from "../../support/orders.ts";
import { writeProject } from "../../support/project-folder.ts";

test.each([
  ["", ["prod"], "prod"],
  ["deploy/eu", ["a", "b"], "deploy-eu-a-b"],
  ["", ["p/r:o*d"], "p-r-o-d"],
])("the artifacts of folder %j and targets %j end with %s", (folder, targets, suffix) => {
  expect(artifactSuffix(folder, targets)).toBe(suffix);
});

test("a push that changes no file of the project undoes drift, too", async () => {
  const service = await startEmbeddedService({ apiKeys: { key: "bot@example.com" } });
  onTestFinished(() => service.close());
  const target = `{ baseUrl: "${service.url}", apiKey: { $secret: { env: DIMSYNC_API_KEY } } }`;
  const folder = writeProject({
    "dimsync.yaml": `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets: { prod: ${target} }\n`,
    "manifests/orders.yaml": ordersManifest("email: { hashed: true }"),
    ".gitignore": ".dimsync/\ndimsync.bindings.yaml\n",
    "event.json": '{ "repository": { "default_branch": "main" } }',
  });
  const push = async (message: string): Promise<void> => {
    git(folder, "add", "--all");
    git(folder, "commit", "--quiet", "--message", message);
    const job = { GITHUB_ACTIONS: "true", GITHUB_EVENT_NAME: "push", GITHUB_REPOSITORY: "example/data", GITHUB_REF: "refs/heads/main" };
    const env = { ...gitEnv, ...job, GITHUB_EVENT_PATH: join(folder, "event.json"), DIMSYNC_API_KEY: "key" };
    const { code, stdout, stderr } = await runCommand(["ci", "apply"], folder, env);
    expect(code, stdout + stderr).toBe(0);
  };
  git(folder, "init", "--quiet", "--initial-branch=main");
  await push("one");
  const email = () => service.state().integrations[0]?.schemas["public"]?.tables["customers"]?.columns["email"];
  service.mutate(({ integrations: [orders] }) => {
    const column = orders?.schemas["public"]?.tables["customers"]?.columns["email"];
    if (column !== undefined) column.hashed = false;
  });
  writeFileSync(join(folder, "README.md"), "new\n");
  await push("two");
  expect(email()?.hashed).toBe(true);
});
