// Records in PostgreSQL create everything once, whatever crashes.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { initPostgresRecords } from "../../../../src/core/records/postgres/index.ts";
import { ended } from "../../../cli/built-cli.ts";
import { ownPostgres } from "../../../support/postgres/shared.ts";
import { fileNeeds } from "../../../support/programs.ts";
import { startService } from "../../../support/service.ts";
import { startTcpProxy } from "../../../support/tcp-proxy.ts";
import { waiting } from "../../../support/waiting.ts";
import { expectNothingTwice, overtakenManifests } from "../overtaken.ts";
import { apiKey, integrations, type Machine, projectOn, startWithTtl } from "../project.ts";

fileNeeds("postgresql");

// Nothing here tests a crash of the operating system.
const postgres = ownPostgres(["fsync = off"]);

/** A service, and machines that share nothing but a database, which they reach through a proxy. */
async function machines(manifests = integrations(2)) {
  const service = await startService({ apiKeys: { [apiKey]: "bot@example.com" } });
  onTestFinished(() => service.close());
  const url = await postgres.database();
  const { id } = await initPostgresRecords({ target: "prod", url, schema: "dimsync" });
  const proxy = await startTcpProxy(postgres.port);
  onTestFinished(() => proxy.close());
  const machine = (databaseUrl = url.replace(`:${postgres.port}/`, `:${proxy.port}/`)): Machine => {
    const folder = mkdtempSync(join(tmpdir(), "dimsync-machine-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const records = { postgres: { url: { $secret: { env: "DIMSYNC_DATABASE_URL" } }, id } };
    const env = { DIMSYNC_DATABASE_URL: databaseUrl };
    return projectOn(folder, { baseUrl: service.url, manifests, records, env });
  };
  return { service, url, proxy, machine, creates: () => service.requests.filter(({ method }) => method === "POST") };
}

type Change = (url: string) => void;

describe("nothing is created, and the message says why, if", () => {
  const change =
    (text: string): Change =>
    (url) =>
      void postgres.sql(url, text);
  it.each<readonly [string, string, string, Change]>([
    ["the schema was dropped", "E_RECORDS_GONE", "contains no records", change("drop schema dimsync cascade")],
    ["the store is another one", "E_RECORDS_GONE", "their id is other", change("update dimsync.store set id = 'other'")],
    [
      "the database was restored to an earlier state after this machine wrote it",
      "E_RECORDS_GONE",
      "restored to an earlier state",
      change("update dimsync.records set version = version - 1"),
    ],
    ["the format is that of a later version", "E_RECORDS_READ", "their format is 99", change("update dimsync.store set format = 99")],
    ["a binding is damaged", "E_RECORDS_READ", "is not valid JSON", change("update dimsync.records set content = content || '{'")],
    ["a table is missing", "E_RECORDS_GONE", "contains no records", change("alter table dimsync.records rename to other")],
  ])("%s", async (_name, code, words, damage) => {
    const { url, machine, creates } = await machines();
    const one = machine();
    const bound = await one.run("bind", "Integration/i1=9");
    expect(bound.code, bound.stderr).toBe(0);
    damage(url);
    for (const argv of [["plan"], ["drift"], ["apply", "--yes"], ["bind", "Integration/i0=x"]]) {
      const { code: exit, stderr } = await one.run(...argv);
      expect(exit, argv.join(" ")).toBe(1);
      expect(stderr).toContain(code);
      expect(stderr.replaceAll(/\s+/gu, " ")).toContain(words);
    }
    expect(creates()).toEqual([]);
  });
});

it("sends no create whose checks another run has overtaken", async () => {
  const { service, machine } = await machines(overtakenManifests);
  await expectNothingTwice(service, machine(), machine());
});

it("plans with a role that may only read, and apply sends nothing and exits with 4", async () => {
  const { url, machine, creates } = await machines();
  postgres.sql(
    url,
    "create role only_reader login; grant usage on schema dimsync to only_reader; grant select on all tables in schema dimsync to only_reader",
  );
  const one = machine(url.replace("postgres@", "only_reader@"));
  expect((await one.run("plan")).code).toBe(0);
  const { code, stderr } = await one.run("apply", "--yes");
  expect(code).toBe(4);
  expect(stderr).toContain("E_RECORDS_REFUSED");
  expect(stderr).toContain("permission denied for table records");
  expect(creates()).toEqual([]);
});

it("creates everything once if PostgreSQL crashes before or after any message of an apply", async () => {
  let cases = 0;
  for (let nth = 1; ; nth += 1) {
    const { proxy, machine, creates } = await machines();
    let [isStruck, isDue] = [false, false];
    const crash = (): void => {
      if (!isDue) return;
      isDue = false;
      postgres.stop("immediate");
      postgres.start();
    };
    proxy.cut = (message) => {
      if (message !== Math.ceil(nth / 2)) return undefined;
      isStruck = true;
      isDue = true;
      if (nth % 2 === 0) {
        crash();
        return "before";
      }
      // When the server has acted on the message.
      setTimeout(crash, 50);
      return "after";
    };
    const ran = await machine().run("apply", "--yes");
    if (!isStruck) break;
    crash();
    cases += 1;
    proxy.cut = () => undefined;
    // 1: before anything was sent.
    expect([0, 1, 4], `case ${nth}: ${ran.stdout}${ran.stderr}`).toContain(ran.code);
    const other = machine();
    const again = await other.run("apply", "--yes", "--lock-timeout", "30s");
    expect(again.code, `case ${nth}: ${again.stdout}${again.stderr}`).toBe(0);
    expect(creates(), `case ${nth}`).toHaveLength(2);
    const shown = JSON.parse((await other.run("records", "show", "-o", "json")).stdout);
    expect([shown.lease ?? "free", shown.open, shown.bindings.length], `case ${nth}`).toEqual(["free", [], 2]);
  }
  console.info(`PostgreSQL crashes at a message of an apply: ${cases} cases, 0 created twice, 0 lost`);
  expect(cases).toBeGreaterThanOrEqual(8);
});

it("sends nothing after the process was stopped for longer than the time-to-live", async () => {
  const { url, proxy, machine, creates } = await machines();
  const child = startWithTtl(machine(), 5_000);
  onTestFinished(() => void child.kill("SIGKILL"));
  // The database stores the intents, and the process does not know it until it continues.
  const stopped = new Promise<void>((resolve) => {
    proxy.cut = (_, bytes) => {
      if (bytes.includes('["open"') && child.kill("SIGSTOP")) resolve();
      return undefined;
    };
  });
  const running = ended(child);
  await stopped;
  await vi.waitFor(
    () => expect(Number(postgres.sql(url, `select count(*) from dimsync.records where content like '%["open"%'`))).toBe(1),
    waiting,
  );
  // What the stopped process may have sent is not sent again.
  const other = machine(url);
  const { code, stdout, stderr } = await other.run("apply", "--yes", "--lock-timeout", "30s");
  expect(stderr).toContain("This run takes it over");
  expect(code, stdout + stderr).toBe(4);
  expect(stdout).toContain("E_UNKNOWN_OUTCOME");
  proxy.cut = () => undefined;
  child.kill("SIGCONT");
  expect([4, 6]).toContain((await running).code);
  expect(creates()).toEqual([]);
  // It recorded that it sent nothing, so nothing must be resolved.
  expect((await other.run("apply", "--yes")).code).toBe(0);
  expect(creates()).toHaveLength(2);
});
