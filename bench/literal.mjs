// W1 and W2: 50 integrations × 100 tables × 10 columns, each with a literal SchemaConfig in its own
// file.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { integrationName, literalManifest, schemaMap } from "./account.mjs";
import { peakMemory, roundRobin, runOnce } from "./measure.mjs";
import { expectCounts, mib, ms, table, times } from "./table.mjs";

export const shape = { integrations: 50, schemas: 1, tables: 100, columns: 10 };

/** Writes the project; the JSON copies are for jq, the paths for floor.mjs. */
export function literalProject(bench, name, reference) {
  const folder = join(bench.folder, name);
  for (const sub of ["manifests", "json"]) mkdirSync(join(folder, sub), { recursive: true });
  const map = schemaMap(shape);
  let bytes = 0;
  for (let i = 0; i < shape.integrations; i++) {
    const text = literalManifest(integrationName(i), reference(i), map);
    bytes += text.length;
    writeFileSync(join(folder, `manifests/${integrationName(i)}.yaml`), text);
    writeFileSync(join(folder, `json/${integrationName(i)}.json`), JSON.stringify(parse(text)));
  }
  const target = `targets: { bench: { baseUrl: "${bench.base}", apiKey: { $secret: { env: DIMSYNC_API_KEY } } } }`;
  writeFileSync(join(folder, "dimsync.yaml"), `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\n${target}\n`);
  const paths = [
    "/v1/integrations",
    ...Array.from({ length: shape.integrations }, (_, i) => `/v1/integrations/int-${String(i).padStart(3, "0")}/schemas`),
  ];
  writeFileSync(join(folder, "paths"), paths.join("\n"));
  return { folder, bytes };
}

const dimsync = (bench, folder, ...args) => ({
  command: [process.execPath, bench.bin, ...args, "-C", folder],
  env: { DIMSYNC_API_KEY: bench.key },
});

function others(bench, folder, env = {}) {
  return [
    {
      name: "naive Node script",
      command: [
        process.execPath,
        join(bench.root, "bench/naive.mjs"),
        bench.base,
        bench.key,
        join(folder, "manifests"),
        join(bench.root, "schema/schema-config.schema.json"),
      ],
      env,
    },
    { name: "bash + curl + jq", command: ["bash", join(bench.root, "bench/curl-jq.sh"), bench.base, bench.key, join(folder, "json")], env },
  ];
}

export async function w1(bench) {
  await bench.begin({ shape, warm: true });
  const { folder, bytes } = literalProject(bench, "w1", integrationName);
  const byId = literalProject(bench, "w1-ids", (i) => `{ id: int-${String(i).padStart(3, "0")} }`);
  const plan = { name: "dimsync plan", ...dimsync(bench, folder, "plan", "--detailed-exitcode") };
  const floor = { name: "F", command: [process.execPath, bench.floor, bench.base, bench.key, join(folder, "paths")] };

  await bench.counts();
  await runOnce(plan);
  expectCounts(await bench.counts(), { GET: 51 }, "W1 by name");
  await runOnce(dimsync(bench, byId.folder, "plan", "--detailed-exitcode"));
  expectCounts(await bench.counts(), { GET: 50 }, "W1 by id");

  const contestants = [{ name: "node -e 0", command: [process.execPath, "-e", "0"] }, floor, plan, ...others(bench, folder)];
  const wall = await roundRobin(contestants, bench.runs);
  const rows = [["W1: plan, no change", "wall ms", "peak MiB", "to F", "dimsync is"]];
  for (const contestant of contestants) {
    const { name } = contestant;
    const memory = contestant.command[0] === process.execPath ? mib(await peakMemory(contestant)) : "";
    const faster = others(bench, folder).some((other) => other.name === name)
      ? `${(wall[name] / wall["dimsync plan"]).toFixed(1)} × faster`
      : "";
    rows.push([name, ms(wall[name]), memory, times(wall[name], wall.F), faster]);
  }
  return `${table(rows)}\n\n${(bytes / 1e6).toFixed(1)} MB of YAML in ${shape.integrations} files. Requests: 51 by name, 50 by id (checked).`;
}

export async function w2(bench) {
  const { folder } = literalProject(bench, "w2", integrationName);
  // Both changes expose, so that they fit in one PATCH; 55 columns exceed the guard's limit.
  const unchanged = () => bench.begin({ shape, warm: true });
  const changed = () => bench.begin({ shape, warm: true, changed: [3, 13, 23, 33, 43] });
  const apply = {
    name: "dimsync apply",
    ...dimsync(bench, folder, "apply", "--yes", "--allow", "maxExposedColumns=measured"),
    before: changed,
  };
  const plan = { name: "dimsync plan, no change", ...dimsync(bench, folder, "plan"), before: unchanged };

  await apply.before();
  await bench.counts();
  await runOnce(apply);
  expectCounts(await bench.counts(), { GET: 56, PATCH: 5 }, "W2");
  await runOnce({ ...plan, command: [...plan.command, "--detailed-exitcode"] });

  const contestants = [plan, apply, ...others(bench, folder, { BENCH_APPLY: "1" }).map((other) => ({ ...other, before: changed }))];
  const wall = await roundRobin(contestants, bench.runs);
  const rows = [["W2: plan + apply, 5 of 50 differ", "wall ms", "to own W1", "dimsync is"]];
  for (const { name } of contestants) {
    const isOther = !name.startsWith("dimsync");
    rows.push([
      name,
      ms(wall[name]),
      isOther ? "" : times(wall[name], wall[plan.name]),
      isOther ? `${(wall[name] / wall[apply.name]).toFixed(1)} × faster` : "",
    ]);
  }
  return `${table(rows)}\n\nRequests: 51 GET to plan, one GET before each of 5 PATCH: 61 (checked). A plan afterwards is empty.`;
}
