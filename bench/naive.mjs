// A script as an engineer could write it in an afternoon: fetch, yaml, ajv, a recursive diff, one
// PATCH with the differences. Usage: naive.mjs BASE KEY FOLDER SCHEMA
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Ajv from "ajv";
import addFormats from "ajv-formats";
import { parse } from "yaml";

const [base, key, folder, schemaFile] = process.argv.slice(2);
const headers = { "x-api-key": key, "content-type": "application/json" };
const ajv = new Ajv({ allErrors: true, strict: false });
addFormats(ajv);
const validate = ajv.compile(JSON.parse(readFileSync(schemaFile, "utf8")));

async function call(path, options = {}) {
  const response = await fetch(base + path, { headers, ...options });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return (await response.json()).data;
}

function difference(wanted, live) {
  let changes;
  for (const [name, value] of Object.entries(wanted)) {
    if (live?.[name] === undefined) throw new Error(`no ${name}`);
    const change = typeof value === "object" ? difference(value, live[name]) : value === live[name] ? undefined : value;
    if (change !== undefined) changes = { ...changes, [name]: change };
  }
  return changes;
}

const manifests = readdirSync(folder)
  .sort()
  .map((name) => parse(readFileSync(join(folder, name), "utf8")));
for (const manifest of manifests) if (!validate(manifest)) throw new Error(JSON.stringify(validate.errors));
const { items } = await call("/v1/integrations");
let changed = 0;
for (const { spec } of manifests) {
  const { id } = items.find(({ name }) => name === spec.integration);
  const { schemas } = await call(`/v1/integrations/${id}/schemas`);
  const change = difference(spec.schemas, schemas);
  if (change === undefined) continue;
  changed++;
  if (process.env.BENCH_APPLY) await call(`/v1/integrations/${id}/schemas`, { method: "PATCH", body: JSON.stringify({ schemas: change }) });
}
console.log(`${changed} integrations differ`);
