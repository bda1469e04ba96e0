// The controller while its workers are killed. `node bench/controller-kills.mjs` runs 200 accounts of one host with three
// workers and PostgreSQL for ten minutes, kills one worker with SIGKILL every minute and starts another, and has a person
// expose a column of every account and hash it again, every 150 s. Prints Markdown with the counts of stale accounts,
// failed checks, and lost and doubled events. It takes about 14 minutes. `--accounts 20 --minutes 3` tries it, and
// `--signal SIGTERM` restarts the workers as a deployment does.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { importTypeScript, startServer } from "./controlled.mjs";
import { table } from "./table.mjs";

const { values } = parseArgs({
  options: {
    accounts: { type: "string", default: "200" },
    minutes: { type: "string", default: "10" },
    signal: { type: "string", default: "SIGKILL" },
    dist: { type: "string", default: fileURLToPath(new URL("../dist", import.meta.url)) },
  },
});
const count = Number(values.accounts);
const minutes = Number(values.minutes);
const bin = join(values.dist, "bin.cjs");
const folder = mkdtempSync(join(tmpdir(), "dimsync-bench-kills-"));
const say = (text) => console.error(`${new Date().toISOString().slice(11, 19)} ${text}`);

/** Every message, in the order in which it came. */
const messages = [];
const receiver = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  messages.push(JSON.parse(body));
  response.writeHead(204).end();
}).listen(0, "127.0.0.1");
await once(receiver, "listening");

const service = spawn(process.execPath, [bin, "serve", "--person", "dana@example.com"], {
  env: { ...process.env, DIMSYNC_API_KEY: "a-key" },
  stdio: ["pipe", "pipe", "ignore"],
});
const lines = createInterface({ input: service.stdout })[Symbol.asyncIterator]();
const [, baseUrl] = /=(.+)/u.exec((await lines.next()).value);
const [, personKey] = /: (\w+)$/u.exec((await lines.next()).value);

const accounts = Array.from({ length: count }, (_, index) => `shop-${String(index).padStart(4, "0")}`);
mkdirSync(join(folder, "manifests"));
writeFileSync(
  join(folder, "dimsync.yaml"),
  `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
notify:
  group: 1s
  receivers:
    - { name: chat, type: json, url: { $secret: { env: HOOK } }, on: [exposed, resolved, failing, stale, no-worker] }
targets:
${accounts.map((name) => `  ${name}: { baseUrl: "${baseUrl}", apiKey: { $secret: { env: KEY } }, controller: { every: 1m } }\n`).join("")}`,
);
const { ordersManifest } = await importTypeScript("test/support/orders.ts");
writeFileSync(join(folder, "manifests/orders.yaml"), ordersManifest("email: { hashed: true }"));

async function setHashed(hashed) {
  const change = { schemas: { public: { tables: { customers: { columns: { email: { hashed } } } } } } };
  const response = await fetch(`${baseUrl}/v1/integrations/8f1c/schemas`, {
    method: "PATCH",
    headers: { "x-api-key": personKey, "content-type": "application/json" },
    body: JSON.stringify(change),
  });
  if (!response.ok) throw new Error(`PATCH: ${response.status} ${await response.text()}`);
}

