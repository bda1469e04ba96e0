import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { stringify } from "yaml";
import { initPostgresRecords } from "../../../src/core/records/postgres/index.ts";
import { readAccount, registerAccounts } from "../../../src/features/controller/accounts.ts";
import { checkAccount } from "../../../src/features/controller/check.ts";
import { openCheckout } from "../../../src/features/controller/checkout.ts";
import { type Database, openStore } from "../../../src/features/controller/database.ts";
import { git, repositoryIn } from "../../support/git/remote.ts";
import { ordersManifest } from "../../support/orders.ts";
import type { Postgres } from "../../support/postgres/server.ts";
import { sharedPostgres } from "../../support/postgres/shared.ts";
import { writeProject } from "../../support/project-folder.ts";
import { startService, type TestService, type TestServiceOptions } from "../../support/service.ts";

// Accounts under control. What is readable is judged by the data of the service, not by what dimsync says.

export const apiKey = "canary-key-77c0";

export interface Project {
  readonly folder: string;
  readonly service: TestService;
  /** The URL of the database; undefined: the embedded one. */
  readonly url: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** The columns that can be read in the account, as "customers.email". */
  readonly readable: () => readonly string[];
  /** Whether customers.email is one of them. */
  readonly isReadable: () => boolean;
  /** Dana hashes the column, or turns that off. The event of the audit log names it. */
  readonly hash: (hashed: boolean) => void;
  /** Writes a file and commits it. */
  readonly commit: (path: string, text: string) => string;
}

interface ProjectOptions extends Pick<TestServiceOptions, "onExchange" | "faults"> {
  readonly database: "postgresql" | "embedded";
  /** Default: the shared one. */
  readonly server?: Postgres;
  /** Of each target: the value of `controller`. */
  readonly targets?: Readonly<Record<string, unknown>>;
  readonly notify?: unknown;
  /** The address of the service in the config. Default: its own. */
  readonly baseUrl?: (url: string) => Promise<string>;
  readonly columns?: string;
  readonly more?: Readonly<Record<string, unknown>>;
}

/** A checkout whose targets have one account; customers.email should be hashed, and is not. */
export async function controlledProject({
  database,
  server,
  targets = { test: { every: "1m", mode: "protect" } },
  notify,
  baseUrl = async (own) => own,
  columns = "email: { hashed: true }",
  more,
  ...ofService
}: ProjectOptions): Promise<Project> {
  const service = await startService({ apiKeys: { [apiKey]: "bot@example.com" }, ...ofService });
  onTestFinished(() => service.close());
  const url = database === "embedded" ? undefined : await (server ?? (await sharedPostgres())).database();
  const address = await baseUrl(service.url);
  const entries = await Promise.all(
    Object.entries(targets).map(async ([target, controller]) => [
      target,
      {
        ...{ baseUrl: address, apiKey: { $secret: { env: "KEY" } }, controller },
        ...(url === undefined ? {} : { records: { postgres: await recordsIn(url, target) } }),
      },
    ]),
  );
  const config = { apiVersion: "dimsync/v1", kind: "Config", manifests: ["manifests"], targets: Object.fromEntries(entries) };
  const patient = { client: { retries: 0, settleSeconds: 0.2 } };
  const folder = writeProject({
    "dimsync.yaml": stringify({ ...config, ...patient, ...(notify === undefined ? {} : { notify }), ...more }),
    "manifests/all.yaml": ordersManifest(columns),
    ".gitignore": ".dimsync/\ndimsync.bindings.yaml\n",
  });
  repositoryIn(folder);
  const readable = (): readonly string[] =>
    Object.entries(service.state().integrations.find(({ id }) => id === "8f1c")?.schemas["public"]?.tables ?? {}).flatMap(
      ([table, { enabled, columns: all }]) =>
        Object.entries(all).flatMap(([name, column]) => (enabled && column.enabled && !column.hashed ? [`${table}.${name}`] : [])),
    );
  return {
    ...{ folder, service, url },
    env: { PATH: process.env["PATH"] ?? "", KEY: apiKey, ...(url === undefined ? {} : { DIMSYNC_DATABASE_URL: url }) },
    readable,
    isReadable: () => readable().includes("customers.email"),
    hash(hashed) {
      const event = `Column customers.email of the integration Orders (8f1c) was ${hashed ? "hashed" : "un-hashed"}`;
      service.mutate(
        ({ integrations }) => {
          const column = integrations.find(({ id }) => id === "8f1c")?.schemas["public"]?.tables["customers"]?.columns["email"];
          if (column !== undefined) column.hashed = hashed;
        },
        undefined,
        event,
      );
    },
    commit(path, text) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
      git(folder, "add", "--all");
      git(folder, "commit", "--quiet", "--message", "change");
      return git(folder, "rev-parse", "HEAD");
    },
  };
}

/** The records of a target in a database. */
async function recordsIn(url: string, target: string): Promise<object> {
  const { id } = await initPostgresRecords({ target, url, schema: "dimsync" });
  return { url: { $secret: { env: "DIMSYNC_DATABASE_URL" } }, id };
}

/** A worker in this process, for tests that move the time of the database. */
export interface Worker {
  readonly database: Database;
  readonly log: string[];
  /** What a sweep does before it hands out what is due. */
  readonly sweep: () => Promise<void>;
  /** Checks the account as if it were due, and resolves with its row. */
  readonly check: (target?: string, signal?: AbortSignal) => ReturnType<typeof readAccount>;
  readonly row: (target?: string) => ReturnType<typeof readAccount>;
  readonly sql: (text: string) => Promise<readonly Record<string, unknown>[]>;
}

export async function startWorker(
  { folder, url, env }: Pick<Project, "folder" | "url" | "env">,
  { maxMode = "protect", database: opened }: { readonly maxMode?: "report" | "protect"; readonly database?: Database } = {},
): Promise<Worker> {
  const database = opened ?? (await openStore(url ?? "", folder));
  if (opened === undefined) onTestFinished(() => database.close());
  const log: string[] = [];
  const checkout = openCheckout({ cwd: folder, env }, folder);
  const row: Worker["row"] = (target = "test") => readAccount(database, target);
  const sweep = async (): Promise<void> => {
    const settings = (await checkout.refresh()).flatMap(({ project }) => (project === undefined ? [] : [project.settings]));
    const all = settings.flatMap(({ target, controller }) => (controller === undefined ? [] : [{ target, ...controller }]));
    await registerAccounts(
      database,
      all,
      all.map(({ target }) => target),
    );
  };
  await sweep();
  return {
    ...{ database, log, sweep, row },
    async check(target = "test", signal = new AbortController().signal) {
      const account = await row(target);
      if (account === undefined) throw new Error(`There is no account ${target}.`);
      const options = { database, checkout, maxMode, run: { env, signal }, log: (text: string) => void log.push(text) };
      await checkAccount(account, options);
      return await row(target);
    },
    sql: (text) => database.rows(text),
  };
}
