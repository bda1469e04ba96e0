import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { openDatabase } from "../../src/core/records/postgres/connection.ts";
import { bundleProjects } from "../../src/features/controller/projects/load-bundle.ts";
import { readAccount } from "../../src/features/controller/views/accounts.ts";
import { openQueue, openQueueClient } from "../../src/features/controller/work/queue.ts";
import { makeWorker } from "../../src/features/controller/work/worker.ts";
import { ended } from "../cli/built-cli.ts";
import { type Postgres, startPostgres } from "../support/postgres/server.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { fileNeeds } from "../support/programs.ts";
import { randomOf, runs, sampleOf, sampleSeed } from "../support/sample.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { waiting } from "../support/waiting.ts";
import { type Exchanged, type Fleet, fleetsOn, isWrite, leaseLosses, patient, startFleet } from "./fleet.ts";
import { unbound } from "./matrix.ts";
import { differences, settleAccount } from "./settled.ts";

fileNeeds("postgresql");

/** "lost": the server never gets the statement. "unheard": its response is lost. "crash": the server crashes before the statement, or while it runs it. */
const faults = ["lost", "unheard", "crash before", "crash"] as const;

interface Cut {
  /** Of the statements and connections of a check with its apply, from 1. */
  readonly nth: number;
  readonly fault: (typeof faults)[number];
}

/** Whether a client's message begins a connection or a statement: StartupMessage, Query or Parse. */
function beginsStatement(bytes: Buffer): boolean {
  const protocol3 = 196_608;
  if (bytes.length > 8 && bytes.readInt32BE(4) === protocol3) return true;
  const isStatement = bytes[0] === 0x51 || bytes[0] === 0x50;
  return isStatement && bytes.length > 5 && bytes.readInt32BE(1) > 4 && bytes.readInt32BE(1) < 2 ** 24;
}

/** A worker in this process. Its `check` does what a job of the queue does. */
async function workerOf({ project }: Fleet, url: string) {
  const database = openDatabase(url, 6);
  const stateFolder = mkdtempSync(join(tmpdir(), "dimsync-worker-"));
  const queue = await openQueueClient(database);
  onTestFinished(async () => {
    await queue.stop(0);
    await database.close();
    rmSync(stateFolder, { recursive: true, force: true });
  });
  const loadBundled = bundleProjects({ database, stateFolder, env: {}, isLocal: true });
  const env = { ...project.env, DIMSYNC_DATABASE_URL: url };
  return makeWorker({
    ...{ id: "worker", database, maxMode: "apply", env, databaseUrl: url, signal: new AbortController().signal, log: () => undefined },
    queue: { ...queue, work: async () => undefined, deliver: async () => undefined, workOnDeliveries: async () => undefined },
    load: ({ id: account, digest, target }, signal) => loadBundled({ account, digest: digest ?? "", target, signal }),
  });
}

interface Struck {
  /** The statements until the first check ended. */
  readonly statements: number;
  readonly wrong: readonly string[];
}

interface World {
  readonly server: Postgres;
  readonly proxy: TcpProxy;
  readonly newFleet: Awaited<ReturnType<typeof fleetsOn>>;
}

async function worldOn(server: Postgres): Promise<World> {
  const proxy = await startTcpProxy(server.port);
  onTestFinished(() => proxy.close());
  return { server, proxy, newFleet: await fleetsOn(server) };
}

/** Checks the account with the fault, and again until nothing is left to do. */
async function checkWith({ server, proxy, newFleet }: World, cut: Cut | undefined): Promise<Struck> {
  const one = await newFleet();
  // The tables of the queue.
  await (await openQueue(one.database, () => undefined)).stop(0);
  await one.push();
  const worker = await workerOf(one, one.databaseUrl.replace(`:${server.port}/`, `:${proxy.port}/`));
  let statements = 0;
  let restarted: Promise<void> | undefined;
  proxy.cut = (_, bytes) => {
    if (!beginsStatement(bytes)) return undefined;
    statements += 1;
    if (statements !== cut?.nth) return undefined;
    if (cut.fault === "lost") return "before";
    if (cut.fault === "unheard") return "after";
    restarted = crash(server, cut.fault);
    return cut.fault === "crash before" ? "before" : undefined;
  };
  const account = async () => await readAccount(one.database, "test");
  const check = async (): Promise<void> => {
    const { rows } = await one.database.query("select id::integer from dimsync_controller.account where removed_at is null", []);
    // A failed check is repeated.
    await worker.check({ account: rows[0]?.id, retries: 0 }).catch(() => undefined);
  };
  await check();
  await restarted;
  const result = { statements };
  proxy.cut = () => undefined;
  for (let more = 0; more < 3 && !isDone(await account()); more += 1) {
    await one.aMinuteLater();
    await check();
  }
  const state = await account();
  const writes = one.exchanges.filter(isWrite).map(({ method, path, body }) => `${method} ${path} ${JSON.stringify(body)}`);
  const wrong = [
    ...(isDone(state) ? [] : [`the account is ${state?.state}: ${state?.error?.message ?? "running"}`]),
    ...writes.filter((write, index) => writes.indexOf(write) !== index).map((write) => `sent twice: ${write}`),
    ...differences(one.service.state()),
    ...unbound(await one.machines.boundAddresses()),
  ];
  return { ...result, wrong: wrong.map((what) => `${cut?.fault} at statement ${cut?.nth}: ${what}`) };
}

