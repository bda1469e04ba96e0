import { createServer, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Database, openDatabase } from "../../../src/core/records/postgres/connection.ts";
import { dimsync, ended, startCli } from "../../cli/built-cli.ts";
import { listen } from "../../support/loopback.ts";
import { ordersManifest } from "../../support/orders.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { fileNeeds } from "../../support/programs.ts";
import { writeProject } from "../../support/project-folder.ts";
import { startService } from "../../support/service.ts";
import { waiting } from "../../support/waiting.ts";

// Work is never lost: real processes and a real PostgreSQL. Workers are killed, their clocks differ, and two start at once.

fileNeeds("postgresql");

const keys = { KEY: "a-key", OTHER: "another-key" } as const;

interface Fleet {
  readonly database: Database;
  /** Starts a controller process; it is killed at the end of the test. `log()` is what it has written to stderr. */
  readonly start: (
    args?: readonly string[],
    env?: Readonly<Record<string, string>>,
  ) => ReturnType<typeof startCli> & { readonly log: () => string };
  /** Whether the service receives a request and does not respond. */
  isHeld: (incoming: IncomingMessage) => boolean;
  /** Whether the service does what a request asks for, and its response is lost. */
  isLost: (incoming: IncomingMessage) => boolean;
  /** One row for each account. */
  readonly accounts: () => Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Another command of the controller. */
  readonly run: (...args: readonly string[]) => ReturnType<typeof dimsync>;
}

/** `count` accounts on one host under control of the project in a folder. In the account, a column is exposed. The first `repaired` protect it, with a key of their own. */
async function fleet(count: number, repaired = 0): Promise<Fleet> {
  const service = await startService({ apiKeys: { [keys.KEY]: "bot@example.com", [keys.OTHER]: "bot@example.com" } });
  onTestFinished(() => service.close());
  const state: Pick<Fleet, "isHeld" | "isLost"> = { isHeld: () => false, isLost: () => false };
  const { url: baseUrl } = await startFront(service.port, state);
  const target = (index: number): string =>
    `{ baseUrl: "${baseUrl}", apiKey: { $secret: { env: ${index < repaired ? "OTHER" : "KEY"} } }, controller: { every: 1m, mode: ${index < repaired ? "protect" : "report"} } }`;
  const cwd = writeProject({
    "dimsync.yaml": `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
targets:
${Array.from({ length: count }, (_, index) => `  account-${index}: ${target(index)}`).join("\n")}
`,
    "manifests/orders.yaml": ordersManifest("email: { hashed: true }"),
  });
  const url = await (await sharedPostgres()).database();
  const database = openDatabase(url, 2);
  onTestFinished(() => database.close());
  const env = { ...keys, USER: "ann", DIMSYNC_DATABASE_URL: url };
  return Object.assign(state, {
    database,
    run: (...args: readonly string[]) => dimsync(["controller", ...args], { cwd, env }),
    start(args: readonly string[] = [], more: Readonly<Record<string, string>> = {}) {
      const child = startCli(["controller", "run", "--watch", "--listen", "127.0.0.1:0", ...args], { cwd, env: { ...env, ...more } });
      onTestFinished(() => void child.kill("SIGKILL"));
      let text = "";
      child.stderr?.on("data", (chunk) => {
        text += String(chunk);
      });
      return Object.assign(child, { log: () => text });
    },
    async accounts() {
      const { rows } = await database.query(
        `select target, running_run is not null and running_until >= now() as running, last_checked_at is not null as checked, error_code,
          last_checked_at > now() + interval '1 minute' or next_check_at > now() + interval '1 hour' as is_ahead
          from dimsync_controller.account order by id`,
        [],
      );
      return rows;
    },
  });
}

