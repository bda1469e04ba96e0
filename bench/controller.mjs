// The controller with PostgreSQL.
// `node bench/controller.mjs`: 200 accounts each minute for ten minutes, and the processor time of a check against that of a warm `drift`.
// `node bench/controller.mjs soak`: 30 accounts, three workers, one of them killed each minute; people un-hash columns meanwhile. It is
// judged by what the accounts received and have, not by what dimsync says. --accounts N, --minutes N, --kill-every SECONDS: a shorter one, as a
// slow test runs it. --dist FOLDER: another build.
import { execFile, spawn } from "node:child_process";
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs, promisify } from "node:util";
import { rolldown } from "rolldown";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { accounts: { type: "string" }, minutes: { type: "string" }, "kill-every": { type: "string" }, dist: { type: "string" } },
});
const isSoak = positionals.includes("soak");
const count = Number(values.accounts ?? (isSoak ? 30 : 200));
const minutes = Number(values.minutes ?? 10);
const killEvery = Number(values["kill-every"] ?? 60);
const workers = isSoak ? 3 : 1;
const mostRepairs = 3;
const run = promisify(execFile);
const key = "bench-key";
const dist = resolve(values.dist ?? fileURLToPath(new URL("../dist", import.meta.url)));
const bin = join(dist, "bin.cjs");
const folder = mkdtempSync(join(tmpdir(), "dimsync-bench-"));

/** Imports a file in TypeScript, by its path in the repository. */
async function importTypeScript(path) {
  const file = join(folder, `${path.replaceAll("/", "-")}.mjs`);
  const input = fileURLToPath(new URL(`../${path}`, import.meta.url));
  await (await rolldown({ input, platform: "node" })).write({ file, format: "esm" });
  return await import(pathToFileURL(file).href);
}

const { startPostgres } = await importTypeScript("test/support/postgres/server.ts");
const { startEmbeddedService } = await importTypeScript("src/embedded/index.ts");

const columnsOf = (service) => service.state().integrations.find(({ id }) => id === "8f1c").schemas.public.tables;
const readable = (service) =>
  Object.entries(columnsOf(service)).flatMap(([table, { enabled, columns }]) =>
    enabled ? Object.entries(columns).flatMap(([name, column]) => (column.enabled && !column.hashed ? [`${table}.${name}`] : [])) : [],
  );

