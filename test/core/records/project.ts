import type { ChildProcess } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startCli } from "../../cli/built-cli.ts";
import { type Ran, runCommand } from "../../support/command.ts";
import { home } from "../../support/git/env.ts";
import { configText, keyVariable } from "../../support/project-folder.ts";

export const apiKey = "records-key";

/** A project in a folder, and the environment that it needs. */
export interface Machine {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly run: (...argv: readonly string[]) => Promise<Ran>;
}

export interface ProjectParts {
  readonly baseUrl: string;
  readonly manifests: string;
  /** The value of `records` in dimsync.yaml. */
  readonly records: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** Applies the project of a machine in a process of its own, with a lease of this time-to-live. */
export const startWithTtl = ({ folder, env }: Machine, ttlMs: number): ChildProcess =>
  startCli([String(ttlMs)], { cwd: folder, env, program: fileURLToPath(new URL("apply-with-ttl.mjs", import.meta.url)) });

/** Writes a project with the target prod into a folder. */
export function projectOn(folder: string, { baseUrl, manifests, records, env: more }: ProjectParts): Machine {
  const target = { baseUrl, apiKey: { $secret: { env: keyVariable } }, records, service: { lists: "complete" } };
  mkdirSync(join(folder, "manifests"));
  writeFileSync(join(folder, "manifests", "all.yaml"), manifests);
  const parts = { targets: { prod: target }, client: { concurrency: 8, timeoutSeconds: 600 }, guards: { maxCreates: 200 } };
  writeFileSync(join(folder, "dimsync.yaml"), configText("", parts));
  const env = { PATH: process.env["PATH"] ?? "", ...home, [keyVariable]: apiKey, DB_PASSWORD: "canary-password", ...more };
  return { folder, env, run: (...argv) => runCommand(argv, folder, env) };
}

/** Manifests of new integrations. */
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
    replicationFrequency: '60'
    onSchemaUpdate: enableColumnChanges
    enabled: false
    sourceConfig:
      type: postgres
      name: source-${index}
      authMethod: direct
      connectionType: source
      owners: []
      connection: { hostname: db.internal, port: 5432, database: d${index}, username: replicator, password: { $secret: { env: DB_PASSWORD } }, slot: s1, publication: p1 }
    sourceSettings: { max_clients: 4, incremental_mode: Change Stream }
`,
  ).join("---\n");
