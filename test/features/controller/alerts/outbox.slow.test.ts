import { createHmac } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Database } from "../../../../src/core/records/postgres/connection.ts";
import { sendHeartbeats } from "../../../../src/features/controller/alerts/heartbeat.ts";
import { acknowledge, silence } from "../../../../src/features/controller/alerts/silence.ts";
import { registerAccounts } from "../../../../src/features/controller/projects/register.ts";
import { accountUnderControl, apiKey } from "../work/account-under-control.ts";
import { startReceiver } from "./receiver.ts";

const hook = { $secret: { env: "HOOK" } };
const controller = { every: "1m", labels: { team: "data" } };

const setUp = async (receiver: Readonly<Record<string, unknown>> = {}, mode = "report", targets = ["test"]) => {
  const server = await startReceiver();
  const notify = { group: "0s", receivers: [{ name: "chat", type: "json", url: hook, ...receiver }] };
  const world = await accountUnderControl({ ...controller, mode }, { notify, targets });
  const env = { HOOK: server.url };
  await world.push();
  const events = (): readonly string[] => server.requests.map(({ message }) => message.event);
  return { ...world, server, env, events };
};

const ago = (database: Database, table: "event" | "account" | "worker", column: string, time: string) =>
  database.query(`update dimsync_controller.${table} set ${column} = ${column} - $1::interval`, [time]);

/** Of everything that the controller keeps. */
const everyRow = `select coalesce(string_agg(query_to_xml(format('select * from %I.%I', schemaname, tablename), true, false, '')::text, ''), '') as rows
  from pg_tables where schemaname like 'dimsync%'`;

test("a receiver gets each transition once, and neither the log nor the database has its URL", async () => {
  const { check, deliver, hash, env, events, server, database, log } = await setUp();
  for (let round = 0; round < 2; round++) {
    await check();
    expect(await deliver(env)).toEqual([]);
    expect(events()).toEqual(["exposed"]);
  }
  expect(server.requests[0]?.message).toMatchObject({
    ...{
      kind: "ControllerNotification",
      severity: "error",
      source: "data",
      text: "1 column is exposed in test",
      reminder: false,
      resolves: [],
    },
    link: "https://status.example.com/accounts/test",
    accounts: [
      {
        ...{ account: "test", labels: { team: "data" }, commit: null, findingsTotal: 1, counts: { exposedColumns: 1, differences: 1 } },
        findings: [{ address: "Schemas/orders", path: "/schemas/public/tables/customers/columns/email/hashed", risk: "exposed" }],
      },
    ],
  });
  // Without its key the check fails.
  for (let round = 0; round < 2; round++) {
    await check({ env: { TEST_API_KEY: "" } });
    await deliver(env);
    expect(events().slice(1)).toEqual(["failing"]);
  }
  await hash(true);
  for (let round = 0; round < 2; round++) {
    await check();
    await deliver(env);
    expect(events().slice(2)).toEqual(["resolved"]);
  }
  expect(server.requests[2]?.message).toMatchObject({ resolves: ["exposed", "failing"], text: "test is no longer exposed or failing" });
  await hash(false);
  await check();
  await deliver(env);
  expect(events().slice(3)).toEqual(["exposed"]);
  const { rows } = await database.query(everyRow, []);
  const all = [rows[0]?.rows, ...log, ...server.requests.map(({ body }) => body)].join("\n");
  expect(all).toContain("customers");
  for (const secret of ["canary-hook", apiKey]) expect(all).not.toContain(secret);
});

test("what protect repairs is reported: what it was, who did it, and that it is resolved", async () => {
  const { check, deliver, env, events, server } = await setUp({}, "protect");
  await check();
  await deliver(env);
  expect(events()).toEqual(["exposed", "repaired"]);
  expect(server.requests[1]?.message).toMatchObject({
    resolves: ["exposed"],
    text: "dimsync repaired 1 difference in test",
    accounts: [{ findings: [{ path: "/schemas/public/tables/customers/columns/email/hashed", since: expect.stringMatching(/^20/u) }] }],
  });
});

test("a column that differs and violates a policy counts once, and both findings say who made the change", async () => {
  const { push, check, deliver, hash, env, server } = await setUp();
  const policy = `apiVersion: dimsync/v1
kind: Policy
metadata: { name: emails }
spec: { severity: error, when: { column: { name: [email], enabled: true } }, require: { hashed: true }, message: personal data }
`;
  await push({ "manifests/policy.yaml": policy });
  await hash(true);
  await check();
  await hash(false);
  const actor = "bot@example.com";
  expect((await check())?.findings.filter(({ path }) => path.includes("/customers/"))).toMatchObject([
    { kind: "change", actor },
    { kind: "policy", actor, since: expect.stringMatching(/^20/u), detail: { attribution: { actor } } },
  ]);
  await deliver(env);
  expect(server.requests.at(-1)?.message.accounts).toMatchObject([{ actor, findingsTotal: 1, findings: [{ actor, risk: "exposed" }] }]);
});

