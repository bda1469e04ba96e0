// W6: a service that responds after 20 ms.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { integrationId, schemaMap } from "./account.mjs";
import { literalProject, shape } from "./literal.mjs";
import { peakMemory, roundRobin, runOnce } from "./measure.mjs";
import { dimsync, floorOf } from "./project.mjs";
import { expectCounts, mib, table, times, wall } from "./table.mjs";

const latencyMs = 20;

export async function w6(bench) {
  const { folder } = literalProject(bench, "w6");
  const plan = (name, ...more) => ({ name, ...dimsync(bench, folder, "plan", "--detailed-exitcode", "-q", ...more) });
  const at = (concurrency) => ["--config", configWith(folder, concurrency)];
  const rows = [["W6: 20 ms a request", "wall ms", "peak MiB", "against"]];

  const whole = [0, latencyMs].map((latency) => ({
    ...plan(`50 integrations, concurrency 16, ${latency === 0 ? "no latency" : `${latency} ms`}`, ...at(16)),
    before: () => bench.begin({ shape, warm: true, latencyMs: latency }),
  }));
  const [near, far] = whole;
  const walls = await roundRobin(whole, bench.runs);
  rows.push([near.name, wall(walls[near.name]), mib(await peakMemory(near)), ""]);
  const ratio = `${times(walls[far.name], walls[near.name])} own wall without latency`;
  rows.push([far.name, wall(walls[far.name]), mib(await peakMemory(far)), ratio]);

  await bench.begin({ shape, warm: true, schemaForm: "snake", latencyMs });
  const paths = snakePaths();
  const contestants = [
    { ...floorOf(bench, paths, 128), name: "snake_case form: F, 128 at a time" },
    plan("snake_case form: dimsync, concurrency 128", ...at(128)),
    plan("snake_case form: dimsync, default concurrency"),
  ];
  await bench.counts();
  await runOnce(contestants[1]);
  expectCounts(await bench.counts(), { GET: paths.length }, "snake_case");
  const runs = Math.min(bench.runs, 3);
  const snake = await roundRobin(contestants, runs);
  const least = snake[contestants[0].name];
  for (const contestant of contestants) {
    const own = snake[contestant.name];
    rows.push([contestant.name, wall(own), mib(await peakMemory(contestant)), `${times(own, least)} F`]);
  }
  return `${table(rows)}\n\nsnake_case: ${paths.length.toLocaleString("en")} requests (checked), ${runs} runs. Memory of one run.`;
}

/** The path of a config of the project with this concurrency. */
function configWith(folder, concurrency) {
  const file = join(folder, `concurrency-${concurrency}.yaml`);
  writeFileSync(file, `${readFileSync(join(folder, "dimsync.yaml"), "utf8")}client: { concurrency: ${concurrency} }\n`);
  return file;
}

/** Without columns in the schemas, the columns of each table are read on their own. */
function snakePaths() {
  const tables = Object.entries(schemaMap(shape)).flatMap(([schema, { tables }]) =>
    Object.keys(tables).map((name) => `${schema}/tables/${name}/columns`),
  );
  const ids = Array.from({ length: shape.integrations }, (_, i) => integrationId(i));
  return [
    "/v1/integrations",
    ...ids.flatMap((id) => ["", ...tables.map((path) => `/${path}`)].map((rest) => `/v1/integrations/${id}/schemas${rest}`)),
  ];
}