const isDone = (account: Awaited<ReturnType<typeof readAccount>>): boolean =>
  account?.state === "in-sync" && account.isCurrent && account.running === undefined;

/** Resolves when the server works again. */
function crash(server: Postgres, fault: Cut["fault"]): Promise<void> {
  if (fault === "crash before") server.stop("immediate");
  else setImmediate(() => server.stop("immediate"));
  return sleep(300).then(() => server.start());
}

it("PostgreSQL fails at a statement of a check: nothing is sent twice, no id is lost, and the account ends in sync", async () => {
  const crashing = await worldOn(await startPostgres());
  onTestFinished(() => crashing.server.remove());
  const world = await worldOn(await sharedPostgres());
  const undisturbed = await checkWith(world, undefined);
  expect(undisturbed.wrong).toEqual([]);
  const cuts = faults.flatMap((fault) => Array.from({ length: undisturbed.statements }, (_, index): Cut => ({ nth: index + 1, fault })));
  const cases = sampleOf(cuts, { name: "controller-database", kindOf: ({ fault }) => fault });
  const ends: Struck[] = [];
  for (const one of cases) ends.push(await checkWith(one.fault.startsWith("crash") ? crashing : world, one));
  const wrong = ends.flatMap((end) => end.wrong);
  // Facts are gathered for a moment before they are written, so a check can have one statement less.
  const reached = cases.filter(({ nth }, index) => nth <= (ends[index]?.statements ?? 0)).length;
  console.log(
    `controller: PostgreSQL failed in ${faults.length} ways at ${undisturbed.statements} statements, ${reached} of ${cuts.length} cases, ` +
      `DIMSYNC_TESTS_SEED=${sampleSeed}, ${wrong.length} failures`,
  );
  expect(wrong).toEqual([]);
  expect(reached).toBeGreaterThan(0);
});

/** Longer than the lease, which lasts 5 s. 30 s with DIMSYNC_TESTS=all. */
const awayMs = runs(6_000, 30_000);
/** Without its records a worker may send writes that create nothing for half the time of the lease. */
const halfLeaseMs = 2_500;

it("PostgreSQL crashes during writes and stays away: writing stops, and continues when it is back", async () => {
  const server = await startPostgres();
  onTestFinished(() => server.remove());
  // A create remains after each of them.
  const nth = 1 + Math.floor(randomOf(sampleSeed)() * 7);
  let atCrash = 0;
  const one = await startFleet(server, (exchange) => {
    if (atCrash > 0 || !isWrite(exchange) || writes().length < nth) return;
    server.stop("immediate");
    atCrash = one.exchanges.length;
  });
  const writes = (): readonly Exchanged[] => one.exchanges.filter(isWrite);
  await one.push();
  const worker = one.worker();
  const exit = ended(worker);
  await vi.waitFor(() => expect(atCrash).toBeGreaterThan(0), waiting);
  await sleep(halfLeaseMs + 500);
  const before = writes().length;
  await sleep(awayMs - halfLeaseMs - 500);
  expect(writes()).toHaveLength(before);
  server.start();
  const account = () => readAccount(one.database, "test");
  // A run that sends is stored before it does. The worker stores its end when the database is back.
  const storedEnd = "select 1 from dimsync_controller.run where mode = 'apply' and not is_sending";
  await vi.waitFor(async () => expect((await one.database.query(storedEnd, [])).rows).toHaveLength(1), waiting);
  if (awayMs < 30_000) await one.aMinuteLater();
  await vi.waitFor(async () => expect(await account()).toMatchObject({ state: "in-sync", isCurrent: true }), waiting);
  expect(await leaseLosses(one.database)).toBe(1);
  worker.kill("SIGTERM");
  const { code, stderr } = await exit;
  expect(code).toBe(0);
  expect(stderr).toMatch(/The database cannot be used \(the (?:database|connection) [^)]+\)\. Nothing is sent/u);
  const settled = await settleAccount(one.service, one.machines.machine(patient));
  expect([...settled.wrong, ...unbound(await one.machines.boundAddresses())]).toEqual([]);
  console.log(`controller: PostgreSQL crashed at write ${nth} and was away for ${awayMs / 1000} s, DIMSYNC_TESTS_SEED=${sampleSeed}`);
});
