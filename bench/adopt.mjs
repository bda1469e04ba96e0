// W7: `import` of a whole account into an empty folder, with its final plan, and a second one that
// has nothing to write.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { peakMemory, roundRobin } from "./measure.mjs";
import { mib, ms, table, times } from "./table.mjs";

export async function w7(bench) {
  const shape = { integrations: 200, schemas: 1, tables: 500, columns: 20 };
  await bench.begin({ shape, warm: true });
  const folder = join(bench.folder, "w7");
  const paths = join(bench.folder, "w7-paths");
  const ids = Array.from({ length: shape.integrations }, (_, i) => `int-${String(i).padStart(3, "0")}`);
  writeFileSync(paths, ["/v1/integrations", ...ids.map((id) => `/v1/integrations/${id}/schemas`)].join("\n"));
  const empty = () => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    const target = `targets: { bench: { baseUrl: "${bench.base}", apiKey: { $secret: { env: DIMSYNC_API_KEY } } } }`;
    writeFileSync(join(folder, "dimsync.yaml"), `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\n${target}\n`);
  };
  const command = [process.execPath, bench.bin, "import", "-C", folder];
  const env = { DIMSYNC_API_KEY: bench.key };
  const floor = { name: "F", command: [process.execPath, bench.floor, bench.base, bench.key, paths] };
  const first = { name: "import", command, env, before: empty };
  // Measured after `first`, whose files exist then.
  const again = { name: "import again", command, env };
  const runs = Math.min(bench.runs, 3);
  const wall = await roundRobin([floor, first, again], runs);
  const rows = [["W7: import, 200 × 500 tables × 20 columns", "wall ms", "to F", "peak MiB"]];
  rows.push(["F", ms(wall.F), times(1, 1), mib(await peakMemory(floor, 1))]);
  for (const contestant of [first, again]) {
    const own = wall[contestant.name];
    rows.push([contestant.name, ms(own), times(own, wall.F), mib(await peakMemory(contestant, 1))]);
  }
  const columns = shape.integrations * shape.tables * shape.columns;
  return `${table(rows)}\n\n${columns.toLocaleString("en")} columns, read twice: to write the manifests, and to show that the plan is empty. Medians of ${runs} runs; memory of one.`;
}
