import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Runs one command line to its end. `command` is [program, ...args]; throws if the exit code is not
 * `exit` (0). `output` is a file for stdout, if that is too long for memory. Resolves with the wall
 * time in ms, and with `memory` the peak of resident memory in MiB (reading it costs time).
 */
export async function runOnce({ command, env = {}, cwd, exit = 0, output }, memory = false) {
  const folder = mkdtempSync(join(tmpdir(), "dimsync-bench-"));
  const peakFile = join(folder, "peak");
  const [program, ...args] = command;
  const isNode = program === process.execPath;
  const hook = memory && isNode ? ["--require", fileURLToPath(new URL("./peak-memory.cjs", import.meta.url))] : [];
  // Node 20 reads NODE_EXTRA_CA_CERTS at every start.
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  const file = output === undefined ? undefined : openSync(output, "w");
  const started = process.hrtime.bigint();
  const child = spawn(program, [...hook, ...args], {
    cwd,
    env: { ...inherited, ...env, ...(memory ? { BENCH_PEAK: peakFile } : {}) },
    stdio: ["ignore", file ?? "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
    });
  const tree = memory && !isNode ? watchTree(child.pid) : undefined;
  const code = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  const ms = Number(process.hrtime.bigint() - started) / 1e6;
  if (file !== undefined) closeSync(file);
  if (code !== exit)
    throw new Error(`${command.join(" ")} ended with ${code} instead of ${exit}:\n${text.slice(0, 4000)}\n${headOf(output)}`);
  const kib = !memory ? undefined : isNode ? Number(readFileSync(peakFile, "utf8")) : tree();
  rmSync(folder, { recursive: true });
  return { ms, mib: kib === undefined ? undefined : kib / 1024, text };
}

function headOf(file) {
  if (file === undefined) return "";
  const bytes = Buffer.alloc(4000);
  const open = openSync(file, "r");
  const length = readSync(open, bytes);
  closeSync(open);
  return bytes.toString("utf8", 0, length);
}

/** Adds up the resident memory of a process and its children every 10 ms. Returns a function that ends this and returns the peak in KiB; undefined without /proc. */
function watchTree(pid) {
  let peak;
  const timer = setInterval(() => {
    const kib = residentOf(pid);
    if (kib !== undefined) peak = Math.max(peak ?? 0, kib);
  }, 10);
  return () => {
    clearInterval(timer);
    return peak;
  };
}

function residentOf(pid) {
  try {
    const own = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
    // Each thread has its own list of the processes that it started.
    const threads = readdirSync(`/proc/${pid}/task`);
    const children = threads.flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean));
    return children.reduce((sum, child) => sum + (residentOf(child) ?? 0), own);
  } catch {
    return undefined;
  }
}

/**
 * Runs contestants in turn, `runs` times each after a warm-up, so that changes of the machine's
 * load affect all of them. Resolves with the quartiles of the wall time by name. `before` and
 * `after` are awaited around each run.
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
  return Object.fromEntries([...times].map(([name, values]) => [name, quartiles(values)]));
}

/** The highest of `runs` runs, in MiB; undefined if it cannot be measured here. */
export async function peakMemory(contestant, runs = 1) {
  let peak;
  for (let run = 0; run < runs; run++) {
    await contestant.before?.();
    const { mib } = await runOnce(contestant, true);
    if (mib !== undefined) peak = Math.max(peak ?? 0, mib);
  }
  return peak;
}

function quartiles(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part) => {
    const place = (sorted.length - 1) * part;
    const below = sorted[Math.floor(place)];
    return below + (sorted[Math.ceil(place)] - below) * (place % 1);
  };
  return { low: at(0.25), median: at(0.5), high: at(0.75), runs: sorted.length };
}
