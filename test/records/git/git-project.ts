import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { EmbeddedOptions, EmbeddedService } from "../../../src/embedded/index.ts";
import { type Ran, runCommand } from "../../support/command.ts";
import { configText, keyVariable } from "../../support/project-folder.ts";
import { startService } from "../../support/service.ts";
import { type HttpStore, httpStore, ref } from "./git-store.ts";

const key = "git-records-key";

/** A clone of the repository with the project in it. */
export interface Machine {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly run: (...argv: readonly string[]) => Promise<Ran>;
  /** Pushes and listings of refs since the last call. */
  readonly counts: () => { readonly reads: number; readonly pushes: number };
}

export interface Machines {
  readonly store: HttpStore;
  readonly service: EmbeddedService;
  /** A clone of its own with the project in it. */
  readonly machine: (manifests: string, records?: Readonly<Record<string, unknown>>) => Machine;
  readonly creates: () => readonly string[];
}

/** A service, and machines that share nothing but the remote of their clones. */
export async function machines(options: EmbeddedOptions = {}): Promise<Machines> {
  const store = await httpStore();
  const service = await startService({ apiKeys: { [key]: "bot@example.com" }, ...options });
  onTestFinished(() => service.close());
  return {
    ...{ store, service },
    machine(manifests, records = {}) {
      const folder = store.remote.clone(store.http.url);
      const target = {
        baseUrl: service.url,
        apiKey: { $secret: { env: keyVariable } },
        records: { git: { ref, id: store.id }, ...records },
      };
      mkdirSync(join(folder, "manifests"));
      writeFileSync(join(folder, "manifests", "all.yaml"), manifests);
      const env = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", [keyVariable]: key, DB_PASSWORD: "canary-password" };
      const parts = { targets: { prod: target }, client: { concurrency: 8 }, guards: { maxCreates: 200 } };
      writeFileSync(join(folder, "dimsync.yaml"), configText("", parts));
      let before = store.http.counts();
      return {
        folder,
        env,
        run: (...argv) => runCommand(argv, folder, env),
        counts() {
          const now = store.http.counts();
          const since = { reads: now.reads - before.reads, pushes: now.pushes - before.pushes };
          before = now;
          return since;
        },
      };
    },
    creates: () => service.requests.filter(({ method }) => method === "POST").map(({ path }) => path),
  };
}

/** Manifests of integrations that have to be created. */
export const integrations = (count: number): string =>
  Array.from(
    { length: count },
    (_, index) => `apiVersion: dimsync/v1
kind: Integration
metadata: { name: i${index} }
spec:
  destination: { id: d-12 }
  create:
    destinationSchema: s${index}
    replicationFrequency: 1h
    onSchemaUpdate: allow_columns
    enabled: false
    sourceConfig:
      type: postgres
      name: source-${index}
      authMethod: password
      connectionType: source
      owners: []
      connection: { hostname: db.internal, port: 5432, database: d${index}, username: replicator, password: { $secret: { env: DB_PASSWORD } }, slot: s1, publication: p1 }
    sourceSettings: { max_clients: 4, incremental_mode: xmin }
`,
  ).join("---\n");
