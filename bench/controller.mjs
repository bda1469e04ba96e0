// The controller with many accounts of the embedded service. `node bench/controller.mjs` measures all rows with
// the embedded database and with PostgreSQL, and prints Markdown with a verdict for each goal; it takes one to two
// hours. `node bench/controller.mjs check minute --databases postgres` measures some rows, and `--accounts 20
// --minutes 1` tries them; their verdicts then mean nothing.
//
// A row is printed when it has ended; until then, stderr says what it does. First it applies, pushes and checks
// each account once, which takes up to half a second each on a busy machine. Then it measures:
//
// check    what a check costs, compared with a warm `drift` of the same accounts in one process: 200 accounts;
//          2 minutes to prepare, 4 to measure the checks (--minutes), 2 to measure the `drift`
// minute   200 accounts every minute: 2 minutes to prepare, 10 to measure
// quarter  1,000 accounts every 15 minutes: 8 minutes to prepare, 16 to measure
// hour     the checks of an hour with 1,000 accounts every 15 minutes, as fast as one minute's interval allows:
//          8 minutes to prepare, 5 to measure
import { execFile } from "node:child_process";
import { availableParallelism, cpus, loadavg } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { startController, startServer } from "./controlled.mjs";
import { table } from "./table.mjs";

const run = promisify(execFile);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    databases: { type: "string", default: "embedded,postgres" },
    dist: { type: "string", default: fileURLToPath(new URL("../dist", import.meta.url)) },
    accounts: { type: "string" },
    every: { type: "string" },
    minutes: { type: "string" },
  },
});
const shapes = {
  check: { count: 200, every: "1m", minutes: 4 },
  minute: { count: 200, every: "1m", minutes: 10 },
  quarter: { count: 1000, every: "15m", minutes: 16 },
  hour: { count: 1000, every: "1m", minutes: 5, flags: ["--accounts-at-once", "32"] },
};
const shapeOf = (row) => ({
  ...shapes[row],
  ...(values.accounts === undefined ? {} : { count: Number(values.accounts) }),
  ...(values.every === undefined ? {} : { every: values.every }),
  ...(values.minutes === undefined ? {} : { minutes: Number(values.minutes) }),
  dist: values.dist,
});

const fixed = (value, digits = 1) => value.toFixed(digits);
const list = (numbers) => numbers.map((value) => Math.round(value)).join(", ");
const verdict = (isMet) => (isMet ? "met" : "**not met**");

/** Snapshots, one a minute, and the most stale accounts at any time. */
async function follow(controller, minutes) {
  const snapshots = [await controller.snapshot()];
  let stale = 0;
  for (let minute = 1; minute <= minutes; minute++) {
    for (
      const until = performance.now() + 60_000;
      performance.now() < until;
      await wait(Math.max(0, Math.min(10_000, until - performance.now())))
    )
      stale = Math.max(stale, (await controller.json("/api/v1/accounts?limit=1")).totals.byState.stale);
    snapshots.push(await controller.snapshot());
  }
  return { snapshots, stale, ...perCheck(snapshots) };
}

function perCheck(snapshots) {
  const [first, last] = [snapshots[0], snapshots.at(-1)];
  const runs = last.runs - first.runs;
  const seconds = (last.at - first.at) / 1000;
  const [workerMs, databaseMs] = ["workerMs", "databaseMs"].map((name) => last[name] - first[name]);
  return {
    ...{ runs, seconds, perSecond: runs / seconds },
    ...{ workerMs: workerMs / runs, databaseMs: databaseMs / runs },
    cores: (workerMs + databaseMs) / 1000 / seconds,
    workerCores: workerMs / 1000 / seconds,
  };
}

/** Starts of checks in each sixth of the interval, from the last check of each account. */
async function spread({ json, targets }) {
  const starts = [];
  for (const { target } of targets) {
    const { items } = await json(`/api/v1/runs?account=${target}&limit=1`);
    starts.push(Date.parse(items[0].startedAt));
  }
  const first = Math.min(...starts);
  const { everyMs } = await json(`/api/v1/accounts/${targets[0].target}`);
  const sixths = [0, 0, 0, 0, 0, 0];
  for (const start of starts) sixths[Math.floor((((start - first) % everyMs) / everyMs) * 6)]++;
  return sixths;
}

const memory = (snapshots) => [
  ["resident memory, each minute", `${list(snapshots.map(({ rssMib }) => rssMib))} MiB`],
  ["memory after a garbage collection", `${list(snapshots.map(({ heapMib }) => heapMib))} MiB`],
];

/** Whether memory after a garbage collection grew by less than 3 % between the second third and the last one. */
function isFlat(snapshots) {
  const third = Math.floor(snapshots.length / 3);
  const mean = (some) => some.reduce((sum, { heapMib }) => sum + heapMib, 0) / some.length;
  return mean(snapshots.slice(-third)) < 1.03 * mean(snapshots.slice(third, 2 * third));
}

