import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { parse } from "yaml";
import { initGitRecords, openGitRecords } from "../../src/core/records/git/index.ts";
import { initPostgresRecords, openPostgresRecords } from "../../src/core/records/postgres/index.ts";
import type { Records } from "../../src/core/records/records.ts";
import { home } from "../support/git/env.ts";
import { gitHttp } from "../support/git/http.ts";
import { git, gitRemote } from "../support/git/remote.ts";
import type { Postgres } from "../support/postgres/server.ts";
import { letGracePass, withTtl } from "../support/records.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { type ClientParts, canaries, type MixedProject, mixedProject, projectIn, sharedFiles } from "./mixed-project.ts";

/** Machines with one store of records. */
export interface Machines {
  /** The mixed project on another machine, which shares no disk; with records in the folder, on the same one. */
  readonly machine: (client: ClientParts) => MixedProject;
  /** Ends the lease of a killed run, as a user does. Another run on the same machine needs no help. */
  readonly unlock: () => Promise<void>;
  /** The addresses whose ids are in the records. */
  readonly boundAddresses: () => Promise<readonly string[]>;
  /** Removes the folders of the machines. */
  readonly remove: () => void;
}

/**
 * A fault of one write to the store. "before": the store never receives it; "after": its response
 * is lost.
 */
export type WriteFault = "before" | "after";

export interface Store {
  readonly name: "folder" | "git" | "postgres";
  /** A new store for a service. It has the binding of the lake. */
  readonly machines: (serviceUrl: string) => Promise<Machines>;
  /**
   * Chooses the fault for each push or message to the database from now on, counted from 1. Only if
   * the store was opened with a network.
   */
  readonly onWrite: (decide: (write: number) => WriteFault | undefined) => void;
}

export interface SharedStore extends Store {
  /** Everything that the store keeps, of all services, as text. */
  readonly contents: () => string;
}

/** Records in the folder of the project: one machine. */
export const folderStore: Store = {
  name: "folder",
  async machines(serviceUrl) {
    let project: MixedProject | undefined;
    return {
      machine(client) {
        if (project === undefined) project = mixedProject({ url: serviceUrl }, client);
        else project.configure(serviceUrl, client);
        return project;
      },
      unlock: async () => undefined,
      async boundAddresses() {
        const { targets } = parse(readFileSync(join(project?.folder ?? "", "dimsync.bindings.yaml"), "utf8"));
        return Object.keys(targets.test);
      },
      remove: () => project?.remove(),
    };
  },
  onWrite: () => undefined,
};

const gitEnv = { ...canaries, PATH: process.env["PATH"] ?? "", ...home, GIT_CONFIG_NOSYSTEM: "1" };
const target = "test";
const ttlMs = 30_000;

async function bindLake(records: Records): Promise<void> {
  const run = await records.begin({ runId: "setup", waitMs: 0 });
  await run.bind("Asset/lake", { id: "d-13", secretVersion: 1 });
  await run.release();
}

interface Opened {
  readonly newFolder: () => string;
  readonly open: (folder: string) => Records;
  readonly env: Readonly<Record<string, string>>;
  /** The value of `records` in dimsync.yaml. */
  readonly config: Readonly<Record<string, unknown>>;
}

function machinesOf({ newFolder, open, env, config }: Opened, serviceUrl: string): Machines {
  const use = async <T>(work: (records: Records) => Promise<T>): Promise<T> => {
    const folder = newFolder();
    const records = open(folder);
    try {
      return await work(records);
    } finally {
      await records.close();
      rmSync(folder, { recursive: true, force: true });
    }
  };
  const folders: string[] = [];
  return {
    machine(client) {
      const folder = newFolder();
      folders.push(folder);
      for (const [path, text] of Object.entries(sharedFiles(serviceUrl, client, config))) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), text);
      }
      return projectIn(folder, env, (project) => withTtl(project, ttlMs));
    },
    unlock: () =>
      use(async (records) => {
        await records.unlock();
        await letGracePass(records);
      }),
    boundAddresses: () => use(async (records) => [...(await records.read()).bindings.keys()]),
    remove: () => {
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "dimsync-machines-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A bare repository in which each service gets a ref. `network`: it is reached over HTTP, where pushes can fail. */
export async function gitStore(network = false): Promise<SharedStore> {
  const remote = gitRemote();
  const http = network ? await gitHttp(remote.bare) : undefined;
  if (http !== undefined) onTestFinished(() => http.close());
  const checkout = remote.clone(http?.url);
  const options = { target, remote: "origin", ref: "refs/dimsync/first", ttlMs, key: undefined, env: gitEnv };
  const id = await initGitRecords({ ...options, folder: checkout });
  await bindLake(openGitRecords({ ...options, folder: remote.clone(http?.url), id }));
  const folders = temporaryFolder();
  let [stores, clones] = [0, 0];
  const newFolder = (): string => {
    clones += 1;
    const folder = join(folders, `machine-${clones}`);
    // Faster than a clone, and the same without .dimsync.
    cpSync(join(checkout, ".git"), join(folder, ".git"), { recursive: true });
    return folder;
  };
  return {
    name: "git",
    contents: () => git(remote.bare, "cat-file", "--batch-all-objects", "--batch"),
    async machines(serviceUrl) {
      stores += 1;
      const ref = `refs/dimsync/store-${stores}`;
      git(remote.bare, "update-ref", ref, options.ref);
      const open = (folder: string): Records => openGitRecords({ ...options, ref, folder, id });
      return machinesOf({ newFolder, open, env: gitEnv, config: { git: { ref, id } } }, serviceUrl);
    },
    onWrite(decide) {
      let pushes = 0;
      http?.setFault(({ service, isListing }) => {
        if (service !== "receive-pack" || isListing) return undefined;
        pushes += 1;
        const fault = decide(pushes);
        return fault === undefined ? undefined : fault === "before" ? "reset" : "lost";
      });
    },
  };
}

const everyRow = `select string_agg(query_to_xml(format('select * from %I.%I', schemaname, tablename), true, false, '')::text, '')
  from pg_tables where schemaname like 'dimsync%'`;

/** A database in which each service gets a schema. `network`: it is reached through a proxy, where messages get lost. */
export async function postgresStore(server: Postgres, network = false): Promise<SharedStore> {
  const proxy = network ? await startTcpProxy(server.port) : undefined;
  if (proxy !== undefined) onTestFinished(() => proxy.close());
  const url = await server.database();
  const machineUrl = proxy === undefined ? url : url.replace(`:${server.port}/`, `:${proxy.port}/`);
  const folders = temporaryFolder();
  const newFolder = (): string => mkdtempSync(join(folders, "machine-"));
  let stores = 0;
  return {
    name: "postgres",
    contents: () => server.sql(url, everyRow),
    async machines(serviceUrl) {
      stores += 1;
      const schema = `dimsync_${stores}`;
      const { id } = await initPostgresRecords({ target, url, schema });
      const open = (folder: string): Records => openPostgresRecords({ target, url, schema, id, ttlMs, folder });
      const first = open(newFolder());
      await bindLake(first);
      await first.close();
      const env = { ...canaries, DIMSYNC_DATABASE_URL: machineUrl };
      const config = { postgres: { url: { $secret: { env: "DIMSYNC_DATABASE_URL" } }, schema, id } };
      return machinesOf({ newFolder, open, env, config }, serviceUrl);
    },
    onWrite(decide) {
      if (proxy === undefined) return;
      let messages = 0;
      proxy.cut = () => {
        messages += 1;
        return decide(messages);
      };
    },
  };
}
