// Workers that are processes share the accounts: they start at the same moment, are killed and frozen, and the accounts go on.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { builtCli, ended, repository } from "../../cli/built-cli.ts";
import { serve } from "../../support/loopback.ts";
import { fileNeeds } from "../../support/programs.ts";
import { isAll, sampleOf } from "../../support/sample.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";
import { waiting } from "../../support/waiting.ts";
import { hashesIn, type Process, project, startProcess, stored } from "./processes.ts";
import { startWorker } from "./world.ts";

fileNeeds("postgresql");

test("four processes that start at the same moment on an empty database all come up, and share the accounts", async () => {
  const targets = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [index === 0 ? "test" : `t${index}`, { every: "1m" }]));
  const under = await project({ targets });
  const processes = Array.from({ length: 4 }, () => startProcess(under));
  const { sql } = await stored(under);
  const unchecked = () => sql("select target from dimsync_controller.account where checked_at is null");
  await vi.waitFor(
    async () => expect([(await sql("select 1 from dimsync_controller.account")).length, await unchecked()]).toEqual([6, []]),
    waiting,
  );
  for (const { child, log } of processes) expect([child.exitCode, log()]).toEqual([null, expect.stringContaining("works with PostgreSQL")]);
  for (const { child } of processes) child.kill("SIGTERM");
  for (const { end } of processes) expect(await end).toMatchObject({ code: 0 });
});

test("a job that is lost costs nothing: the next sweep checks the account", async () => {
  const under = await project({ targets: { test: { every: "1m" } } });
  startProcess(under);
  const { row, due, sql } = await stored(under);
  await vi.waitFor(async () => expect(await row()).toMatchObject({ checkedAt: expect.any(String) }), waiting);
  const lose = "begin if nextval('jobs') = 1 then delete from dimsync_queue.job where id = new.id; end if; return null; end";
  await sql(
    `create sequence jobs; create function lose() returns trigger language plpgsql as $$ ${lose} $$; create trigger lose after insert on dimsync_queue.job for each row execute function lose()`,
  );
  const { version = 0 } = (await row()) ?? {};
  await due();
  // It sweeps as soon as it has started, so that the next sweep is not ten seconds later.
  startProcess(under);
  await vi.waitFor(async () => expect(await row()).toMatchObject({ version: version + 1, error: null, isDue: false }), waiting);
  expect(await sql("select last_value > 1 as again from jobs")).toEqual([{ again: true }]);
});

test("at most four accounts of one host are checked at once, by all workers together", async () => {
  const targets = Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`t${index}`, { every: "1m" }]));
  const under = await project({ targets, faults: ["GET .*=delay:15000"] });
  for (let worker = 0; worker < 3; worker++) startProcess(under);
  const { sql } = await stored(under);
  const active = async () => (await sql("select 1 from dimsync_queue.job where state = 'active'")).length;
  await vi.waitFor(async () => expect(await active()).toBe(4), waiting);
  const seen: number[] = [];
  while (seen.length < 20) {
    seen.push(await active());
    await sleep(250);
  }
  expect(Math.max(...seen)).toBe(4);
});

test("a worker that is killed in a repair: another one repairs once, and names it", async () => {
  let first: Process | undefined;
  const under = await project({
    onExchange({ method }) {
      if (method === "PATCH") first?.child.kill("SIGKILL");
    },
  });
  first = startProcess(under);
  await first.end;
  expect(under.isReadable()).toBe(false);
  const { row, ageHeartbeats } = await stored(under);
  expect(await row()).toMatchObject({ repairs: [{ what: "public.customers.email is not hashed" }], isDue: true });
  expect((await row())?.repairs[0]?.doneAt).toBe(undefined);
  await ageHeartbeats();
  startProcess(under);
  const repaired = { exposed: 0, error: null, repairs: [{ doneAt: expect.any(String) }] };
  await vi.waitFor(async () => expect(await row()).toMatchObject(repaired), waiting);
  expect(hashesIn(under)).toBe(1);
});

test("a worker that was frozen in a check, which another one repeated, sends nothing when it wakes up", async () => {
  let frozen: Process | undefined;
  const under = await project({
    onExchange({ method, path }) {
      if (frozen !== undefined && method === "GET" && path.endsWith("/schemas")) frozen.child.kill("SIGSTOP");
    },
  });
  frozen = startProcess(under);
  const stopped = frozen.child;
  await vi.waitFor(() => expect(under.service.requests.some(({ path }) => path.endsWith("/schemas"))).toBe(true), waiting);
  frozen = undefined;
  const { row, ageHeartbeats } = await stored(under);
  await ageHeartbeats();
  startProcess(under);
  await vi.waitFor(() => expect(under.isReadable()).toBe(false), waiting);
  await vi.waitFor(async () => expect(await row()).toMatchObject({ exposed: 0, checkedAt: expect.any(String) }), waiting);
  stopped.kill("SIGCONT");
  stopped.kill("SIGTERM");
  await new Promise((done) => stopped.once("exit", done));
  expect([hashesIn(under), under.isReadable()]).toEqual([1, false]);
});

