import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Runs one command line to its end. `command` is [program, ...args]; throws if the exit code is not
 * `exit` (0). Resolves with the wall time in ms and, with `memory`, the peak of resident memory in
 * MiB instead (the hook that reads it costs time).
 */
export async function runOnce({ command, env = {}, cwd, exit = 0 }, memory = false) {
  const folder = memory ? mkdtempSync(join(tmpdir(), "dimsync-bench-")) : undefined;
  const peakFile = folder && join(folder, "peak");
  const [program, ...args] = command;
  const hook = memory ? ["--require", new URL("./peak-memory.cjs", import.meta.url).pathname] : [];
  // Node 20 reads NODE_EXTRA_CA_CERTS at every start.
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  const started = process.hrtime.bigint();
  const child = spawn(program, [...hook, ...args], {
    cwd,
    env: { ...inherited, ...env, BENCH_PEAK: peakFile ?? "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  child.stderr.on("data", (chunk) => {
    text += chunk;
  });
  const code = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  const ms = Number(process.hrtime.bigint() - started) / 1e6;
  if (code !== exit) throw new Error(`${command.join(" ")} ended with ${code} instead of ${exit}:\n${text.slice(0, 4000)}`);
  const mib = memory ? Number(readFileSync(peakFile, "utf8")) / 1024 : undefined;
  if (folder !== undefined) rmSync(folder, { recursive: true });
  return { ms, mib, text };
}

/**
 * Runs contestants in turn, `runs` times each after a warm-up, so that changes of the machine's
 * load affect all of them. Resolves with the median wall time by name. `before` and `after` are
 * awaited around each run.
 */
export async function roundRobin(contestants, runs) {
  const times = new Map(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round <= runs; round++) {
    for (const contestant of contestants) {
      await contestant.before?.();
      const { ms, text } = await runOnce(contestant);
      await contestant.after?.(text);
      if (round > 0) times.get(contestant.name).push(ms);
    }
  }
  return Object.fromEntries([...times].map(([name, values]) => [name, median(values)]));
}

/** The highest of three runs, in MiB. */
export async function peakMemory(contestant, runs = 3) {
  let peak = 0;
  for (let run = 0; run < runs; run++) {
    await contestant.before?.();
    peak = Math.max(peak, (await runOnce(contestant, true)).mib);
  }
  return peak;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
