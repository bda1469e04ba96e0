// W7: `import` of a whole account into an empty folder, with its final plan, and a second one that
// has nothing to write.
import { peakMemory, roundRobin } from "./measure.mjs";
import { dimsync, floor, writeProject } from "./project.mjs";
import { mib, table, times, wall } from "./table.mjs";

export async function w7(bench) {
  const shape = { integrations: 200, schemas: 1, tables: 500, columns: 20 };
  await bench.begin({ shape, warm: true });
  const empty = () => writeProject(bench, "w7");
  const folder = empty();
  const least = floor(bench, shape.integrations);
  const first = { name: "import", ...dimsync(bench, folder, "import"), before: empty };
  // Measured after `first`, whose files exist then.
  const again = { name: "import again", ...dimsync(bench, folder, "import") };
  const contestants = [least, first, again];
  const runs = Math.min(bench.runs, 3);
  const walls = await roundRobin(contestants, runs);
  const rows = [["W7: import, 200 × 500 tables × 20 columns", "wall ms", "to F", "peak MiB"]];
  for (const contestant of contestants) {
    const own = walls[contestant.name];
    rows.push([contestant.name, wall(own), times(own, walls.F), mib(await peakMemory(contestant))]);
  }
  const columns = shape.integrations * shape.tables * shape.columns;
  return `${table(rows)}\n\n${columns.toLocaleString("en")} columns, read twice: to write the manifests, and to show that the plan is empty. ${runs} runs; memory of one.`;
}
