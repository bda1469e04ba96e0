import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { parse, stringify } from "yaml";
import { migrate } from "../../src/controller/database/migrate.ts";
import { migrations } from "../../src/controller/database/migrations.ts";
import { makeBundle } from "../../src/controller/projects/make-bundle.ts";
import { pushBundle } from "../../src/controller/projects/push-bundle.ts";
import { listAccounts, readAccount } from "../../src/controller/views/accounts.ts";
import { openQueueClient } from "../../src/controller/work/queue.ts";
import { loadProject } from "../../src/manifests/project.ts";
import { type Database, openDatabase } from "../../src/records/postgres/connection.ts";
import { ended, startCli } from "../cli/built-cli.ts";
import { type Postgres, startPgbouncer, startPostgres } from "../support/postgres/server.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { runs, sampleOf } from "../support/sample.ts";
import { startService, type TestService } from "../support/service.ts";
import { type Machines, postgresStore } from "./machines.ts";
import { kindOf, recordedRequests, unbound } from "./matrix.ts";
import { canaries, type MixedProject } from "./mixed-project.ts";
import { settleAccount } from "./settled.ts";

const client = { timeoutSeconds: 10, retries: 2, settleSeconds: 0.2 };
const slow = { timeout: 600_000 };
const waiting = { timeout: 240_000, interval: 250 };

interface Exchanged {
  readonly method: string;
  readonly userAgent: string;
}

interface Fleet {
  readonly service: TestService;
  readonly exchanges: readonly Exchanged[];
  readonly machines: Machines;
  readonly project: MixedProject;
  readonly database: Database;
  /** Pushes the project as it is now. */
  readonly push: () => Promise<void>;
  /** A worker without a disk in common with the others. */
  readonly worker: (url?: string) => ReturnType<typeof startCli>;
  /** Resolves when the newest push was compared and nothing is left to do. */
  readonly settled: () => Promise<void>;
}

/** The mixed project under control in mode apply, and workers that share only a database. */
async function fleet(server: Postgres, onExchange: (method: string) => void = () => undefined): Promise<Fleet> {
  const exchanges: Exchanged[] = [];
  const service = await startService({
    apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" },
    onExchange: ({ method, requestHeaders }) => {
      exchanges.push({ method, userAgent: requestHeaders["user-agent"] ?? "" });
      onExchange(method);
    },
  });
  onTestFinished(() => service.close());
  const machines = await (await postgresStore(server)).machines(service.url);
  const project = machines.machine(client);
  const config = join(project.folder, "dimsync.yaml");
  const parsed = parse(readFileSync(config, "utf8"));
  parsed.targets.test.controller = { every: "1m", mode: "apply" };
  parsed.targets.test.records.ttl = "5s";
  writeFileSync(config, stringify(parsed));
  const url = project.env["DIMSYNC_DATABASE_URL"] ?? "";
  const database = openDatabase(url);
  onTestFinished(() => database.close());
  await migrate(database);
  const push = async (): Promise<void> => {
    const projects = [await loadProject({ cwd: project.folder, env: {}, target: "test" })];
    const content = await makeBundle(projects, { source: "example", commit: undefined, vars: {}, varFiles: [], env: {}, isLocal: false });
    const { accounts } = await pushBundle(database, content, { projects, by: "ci" });
    const queue = await openQueueClient(database).catch(() => undefined);
    for (const { id, host } of accounts) await queue?.request(id, host);
    await queue?.stop(0);
  };
  const worker: Fleet["worker"] = (workerUrl = url) => {
    const cwd = mkdtempSync(join(tmpdir(), "dimsync-worker-"));
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    const child = startCli(["controller", "run", "--role", "worker"], { cwd, env: { ...project.env, DIMSYNC_DATABASE_URL: workerUrl } });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };
  const settled = (): Promise<void> =>
    vi.waitFor(async () => {
      const [account] = await listAccounts(database);
      expect(account).toMatchObject({ isCurrent: true });
      expect(account?.running).toBeUndefined();
    }, waiting);
  return { service, exchanges, machines, project, database, push, worker, settled };
}

