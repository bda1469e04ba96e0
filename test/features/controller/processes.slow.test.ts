// Workers as processes with a real PostgreSQL: they start at the same moment, are killed, frozen and cut off, and the accounts go on.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { parse, stringify } from "yaml";
import { readAccount } from "../../../src/features/controller/accounts.ts";
import { openStore } from "../../../src/features/controller/database.ts";
import { builtCli, dimsync, ended, repository, startCli } from "../../cli/built-cli.ts";
import { git } from "../../support/git/remote.ts";
import { serve } from "../../support/loopback.ts";
import { ownPostgres, pgbouncerOfSuite, postgresOfSuite } from "../../support/postgres/shared.ts";
import { fileNeeds, needs } from "../../support/programs.ts";
import { isAll, sampleOf } from "../../support/sample.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";
import { waiting } from "../../support/waiting.ts";
import { controlledProject, type Project, startWorker } from "./world.ts";

fileNeeds("postgresql");
const shared = postgresOfSuite();
const own = ownPostgres([]);
const bouncer = pgbouncerOfSuite(shared);

interface Process {
  readonly child: ChildProcess;
  readonly log: () => string;
  readonly end: ReturnType<typeof ended>;
  /** Its checkout. */
  readonly clone: string;
}

/** A worker on a machine of its own: a clone of the checkout. `diskSize`: of a disk of its own for `.dimsync`, such as "64m". */
function startProcess(
  { folder, env }: Project,
  more: Readonly<Record<string, string>> = {},
  { diskSize }: { readonly diskSize?: string } = {},
): Process {
  const clone = mkdtempSync(join(tmpdir(), "dimsync-clone-"));
  onTestFinished(() => rmSync(clone, { recursive: true, force: true }));
  git(folder, "clone", "--quiet", folder, clone);
  const args = ["controller", "--listen", "127.0.0.1:0"];
  const script = `mkdir .dimsync && mount -t tmpfs -o size=${diskSize} tmpfs .dimsync && exec "$@"`;
  const child =
    diskSize === undefined
      ? startCli(args, { cwd: clone, env: { ...env, ...more } })
      : spawn("unshare", ["-rm", "sh", "-c", script, "sh", process.execPath, builtCli, ...args], { cwd: clone, env: { ...env, ...more } });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stderr?.on("data", (chunk) => {
    text += chunk;
  });
  return { child, clone, log: () => text, end: ended(child) };
}

async function stored({ url = "", folder }: Project) {
  const database = await openStore(url, folder);
  onTestFinished(() => database.close());
  return {
    row: (target = "test") => readAccount(database, target),
    due: () => database.rows("update dimsync_controller.account set next_at = now() returning 1 as one"),
    /** A minute has passed since the last heartbeat of the workers that check an account. */
    agedJobs: () => database.rows("update dimsync_queue.job set heartbeat_on = heartbeat_on - interval '1 minute' where state = 'active'"),
    sql: (text: string) => database.rows<Record<string, unknown>>(text),
  };
}

const project = (options: Partial<Parameters<typeof controlledProject>[0]> = {}) =>
  controlledProject({ database: "postgresql", ...options });
const hashesIn = (under: Project): number => under.service.requests.filter(({ method }) => method === "PATCH").length;

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
  const { row, agedJobs } = await stored(under);
  expect(await row()).toMatchObject({ repairs: [{ what: "public.customers.email is not hashed" }], isDue: true });
  expect((await row())?.repairs[0]?.doneAt).toBe(undefined);
  await agedJobs();
  startProcess(under);
  const repaired = { exposed: 0, error: null, repairs: [{ doneAt: expect.any(String) }] };
  await vi.waitFor(async () => expect(await row()).toMatchObject(repaired), waiting);
  expect(hashesIn(under)).toBe(1);
});