/** A server in front of the service that can hold requests back. */
async function startFront(port: number, state: Pick<Fleet, "isHeld" | "isLost">) {
  const server = createServer((incoming, response) => {
    if (state.isHeld(incoming)) return;
    const upstream = request(
      { port, host: "127.0.0.1", method: incoming.method, path: incoming.url, headers: incoming.headers },
      (answer) => {
        if (state.isLost(incoming)) return void answer.resume();
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    upstream.on("error", () => response.destroy());
    incoming.pipe(upstream);
  });
  return await listen(server);
}

test("after a worker was killed with four checks in flight, the history says what it was about to send, and another worker checks all accounts of the host", async () => {
  const world = await fleet(20, 2);
  // Two checks read, and two send.
  world.isHeld = ({ method, headers }) => method === "PATCH" || headers["x-api-key"] === keys.KEY;
  const sending = async () =>
    (await world.database.query("select error_code, message from dimsync_controller.run where mode = 'protect'", [])).rows;
  const first = world.start();
  await vi.waitFor(async () => expect(await sending()).toHaveLength(2), waiting);
  await vi.waitFor(async () => expect((await world.accounts()).filter(({ running }) => running)).toHaveLength(4), waiting);
  first.kill("SIGKILL");
  const interrupted = { error_code: "E_RUN_INTERRUPTED", message: expect.stringContaining("PATCH /v1/integrations/8f1c/schemas") };
  expect(await sending()).toEqual([interrupted, interrupted]);
  world.isHeld = () => false;
  world.start();
  await vi.waitFor(async () => {
    const rows = await world.accounts();
    expect(rows.filter(({ checked }) => checked)).toHaveLength(20);
    expect(rows.filter(({ error_code }) => error_code !== null)).toEqual([]);
    // The next worker repairs, and completes a run of its own.
    expect(await sending()).toContainEqual({ error_code: null, message: null });
  }, waiting);
});

/** Shifts the clock of a process by two days. */
const twoDaysAhead = (): Readonly<Record<string, string>> => {
  const folder = writeProject({
    "ahead.mjs": `const Real = Date; const shift = 2 * 86_400_000;
globalThis.Date = class extends Real { constructor(...given) { if (given.length === 0) super(Real.now() + shift); else super(...given); } static now() { return Real.now() + shift; } };`,
  });
  return { NODE_OPTIONS: `--import ${join(folder, "ahead.mjs")}` };
};

test("a worker whose clock is two days ahead checks its accounts, and another worker agrees with it", async () => {
  const world = await fleet(3);
  const ahead = world.start([], twoDaysAhead());
  await vi.waitFor(async () => expect((await world.accounts()).filter(({ checked }) => checked)).toHaveLength(3), waiting);
  expect((await world.accounts()).filter(({ is_ahead }) => is_ahead)).toEqual([]);
  ahead.kill("SIGKILL");
  await world.database.query("update dimsync_controller.account set next_check_at = now(), last_checked_at = null", []);
  world.start();
  await vi.waitFor(async () => expect((await world.accounts()).filter(({ checked }) => checked)).toHaveLength(3), waiting);
});

test("processes that start on an empty database at the same moment all come up, whatever their roles", async () => {
  const world = await fleet(1);
  const children = ["all", "page", "worker", "all", "page"].map((role) => world.start(["--role", role]));
  for (const child of children) await vi.waitFor(() => expect(child.log()).toContain("The controller works with PostgreSQL."), waiting);
  expect(children.map(({ exitCode }) => exitCode)).toEqual([null, null, null, null, null]);
});

test("checks can be requested after only a page was started", async () => {
  const world = await fleet(1);
  const page = world.start(["--role", "page"]);
  await vi.waitFor(() => expect(page.log()).toContain("Status page"), waiting);
  await world.database.query(
    "insert into dimsync_controller.account (source, target, host, mode, every_ms) values ('s', 'account-0', 'h', 'report', 60000)",
    [],
  );
  expect(await world.run("check", "account-0")).toMatchObject({ code: 0 });
});

test("a check that is interrupted by SIGTERM is given back and does not fail", async () => {
  const world = await fleet(1);
  world.isHeld = ({ method }) => method === "GET";
  const child = world.start();
  const end = ended(child);
  await vi.waitFor(async () => expect(await world.accounts()).toMatchObject([{ running: true }]), waiting);
  child.kill("SIGTERM");
  expect((await end).code).toBe(0);
  expect(await world.accounts()).toMatchObject([{ running: false, error_code: null, checked: false }]);
  expect((await world.database.query("select from dimsync_controller.run", [])).rowCount).toBe(0);
});

test("/readyz fails, and the page and a metric say so, if a worker takes none of the accounts that are due", async () => {
  const world = await fleet(1);
  const child = world.start();
  await vi.waitFor(() => expect(child.log()).toMatch(/Status page: \S+/u), waiting);
  const url = /Status page: (\S+)/u.exec(child.log())?.[1] ?? "";
  const ask = async (path: string) => {
    const response = await fetch(new URL(path, url));
    return { status: response.status, text: await response.text() };
  };
  expect(await ask("/readyz")).toMatchObject({ status: 200 });
  // Only a worker that watches the source of an account without a bundle can check it.
  await world.database.query(
    `insert into dimsync_controller.account (source, target, host, mode, every_ms, next_check_at)
      values ('elsewhere', 'other', 'h', 'report', 60000, now() - interval '1 hour')`,
    [],
  );
  await vi.waitFor(async () => {
    await world.database.query("update dimsync_controller.worker set taken_at = now() - interval '30 minutes'", []);
    expect(await ask("/readyz")).toEqual({ status: 503, text: "not ready: E_WORKER_STUCK\n" });
  }, waiting);
  expect((await ask("/metrics")).text).toMatch(/^dimsync_controller_worker_stuck\{worker="[^"]+"\} 1$/mu);
  expect((await ask("/")).text).toContain("1 account is overdue.");
  child.kill("SIGKILL");
  await world.database.query("update dimsync_controller.worker set seen_at = now() - interval '3 minutes'", []);
  const page = world.start(["--role", "page"]);
  await vi.waitFor(() => expect(page.log()).toMatch(/Status page: \S+/u), waiting);
  expect(await (await fetch(/Status page: (\S+)/u.exec(page.log())?.[1] ?? "")).text()).toContain("No worker is running.");
});

test("a worker whose every slot hangs is named with what it checks, and the accounts that wait are reported as stale", async () => {
  const world = await fleet(2);
  world.isHeld = ({ method }) => method === "GET";
  const child = world.start(["--accounts-at-once", "1"]);
  await vi.waitFor(async () => expect(await world.accounts()).toContainEqual(expect.objectContaining({ running: true })), waiting);
  await vi.waitFor(() => expect(child.log()).toMatch(/Status page: \S+/u), waiting);
  const ask = async (path: string) => await (await fetch(new URL(path, /Status page: (\S+)/u.exec(child.log())?.[1] ?? ""))).text();
  await world.database.query(
    "update dimsync_controller.account set every_ms = 60000, next_check_at = now() - interval '1 hour', created_at = now() - interval '1 hour'",
    [],
  );
  const [{ target } = {}] = (await world.accounts()).filter(({ running }) => running);
  expect((await ask("/")).replaceAll(/<[^>]*>/gu, "")).toMatch(
    new RegExp(`1 account is overdue\\. \\S+ is busy with ${target} for \\d+ s\\.`, "u"),
  );
  expect(await ask("/metrics")).toContain(`account="${target}"} `);
  expect(await ask("/readyz")).toBe("ok\n");
  await vi.waitFor(
    async () => expect((await world.database.query("select name from dimsync_controller.event where name = 'stale'", [])).rowCount).toBe(2),
    waiting,
  );
});

test("a repair whose worker is killed after the request is one of dimsync, if the next check and the audit log show it", async () => {
  const world = await fleet(1, 1);
  let isSent = false;
  world.isLost = ({ method }) => {
    if (method === "PATCH") isSent = true;
    return method === "PATCH";
  };
  const first = world.start();
  await vi.waitFor(() => expect(isSent).toBe(true), waiting);
  first.kill("SIGKILL");
  world.isLost = () => false;
  const second = world.start();
  const rowsOf = async (sql: string) => (await world.database.query(sql, [])).rows;
  await vi.waitFor(
    async () =>
      expect(
        await rowsOf(
          "select f.closed_by, r.error_code from dimsync_controller.finding f join dimsync_controller.run r on r.id = f.closed_run",
        ),
      ).toEqual([{ closed_by: "dimsync", error_code: "E_RUN_INTERRUPTED" }]),
    waiting,
  );
  expect(await rowsOf("select name from dimsync_controller.event order by at")).toEqual([{ name: "exposed" }, { name: "repaired" }]);
  expect(await rowsOf("select label, value from dimsync_controller.counter where name = 'runs' order by label")).toEqual([
    { label: "0", value: 1 },
    { label: "2", value: 1 },
    { label: "4", value: 1 },
  ]);
  const page = await (await fetch(/Status page: (\S+)/u.exec(second.log())?.[1] ?? "")).text();
  expect(page.replaceAll(/<[^>]*>/gu, "")).toMatch(/by dimsync \(run [0-9a-f]{8}, interrupted\)/u);
});

test("/readyz fails and the page says so as long as results cannot be stored, from the first one on", async () => {
  const world = await fleet(1);
  const child = world.start();
  await vi.waitFor(async () => expect(await world.accounts()).toMatchObject([{ checked: true }]), waiting);
  const ask = async (path: string) => await (await fetch(new URL(path, /Status page: (\S+)/u.exec(child.log())?.[1] ?? ""))).text();
  await world.database.script(`
create function dimsync_controller.disk_full() returns trigger language plpgsql as
  $$ begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
create trigger disk_full before insert on dimsync_controller.run execute function dimsync_controller.disk_full();`);
  expect(await world.run("check", "account-0")).toMatchObject({ code: 0 });
  await vi.waitFor(async () => expect(await ask("/readyz")).toBe("not ready: E_CONTROLLER_DATABASE\n"), waiting);
  expect((await ask("/")).replaceAll(/<[^>]*>/gu, "")).toMatch(/Results cannot be stored\. Since .*No space left on device/u);
  await world.database.script("drop trigger disk_full on dimsync_controller.run");
  await vi.waitFor(async () => expect(await ask("/readyz")).toBe("ok\n"), waiting);
});