test("SIGTERM gives a check back, and nothing is stored", async () => {
  let worker: Process | undefined;
  const under = await project({
    onExchange({ path }) {
      if (path.endsWith("/schemas")) worker?.child.kill("SIGTERM");
    },
  });
  worker = startProcess(under);
  expect(await worker.end).toMatchObject({ code: 0 });
  expect(await (await stored(under)).row()).toMatchObject({ isDue: true, checkedAt: null, failures: 0 });
  expect(under.isReadable()).toBe(true);
});

interface Kill {
  /** Of which connection. */
  readonly of: "database" | "service";
  /** Of the messages of the worker, from 1. */
  readonly message: number;
  /** "before": the server never receives it. */
  readonly when: "before" | "after";
}

/** A worker that repairs, and is killed with one of its messages; without `kill`, how many it sends. */
async function killedRepair(kill?: Kill): Promise<Readonly<Record<Kill["of"], number>>> {
  const sent = { database: 0, service: 0 };
  let worker: Process | undefined;
  const proxyOf = async (of: Kill["of"], port: number): Promise<number> => {
    const proxy = await startTcpProxy(port);
    onTestFinished(proxy.close);
    proxy.cut = (_, bytes) => {
      // The queue asks again and again, and takes part in no repair.
      if (worker === undefined || bytes.includes("dimsync_queue")) return undefined;
      sent[of] += 1;
      if (kill?.of !== of || kill.message !== sent[of]) return undefined;
      worker.child.kill("SIGKILL");
      return kill.when;
    };
    return proxy.port;
  };
  const through = async (of: Kill["of"], url: string): Promise<string> => {
    const { port } = new URL(url);
    return url.replace(`:${port}`, `:${await proxyOf(of, Number(port))}`);
  };
  const hook = await serve((_request, response) => response.writeHead(204).end());
  const wrong: string[] = [];
  let before: readonly string[] = [];
  const under = await project({
    notify: { url: { $secret: { env: "HOOK" } } },
    baseUrl: (url) => through("service", url),
    onExchange({ method, path }) {
      if (method === "GET") return;
      const opened = under.readable().filter((column) => !before.includes(column));
      if (method !== "PATCH" || opened.length > 0) wrong.push(`${method} ${path}: ${opened.join(", ")}`);
    },
  });
  under.hash(true);
  under.hash(false);
  before = under.readable();
  const env = { ...under.env, HOOK: hook.url };
  worker = startProcess({ ...under, env }, { DIMSYNC_DATABASE_URL: await through("database", under.url ?? "") });
  const next = await startWorker({ ...under, env });
  if (kill === undefined)
    await vi.waitFor(async () => expect(await next.row()).toMatchObject({ exposed: 0, notified: expect.any(String) }), waiting);
  else expect((await worker.end).signal).toBe("SIGKILL");
  worker.child.kill("SIGKILL");
  worker = undefined;
  const actor = (): unknown => hook.received.flatMap(({ body }) => JSON.parse(body).repairs ?? [])[0]?.actor;
  // The database may still run the last statement of the worker: then the first check is dropped.
  await vi.waitFor(async () => {
    const row = await next.check();
    expect({ kill, wrong, readable: under.readable(), row, told: actor() }).toMatchObject({
      ...{ kill, wrong: [], readable: before.filter((column) => column !== "customers.email"), told: "dana@example.com" },
      row: { exposed: 0, error: null, repairs: [{ doneAt: expect.any(String) }] },
    });
  }, waiting);
  return sent;
}

test("a worker that is killed at any statement or in any request of a repair: nothing wrong is written, and the next check repairs and tells", async () => {
  const messages = await killedRepair();
  const kills = (["database", "service"] as const).flatMap((of) =>
    Array.from({ length: messages[of] }, (_, index) =>
      (["before", "after"] as const).map((when) => ({ of, message: index + 1, when })),
    ).flat(),
  );
  const sample = sampleOf(kills, { name: "kills in a repair", kindOf: ({ of, when }) => `${of} ${when}`, most: () => 3 });
  for (const kill of sample) await killedRepair(kill);
  console.log(`${messages.database} statements and ${messages.service} requests; killed at ${sample.length}`);
});

test("a soak: workers are killed while people un-hash columns, and no account is stale, wrongly written or left readable", async () => {
  const size = isAll ? [] : ["--accounts", "8", "--minutes", "1", "--kill-every", "15"];
  const soak = [join(repository, "bench/controller.mjs"), "soak", "--dist", dirname(builtCli), ...size];
  const { code, stdout, stderr } = await ended(spawn(process.execPath, soak, { cwd: repository }));
  expect([code, stderr, JSON.parse(stdout.slice(0, stdout.lastIndexOf("}") + 1))]).toMatchObject([
    0,
    "",
    { kills: isAll ? 10 : 4, wrongWrites: [], stillReadable: 0 },
  ]);
});
