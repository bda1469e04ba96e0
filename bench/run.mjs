// `npm run bench` measures everything, `npm run bench -- W1 W3` some of it. `--dist DIR` uses an
// existing build; otherwise it builds. `--runs N`. `--small` makes W8 to W11 fifty times smaller, to
// try the benchmark itself. Prints Markdown for .github/PERFORMANCE.md.
import { execFileSync, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { w7 } from "./adopt.mjs";
import { w11 } from "./documents.mjs";
import { w4, w5, w9 } from "./fleet.mjs";
import { w12 } from "./job.mjs";
import { w8, w10 } from "./large.mjs";
import { w6 } from "./latency.mjs";
import { w1, w2 } from "./literal.mjs";
import { records } from "./records.mjs";
import { w3 } from "./start-up.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    dist: { type: "string" },
    runs: { type: "string", default: "7" },
    keep: { type: "boolean", default: false },
    small: { type: "boolean", default: false },
  },
});
const workloads = { w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, records };
const wanted = positionals.length === 0 ? Object.keys(workloads) : positionals.map((name) => name.toLowerCase());
for (const name of wanted)
  if (!Object.hasOwn(workloads, name)) throw new Error(`There is no workload ${name}: ${Object.keys(workloads).join(", ")}.`);

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "dimsync-bench-"));
const dist = values.dist === undefined ? join(folder, "dist") : resolve(values.dist);
if (values.dist === undefined) execFileSync(process.execPath, [join(root, "build.mjs"), "--no-types", "--out", dist], { stdio: "inherit" });
await build({
  entryPoints: {
    embedded: join(root, "src/embedded/index.ts"),
    floor: join(root, "bench/floor.mjs"),
    "git-http": join(root, "test/support/git/http.ts"),
  },
  outdir: folder,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  minify: true,
});

const key = "bench-key";
const service = fork(join(root, "bench/service.mjs"), [join(folder, "embedded.mjs"), key], { execArgv: ["--max-old-space-size=8000"] });
const answer = () => new Promise((resolved) => service.once("message", resolved));
const { port } = await answer();
const tell = async (message) => {
  const answered = answer();
  service.send(message);
  return answered;
};

let begun = "";
const bench = {
  folder,
  root,
  key,
  base: `http://127.0.0.1:${port}`,
  runs: Number(values.runs),
  /** The size of a workload, or less with --small. */
  size: (count) => (values.small ? Math.ceil(count / 50) : count),
  bin: join(dist, "bin.cjs"),
  floor: join(folder, "floor.mjs"),
  /** Gives the service an account (see service.mjs). */
  begin: (setting) => tell({ begin: setting }),
  /** As `begin`, unless the service already has it. */
  beginOnce: async (setting) => {
    const text = JSON.stringify(setting);
    if (text !== begun) await bench.begin(setting);
    begun = text;
  },
  /** Requests by method since the last call. */
  counts: async () => (await tell({ resetCounts: true })).counts,
};

try {
  const version = (program, ...args) => {
    try {
      return execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).split("\n")[0];
    } catch {
      return "";
    }
  };
  const notes = [`Node ${process.versions.node}`, `${cpus().length} × ${cpus()[0]?.model}`, `${Math.round(totalmem() / 2 ** 30)} GiB`];
  notes.push(
    process.platform,
    version("curl", "--version").split(" (")[0],
    version("jq", "--version"),
    version("terraform", "version"),
    new Date().toISOString().slice(0, 10),
  );
  console.log(`${notes.filter(Boolean).join(" · ")} · medians (and quartiles) of ${bench.runs} runs in turn unless stated\n`);
  for (const name of wanted) console.log(`${await workloads[name](bench)}\n`);
} finally {
  service.kill();
  if (!values.keep) rmSync(folder, { recursive: true, force: true });
}
