// No acknowledged record is lost if PostgreSQL or the connection fails.
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import { initPostgresRecords, openPostgresRecords } from "../../../../src/core/records/postgres/index.ts";
import type { Records } from "../../../../src/core/records/records.ts";
import { startPgbouncer } from "../../../support/postgres/server.ts";
import { ownPostgres } from "../../../support/postgres/shared.ts";
import { fileNeeds, needs } from "../../../support/programs.ts";
import { writeProject } from "../../../support/project-folder.ts";
import { startTcpProxy } from "../../../support/tcp-proxy.ts";
import { waiting } from "../../../support/waiting.ts";
import { intentOf } from "../suite.ts";

fileNeeds("postgresql");

const ttlMs = 6_000;
// The server acknowledges commits before they are on disk, unless a transaction overrides that.
const postgres = ownPostgres(["synchronous_commit = off", "wal_writer_delay = 10s"]);

const closing: Records[] = [];
afterEach(async () => {
  for (const records of closing.splice(0)) await records.close();
});

interface Options {
  readonly url?: string;
  readonly folder?: string;
  readonly target?: string;
  readonly id?: string;
}
const newFolder = (): string => writeProject({});

/** A new store, and a function that opens it as another machine. */
async function newStore(
  ttl = ttlMs,
): Promise<{ readonly url: string; readonly id: string; readonly open: (options?: Options) => Records }> {
  const url = await postgres.database();
  const { id } = await initPostgresRecords({ target: "prod", url, schema: "dimsync" });
  const open = (options: Options = {}): Records => {
    const records = openPostgresRecords({ target: "prod", schema: "dimsync", ttlMs: ttl, folder: newFolder(), url, id, ...options });
    closing.push(records);
    return records;
  };
  return { url, id, open };
}

test("records that were acknowledged survive a crash of the database, whatever its setting", async () => {
  const { url, open } = await newStore(60_000);
  postgres.sql(url, "create table other (x int)");
  const run = await open().begin({ runId: "run-1", waitMs: 0 });
  await run.intend([intentOf("Integration/a")]);
  // The control: a commit of another program with the server's setting is lost.
  postgres.sql(url, "insert into other values (1)");
  postgres.stop("immediate");
  postgres.start();
  expect(postgres.sql(url, "select count(*) from other").trim()).toBe("0");
  expect((await open().read()).open.map(({ address }) => address)).toEqual(["Integration/a"]);
  await run.intend([intentOf("Integration/b")]);
  await run.release();
  expect((await open().read()).open.map(({ address }) => address)).toEqual(["Integration/a", "Integration/b"]);
});

test("a run sends nothing from when the database crashes until it is back", async () => {
  const { open } = await newStore(60_000);
  const run = await open().begin({ runId: "run-1", waitMs: 0 });
  await run.intend([intentOf("Integration/a")]);
  run.fence();
  postgres.stop("immediate");
  // Long before the lease is half over, after which nothing is sent in any case, with another message.
  await vi.waitFor(() => expect(() => run.fence()).toThrow("connection to the records"), waiting);
  postgres.start();
  await vi.waitFor(() => run.fence(), waiting);
  await run.release();
});

test("no write is lost or duplicated if connections are cut at any message", async () => {
  const { url, open } = await newStore(60_000);
  const proxy = await startTcpProxy(postgres.port);
  const through = url.replace(`:${postgres.port}/`, `:${proxy.port}/`);
  let seed = 7;
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  let cuts = 0;
  proxy.cut = () => {
    const kind = random() < 0.2 ? (random() < 0.5 ? "before" : "after") : undefined;
    if (kind !== undefined) cuts += 1;
    return kind;
  };
  const acknowledged: string[] = [];
  const run = await open({ url: through }).begin({ runId: "run-1", waitMs: 0 });
  for (let wave = 0; wave < 40; wave++) {
    const entries = await run.intend([intentOf(`Integration/i${wave}`), intentOf(`Asset/a${wave}`)]);
    acknowledged.push(...entries);
    await run.settle(entries[0] ?? "", { outcome: "created", id: `id-${wave}` });
    await run.bind(`Integration/i${wave}`, { id: `id-${wave}` });
  }
  await run.release();
  await proxy.close();
  const { open: left, bindings, created } = await open().read();
  expect(left.map(({ address }) => address)).toEqual(Array.from({ length: 40 }, (_, wave) => `Asset/a${wave}`));
  expect([bindings.size, created.size, new Set(acknowledged).size]).toEqual([40, 40, 80]);
  expect(cuts).toBeGreaterThan(10);
  console.log(`postgres: ${acknowledged.length} intents acknowledged, ${cuts} connections cut, 0 lost, 0 doubled`);
});

