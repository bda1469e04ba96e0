// Whatever happens to its database, checkout, clock or disk, a worker writes nothing wrong, and goes on by itself or says why it cannot.
import { spawnSync } from "node:child_process";
import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { parse, stringify } from "yaml";
import { dimsync, startCli } from "../../cli/built-cli.ts";
import { git } from "../../support/git/remote.ts";
import { ordersManifest } from "../../support/orders.ts";
import { ownPostgres, pgbouncerOfSuite, postgresOfSuite } from "../../support/postgres/shared.ts";
import { fileNeeds, needs } from "../../support/programs.ts";
import { waiting } from "../../support/waiting.ts";
import { hashesIn, type Process, project, startProcess, stored } from "./processes.ts";

fileNeeds("postgresql");
const shared = postgresOfSuite();
const own = ownPostgres([]);
const bouncer = pgbouncerOfSuite(shared);

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
  const { row, due, ageHeartbeats } = await stored(under);
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
    await ageHeartbeats();
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
