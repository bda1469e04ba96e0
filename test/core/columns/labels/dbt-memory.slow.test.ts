// A large dbt project has a manifest of 100 MB. Most of it are models, which dimsync does not need.
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { writeProject } from "../../../support/project-folder.ts";
import { dbtManifest } from "./dbt-manifest.ts";

const megabytes = 100;
const limitMiB = 600;

/** A model with 20 described columns, as dbt writes it; the ü makes the text one that needs two bytes for each letter in memory. */
const model = JSON.stringify({
  ...{ database: "analytics", schema: "marts", resource_type: "model", original_file_path: "models/marts/orders.sql", tags: [], meta: {} },
  raw_code: "select * from {{ ref('orders') }}\n".repeat(20),
  columns: Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [
      `column_${index}`,
      {
        name: `column_${index}`,
        description: "What the column contains, für alle.",
        meta: {},
        data_type: null,
        constraints: [],
        quote: null,
        tags: [],
      },
    ]),
  ),
});

function writeManifest(file: string): void {
  const { nodes: _, ...rest } = JSON.parse(dbtManifest({ customers: { columns: { email: { meta: { contains_pii: true } } } } }));
  const handle = openSync(file, "w");
  writeSync(handle, `${JSON.stringify(rest).slice(0, -1)},"nodes":{`);
  const batch = Array.from({ length: 1000 }, () => model);
  const batches = Math.ceil((megabytes * 1e6) / (1000 * (Buffer.byteLength(model) + 20)));
  for (let at = 0; at < batches; at++)
    writeSync(handle, `${at === 0 ? "" : ","}${batch.map((text, index) => `"model.analytics.m${at}_${index}":${text}`).join(",")}`);
  writeSync(handle, "}}");
  closeSync(handle);
}

test(`a dbt manifest of ${megabytes} MB is read within ${limitMiB} MiB`, () => {
  const folder = writeProject({
    "dimsync.yaml": "apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\n",
    "manifests/personal.yaml":
      "apiVersion: dimsync/v1\nkind: Classification\nmetadata: { name: personal }\nspec: { from: [{ dbt: { manifest: target/manifest.json, label: pii, where: { meta: { contains_pii: true } } } }] }\n",
  });
  mkdirSync(join(folder, "target"));
  writeManifest(join(folder, "target/manifest.json"));
  expect(statSync(join(folder, "target/manifest.json")).size).toBeGreaterThan(megabytes * 1e6);
  const peak = join(folder, "peak");
  const args = ["--require", resolve("bench/peak-memory.cjs"), resolve("dist/bin.cjs"), "validate"];
  const { status, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, BENCH_PEAK: peak },
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const mib = Number(readFileSync(peak, "utf8")) / 1024;
  expect(mib).toBeGreaterThan(100);
  expect(mib).toBeLessThan(limitMiB);
});
