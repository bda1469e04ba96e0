import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Plan, Result } from "../../src/core/base/model/plan.ts";
import { loadProject, type Project } from "../../src/core/manifests/project.ts";
import { applyAccount } from "../../src/core/operations/apply.ts";
import { planAccount } from "../../src/core/operations/plan.ts";
import type { EmbeddedService } from "../../src/embedded/index.ts";
import { configText, keyVariable, writeFolder } from "../support/project-folder.ts";
import { returnsManifest } from "../support/returns.ts";

/**
 * One apply that needs every call of dimsync, those beyond the interface document too: creates, updates with one call and with two,
 * relations, and items that wait for them.
 */
const manifests = `
apiVersion: dimsync/v1
kind: Asset
metadata: { name: archive }
lifecycle: { create: ifMissing }
spec:
  name: Archive lake
  type: s3
  connectionType: destination
  connection: { bucket: archive-example, secret_key: { $secret: { env: ARCHIVE_SECRET } } }
---
apiVersion: dimsync/v1
kind: Asset
metadata: { name: lake }
spec:
  name: Lake
  type: s3
  secretVersion: 2
  description: Raw files, kept for a year
  connection: { bucket: example-lake, secret_key: { $secret: { env: LAKE_SECRET } } }
---
${returnsManifest({ destination: "{ asset: archive }", secretEnv: "RETURNS_SECRET", owners: "[{ user: dana@example.com }]" })}---
apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders }
spec: { match: { name: Orders }, settings: { replicationFrequency: "1440" } }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: orders
  schemas:
    public:
      tables:
        customers: { columns: { email: { hashed: true } } }
        payments: { columns: { iban: { hashed: false } } }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: returns }
spec:
  integration: returns
  schemas: { public: { enabled: true, tables: { orders: { enabled: true }, customers: { columns: { email: { hashed: true } } } } } }
---
apiVersion: dimsync/v1
kind: Tag
metadata: { name: gold }
spec:
  name: Gold
  description: The best there is
  resources: [{ integration: orders }, { integration: returns }, { asset: archive }, { monitor: { id: m-1 } }]
---
apiVersion: dimsync/v1
kind: Tag
metadata: { name: audit }
lifecycle: { create: ifMissing }
spec: { name: Audit, owner: { user: dana@example.com }, resources: [{ integration: orders }] }
---
apiVersion: dimsync/v1
kind: Tag
metadata: { name: finance }
spec: { name: Finance, exclusive: true }
`;

/** Secret values that must never be seen outside a request's body. */
export const canaries = {
  [keyVariable]: "canary-key-5d0c",
  ARCHIVE_SECRET: "canary-archive-77a1",
  LAKE_SECRET: 'canary-lake-"quoted"-e3',
  RETURNS_SECRET: "canary-returns-0b9f\ncanary-second-line",
} as const;

export interface MixedProject {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly apply: (signal?: AbortSignal) => Promise<Result>;
  readonly plan: () => Promise<Plan>;
  /** Rewrites dimsync.yaml. */
  readonly configure: (baseUrl: string, client: ClientParts) => void;
  readonly remove: () => void;
}

export interface ClientParts {
  readonly timeoutSeconds: number;
  readonly retries: number;
  readonly settleSeconds: number;
  readonly concurrency?: number;
}

/** The files of the project for a service at `baseUrl`, without bindings; `records` of its target. */
export function sharedFiles(
  baseUrl: string,
  client: ClientParts,
  records: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const target = { baseUrl, apiKey: { $secret: { env: keyVariable } }, service: extended, records };
  return { "dimsync.yaml": mixedConfig(baseUrl, client, { targets: { test: target } }), "manifests/all.yaml": manifests };
}

/** The files of the project for a service at `baseUrl`. */
export function mixedFiles(baseUrl: string, client: ClientParts): Readonly<Record<string, string>> {
  return {
    "dimsync.yaml": mixedConfig(baseUrl, client),
    "manifests/all.yaml": manifests,
    "dimsync.bindings.yaml": stringify({
      apiVersion: "dimsync/v1",
      kind: "Bindings",
      targets: { test: { "Asset/lake": { id: "d-13", secretVersion: 1 } } },
    }),
  };
}

const extended = { extended: true };

const mixedConfig = (baseUrl: string, client: ClientParts, parts: Readonly<Record<string, unknown>> = {}): string =>
  configText(baseUrl, {
    service: extended,
    defaults: { taggedBy: "data-platform@example.com" },
    client: { schemaWaitSeconds: 30, ...client },
    ...parts,
  });

export function mixedProject(service: Pick<EmbeddedService, "url">, client: ClientParts): MixedProject {
  const folder = writeFolder(mixedFiles(service.url, client));
  return projectIn(folder);
}

/** Plans and applies the project in a folder, in this process. */
export function projectIn(
  folder: string,
  env: Readonly<Record<string, string>> = canaries,
  change: (project: Project) => Project = (project) => project,
): MixedProject {
  const load = async (): Promise<Project> => change(await loadProject({ cwd: folder, env }));
  const around = { env, signal: new AbortController().signal };
  return {
    folder,
    env,
    apply: async (signal) => (await applyAccount(await load(), {}, signal === undefined ? around : { ...around, signal })).result,
    plan: async () => planAccount(await load(), {}, around),
    configure: (baseUrl, client) => writeFileSync(join(folder, "dimsync.yaml"), mixedConfig(baseUrl, client)),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