test("protection that gives up is an event and an alert, once, and ends when the change is gone", async () => {
  const { check, deliver, hash, env, events, server, service } = await setUp({}, "protect");
  const writes = (): number => service.requests.filter(({ method }) => method === "PATCH").length;
  // The audit log does not say who made the first change, so it counts for nobody.
  for (let round = 0; round < 4; round++) {
    if (round > 0) await hash(false);
    expect(await check()).toMatchObject({ state: "in-sync", exposedColumns: 0 });
  }
  await hash(false);
  const before = writes();
  for (let round = 0; round < 2; round++) {
    expect(await check()).toMatchObject({ state: "exposed", error: { code: "E_PROTECT_STOPPED" } });
    await deliver(env);
  }
  expect(writes()).toBe(before);
  expect(events().filter((event) => event === "protection-stopped")).toHaveLength(1);
  expect(server.requests.find(({ message }) => message.event === "protection-stopped")?.message).toMatchObject({
    ...{ severity: "error", cause: "E_PROTECT_STOPPED" },
    text: "dimsync no longer protects test: a change came back after it was reverted three times",
    accounts: [{ account: "test", error: { message: expect.stringContaining("again after dimsync reverted it three times in a day") } }],
  });
  await hash(true);
  await check();
  await deliver(env);
  expect(server.requests.at(-1)?.message).toMatchObject({ event: "resolved", resolves: ["exposed", "protection-stopped"] });
});

describe("a receiver that", () => {
  test("is down gets the message later, with the same id", async () => {
    const { check, deliver, retry, env, server, log } = await setUp();
    await check();
    server.respond = (response) => void response.writeHead(500).end("canary-hook-5f1d");
    expect(await deliver(env)).toEqual(["Error: it responded with status 500"]);
    expect(await retry({ HOOK: "" })).toEqual([expect.stringContaining("secret env:HOOK: The environment variable HOOK is empty")]);
    expect(await retry({ HOOK: "ftp://example.com/canary-hook" })).toEqual([expect.stringContaining("its URL must begin with https://")]);
    server.respond = (response) => void response.writeHead(204).end();
    expect(await retry(env)).toEqual([]);
    const ids = server.requests.map(({ message }) => message.id);
    expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
    expect(log.join("\n")).toContain("Receiver chat of data was not notified: it responded with status 500.");
    expect(log.join("\n")).not.toContain("canary-hook");
  });

  test("accepts nothing within a day is given up, and the others hear of it", async () => {
    const server = await startReceiver();
    const receivers = [
      { name: "gone", type: "json", url: { $secret: { env: "GONE" } }, on: ["exposed", "undelivered"] },
      { name: "chat", type: "json", url: hook },
    ];
    const { push, check, deliver, retry, database } = await accountUnderControl(controller, { notify: { group: "0s", receivers } });
    const env = { HOOK: server.url, GONE: "http://127.0.0.1:1/" };
    await push();
    await check();
    expect(await deliver(env)).toHaveLength(1);
    await ago(database, "event", "queued_at", "25 hours");
    expect(await retry(env)).toEqual([]);
    await deliver(env);
    expect(server.requests.map(({ message }) => message)).toMatchObject([
      { event: "exposed" },
      { event: "undelivered", receiver: "gone", error: { code: "E_NOTIFY", message: "it could not be reached (ECONNREFUSED)" } },
    ]);
  });

  test("has a secret can check who has sent the request, and when", async () => {
    const { check, deliver, env, server } = await setUp({ secret: { $secret: { env: "SIGN" } } });
    await check();
    await deliver({ ...env, SIGN: "canary-sign-1234" });
    const [request] = server.requests;
    const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/u.exec(String(request?.headers["x-dimsync-signature"])) ?? [];
    expect(signature).toBe(createHmac("sha256", "canary-sign-1234").update(`${time}.${request?.body}`).digest("hex"));
  });

  test("wants other events or accounts gets nothing", async () => {
    const rows = [{ on: ["stale"] }, { labels: { team: "sales" } }, { on: ["drifted"], severity: "warning" }];
    for (const receiver of rows) {
      const { check, deliver, env, events } = await setUp(receiver);
      await check();
      await deliver(env);
      expect(events()).toEqual([]);
    }
  });
});