const server = await startServer();
const url = await server.database();
const env = {
  ...process.env,
  ...{ KEY: "a-key", HOOK: `http://127.0.0.1:${receiver.address().port}/`, DIMSYNC_DATABASE_URL: url },
};
const run = (role, ...flags) =>
  spawn(process.execPath, [bin, "controller", "run", "--watch", "--role", role, ...flags], {
    cwd: folder,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
const page = run("page", "--listen", "127.0.0.1:0", "--log-format", "json");
const pageUrl = await new Promise((done, failed) => {
  let log = "";
  page.stderr.on("data", (chunk) => {
    log += chunk;
    const found = /http:\/\/127\.0\.0\.1:\d+/u.exec(log);
    if (found !== null) done(found[0]);
  });
  page.once("exit", () => failed(new Error(log)));
});
function startWorker() {
  const worker = run("worker", "--listen", "127.0.0.1:0", "--accounts-per-host", "8");
  worker.stderr.resume();
  return worker;
}
const workers = Array.from({ length: 3 }, startWorker);

const totals = async () => (await (await fetch(`${pageUrl}/api/v1/accounts?limit=1`)).json()).totals;
const until = async (isDone) => {
  for (;;) {
    const seen = await totals().catch(() => undefined);
    if (seen !== undefined && isDone(seen)) return;
    await wait(1000);
  }
};

/** The events of each account, each once, in the order in which they came. */
function eventsOf() {
  const known = new Set();
  const events = new Map(accounts.map((name) => [name, []]));
  let repeated = 0;
  for (const { event, id, accounts: some } of messages) {
    if (known.has(id)) repeated += 1;
    known.add(id);
    for (const { id: eventId, account } of some) {
      if (known.has(eventId)) continue;
      known.add(eventId);
      events.get(account)?.push(event);
    }
  }
  return { events, repeated };
}

try {
  say(`${count} accounts are checked for the first time`);
  await setHashed(true);
  await until(({ accounts: all, byState }) => all === count && byState.pending === 0);
  messages.splice(0);
  say(`measuring for ${minutes} minutes`);
  const begun = performance.now();
  let [stale, kills, isHashed, samples] = [0, 0, true, 0];
  const expected = [];
  for (let second = 0; second < minutes * 60; second += 5) {
    await wait(Math.max(0, begun + second * 1000 - performance.now()));
    stale = Math.max(stale, (await totals()).byState.stale);
    samples += 1;
    if (second % 60 === 30) {
      const [victim] = workers.splice(kills % 3, 1);
      victim.kill(values.signal);
      kills += 1;
      workers.push(startWorker());
    }
    if (second % 150 === 60 && second < minutes * 60 - 90) {
      isHashed = !isHashed;
      await setHashed(isHashed);
      expected.push(isHashed ? "resolved" : "exposed");
      say(`${kills} kills; ${isHashed ? "hashed" : "exposed"} the column of every account`);
    }
  }
  // What was found last is sent after the next checks.
  await wait(90_000);
  stale = Math.max(stale, (await totals()).byState.stale);
  const { events, repeated } = eventsOf();
  const wanted = expected.join();
  const wrong = [...events].filter(([, seen]) => seen.join() !== wanted);
  const metric = await (await fetch(`${pageUrl}/metrics`)).text();
  const runs = [...metric.matchAll(/^dimsync_controller_runs_total\{(.*)\} (\d+)$/gmu)].map(([, labels, value]) => [labels, Number(value)]);
  const sum = (some) => some.reduce((all, [, value]) => all + value, 0);
  const failed = runs.filter(([labels]) => labels.includes('result="failed"'));
  const [{ model }] = cpus();
  console.log(
    `Node ${process.version}, ${availableParallelism()} × ${model.trim()}, ${execFileSync("postgres", ["--version"], { encoding: "utf8", env: { ...process.env, PATH: `${process.env.PATH}:/usr/lib/postgresql/15/bin` } }).trim()}\n`,
  );
  console.log(
    table([
      ["measure", "value"],
      ["accounts of one host, minutes, workers", `${count}, ${minutes}, 3`],
      [`workers ended with ${values.signal}, and replaced`, String(kills)],
      ["checks; failed", `${sum(runs)}; ${sum(failed)}`],
      [`stale accounts at most (${samples} samples)`, String(stale)],
      ["events expected; accounts without exactly these, in order", `${expected.length * count}; ${wrong.length}`],
      ["messages; sent again with the same id", `${messages.length}; ${repeated}`],
    ]),
  );
  for (const [account, seen] of wrong.slice(0, 10)) console.error(`${account}: ${seen.join()} instead of ${wanted}`);
  if (process.env.BENCH_MESSAGES) writeFileSync(process.env.BENCH_MESSAGES, JSON.stringify(messages));
} finally {
  for (const child of [...workers, page, service]) child.kill("SIGKILL");
  receiver.close();
  server.remove();
  rmSync(folder, { recursive: true, force: true });
}
