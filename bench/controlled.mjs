// A controller process with many accounts of the embedded service, and what is measured of it.
import { execFile, spawn } from "node:child_process";
import { cpSync, createWriteStream, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { rolldown } from "rolldown";

const run = promisify(execFile);
const manifests = fileURLToPath(new URL("../examples/quickstart/manifests", import.meta.url));
const key = "bench-key";
const secrets = { LAKE_SECRET_KEY: "a-secret", RETURNS_DB_PASSWORD: "another-secret", BENCH_KEY: key };
const accountsPerProject = 20;

/** Imports a file in TypeScript, by its path in the repository. */
export async function importTypeScript(path) {
  const input = fileURLToPath(new URL(`../${path}`, import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), "dimsync-bench-import-"));
  const file = join(folder, "imported.mjs");
  await (await rolldown({ input, platform: "node" })).write({ file, format: "esm" });
  const imported = await import(pathToFileURL(file).href);
  rmSync(folder, { recursive: true });
  return imported;
}

/** A PostgreSQL server in a temporary folder, as the tests start it. */
export async function startServer() {
  const { startPostgres } = await importTypeScript("test/support/postgres/server.ts");
  return startPostgres(["max_connections = 200"]);
}

/** Processor time of a process in ms, and of the children that it has ended. */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").map(Number);
  return { own: (fields[11] + fields[12]) * 10, ended: (fields[13] + fields[14]) * 10 };
}

/** Processor time of the server's processes in ms. */
function serverCpu(pid) {
  const main = cpuOf(pid);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  const live = children.map((child) => {
    try {
      return cpuOf(child).own;
    } catch {
      return 0;
    }
  });
  return main.own + main.ended + live.reduce((sum, value) => sum + value, 0);
}

function rssMib(pid) {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(kilobytes) / 1024;
}

const freePort = () =>
  new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });

/** Projects with `accountsPerProject` targets each, whose accounts match their manifests. Each account is a service of this process. */
async function makeProjects(folder, { count, every, database, dist }) {
  const { loadProject, apply } = await import(pathToFileURL(join(dist, "index.js")).href);
  const env = { ...secrets, ...(database === undefined ? {} : { DIMSYNC_DATABASE_URL: database.url }) };
  const { startEmbeddedService } = await importTypeScript("src/embedded/index.ts");
  const started = Array.from({ length: count }, () => startEmbeddedService({ apiKeys: { [key]: "bot@example.com" } }));
  const services = await Promise.all(started);
  const targets = services.map(({ url }, index) => {
    const target = `shop-${String(index).padStart(4, "0")}`;
    return { cwd: join(folder, `project-${Math.floor(index / accountsPerProject)}`), target, url };
  });
  const folders = [...new Set(targets.map(({ cwd }) => cwd))];
  const text = (cwd, records) =>
    `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets:\n${targets
      .filter((each) => each.cwd === cwd)
      .map(
        ({ target, url }) =>
          `  ${target}:\n    baseUrl: ${url}\n    apiKey: { $secret: { env: BENCH_KEY } }\n    vars: { frequency: '60' }\n    controller: { every: ${every} }\n${records}`,
      )
      .join("")}defaults: { taggedBy: data-platform@example.com }\n`;
  for (const cwd of folders) {
    mkdirSync(cwd);
    cpSync(manifests, join(cwd, "manifests"), { recursive: true });
    writeFileSync(join(cwd, "dimsync.yaml"), text(cwd, ""));
  }
  if (database !== undefined) {
    const [{ cwd, target }] = targets;
    await run(process.execPath, [join(dist, "bin.cjs"), "records", "init", "--to", "postgres", "-t", target, "-C", cwd], {
      env: { ...process.env, ...env },
    });
    const [records] = /^ {4}records:.*\n(?: {6}.*\n)*/mu.exec(readFileSync(join(cwd, "dimsync.yaml"), "utf8"));
    for (const each of folders) writeFileSync(join(each, "dimsync.yaml"), text(each, records));
  }
  for (const each of targets) {
    const { exit } = await apply(await loadProject({ ...each, env }), { env });
    if (exit.code !== 0) throw new Error(`apply of ${each.target} ended with ${exit.code}: ${exit.reasons.join(", ")}`);
  }
  const closeServices = () => Promise.all(services.map((service) => service.close()));
  return { targets, folders, env, closeServices };
}

