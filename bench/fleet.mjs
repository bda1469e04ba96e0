// W4 and W5: one SchemaConfig with five rules for a fleet.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rulesManifest } from "./account.mjs";
import { peakMemory, roundRobin, runOnce } from "./measure.mjs";
import { expectCounts, mib, ms, table, times } from "./table.mjs";

function fleetProject(bench, name, { integrations }) {
  const folder = join(bench.folder, name);
  mkdirSync(join(folder, "manifests"), { recursive: true });
  writeFileSync(join(folder, "manifests/fleet.yaml"), rulesManifest);
  const target = `targets: { bench: { baseUrl: "${bench.base}", apiKey: { $secret: { env: DIMSYNC_API_KEY } } } }`;
  writeFileSync(join(folder, "dimsync.yaml"), `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\n${target}\n`);
  const ids = Array.from({ length: integrations }, (_, i) => `int-${String(i).padStart(3, "0")}`);
  writeFileSync(join(folder, "paths"), ["/v1/integrations", ...ids.map((id) => `/v1/integrations/${id}/schemas`)].join("\n"));
  return folder;
}

const columnsOf = ({ integrations, schemas, tables, columns }) => integrations * schemas * tables * columns;

function contestants(bench, folder, exit) {
  return [
    { name: "F", command: [process.execPath, bench.floor, bench.base, bench.key, join(folder, "paths")] },
    {
      name: "dimsync plan",
      command: [process.execPath, bench.bin, "plan", "--detailed-exitcode", "-q", "--allow", "maxChangedPercent=measured", "-C", folder],
      env: { DIMSYNC_API_KEY: bench.key },
      exit,
    },
  ];
}

async function measure(bench, { shape, name, differences, exit, runs, memoryRuns }) {
  await bench.begin({ shape, warm: true, differences });
  const folder = fleetProject(bench, name, shape);
  const [floor, plan] = contestants(bench, folder, exit);
  await bench.counts();
  await runOnce(plan);
  expectCounts(await bench.counts(), { GET: shape.integrations + 1 }, name);
  const wall = await roundRobin([floor, plan], runs);
  return { wall, peak: await peakMemory(plan, memoryRuns), floorPeak: await peakMemory(floor, 1) };
}

export async function w4(bench) {
  const shape = { integrations: 700, schemas: 5, tables: 20, columns: 20 };
  // 20 of 2,000 columns in each integration, and no longer hashed, so that only the guard for the
  // number of integrations must be lifted.
  const differences = ["email_03", "email_13"].flatMap((column) => [1, 8].map((table) => ({ table: `table_00${table}`, column })));
  const runs = Math.min(bench.runs, 3);
  const equal = await measure(bench, { shape, name: "w4", exit: 0, runs, memoryRuns: 1 });
  const different = await measure(bench, { shape, name: "w4-changes", differences, exit: 2, runs, memoryRuns: 1 });
  const rows = [["W4: fleet, 700 integrations, 1.4 M columns", "wall ms", "to F", "peak MiB"]];
  rows.push(["F", ms(equal.wall.F), times(1, 1), mib(equal.floorPeak)]);
  rows.push(["dimsync plan, no change", ms(equal.wall["dimsync plan"]), times(equal.wall["dimsync plan"], equal.wall.F), mib(equal.peak)]);
  rows.push([
    "dimsync plan, 1 % of columns differ",
    ms(different.wall["dimsync plan"]),
    times(different.wall["dimsync plan"], different.wall.F),
    mib(different.peak),
  ]);
  return `${table(rows)}\n\n${columnsOf(shape).toLocaleString("en")} columns, 701 requests (checked). Medians of ${runs} runs; memory of one.`;
}

export async function w5(bench) {
  const rows = [["W5: growth, no change", "columns", "wall ms", "ns a column", "to F", "peak MiB"]];
  for (const integrations of [10, 100, 1000]) {
    const shape = { integrations, schemas: 1, tables: 500, columns: 30 };
    const runs = integrations === 1000 ? 1 : 3;
    const { wall, peak } = await measure(bench, { shape, name: `w5-${integrations}`, exit: 0, runs, memoryRuns: 1 });
    const own = wall["dimsync plan"];
    const columns = columnsOf(shape);
    rows.push([
      `${integrations} × 500 tables × 30 columns`,
      columns.toLocaleString("en"),
      ms(own),
      String(Math.round((own * 1e6) / columns)),
      times(own, wall.F),
      mib(peak),
    ]);
  }
  return `${table(rows)}\n\nMedians of 3 runs; the last row is one run.`;
}