test("a frozen worker that held the lease sends nothing when it wakes up", async () => {
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
  const { row, agedJobs } = await stored(under);
  await agedJobs();
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

test("the database is stopped, and crashes, in a check: nothing is written meanwhile, and the process recovers by itself", async () => {
  let stop: (() => void) | undefined;
  let isDown = false;
  const wrong: string[] = [];
  const under = await project({
    server: own,
    targets: { test: { every: "1m", mode: "protect" } },
    onExchange({ method, path }) {
      if (path.endsWith("/schemas")) stop?.();
      if (isDown && method !== "GET") wrong.push(`${method} ${path}`);
    },
  });
  const worker = startProcess(under);
  const { row, due, agedJobs } = await stored(under);
  const checked = async (hashes: number): Promise<void> => {
    await vi.waitFor(async () => expect(await row()).toMatchObject({ exposed: 0, error: null, isDue: false }), waiting);
    expect([hashesIn(under), under.isReadable()]).toEqual([hashes, false]);
  };
  await checked(1);
  const [, page = ""] = /Page: (\S+)/u.exec(worker.log()) ?? [];
  for (const [index, mode] of (["fast", "immediate"] as const).entries()) {
    under.hash(false);
    stop = () => {
      stop = undefined;
      isDown = true;
      own.stop(mode);
    };
    await due();
    await vi.waitFor(async () => expect((await fetch(page)).status).toBe(503), waiting);
    await vi.waitFor(() => expect(worker.log()).toContain("test: Nothing was stored: E_CONTROLLER_DATABASE"), waiting);
    isDown = false;
    own.start();
    await agedJobs();
    await checked(index + 2);
  }
  expect([wrong, worker.child.exitCode]).toEqual([[], null]);
});

test("the controller works through pgbouncer in transaction mode", needs("pgbouncer"), async () => {
  const under = await project();
  startProcess(under, { DIMSYNC_DATABASE_URL: bouncer.through(under.url ?? "") });
  await vi.waitFor(() => expect(under.isReadable()).toBe(false), waiting);
  const { row } = await stored(under);
  await vi.waitFor(async () => expect(await row()).toMatchObject({ exposed: 0, error: null, checkedAt: expect.any(String) }), waiting);
});

test("a process works with the tables of the next minor version", async () => {
  const under = await project();
  const { row, sql } = await stored(under);
  await sql("select 1 as one");
  shared.sql(
    under.url ?? "",
    "alter table dimsync_controller.account add column later integer not null default 0; create table dimsync_controller.later (a integer)",
  );
  startProcess(under);
  await vi.waitFor(async () => expect(await row()).toMatchObject({ exposed: 0, checkedAt: expect.any(String) }), waiting);
});

test("an account whose records are files of one machine is failing, with the command that moves them, and the others are checked", async () => {
  const under = await project();
  const config = parse(readFileSync(join(under.folder, "dimsync.yaml"), "utf8"));
  const { records: _, ...local } = config.targets.test;
  under.commit("dimsync.yaml", stringify({ ...config, targets: { ...config.targets, local } }));
  startProcess(under);
  const { row } = await stored(under);
  await vi.waitFor(async () => expect(await row()).toMatchObject({ exposed: 0, error: null, checkedAt: expect.any(String) }), waiting);
  const error = expect.stringMatching(/E_RECORDS_REFUSED.*dimsync records migrate --to git -t local/u);
  await vi.waitFor(async () => expect(await row("local")).toMatchObject({ error, checkedAt: null }), waiting);
  expect(hashesIn(under)).toBe(1);
});

test("a worker follows its checkout when the commit changes", async () => {
  const under = await project({ columns: "email: { hashed: false }" });
  const child = startCli(["controller", "--listen", "127.0.0.1:0"], { cwd: under.folder, env: under.env });
  onTestFinished(() => void child.kill("SIGKILL"));
  const { row, due } = await stored(under);
  await vi.waitFor(async () => expect(await row()).toMatchObject({ exposed: 0, checkedAt: expect.any(String) }), waiting);
  const { ordersManifest } = await import("../../support/orders.ts");
  const commit = under.commit("manifests/all.yaml", ordersManifest("email: { hashed: true }"));
  await vi.waitFor(async () => {
    await due();
    expect(await row()).toMatchObject({ commit });
  }, waiting);
  await vi.waitFor(() => expect(under.isReadable()).toBe(false), waiting);
});

/** Node options of a program: the clock of its machine is so many ms ahead, and three minutes more after each SIGUSR2. */
const clockAhead = (ms: number): string =>
  `--import=data:text/javascript,${encodeURIComponent(
    `let ahead = ${ms}; process.on("SIGUSR2", () => { ahead += 180_000; }); const Real = Date; globalThis.Date = class extends Real { constructor(...given) { super(...(given.length > 0 ? given : [Date.now()])); } static now() { return Real.now() + ahead; } };`,
  )}`;

test.each(["postgres", "git"])(
  "with records in %s, a worker whose clock is two days ahead writes nothing to a locked account",
  async (store) => {
    const under = await project();
    const cli = async (...args: readonly string[]): Promise<void> =>
      expect(await dimsync([...args, "-t", "test"], { cwd: under.folder, env: under.env })).toMatchObject({ code: 0 });
    if (store === "git") {
      git(under.folder, "remote", "add", "origin", under.folder);
      await cli("records", "migrate", "--to", "git");
      under.commit("note", "");
    }
    await cli("records", "lock", "--reason", "migration", "--until", new Date(Date.now() + 86_400_000).toISOString());
    startProcess(under, { NODE_OPTIONS: clockAhead(172_800_000) });
    const { row } = await stored(under);
    await vi.waitFor(async () => expect(await row()).toMatchObject({ exposed: 1, checkedAt: expect.any(String) }), waiting);
    expect([await row(), hashesIn(under)]).toEqual([expect.objectContaining({ locked: expect.stringContaining("migration") }), 0]);
  },
);

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

describe.skipIf(spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status !== 0)("a full disk", () => {
  const fill = (file: string): void => {
    for (const size of [1_000_000, 4_096, 1]) {
      try {
        for (;;) appendFileSync(file, Buffer.alloc(size));
      } catch {
        // It is full.
      }
    }
  };

  test("too small for the embedded database: the message says so", async () => {
    const { end } = startProcess(await project({ database: "embedded" }), {}, { diskSize: "20m" });
    expect(await end).toMatchObject({ code: 1, stderr: expect.stringMatching(/E_CONTROLLER_DATABASE.*does not start: .*full disk/u) });
  });

  test("full before the start: the message says so", async () => {
    const { end } = startProcess(await project({ database: "embedded" }), {}, { diskSize: "4k" });
    expect(await end).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/E_CONTROLLER_DATABASE.*64 MB.*(no space|cannot be written)/iu),
    });
  });

  test("full before a repair: nothing is sent, the log says why, and it recovers by itself", async () => {
    let filler: string | undefined;
    let worker: Process | undefined;
    const under = await project({
      database: "embedded",
      onExchange() {
        if (filler !== undefined || worker === undefined) return;
        filler = join(`/proc/${worker.child.pid}/root`, worker.clone, ".dimsync/filler");
        fill(filler);
      },
    });
    worker = startProcess(under, { NODE_OPTIONS: clockAhead(0) }, { diskSize: "64m" });
    await vi.waitFor(() => expect(worker?.log()).toMatch(/test: .*no space left on device/iu), waiting);
    expect([hashesIn(under), under.isReadable()]).toEqual([0, true]);
    rmSync(filler ?? "");
    // The failure doubled the interval of one minute. The embedded database has the clock of its process.
    worker.child.kill("SIGUSR2");
    await vi.waitFor(() => expect(under.isReadable()).toBe(false), waiting);
    await vi.waitFor(() => expect(worker?.log()).toContain("0 exposed"), waiting);
    expect([hashesIn(under), worker.child.exitCode]).toEqual([1, null]);
  });

  test("full on a worker with PostgreSQL: it repairs, because it needs no file", async () => {
    const under = await project();
    startProcess(under, {}, { diskSize: "4k" });
    const { row } = await stored(under);
    await vi.waitFor(async () => expect(await row()).toMatchObject({ exposed: 0, error: null, checkedAt: expect.any(String) }), waiting);
    expect([hashesIn(under), under.isReadable()]).toEqual([1, false]);
  });
});