/**
 * A running controller that has checked each of its accounts once. `database`: { server, url } of PostgreSQL;
 * undefined: the embedded database. `flags`: more flags of `controller run`.
 */
export async function startController({ count, every, database, dist, flags = [] }) {
  const folder = mkdtempSync(join(tmpdir(), "dimsync-bench-controller-"));
  const projects = await makeProjects(folder, { count, every, database, dist });
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const probe = join(folder, "probe.json");
  const place = ["--state", join(folder, "state"), ...(database === undefined ? [] : ["--database", database.url])];
  const env = { ...process.env, ...projects.env, BENCH_PROBE: probe, ...(database === undefined ? { BENCH_EMBEDDED: "1" } : {}) };
  const node = ["--expose-gc", "--require", fileURLToPath(new URL("controller-probe.cjs", import.meta.url))];
  const bin = join(resolve(dist), "bin.cjs");
  const child = spawn(
    process.execPath,
    [...node, bin, "controller", "run", "--listen", `127.0.0.1:${port}`, "--accounts-per-host", "8", ...place, ...flags],
    { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] },
  );
  child.stderr.pipe(createWriteStream(join(folder, "log")));
  const json = async (path) => (await fetch(base + path)).json();
  const ended = new Promise((done) => child.once("exit", done));
  const pause = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  const stop = async () => {
    await pause();
    await projects.closeServices();
    rmSync(folder, { recursive: true });
  };
  const until = async (isDone) => {
    for (;;) {
      if (child.exitCode !== null) throw new Error(readFileSync(join(folder, "log"), "utf8"));
      const seen = await json("/api/v1/accounts?limit=1").catch(() => undefined);
      if (seen !== undefined && isDone(seen.totals)) return;
      await wait(500);
    }
  };
  try {
    await until(() => true);
    for (const [index, cwd] of projects.folders.entries())
      await run(process.execPath, [bin, "controller", "push", "--source", `bench-${index}`, ...place, "-C", cwd], { env });
    await until(({ accounts, byState }) => accounts === count && byState.pending === 0);
  } catch (error) {
    await stop();
    throw error;
  }
  const serverPid = database === undefined ? undefined : postmasterOf(database.server.port);

  /** Processor time in ms, and memory after a garbage collection in MiB. */
  async function snapshot() {
    rmSync(probe, { force: true });
    child.kill("SIGUSR2");
    let found;
    while (found === undefined) {
      await wait(20);
      try {
        found = JSON.parse(readFileSync(probe, "utf8"));
      } catch {}
    }
    const all = cpuOf(child.pid);
    const databaseMs = serverPid === undefined ? found.databaseMs : serverCpu(serverPid);
    return {
      at: performance.now(),
      runs: await runCount(),
      // Programs that it ran, such as git, count.
      workerMs: all.own + all.ended - found.forcedMs - (serverPid === undefined ? databaseMs : 0),
      databaseMs,
      heapMib: found.heapMib,
      rssMib: rssMib(child.pid),
    };
  }
  async function runCount() {
    const text = await (await fetch(`${base}/metrics`)).text();
    return [...text.matchAll(/^dimsync_controller_runs_total\{.*\} (\d+)$/gmu)].reduce((sum, [, value]) => sum + Number(value), 0);
  }
  return { ...projects, json, snapshot, pause, stop };
}

/** The process id of the server that listens on the port. */
function postmasterOf(port) {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/u.test(name))) {
    try {
      const [program, ...args] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      const data = args[args.indexOf("-D") + 1];
      if (/\/postgres$/u.test(program) && readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[3] === String(port)) return pid;
    } catch {}
  }
  throw new Error(`There is no PostgreSQL server on port ${port}.`);
}