test("an incident of PagerDuty ends when the account is resolved, although its receiver does not ask for that event", async () => {
  const { check, deliver, hash, env, server } = await setUp({ type: "pagerduty", key: { $secret: { env: "KEY" } }, on: ["exposed"] });
  const keys = { ...env, KEY: "canary-routing-key" };
  await check();
  await deliver(keys);
  await hash(true);
  await check();
  await deliver(keys);
  const bodies = server.requests.map(({ body }) => JSON.parse(body));
  const key = { routing_key: "canary-routing-key", dedup_key: bodies[0]?.dedup_key };
  expect(bodies).toMatchObject([
    { ...key, event_action: "trigger", payload: { severity: "critical", source: "test", class: "exposed" } },
    { ...key, event_action: "resolve" },
  ]);
});

test("an account that is not checked is stale, once, until it is checked", async () => {
  const { check, deliver, env, events, database, hash } = await setUp();
  await hash(true);
  await check();
  await ago(database, "account", "last_checked_at", "4 minutes");
  for (let round = 0; round < 2; round++) await deliver(env);
  expect(events()).toEqual(["stale"]);
  await check();
  await deliver(env);
  expect(events()).toEqual(["stale", "resolved"]);
});

test("accounts without a worker are reported, once, until there is one", async () => {
  const { deliver, env, events, database } = await setUp({ labels: { team: "elsewhere" } });
  await ago(database, "account", "next_check_at", "2 minutes");
  for (let round = 0; round < 2; round++) await deliver(env);
  expect(events()).toEqual(["no-worker"]);
  await database.query("insert into dimsync_controller.worker (id, version, accounts_at_once) values ('w', '1', 1)", []);
  for (let round = 0; round < 2; round++) await deliver(env);
  expect(events()).toEqual(["no-worker", "resolved"]);
});

test("what is not resolved within a day is sent again, marked as a reminder", async () => {
  const { check, deliver, env, server, database, hash } = await setUp();
  await check();
  await deliver(env);
  await ago(database, "event", "at", "25 hours");
  for (let round = 0; round < 2; round++) await deliver(env);
  expect(server.requests.map(({ message }) => message)).toMatchObject([
    { text: "1 column is exposed in test", reminder: false },
    { text: "Still: 1 column is exposed in test", reminder: true },
  ]);
  await hash(true);
  await check();
  await ago(database, "event", "at", "25 hours");
  await deliver(env);
  expect(server.requests.slice(2).map(({ message }) => message.event)).toEqual(["resolved"]);
});

test("40 accounts with one cause are one message", async () => {
  const { check, deliver, env, server, database } = await setUp();
  await check();
  await database.query(
    `insert into dimsync_controller.account (source, target, host, mode, every_ms) select 'data', 'more-' || n, 'h', 'report', 60000 from generate_series(1, 39) n`,
    [],
  );
  await database.query(
    `insert into dimsync_controller.event (source, account, name, cause, detail) select e.source, a.id, e.name, e.cause, e.detail
      from dimsync_controller.event e, dimsync_controller.account a where a.target like 'more-%'`,
    [],
  );
  await deliver(env);
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]?.message.accounts).toHaveLength(40);
  expect(server.requests[0]?.message).toMatchObject({
    text: "40 columns are exposed in 40 accounts of data",
    cause: "SchemaConfig/orders /schemas/public/tables/customers/columns/email/hashed",
    link: "https://status.example.com/?cause=SchemaConfig%2Forders%20%2Fschemas%2Fpublic%2Ftables%2Fcustomers%2Fcolumns%2Femail%2Fhashed#accounts",
  });
});

test("a bundle of a later version, and an account that a push removes, are reported, and other accounts are checked", async () => {
  const { check, deliver, env, events, database } = await setUp({}, "report", ["test", "other"]);
  const content = gzipSync(JSON.stringify({ format: 2, toolVersion: "9.0.0" })).toString("base64");
  await database.query(
    "insert into dimsync_controller.bundle (digest, source, tool_version, content, bytes) values ('sha256:later', 'data', '9.0.0', decode($1, 'base64'), 1)",
    [content],
  );
  await database.query("update dimsync_controller.account set digest = 'sha256:later' where target = 'test'", []);
  const message = expect.stringMatching(
    /^The bundle sha256:later was pushed by dimsync 9\.0\.0, and this worker, dimsync \S+, cannot read its format\. Update the worker, or make an earlier bundle the wanted one: dimsync controller bundles$/u,
  );
  expect(await check()).toMatchObject({ state: "failing", error: { code: "E_BUNDLE", message } });
  expect(await check({ target: "other" })).toMatchObject({ state: "exposed", exposedColumns: 1 });
  await deliver(env);
  expect(events().toSorted()).toEqual(["bundle-refused", "exposed"]);
  await registerAccounts(database, { source: "data", accounts: [] });
  await deliver(env);
  expect(events().slice(2)).toEqual(["account-removed"]);
});

