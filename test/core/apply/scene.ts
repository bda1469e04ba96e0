import { rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Plan, Result } from "../../../src/core/base/model/plan.ts";
import type { EmbeddedOptions, EmbeddedService } from "../../../src/embedded/index.ts";
import { type Ran, runCommand } from "../../support/command.ts";
import { listen } from "../../support/loopback.ts";
import { configText, keyVariable, writeFolder } from "../../support/project-folder.ts";
import { startService } from "../../support/service.ts";
import { outcomes } from "../../support/steps.ts";

export interface Scene {
  readonly service: EmbeddedService;
  readonly folder: string;
  /** The environment of the command line. */
  readonly env: Readonly<Record<string, string>>;
  readonly run: (argv: readonly string[], env?: Readonly<Record<string, string>>) => Promise<Ran>;
  readonly write: (path: string, text: string) => void;
  /** `apply --yes -o json` with further arguments. */
  readonly apply: (...argv: readonly string[]) => Promise<{ readonly code: number; readonly result: Result; readonly stderr: string }>;
  readonly plan: (...argv: readonly string[]) => Promise<{ readonly code: number; readonly plan: Plan }>;
  /** The writes that the service has received, as "METHOD path". */
  readonly writes: () => readonly string[];
}

export interface SceneOptions {
  readonly service?: EmbeddedOptions;
  /** Parts of dimsync.yaml. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Changes the JSON of a response in transit, or its status too (`instead`); undefined keeps it, "" empties it. A promise holds the response. */
  readonly meddle?: Meddle;
  readonly env?: Readonly<Record<string, string>>;
}

const key = "scene-key";

/**
 * A service, a project with these manifests, and the command line; all are removed when the test
 * ends.
 */
export async function scene(manifests: string, options: SceneOptions = {}): Promise<Scene> {
  const service = await startService({ apiKeys: { [key]: "bot@example.com" }, ...options.service });
  const url = options.meddle === undefined ? service.url : await meddler(service.url, options.meddle);
  const config = configText(url, { client: { timeoutSeconds: 600 }, ...options.config });
  const folder = writeFolder({ "dimsync.yaml": config, "manifests/all.yaml": manifests });
  onTestFinished(async () => {
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const env = { [keyVariable]: key, ...options.env };
  const run: Scene["run"] = (argv, more = {}) => runCommand(argv, folder, { ...env, ...more });
  return {
    service,
    folder,
    env,
    run,
    write: (path, text) => writeFileSync(join(folder, path), text),
    async apply(...argv) {
      const { code, stdout, stderr } = await run(["apply", "--yes", "-o", "json", ...argv]);
      if (stdout === "") throw new Error(`apply printed no result: ${stderr}`);
      return { code, result: JSON.parse(stdout) as Result, stderr };
    },
    async plan(...argv) {
      const { code, stdout, stderr } = await run(["plan", "-o", "json", ...argv]);
      if (stdout === "") throw new Error(`plan printed nothing: ${stderr}`);
      return { code, plan: JSON.parse(stdout) as Plan };
    },
    writes: () => service.requests.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`),
  };
}

/** Outcome and code by "verb address". */
export const endings = (result: Result): Readonly<Record<string, string>> =>
  Object.fromEntries(
    outcomes(result).map(({ verb, address, outcome, code }) => [
      `${verb === "none" ? "-" : verb} ${address}`,
      [outcome, code].filter(Boolean).join(" "),
    ]),
  );

class Instead {
  readonly status: number;
  readonly text: string;
  constructor(status: number, text: string) {
    this.status = status;
    this.text = text;
  }
}

/** Another response; without a body, an empty one. */
export const instead = (status: number, body?: unknown): Instead => new Instead(status, body === undefined ? "" : JSON.stringify(body));

export type Meddle = (call: { readonly method: string; readonly path: string; readonly status: number }, answer: unknown) => unknown;

/** A proxy between the client and the service that changes responses. Returns its URL. */
export async function meddler(target: string, meddle: Meddle): Promise<string> {
  const server = createServer((incoming, response) => {
    const { method = "", url = "", headers } = incoming;
    const onward = request(`${target}${url}`, { method, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", async () => {
        const text = Buffer.concat(chunks).toString();
        const status = answer.statusCode ?? 500;
        const changed = await meddle({ method, path: url, status }, JSON.parse(text));
        const other = changed instanceof Instead ? changed : undefined;
        response.writeHead(other?.status ?? status, { "content-type": "application/json" });
        response.end(other !== undefined ? other.text : changed === undefined ? text : changed === "" ? "" : JSON.stringify(changed));
      });
    });
    incoming.pipe(onward);
  });
  return (await listen(server)).url;
}

export const assetManifest = (name = "archive", more = ""): string => `
apiVersion: dimsync/v1
kind: Asset
metadata: { name: ${name} }
lifecycle: { create: ifMissing }
spec: { name: ${name}, type: s3, connectionType: destination${more} }
`;

export const integrationManifest = (name: string, more: { readonly destination?: string; readonly enabled?: boolean } = {}): string => `
apiVersion: dimsync/v1
kind: Integration
metadata: { name: ${name} }
spec:
  destination: ${more.destination ?? "{ id: d-12 }"}
  create:
    destinationSchema: ${name}
    replicationFrequency: '60'
    onSchemaUpdate: enableColumnChanges
    enabled: ${more.enabled ?? false}
    sourceConfig:
      type: postgres
      name: ${name}-pg
      authMethod: direct
      connectionType: source
      owners: [u-1]
      connection: { hostname: db.internal, port: 5432, database: orders, username: replicator, slot: s1, publication: p1 }
    sourceSettings: { max_clients: 4, incremental_mode: Change Stream }
`;

export const tagManifest = (description: string, more = ""): string => `
apiVersion: dimsync/v1
kind: Tag
metadata: { name: gold }
spec: { name: Gold, description: ${description}${more} }
`;

export const schemaManifest = (integration: string, tree: string): string => `
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: ${integration} }
spec: { integration: ${integration}, schemas: ${tree} }
`;

export const ordersManifest = `
apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders }
spec: { match: { name: Orders } }
`;

export const together = (...manifests: readonly string[]): string => manifests.join("---\n");
