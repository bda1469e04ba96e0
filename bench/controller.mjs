// The controller with many accounts of the embedded service: `node bench/controller.mjs --accounts 200
// --every 1m --minutes 10 [--dist DIR] [--database URL]`. Reports checks per second, how they are spread over
// the interval, stale accounts, memory, processor time, and the processor time of a check compared with a
// warm `drift` in one process. Without --database it uses the embedded database.
import { spawn } from "node:child_process";
import { cpSync, createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { table } from "./table.mjs";

const { values } = parseArgs({
  options: {
    accounts: { type: "string", default: "200" },
    every: { type: "string", default: "1m" },
    minutes: { type: "string", default: "10" },
    port: { type: "string", default: "8499" },
    dist: { type: "string", default: fileURLToPath(new URL("../dist", import.meta.url)) },
    database: { type: "string" },
  },
});
const count = Number(values.accounts);
const folder = mkdtempSync(join(tmpdir(), "dimsync-bench-controller-"));
const project = join(folder, "project");
const base = `http://127.0.0.1:${values.port}`;

mkdirSync(project);
cpSync(new URL("../examples/quickstart/manifests", import.meta.url), join(project, "manifests"), { recursive: true });
const targets = Array.from({ length: count }, (_, index) => `shop-${String(index).padStart(4, "0")}`);
const target = (name) =>
  `  ${name}:\n    baseUrl: embedded:../accounts/${name}.json\n    vars: { frequency: 1h }\n    controller: { every: ${values.every} }\n`;
writeFileSync(
  join(project, "dimsync.yaml"),
  `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets:\n${targets.map(target).join("")}defaults: { taggedBy: data-platform@example.com }\n`,
);
mkdirSync(join(folder, "accounts"));

const json = async (path) => (await fetch(base + path)).json();

/** Processor time in seconds and resident memory in MiB, from /proc. */
function usage(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  const [, kilobytes] = /^VmRSS:\s+(\d+)/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return { cpu: (Number(fields[11]) + Number(fields[12])) / 100, mib: Number(kilobytes) / 1024 };
}

/** The number of runs since the database was created. */
async function runCount() {
  const text = await (await fetch(`${base}/metrics`)).text();
  return [...text.matchAll(/^dimsync_controller_runs_total\{.*\} (\d+)$/gmu)].reduce((sum, [, value]) => sum + Number(value), 0);
}

async function started() {
  const flags = values.database === undefined ? [] : ["--database", values.database];
  const args = ["controller", "run", "--watch", "--listen", `127.0.0.1:${values.port}`, "--accounts-per-host", "8", ...flags];
  const child = spawn(process.execPath, [join(resolve(values.dist), "bin.cjs"), ...args, "-C", project], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  child.stderr.pipe(createWriteStream(join(folder, "log")));
  for (;;) {
    if (child.exitCode !== null) throw new Error(readFileSync(join(folder, "log"), "utf8"));
    const seen = await json("/api/v1/accounts?limit=1").catch(() => undefined);
    if (seen?.totals.accounts === count && seen.totals.byState.pending === 0) return child;
    await wait(1000);
  }
}

/** Processor time in ms of a warm `drift` in this process, of the same project. */
async function driftMs() {
  const { loadProject, drift } = await import(pathToFileURL(join(resolve(values.dist), "index.js")).href);
  const once = async (name) => drift(await loadProject({ cwd: project, target: name, env: {} }), { env: {} });
  for (const name of targets.slice(0, 20)) await once(name);
  const before = process.cpuUsage();
  const measured = targets.slice(0, 100);
  for (const name of measured) await once(name);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / measured.length;
}

/** Checks in each sixth of the interval, from the last check of each account. */
async function spread() {
  const starts = [];
  for (const name of targets) {
    const { items } = await json(`/api/v1/runs?account=${name}&limit=1`);
    starts.push(Date.parse(items[0].startedAt));
  }
  const first = Math.min(...starts);
  const { everyMs } = await json(`/api/v1/accounts/${targets[0]}`);
  const sixths = [0, 0, 0, 0, 0, 0];
  for (const start of starts) sixths[Math.floor((((start - first) % everyMs) / everyMs) * 6)]++;
  return sixths.join(", ");
}

const controller = await started();
try {
  const before = { ...usage(controller.pid), runs: await runCount(), at: performance.now() };
  const memory = [];
  let stale = 0;
  for (let step = 0; step < Number(values.minutes) * 6; step++) {
    await wait(10_000);
    memory.push(usage(controller.pid).mib);
    stale = Math.max(stale, (await json("/api/v1/accounts?limit=1")).totals.byState.stale);
  }
  const after = { ...usage(controller.pid), runs: await runCount(), at: performance.now() };
  const seconds = (after.at - before.at) / 1000;
  const runs = after.runs - before.runs;
  const checkMs = ((after.cpu - before.cpu) * 1000) / runs;
  const sixths = await spread();
  const plainMs = await driftMs();
  const third = Math.ceil(memory.length / 3);
  const mean = (some) => Math.round(some.reduce((sum, value) => sum + value, 0) / some.length);
  console.log(
    table([
      ["measure", "value"],
      ["accounts, interval, minutes", `${count}, ${values.every}, ${values.minutes}`],
      ["checks", `${runs}, ${(runs / seconds).toFixed(2)} per second`],
      ["stale accounts at most", String(stale)],
      ["checks per sixth of the interval", sixths],
      ["processor time", `${((100 * (after.cpu - before.cpu)) / seconds).toFixed(0)} % of one core`],
      ["memory, first and last third", `${mean(memory.slice(0, third))} MiB, ${mean(memory.slice(-third))} MiB`],
      ["processor time of a check", `${checkMs.toFixed(1)} ms; a warm drift ${plainMs.toFixed(1)} ms: ${(checkMs / plainMs).toFixed(2)} ×`],
    ]),
  );
} finally {
  const ended = new Promise((done) => controller.once("exit", done));
  controller.kill("SIGTERM");
  await ended;
  rmSync(folder, { recursive: true });
}
