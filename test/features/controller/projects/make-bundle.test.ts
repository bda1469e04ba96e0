import { join } from "node:path";
import { expect, test } from "vitest";
import { loadProject } from "../../../../src/core/manifests/project.ts";
import { bundleDigest } from "../../../../src/features/controller/projects/bundle.ts";
import { makeBundle } from "../../../../src/features/controller/projects/make-bundle.ts";
import { dbtManifest } from "../../../core/labels/dbt-manifest.ts";
import { writeProject } from "../../../support/project-folder.ts";

const config = (target: string): string => `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
targets:
  prod:
    baseUrl: https://api.example.com
    apiKey: { $secret: { env: KEY } }
${target}`;
const records = "    records: { postgres: { url: { $secret: { env: DIMSYNC_DATABASE_URL } }, id: 1a } }\n";
const controller = "    controller: { every: 5m }\n";
const tag = `apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec: { name: "PII \${var.REGION}" }\n`;

async function bundle(files: Readonly<Record<string, string>>, isLocal = false) {
  const cwd = writeProject({ "manifests/tag.yaml": tag, ...files });
  const env = { KEY: "canary-secret", DIMSYNC_VAR_REGION: "eu", OTHER: "x" };
  const project = await loadProject({ cwd, env, target: "prod" });
  const projects = project.settings.controller === undefined ? [] : [project];
  return {
    cwd,
    content: await makeBundle(projects, { source: "data", git: { commit: "abc", dirty: false }, vars: {}, varFiles: [], env, isLocal }),
  };
}

test("a bundle has the files and variables of the project, and no secret", async () => {
  const one = await bundle({ "dimsync.yaml": config(records + controller), "README.md": "no manifest" });
  const two = await bundle({ "dimsync.yaml": config(records + controller) });
  expect(Object.keys(one.content.files)).toEqual(["dimsync.yaml", "manifests/tag.yaml"]);
  expect(one.content.env).toEqual({ DIMSYNC_VAR_REGION: "eu" });
  expect(JSON.stringify(one.content)).not.toContain("canary-secret");
  expect(JSON.stringify(one.content)).not.toContain(one.cwd);
  expect(bundleDigest(one.content)).toBe(bundleDigest(two.content));
});

test("a bundle has the sources of dbt that label columns, without models, environment and times", async () => {
  const labels =
    "apiVersion: dimsync/v1\nkind: Classification\nmetadata: { name: p }\nspec: { from: [{ dbt: { manifest: target/manifest.json, label: pii, where: { meta: { pii: true } } } }] }\n";
  const dbt = JSON.parse(
    dbtManifest({ customers: { columns: { email: { meta: { pii: true } }, created_at: { meta: { pii: true } } } } }),
  ) as {
    readonly metadata: object;
    readonly sources: Readonly<Record<string, object>>;
  };
  const written = (at: number, secret: string) => ({
    "dimsync.yaml": config(records + controller),
    "manifests/labels.yaml": labels,
    "target/manifest.json": JSON.stringify({
      metadata: { ...dbt.metadata, env: { PASSWORD: secret }, generated_at: `2026-01-0${at}` },
      nodes: { "model.a.b": { raw_code: `select '\${var.REGION}${secret}'` } },
      sources: Object.fromEntries(Object.entries(dbt.sources).map(([id, source]) => [id, { ...source, created_at: at }])),
    }),
  });
  const [{ content }, again] = [await bundle(written(1, "canary-one")), await bundle(written(2, "canary-two"))];
  expect(Object.keys(content.files)).toEqual(["dimsync.yaml", "manifests/labels.yaml", "manifests/tag.yaml", "target/manifest.json"]);
  expect(JSON.stringify(content)).not.toContain("canary");
  expect(bundleDigest(content)).toBe(bundleDigest(again.content));
  const { columnLabels: loaded, problems } = await loadProject({
    cwd: writeProject(content.files),
    env: { KEY: "x", DIMSYNC_VAR_REGION: "eu" },
    target: "prod",
  });
  expect([loaded?.columns.map(({ column, label }) => [column, label]), problems]).toEqual([
    [
      ["email", "pii"],
      ["created_at", "pii"],
    ],
    [],
  ]);
});

test.each<readonly [string, Readonly<Record<string, string>>, boolean, string]>([
  ["no target is under control", { "dimsync.yaml": config(records) }, false, "No target in dimsync.yaml has `controller`"],
  ["records are in files", { "dimsync.yaml": config(controller) }, false, "only share its database"],
  [
    "a secret file is relative",
    { "dimsync.yaml": config(records + controller).replace("{ env: KEY }", "{ file: key.txt }") },
    false,
    "workers have no checkout",
  ],
  [
    "a manifest has an error",
    { "dimsync.yaml": config(records + controller), "manifests/tag.yaml": `${tag}  colour: red\n` },
    false,
    "begin in the same column",
  ],
])("a project is refused if %s", async (_sentence, files, isLocal, message) => {
  await expect(bundle(files, isLocal)).rejects.toThrow(message);
});

test("with the embedded database, the records of the project's folder are used", async () => {
  const { cwd, content } = await bundle({ "dimsync.yaml": config(controller) }, true);
  expect(content.folder).toBe(join(cwd));
});