/** 200 with DIMSYNC_TESTS=all. */
const pushes = runs(40, 200);
const crashes = runs(1, 3);

const isWrite = ({ method }: Exchanged): boolean => method !== "GET";
const runOf = ({ userAgent }: Exchanged): string => /run\/([^)]+)/u.exec(userAgent)?.[1] ?? "";

it("two workers and many pushes: one writer at a time, and the last push is what the account has", slow, async () => {
  const { service, exchanges, project, push, worker, settled } = await fleet(await sharedPostgres());
  const manifests = join(project.folder, "manifests", "all.yaml");
  const text = readFileSync(manifests, "utf8");
  await push();
  worker();
  worker();
  await settled();
  for (let nth = 1; nth <= pushes; nth += 1) {
    writeFileSync(manifests, text.replace("The best there is", `The best of ${nth}`));
    await push();
    if (nth % 10 === 0) await sleep(200);
  }
  await settled();
  const writes = exchanges.filter(isWrite).map(runOf);
  const segments = writes.filter((run, index) => run !== writes[index - 1]);
  expect(segments).toHaveLength(new Set(writes).size);
  expect(service.state().tags.find(({ name }) => name === "Gold")?.description).toBe(`The best of ${pushes}`);
  console.log(`controller: ${pushes + 1} pushes, ${new Set(writes).size} runs that wrote, ${writes.length} writes, 0 of two runs at once`);
});

it("a worker that is killed at a request is replaced by another one: nothing is created twice, no id is lost", slow, async () => {
  const server = await sharedPostgres();
  const requests = await recordedRequests();
  const all = requests.map((request) => ({ nth: request.before + 1, kind: request.method === "GET" ? "GET" : kindOf(request) }));
  const cases = sampleOf(all, { name: "controller-kill", kindOf: () => "a request" });
  const wrong: string[] = [];
  for (const { nth, kind } of cases) {
    let [seen, kill] = [0, (): void => undefined];
    const one = await fleet(server, () => {
      seen += 1;
      if (seen === nth + comparing) kill();
    });
    await one.push();
    const first = one.worker();
    kill = () => void first.kill("SIGKILL");
    const killed = ended(first);
    await Promise.race([killed, one.settled()]);
    kill = () => undefined;
    first.kill("SIGKILL");
    await killed;
    // A minute later: the claim and the lease have ended.
    await one.database.query("update dimsync_controller.account set running_until = now(), next_check_at = now()", []);
    await one.machines.unlock();
    const second = one.worker();
    await vi.waitFor(async () => expect((await readAccount(one.database, "test"))?.runs.length).toBeGreaterThan(0), waiting);
    await vi.waitFor(async () => expect((await readAccount(one.database, "test"))?.running).toBeUndefined(), waiting);
    const gone = ended(second);
    second.kill("SIGTERM");
    await gone;
    const settled = await settleAccount(one.service, one.machines.machine(client));
    wrong.push(...[...settled.wrong, ...unbound(await one.machines.boundAddresses())].map((what) => `${kind} ${nth}: ${what}`));
  }
  expect(wrong).toEqual([]);
  console.log(`controller: killed at ${cases.length} of ${all.length} requests, 0 created twice, 0 ids lost`);
});

/** Before it applies, a worker compares: about as many reads again. */
const comparing = 10;

