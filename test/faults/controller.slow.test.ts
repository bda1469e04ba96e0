import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { migrate, migrations } from "../../src/features/controller/database/migrate.ts";
import { readAccount } from "../../src/features/controller/views/accounts.ts";
import { ended } from "../cli/built-cli.ts";
import { startPgbouncer } from "../support/postgres/server.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { fileNeeds, needs } from "../support/programs.ts";
import { runs, sampleOf, sampleSeed } from "../support/sample.ts";
import { waiting } from "../support/waiting.ts";
import { type Exchanged, fleetsOn, isWrite, leaseLosses, patient, startFleet } from "./fleet.ts";
import { recordedRequests, unbound } from "./matrix.ts";
import { settleAccount } from "./settled.ts";

fileNeeds("postgresql");

/** 200 with DIMSYNC_TESTS=all. */
const pushes = runs(40, 200);

const runOf = ({ userAgent }: Pick<Exchanged, "userAgent">): string => /run\/([^)]+)/u.exec(userAgent)?.[1] ?? "";

it("two workers and many pushes: one writer at a time, and the last push is what the account has", async () => {
  const { service, exchanges, project, push, worker, settled } = await startFleet(await sharedPostgres());
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

it("a worker that is killed at a request is replaced by another one: nothing is created twice, no id is lost", async () => {
  const newFleet = await fleetsOn(await sharedPostgres());
  const requests = (await recordedRequests()).length + 2 * comparing;
  const all = Array.from({ length: requests }, (_, index) => index + 1);
  const cases = sampleOf(all, { name: "controller-kill", kindOf: () => "a request" });
  const wrong: string[] = [];
  let asked = 0;
  for (const nth of cases) {
    let kill = (): void => undefined;
    const one = await newFleet(() => {
      if (one.exchanges.length === nth) kill();
    });
    await one.push();
    const first = one.worker();
    kill = () => void first.kill("SIGKILL");
    const killed = ended(first);
    await vi.waitFor(() => expect(one.exchanges.length).toBeGreaterThanOrEqual(nth), waiting);
    await killed;
    await one.aMinuteLater();
    const second = one.worker();
    const gone = ended(second);
    await one.settled();
    const state = (await readAccount(one.database, "test"))?.state;
    second.kill("SIGTERM");
    await gone;
    const { resolved, wrong: settled } = await settleAccount(one.service, one.machines.machine(patient));
    if (resolved.length > 0) asked += 1;
    const left = resolved.length > 0 || state === "in-sync" ? [] : [`the second worker left it ${state}`];
    wrong.push(
      ...[...settled, ...left, ...unbound(await one.machines.boundAddresses())].map((what) => `killed at request ${nth}: ${what}`),
    );
  }
  expect(wrong).toEqual([]);
  console.log(
    `controller: killed at ${cases.length} of ${requests} requests, DIMSYNC_TESTS_SEED=${sampleSeed}, ${asked} asked the user, 0 created twice, 0 ids lost`,
  );
});

/** A worker compares before it applies, and after it. */
const comparing = 6;

it("works through pgbouncer in transaction mode", needs("pgbouncer"), async () => {
  const server = await sharedPostgres();
  const bouncer = await startPgbouncer(server);
  onTestFinished(() => bouncer.stop());
  const { database, project, push, worker, settled } = await startFleet(server);
  await push();
  worker(bouncer.through(project.env["DIMSYNC_DATABASE_URL"] ?? ""));
  await settled();
  expect((await readAccount(database, "test"))?.state).toBe("in-sync");
});

it("a process of this version works with tables of the next minor version, and refuses those of a later one", async () => {
  const { database, push, worker, settled } = await startFleet(await sharedPostgres());
  const next = { sql: "alter table dimsync_controller.account add column later text not null default 'new';", worksWith: 1 };
  const first = worker();
  const log = ended(first);
  await push();
  await settled();
  await Promise.all([migrate(database, [...migrations, next]), migrate(database, [...migrations, next])]);
  await push();
  await settled();
  await migrate(database, [
    ...migrations,
    next,
    { sql: "create table dimsync_controller.later (id text);", worksWith: migrations.length + 2 },
  ]);
  const refused = await ended(worker());
  expect([refused.code, refused.stderr.replaceAll(/\s+/gu, " ")]).toEqual([
    1,
    expect.stringContaining(`has format ${migrations.length + 2}, and dimsync`),
  ]);
  first.kill("SIGTERM");
  expect((await log).code).toBe(0);
});

it("a worker that was stopped beyond its lease sends nothing after another one has finished", async () => {
  let [stop, isStopped] = [(): void => undefined, false];
  const { exchanges, machines, push, worker, settled, database, service } = await startFleet(await sharedPostgres(), (exchange) => {
    if (!isWrite(exchange) || isStopped) return;
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
  const stopped = runOf(exchanges.find(isWrite) ?? { userAgent: "" });
  first.kill("SIGCONT");
  // It notices, gives up, and says so.
  await vi.waitFor(async () => expect(await leaseLosses(database)).toBe(1), waiting);
  expect(
    exchanges
      .filter(isWrite)
      .slice(before)
      .filter((one) => runOf(one) === stopped),
  ).toEqual([]);
  const end = await settleAccount(service, machines.machine(patient));
  expect([...end.wrong, ...unbound(await machines.boundAddresses())]).toEqual([]);
});