test("a run that was frozen longer than its lease sends nothing more", needs("pgbouncer"), async () => {
  const { url, open } = await newStore();
  const bouncer = await startPgbouncer(postgres);
  try {
    const frozen = await open({ url: bouncer.through(url) }).begin({ runId: "run-1", waitMs: 0 });
    await frozen.intend([intentOf("Integration/a")]);
    frozen.fence();
    bouncer.freeze();
    const second = await open().begin({ runId: "run-2", waitMs: 20_000 });
    await second.take();
    expect(second.notice).toContain("run-1");
    expect(() => frozen.fence()).toThrow(/./u);
    bouncer.thaw();
    await expect(frozen.intend([intentOf("Integration/b")])).rejects.toMatchObject({ code: "E_LOCKED", exit: 6 });
    expect(() => frozen.fence()).toThrow(/sends nothing/u);
    await frozen.release();
    expect(second.state().open.map(({ address }) => address)).toEqual(["Integration/a"]);
    await second.release();
    expect((await open().read()).open.map(({ address }) => address)).toEqual(["Integration/a"]);
  } finally {
    bouncer.stop();
  }
});

describe("creates nothing without its records", () => {
  test.each<[string, (store: { readonly url: string; readonly id: string }) => Options | undefined, string]>([
    ["an empty store", ({ url }) => void postgres.sql(url, "delete from dimsync.store"), "E_RECORDS_GONE"],
    ["a wrong password", () => ({ url: `postgres://nobody:canary-password@127.0.0.1:${postgres.port}/none` }), "E_RECORDS_READ"],
    ["an unused port", () => ({ url: "postgres://postgres:canary-password@127.0.0.1:1/none" }), "E_RECORDS_READ"],
    ["an invalid URL", () => ({ url: "canary-password" }), "E_RECORDS_READ"],
  ])("%s", async (_, change, code) => {
    const { url, id, open } = await newStore();
    const run = await open().begin({ runId: "run-1", waitMs: 0 });
    await run.intend([intentOf("Integration/a")]);
    await run.release();
    const options = change({ url, id });
    const opened = async (): Promise<unknown> => open(options ?? {}).begin({ runId: "run-2", waitMs: 0 });
    const error: unknown = await opened().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code, exit: 1 });
    expect(String(error)).not.toContain("canary-password");
  });
});

test("two targets in one schema are independent", async () => {
  const { open } = await newStore();
  const prod = await open().begin({ runId: "run-1", waitMs: 0 });
  const dev = await open({ target: "dev" }).begin({ runId: "run-2", waitMs: 0 });
  await Promise.all([prod.intend([intentOf("Asset/a")]), dev.bind("Asset/a", { id: "1" })]);
  await dev.take();
  await Promise.all([prod.release(), dev.release()]);
  expect((await open().read()).bindings.size).toBe(0);
  expect((await open({ target: "dev" }).read()).open).toEqual([]);
});

test("a create costs one round trip before it and one after it", async () => {
  const { url, open } = await newStore(60_000);
  const proxy = await startTcpProxy(postgres.port);
  let messages = 0;
  proxy.cut = () => {
    messages += 1;
    return undefined;
  };
  const run = await open({ url: url.replace(`:${postgres.port}/`, `:${proxy.port}/`) }).begin({ runId: "run-1", waitMs: 0 });
  await run.take();
  const before = messages;
  for (let create = 0; create < 5; create++) {
    const [entryId = ""] = await run.intend([intentOf(`Asset/a${create}`)]);
    await run.settle(entryId, { outcome: "created", id: `d-${create}` });
    await run.bind(`Asset/a${create}`, { id: `d-${create}` });
    while (messages < before + 2 * (create + 1)) await sleep(10);
  }
  // A slow machine may take a second message for the outcome; not so each time.
  expect(messages - before).toBeLessThan(15);
  await run.release();
  await proxy.close();
});
