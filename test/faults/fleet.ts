import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { parse, stringify } from "yaml";
import { loadProject } from "../../src/core/manifests/project.ts";
import { type Database, openDatabase } from "../../src/core/records/postgres/connection.ts";
import { migrate } from "../../src/features/controller/database/migrate.ts";
import { makeBundle } from "../../src/features/controller/projects/make-bundle.ts";
import { pushBundle } from "../../src/features/controller/projects/push-bundle.ts";
import { listAccounts } from "../../src/features/controller/views/accounts.ts";
import { readMetrics } from "../../src/features/controller/views/health.ts";
import { requestChecks } from "../../src/features/controller/work/queue.ts";
import { startCli } from "../cli/built-cli.ts";
import type { Postgres } from "../support/postgres/server.ts";
import { startService, type TestService } from "../support/service.ts";
import { waiting } from "../support/waiting.ts";
import { type Machines, postgresStore, type SharedStore } from "./machines.ts";
import { canaries, type MixedProject } from "./mixed-project.ts";

export const patient = { timeoutSeconds: 10, retries: 2, settleSeconds: 0.2 };

export interface Exchanged {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly userAgent: string;
}

export const isWrite = ({ method }: Pick<Exchanged, "method">): boolean => method !== "GET";

/** Workers that share only a database, and an account that they apply the mixed project to. */
export interface Fleet {
  readonly service: TestService;
  readonly exchanges: readonly Exchanged[];
  readonly machines: Machines;
  readonly project: MixedProject;
  /** With the privileges of everyone: the tests move time in it. */
  readonly database: Database;
  readonly databaseUrl: string;
  /** Pushes the project as it is now. */
  readonly push: () => Promise<void>;
  /** A worker without a disk in common with the others. */
  readonly worker: (url?: string) => ChildProcess;
  /** Resolves when the newest push was compared, and the account is not due. */
  readonly settled: () => Promise<void>;
  /** What a minute would do: the claim and the lease of a worker that is gone end, and the account is due. */
  readonly aMinuteLater: () => Promise<void>;
}

/** Called when the service has dealt with a request. */
type OnExchange = (exchange: Exchanged) => void;

/** The mixed project under control in mode apply, with a database of its own. */
export const startFleet = async (server: Postgres, onExchange?: OnExchange): Promise<Fleet> => (await fleetsOn(server))(onExchange);

/** Fleets one after the other, which share a database: each replaces the account of the one before. */
export async function fleetsOn(server: Postgres): Promise<(onExchange?: OnExchange) => Promise<Fleet>> {
  const store = await postgresStore(server);
  let started = 0;
  return (onExchange) => {
    started += 1;
    return fleet(store, `example-${started}`, onExchange);
  };
}

async function fleet(store: SharedStore, source: string, onExchange: OnExchange = () => undefined): Promise<Fleet> {
  const exchanges: Exchanged[] = [];
  const service = await startService({
    apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" },
    extended: true,
    onExchange: ({ method, path, requestBody: body, requestHeaders }) => {
      const exchange = { method, path, body, userAgent: requestHeaders["user-agent"] ?? "" };
      exchanges.push(exchange);
      onExchange(exchange);
    },
  });
  onTestFinished(() => service.close());
  const machines = await store.machines(service.url);
  const project = machines.machine(patient);
  const { schema } = putUnderControl(join(project.folder, "dimsync.yaml"));
  const databaseUrl = project.env["DIMSYNC_DATABASE_URL"] ?? "";
  const database = openDatabase(databaseUrl);
  onTestFinished(() => database.close());
  await migrate(database);
  await database.query("update dimsync_controller.account set removed_at = now()", []);
  return {
    ...{ service, exchanges, machines, project, database, databaseUrl },
    push: () => push(database, project.folder, source),
    worker: (url = databaseUrl) => startWorker({ ...project.env, DIMSYNC_DATABASE_URL: url }),
    settled: () =>
      vi.waitFor(async () => {
        const [account] = await listAccounts(database);
        expect(account).toMatchObject({ isCurrent: true });
        expect(account?.running).toBeUndefined();
        expect(Date.parse(account?.nextCheckAt ?? "")).toBeGreaterThan(Date.now());
      }, waiting),
    async aMinuteLater() {
      await database.query(`update ${schema}.records set expires_at = now()`, []);
      const { rows } = await database.query(
        `update dimsync_controller.account set running_until = now() - interval '1 second', next_check_at = now() where removed_at is null
          returning id::integer, host`,
        [],
      );
      await requestAll(database, rows);
    },
  };
}

/** The metric: how many runs lost their lease. */
export async function leaseLosses(database: Database): Promise<number> {
  const { counters } = await readMetrics(database);
  return counters.find(({ name }) => name === "lease_losses")?.value ?? 0;
}

/** The lease of the records lasts 5 s, the shortest time that is allowed. */
function putUnderControl(file: string): { readonly schema: string } {
  const config = parse(readFileSync(file, "utf8"));
  config.targets.test.controller = { every: "1m", mode: "apply" };
  config.targets.test.records.ttl = "5s";
  writeFileSync(file, stringify(config));
  return { schema: config.targets.test.records.postgres.schema };
}

async function push(database: Database, cwd: string, source: string): Promise<void> {
  const projects = [await loadProject({ cwd, env: {}, target: "test" })];
  const content = await makeBundle(projects, { source, git: undefined, vars: {}, varFiles: [], env: {}, isLocal: false });
  const { accounts } = await pushBundle(database, content, { projects, by: "ci", force: "no git" });
  await requestAll(database, accounts);
}

/** Before the first worker there is no queue, and it begins with all accounts that are due. */
const requestAll = (database: Database, accounts: Parameters<typeof requestChecks>[1]): Promise<void> =>
  requestChecks(database, accounts).catch(() => undefined);

function startWorker(env: Readonly<Record<string, string>>): ChildProcess {
  const cwd = mkdtempSync(join(tmpdir(), "dimsync-worker-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const child = startCli(["controller", "run", "--role", "worker"], { cwd, env });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}
