// W6: a service that responds after 20 ms.

import { integrationName } from "./account.mjs";
import { literalProject, shape } from "./literal.mjs";
import { roundRobin, runOnce } from "./measure.mjs";
import { expectCounts, ms, table, times } from "./table.mjs";

const latencyMs = 20;

export async function w6(bench) {
  const { folder } = literalProject(bench, "w6", integrationName);
  const plan = (concurrency) => ({
    command: [process.execPath, bench.bin, "plan", "--detailed-exitcode", "-q", "--concurrency", String(concurrency), "-C", folder],
    env: { DIMSYNC_API_KEY: bench.key },
  });
  const near = { name: "near", ...plan(16), before: () => bench.begin({ shape, warm: true }) };
  const far = { name: "far", ...plan(16), before: () => bench.begin({ shape, warm: true, latencyMs }) };
  const wall = await roundRobin([near, far], bench.runs);

  await bench.begin({ shape, warm: true, schemaForm: "snake" });
  const snake = { name: "snake", ...plan(128) };
  const runs = Math.min(bench.runs, 3);
  await bench.counts();
  await runOnce(snake);
  expectCounts(await bench.counts(), { GET: 5051 }, "snake_case");
  const snakeNear = (await roundRobin([snake], runs)).snake;
  await bench.begin({ shape, warm: true, schemaForm: "snake", latencyMs });
  const snakeFar = (await roundRobin([snake], runs)).snake;
  const ideal = Math.ceil(5051 / 128) * latencyMs;
  return `${table([
    ["W6: 20 ms a request", "wall ms", "against"],
    ["50 integrations, concurrency 16, no latency", ms(wall.near), ""],
    ["50 integrations, concurrency 16, 20 ms", ms(wall.far), `${times(wall.far, wall.near)} own wall without latency`],
    ["snake_case form, concurrency 128, no latency", ms(snakeNear), ""],
    ["snake_case form, concurrency 128, 20 ms", ms(snakeFar), `${times(snakeFar, ideal)} ⌈5,051 / 128⌉ × 20 ms = ${ms(ideal)} ms`],
  ])}\n\nsnake_case: 5,051 requests (checked), medians of ${runs} runs.`;
}