describe("while an account is silenced", () => {
  const reason = { reason: "migration", by: "ann" };
  const scopes = [{ source: "data", target: "test" }, { label: "team", value: "data" }, { all: true }] as const;

  test("its events wait, and what is then still wrong is sent", async () => {
    for (const scope of scopes) {
      const { check, deliver, env, events, database } = await setUp();
      await silence(database, scope, { ...reason, ms: 3_600_000 });
      expect(await check()).toMatchObject({ state: "exposed", silence: reason });
      await deliver(env);
      expect(events()).toEqual([]);
      await silence(database, scope, { ...reason, ms: 0 });
      for (let round = 0; round < 2; round++) await deliver(env);
      expect(events()).toEqual(["exposed"]);
    }
  });

  test("what is over before the silence ends is never sent", async () => {
    const { check, deliver, env, events, database, hash } = await setUp();
    await silence(database, { all: true }, { ...reason, ms: 3_600_000 });
    await check();
    await deliver(env);
    await hash(true);
    await check();
    await deliver(env);
    await silence(database, { all: true }, { ...reason, ms: 0 });
    for (let round = 0; round < 2; round++) await deliver(env);
    expect(events()).toEqual([]);
    const { rows } = await database.query("select count(*)::integer as waiting from dimsync_controller.event where queued_at is null", []);
    expect(rows).toEqual([{ waiting: 0 }]);
  });

  test("other accounts are not", async () => {
    const { check, deliver, env, events, database } = await setUp();
    await silence(database, { label: "team", value: "sales" }, { ...reason, ms: 3_600_000 });
    await silence(database, { source: "data", target: "other" }, { ...reason, at: new Date(Date.now() + 3_600_000) });
    await check();
    await deliver(env);
    expect(events()).toEqual(["exposed"]);
  });
});

test("events wait in a maintenance window of the config", async () => {
  const server = await startReceiver();
  const notify = { group: "0s", receivers: [{ name: "chat", type: "json", url: hook }] };
  const maintenance = [
    { from: "00:00", to: "12:00", timezone: "Etc/UTC" },
    { from: "12:00", to: "00:00" },
  ];
  const { push, check, deliver, database } = await accountUnderControl({ ...controller, maintenance }, { notify });
  await push();
  await check();
  await deliver({ HOOK: server.url });
  expect(server.requests).toEqual([]);
  await database.query("update dimsync_controller.account set maintenance = '[]'", []);
  await deliver({ HOOK: server.url });
  expect(server.requests).toHaveLength(1);
});

test("what someone has acknowledged is not sent again, and what is new is", async () => {
  const { check, deliver, hash, env, events, database } = await setUp();
  await check();
  await deliver(env);
  expect(await acknowledge(database, { source: "data", target: "test" }, { reason: "known", by: "ann" })).toEqual(["exposed"]);
  const acknowledged = { events: ["exposed"], reason: "known", by: "ann" };
  expect(await check()).toMatchObject({ acknowledged, acknowledgements: [acknowledged], findings: [{ acknowledged }] });
  await ago(database, "event", "at", "25 hours");
  await deliver(env);
  expect(events()).toEqual(["exposed"]);
  await check({ env: { TEST_API_KEY: "" } });
  await deliver(env);
  expect(events()).toEqual(["exposed", "failing"]);
  await hash(true);
  const over = await check();
  expect([over?.acknowledged, over?.acknowledgements]).toEqual([
    undefined,
    [{ ...acknowledged, at: expect.any(String), endedAt: expect.any(String) }],
  ]);
});

test("the heartbeat is requested once per interval, as long as accounts are checked", async () => {
  const server = await startReceiver("/beat");
  const notify = { heartbeat: { url: hook } };
  const { push, database, log } = await accountUnderControl(controller, { notify });
  await push();
  const beat = async (url = server.url) => {
    await sendHeartbeats(database, {
      env: { HOOK: url },
      signal: new AbortController().signal,
      log: (text) => void (log as string[]).push(text),
    });
    return server.requests.length;
  };
  expect(await beat()).toBe(0);
  await database.query("insert into dimsync_controller.worker (id, version, accounts_at_once) values ('w', '1', 1)", []);
  expect([await beat(), await beat()]).toEqual([1, 1]);
  const later = () => database.query("update dimsync_controller.notify set heartbeat_at = heartbeat_at - interval '61 seconds'", []);
  await later();
  expect(await beat("")).toBe(1);
  expect(log.at(-1)).toContain("The heartbeat of data was not sent: secret env:HOOK");
  await later();
  await ago(database, "account", "next_check_at", "3 minutes");
  expect(await beat()).toBe(1);
});

test("a pushed project cannot have a file of the worker sent: its secrets in files must be in directories for secrets", async () => {
  const { check, deliver, database } = await setUp({ url: { $secret: { file: "/etc/hostname" } } });
  await database.query("update dimsync_controller.notify set settings = settings - 'folder'", []);
  await check();
  expect(await deliver()).toEqual([expect.stringContaining("/etc/hostname is in no directory for secrets")]);
});