it("writes nothing while PostgreSQL is away, and recovers by itself", slow, async () => {
  const server = await startPostgres();
  onTestFinished(() => server.remove());
  const { exchanges, project, database, push, worker, settled, service } = await fleet(server);
  const manifests = join(project.folder, "manifests", "all.yaml");
  await push();
  const first = worker();
  const running = ended(first);
  await settled();
  const text = readFileSync(manifests, "utf8");
  for (let round = 1; round <= crashes; round += 1) {
    writeFileSync(manifests, text.replace("The best there is", `The best of ${round}`));
    await push();
    await sleep(Math.random() * 1_500);
    server.stop("immediate");
    await sleep(2_000);
    const before = exchanges.filter(isWrite).length;
    await sleep(3_000);
    expect(exchanges.filter(isWrite)).toHaveLength(before);
    server.start();
    await vi.waitFor(
      () => database.query("update dimsync_controller.account set running_until = now(), next_check_at = now()", []),
      waiting,
    );
    const applied = (): string | undefined => service.state().tags.find(({ name }) => name === "Gold")?.description;
    await vi.waitFor(() => expect(applied()).toBe(`The best of ${round}`), waiting);
    await settled();
  }
  first.kill("SIGTERM");
  const { code, stdout, stderr } = await running;
  expect(code).toBe(0);
  expect(`${stdout}${stderr}`).toMatch(/The database cannot be used \(the (?:database|connection) [^)]+\)\./u);
  console.log(`controller: PostgreSQL crashed ${crashes} times during work; no write while it was away, and each push was applied`);
});

it("works through pgbouncer in transaction mode", slow, async () => {
  const server = await sharedPostgres();
  const bouncer = await startPgbouncer(server);
  onTestFinished(() => bouncer.stop());
  const { database, project, push, worker, settled } = await fleet(server);
  await push();
  worker(bouncer.through(project.env["DIMSYNC_DATABASE_URL"] ?? ""));
  await settled();
  expect((await readAccount(database, "test"))?.state).toBe("in-sync");
});

it("a process of this version works with tables of the next minor version, and refuses those of a later one", slow, async () => {
  const { database, push, worker, settled } = await fleet(await sharedPostgres());
  const next = { sql: "alter table dimsync_controller.account add column later text not null default 'new';", worksWith: 1 };
  const first = worker();
  const log = ended(first);
  await push();
  await settled();
  await Promise.all([migrate(database, [...migrations, next]), migrate(database, [...migrations, next])]);
  await push();
  await settled();
  await migrate(database, [...migrations, next, { sql: "create table dimsync_controller.later (id text);", worksWith: 3 }]);
  const refused = await ended(worker());
  expect([refused.code, refused.stderr.replaceAll(/\s+/gu, " ")]).toEqual([1, expect.stringContaining("has format 3, and dimsync")]);
  first.kill("SIGTERM");
  expect((await log).code).toBe(0);
});

it("a worker that was stopped beyond its lease sends nothing after another one has finished", slow, async () => {
  let [stop, isStopped] = [(): void => undefined, false];
  const { exchanges, machines, push, worker, settled, database, service } = await fleet(await sharedPostgres(), (method) => {
    if (method === "GET" || isStopped) return;
    isStopped = true;
    stop();
  });
  await push();
  const first = worker();
  stop = () => void first.kill("SIGSTOP");
  await vi.waitFor(() => expect(isStopped).toBe(true), waiting);
  // The time-to-live of the lease is 5 s; the claim would last a minute.
  await sleep(6_000);
  await database.query("update dimsync_controller.account set running_until = now(), next_check_at = now()", []);
  worker();
  await vi.waitFor(async () => expect((await readAccount(database, "test"))?.runs.map(({ mode }) => mode)).toContain("apply"), waiting);
  await settled();
  const before = exchanges.filter(isWrite).length;
  const stopped = runOf(exchanges.find(isWrite) ?? { method: "", userAgent: "" });
  first.kill("SIGCONT");
  await sleep(5_000);
  expect(
    exchanges
      .filter(isWrite)
      .slice(before)
      .filter((one) => runOf(one) === stopped),
  ).toEqual([]);
  const end = await settleAccount(service, machines.machine(client));
  expect([...end.wrong, ...unbound(await machines.boundAddresses())]).toEqual([]);
});