const ofAccounts = ({ count, every, minutes }) => ["accounts, interval, minutes", `${count}, ${every}, ${minutes}`];
const ofChecks = ({ runs, perSecond }, more = "") => ["checks", `${runs}, ${fixed(perSecond, 2)} per second${more}`];
const ofCores = ({ cores }) => `${fixed(100 * cores)} % of one core`;
const ofProcessor = ({ workerMs, databaseMs }, more = "") => [
  "processor: worker, database",
  `${fixed(workerMs)} ms, ${fixed(databaseMs)} ms for a check${more}`,
];
const noneStale = (stale) => ["goal: no account is stale", `${verdict(stale === 0)}: at most ${stale}`];

/** The lines of each row, from a running controller and what was seen of it. */
const rows = {
  async check({ controller, seen, shape: { dist } }) {
    const input = {
      library: new URL(`file://${dist}/index.js`).href,
      targets: controller.targets,
      perSecond: seen.perSecond,
      seconds: 120,
    };
    await controller.pause();
    // The services of the accounts are in this process, so it must not wait for the other one synchronously.
    const program = fileURLToPath(new URL("warm-drift.mjs", import.meta.url));
    const { stdout } = await run(process.execPath, [program, JSON.stringify(input)], { env: { ...process.env, ...controller.env } });
    const drift = JSON.parse(stdout);
    const total = seen.workerMs + seen.databaseMs;
    const against = (ms) => `${fixed(ms)} ms; ${fixed(seen.workerMs / ms, 2)} × without, ${fixed(total / ms, 2)} × with the database`;
    return [
      ["checks per second", fixed(seen.perSecond)],
      ["a check: worker", `${fixed(seen.workerMs)} ms`],
      ["a check: database", `${fixed(seen.databaseMs)} ms`],
      ["a warm `drift` that loads the project", against(drift.withLoadMs)],
      ["a warm `drift` of a loaded project", against(drift.driftMs)],
      ["goal: a check costs the worker at most 1.1 × a warm `drift`", verdict(seen.workerMs <= 1.1 * drift.withLoadMs)],
    ];
  },
  async minute({ controller, seen, shape }) {
    const sixths = await spread(controller);
    return [
      ofAccounts(shape),
      ofChecks(seen),
      ofProcessor(seen, `; ${ofCores(seen)}`),
      ["checks started in each sixth of the interval", list(sixths)],
      ...memory(seen.snapshots),
      noneStale(seen.stale),
      ["goal: the starts are spread", verdict(Math.max(...sixths) < shape.count / 3)],
      ["goal: memory is flat", verdict(isFlat(seen.snapshots))],
    ];
  },
  quarter: ({ seen, shape }) => [
    ofAccounts(shape),
    ofChecks(seen),
    ofProcessor(seen),
    ...memory(seen.snapshots),
    noneStale(seen.stale),
    ["goal: less than half of one core, with the database", `${verdict(seen.cores < 0.5)}: ${fixed(100 * seen.cores)} %`],
  ],
  hour: ({ seen, shape }) => [
    ofAccounts(shape),
    ofChecks(seen, `; ${ofCores(seen)}`),
    ["stale accounts at most", String(seen.stale)],
    ...memory(seen.snapshots),
    ["goal: memory is flat over the checks of an hour", verdict(seen.runs >= 4000 && isFlat(seen.snapshots))],
  ],
};

/** Says on stderr what takes minutes, because a row is printed when it has ended. */
function progress(row, what) {
  console.error(`${new Date().toISOString().slice(11, 19)} ${row}: ${what}`);
}

/** Measures a row with a controller of its own. `database`: as `startController` takes it. */
async function runRow(row, database) {
  const shape = shapeOf(row);
  progress(row, `preparing ${shape.count} accounts`);
  const controller = await startController({ ...shape, database });
  try {
    progress(row, `measuring for ${shape.minutes} minutes`);
    const seen = await follow(controller, shape.minutes);
    return await rows[row]({ controller, seen, shape });
  } finally {
    await controller.stop();
  }
}

const chosen = positionals.length === 0 ? Object.keys(rows) : positionals;
const [{ model }] = cpus();
console.log(`Node ${process.version}, ${availableParallelism()} × ${model.trim()}, ${new Date().toISOString()}`);
for (const name of values.databases.split(",")) {
  const server = name === "postgres" ? await startServer() : undefined;
  try {
    for (const row of chosen) {
      const before = loadavg()[0];
      const body = await runRow(row, server === undefined ? undefined : { server, url: await server.database() });
      console.log(
        `\n### ${row}, ${server === undefined ? "embedded database" : "PostgreSQL"} (load of the machine ${fixed(before)} before, ${fixed(loadavg()[0])} after)\n`,
      );
      console.log(table([["measure", "value"], ...body]));
    }
  } finally {
    server?.remove();
  }
}
