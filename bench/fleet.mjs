// W4, W5 and W9: one SchemaConfig with rules for a fleet.
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dbtManifest, labelledRules, rulesManifest } from "./account.mjs";
import { peakMemory, roundRobin, runOnce } from "./measure.mjs";
import { dimsync, floor, writeProject } from "./project.mjs";
import { expectCounts, mib, ms, table, times, wall } from "./table.mjs";

const columnsOf = ({ integrations, schemas, tables, columns }) => integrations * schemas * tables * columns;

const planOf = (bench, folder, { exit, more = [] }) => ({
  ...dimsync(bench, folder, "plan", "--detailed-exitcode", "-q", "--allow", "maxChangedPercent=measured", ...more),
  exit,
});

async function measure(bench, { shape, name, differences, exit, runs, hasCatalog = false, hasLabels = false }) {
  await bench.begin({ shape, warm: true, differences });
  const folder = writeProject(bench, name, {
    "manifests/fleet.yaml": hasLabels ? labelledRules() : rulesManifest,
    ...(hasLabels ? { "dbt.json": dbtManifest(shape) } : {}),
  });
  if (hasCatalog) {
    const file = join(folder, "dimsync.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace("{ bench: {", "{ bench: { catalog: dimsync.catalog.yaml,"));
    execFileSync(process.execPath, [bench.bin, "catalog", "accept", "--all", "-q", "-C", folder], { env: { DIMSYNC_API_KEY: bench.key } });
  }
  const least = floor(bench, shape.integrations);
  const plan = { name: "dimsync plan", ...planOf(bench, folder, { exit }) };
  await bench.counts();
  await runOnce(plan);
  expectCounts(await bench.counts(), { GET: shape.integrations + 1 }, name);
  const walls = await roundRobin([least, plan], runs);
  return { least: walls.F, own: walls[plan.name], peak: await peakMemory(plan), leastPeak: await peakMemory(least) };
}

export async function w4(bench) {
  const shape = { integrations: 700, schemas: 5, tables: 20, columns: 20 };
  // 20 of 2,000 columns in each integration, and no longer hashed, so that only the guard for the
  // number of integrations must be lifted.
  const differences = ["email_03", "email_13"].flatMap((column) => [1, 8].map((table) => ({ table: `table_00${table}`, column })));
  const runs = Math.min(bench.runs, 3);
  const equal = await measure(bench, { shape, name: "w4", exit: 0, runs });
  const different = await measure(bench, { shape, name: "w4-changes", differences, exit: 2, runs });
  const reviewed = await measure(bench, { shape, name: "w4-catalog", exit: 0, runs, hasCatalog: true });
  const labelled = await measure(bench, { shape, name: "w4-labels", exit: 0, runs, hasLabels: true });
  const rows = [["W4: fleet, 700 integrations, 1.4 M columns", "wall ms", "to F", "peak MiB"]];
  rows.push(["F", wall(equal.least), times(equal.least, equal.least), mib(equal.leastPeak)]);
  rows.push(["dimsync plan, no change", wall(equal.own), times(equal.own, equal.least), mib(equal.peak)]);
  rows.push(["dimsync plan, 1 % of columns differ", wall(different.own), times(different.own, different.least), mib(different.peak)]);
  rows.push(["dimsync plan, no change, with a catalog", wall(reviewed.own), times(reviewed.own, reviewed.least), mib(reviewed.peak)]);
  rows.push([
    "dimsync plan, no change, 2,000 columns labelled by dbt",
    wall(labelled.own),
    times(labelled.own, labelled.least),
    mib(labelled.peak),
  ]);
  return `${table(rows)}\n\n${columnsOf(shape).toLocaleString("en")} columns, 701 requests (checked). ${runs} runs; memory of one.`;
}

export async function w5(bench) {
  const rows = [["W5: growth, no change", "columns", "wall ms", "ns a column", "to F", "peak MiB"]];
  for (const integrations of [10, 100, 1000]) {
    const shape = { integrations, schemas: 1, tables: 500, columns: 30 };
    const { least, own, peak } = await measure(bench, { shape, name: `w5-${integrations}`, exit: 0, runs: integrations === 1000 ? 1 : 3 });
    const columns = columnsOf(shape);
    rows.push([
      `${integrations} × 500 tables × 30 columns`,
      columns.toLocaleString("en"),
      wall(own),
      String(Math.round((own.median * 1e6) / columns)),
      times(own, least),
      mib(peak),
    ]);
  }
  return `${table(rows)}\n\n3 runs; the last row is one run.`;
}

const hashedManifest = (hashed) => `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: fleet }
spec:
  integrations: { names: ["shop-shard-*"] }
  rules: [{ id: all, match: { column: "*" }, set: { hashed: ${hashed} } }]
`;

export async function w9(bench) {
  const shape = { integrations: bench.size(100), schemas: 1, tables: 500, columns: 30, hashed: false };
  await bench.begin({ shape, warm: true });
  const equal = writeProject(bench, "w9-equal", { "manifests/fleet.yaml": hashedManifest(false) });
  const changed = writeProject(bench, "w9", { "manifests/fleet.yaml": hashedManifest(true) });
  const output = join(bench.folder, "w9-output");
  const none = { name: "no change", ...planOf(bench, equal, { exit: 0 }) };
  const contestants = [
    floor(bench, shape.integrations),
    none,
    { name: "all differ, human", ...planOf(bench, changed, { exit: 2 }), output },
    { name: "all differ, -o json", ...planOf(bench, changed, { exit: 2, more: ["-o", "json"] }), output },
  ];
  const runs = Math.min(bench.runs, 3);
  const columns = columnsOf(shape);
  const rows = [["W9: one rule changes all columns", "wall ms", "to F", "µs a change over no change", "output MB", "peak MiB"]];
  const walls = {};
  for (const contestant of contestants) {
    const { name } = contestant;
    try {
      walls[name] = (await roundRobin([contestant], runs))[name];
    } catch (error) {
      // A row for a workload that is too large says how it ended.
      const [code] = /E_[A-Z_]+/.exec(String(error)) ?? [String(error)];
      rows.push([name, code, "", "", "", ""]);
      continue;
    }
    const micros = ((walls[name].median - walls[none.name]?.median) * 1e3) / columns;
    const printed = contestant.output === undefined ? ["", ""] : [micros.toFixed(1), ms(statSync(output).size / 1e6)];
    rows.push([name, wall(walls[name]), times(walls[name], walls.F), ...printed, mib(await peakMemory(contestant))]);
  }
  rmSync(output, { force: true });
  return `${table(rows)}\n\n${columns.toLocaleString("en")} columns. ${runs} runs, one contestant after the other; memory of one.`;
}