/** An account, and what an independent reader has seen of it. */
async function startAccount(index) {
  const account = {
    target: `shop-${index}`,
    lastRead: performance.now(),
    longestMs: 0,
    reads: 0,
    writes: 0,
    wrong: [],
    repairs: 0,
    known: [],
  };
  account.service = await startEmbeddedService({
    apiKeys: { [key]: "bot@example.com" },
    onExchange: ({ method, path, requestBody }) => {
      const now = performance.now();
      if (method === "GET" && path.endsWith("/integrations")) {
        account.longestMs = Math.max(account.longestMs, now - account.lastRead);
        account.lastRead = now;
        account.reads += 1;
      }
      if (method === "GET") return;
      account.writes += 1;
      const after = readable(account.service);
      const opened = after.filter((name) => !account.known.includes(name));
      const body = JSON.stringify(requestBody);
      if (opened.length > 0 || method !== "PATCH" || /"(?:hashed":false|enabled":true)/u.test(body))
        account.wrong.push(`${method} ${path} ${body}`);
      account.known = after;
    },
  });
  setHashed(account, true);
  return account;
}

function setHashed(account, hashed) {
  account.service.mutate(
    ({ integrations }) => {
      integrations.find(({ id }) => id === "8f1c").schemas.public.tables.customers.columns.email.hashed = hashed;
    },
    undefined,
    `Column customers.email of the integration Orders (8f1c) was ${hashed ? "hashed" : "un-hashed"}`,
  );
  account.known = readable(account.service);
}

const manifest = `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec: { integration: Orders, schemas: { public: { tables: { customers: { columns: { email: { hashed: true } } } } } } }
`;

const accounts = await Promise.all(Array.from({ length: count }, (_, index) => startAccount(index)));
const postgres = await startPostgres(["max_connections = 200"]);
const env = { PATH: process.env.PATH, BENCH_KEY: key, DIMSYNC_DATABASE_URL: await postgres.database() };
const project = join(folder, "project");
const config = (records) =>
  `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets:\n${accounts
    .map(
      ({ target, service }) =>
        `  ${target}:\n    baseUrl: ${service.url}\n    apiKey: { $secret: { env: BENCH_KEY } }\n    controller: { every: 1m, mode: protect }\n${records}`,
    )
    .join("")}`;
mkdirSync(join(project, "manifests"), { recursive: true });
writeFileSync(join(project, "manifests/orders.yaml"), manifest);
writeFileSync(join(project, "dimsync.yaml"), config(""));
await run(process.execPath, [bin, "records", "init", "--to", "postgres", "-t", accounts[0].target, "-C", project], { env });
const [records] = /^ {4}records:.*\n(?: {6}.*\n)*/mu.exec(readFileSync(join(project, "dimsync.yaml"), "utf8"));
writeFileSync(join(project, "dimsync.yaml"), config(records));
const git = (...args) => run("git", ["-C", project, "-c", "user.name=bench", "-c", "user.email=bench@example.com", ...args]);
for (const args of [
  ["init", "--quiet"],
  ["add", "--all"],
  ["commit", "--quiet", "--message", "first"],
])
  await git(...args);

const log = createWriteStream(join(folder, "log"));
function startWorker() {
  const child = spawn(process.execPath, [bin, "controller", "--listen", "127.0.0.1:0"], {
    cwd: project,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  child.stderr.pipe(log, { end: false });
  child.ended = new Promise((done) => child.once("exit", done));
  return child;
}

/** Processor time of a process and of the programs that it ran, in ms. */
function cpuOf({ pid }) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").map(Number);
  return (fields[11] + fields[12] + fields[13] + fields[14]) * 10;
}

const isReadable = ({ known }) => known.includes("customers.email");
const readsOf = () => accounts.reduce((sum, { reads }) => sum + reads, 0);
const running = Array.from({ length: workers }, startWorker);
while (accounts.some(({ reads }) => reads === 0)) await wait(500);
for (const account of accounts) account.longestMs = 0;
const before = { reads: readsOf(), ms: isSoak ? 0 : cpuOf(running[0]) };
let kills = 0;
for (let second = 1; second <= minutes * 60; second++) {
  await wait(1000);
  if (!isSoak) continue;
  const account = accounts[second % count];
  // Each account as often as protect reverts it.
  if (second % 7 === 0 && account.repairs < mostRepairs && !isReadable(account)) {
    account.repairs += 1;
    setHashed(account, false);
  }
  if (second % killEvery === Math.floor(killEvery / 2)) {
    const index = kills % workers;
    kills += 1;
    running[index].kill("SIGKILL");
    await running[index].ended;
    running[index] = startWorker();
  }
}
const checks = readsOf() - before.reads;
const checkMs = isSoak ? undefined : (cpuOf(running[0]) - before.ms) / checks;
// What was un-hashed last is hashed again by the next check.
for (let left = 150; isSoak && left > 0 && accounts.some(isReadable); left--) await wait(1000);
const sum = (member) => accounts.reduce((total, account) => total + account[member], 0);
const longest = Math.max(...accounts.map(({ longestMs, lastRead }) => Math.max(longestMs, performance.now() - lastRead)));
const wrong = accounts.flatMap((account) => account.wrong);
const open = accounts.filter(isReadable).length;
for (const child of running) child.kill("SIGTERM");
await Promise.all(running.map((child) => child.ended));
const result = {
  ...{ accounts: count, minutes, workers, kills, reads: checks, longestWithoutCheckS: Math.round(longest / 1000) },
  ...(isSoak ? { unhashed: sum("repairs"), writes: sum("writes"), stillReadable: open } : { checkMs, driftMs: await warmDriftMs() }),
  wrongWrites: wrong,
};
console.log(JSON.stringify(result, undefined, 2));
const isGood = wrong.length === 0 && open === 0 && longest <= 180_000 && (isSoak || result.checkMs <= 1.1 * result.driftMs);
console.log(isGood ? "met" : `missed; log: ${join(folder, "log")}`);
await Promise.all(accounts.map(({ service }) => service.close()));
postgres.remove();
if (isGood) rmSync(folder, { recursive: true });
process.exit(isGood ? 0 : 1);

/** The processor time of a `drift` of a loaded project, of the library in a process of its own, as often as the controller checked. */
async function warmDriftMs() {
  const program = fileURLToPath(new URL("warm-drift.mjs", import.meta.url));
  const library = pathToFileURL(join(dist, "index.js")).href;
  const targets = accounts.map(({ target }) => ({ cwd: project, target }));
  const input = JSON.stringify({ library, targets, perSecond: count / 60, seconds: 120 });
  const { stdout } = await run(process.execPath, [program, input], { env });
  return JSON.parse(stdout).driftMs;
}
