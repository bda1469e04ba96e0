import type { Plan, Result } from "../../src/core/base/model/plan.ts";
import { loadProject } from "../../src/core/manifests/project.ts";
import { type ApplyAccountOptions, applyAccount } from "../../src/core/operations/apply.ts";
import { driftAccount } from "../../src/core/operations/drift.ts";
import { planAccount } from "../../src/core/operations/plan.ts";
import type { PlanOptions } from "../../src/core/plan/run.ts";
import { type AccountState, type Exchange, startEmbeddedService } from "../../src/embedded/index.ts";
import { clockWithoutWaiting } from "../support/clock.ts";
import { configText, keyVariable, writeProject } from "../support/project-folder.ts";
import { inForm, type ServiceForm, violationsOf } from "../support/service.ts";

/** A project and its service. */
export interface Running {
  readonly plan: (options?: PlanOptions) => Promise<Plan>;
  readonly drift: () => Promise<Plan>;
  readonly apply: (options?: ApplyAccountOptions) => Promise<Result>;
  readonly state: () => AccountState;
  /** Reads the files of the project again. */
  readonly reload: () => Promise<void>;
  /** Changes the account as a person does. */
  readonly mutate: (change: (state: AccountState) => void) => void;
  /** The requests since the last call. */
  readonly calls: () => readonly Exchange[];
  readonly folder: string;
}

/** The value of every secret, which may only appear in request bodies. */
export const canary = "canary-7b1f";

/** The form of the service. It has extended requests if it is the observed one; the target says so, unless it is switched off. */
export type Mode = ServiceForm | "switched off";

/**
 * Runs `use` with a project of these manifest files and a service that holds `account`. Guards have
 * high limits, because they are not tested here. Throws if a call does not match
 * schema/openapi.json.
 */
export async function withProject<T>(
  account: AccountState,
  files: Readonly<Record<string, string>>,
  mode: Mode,
  use: (running: Running) => Promise<T>,
): Promise<T> {
  const calls: Exchange[] = [];
  const violations: string[] = [];
  const form = mode === "switched off" ? "observed" : mode;
  const service = await startEmbeddedService({
    state: account,
    ...inForm(form),
    onExchange: (exchange) => {
      calls.push(exchange);
      violations.push(...violationsOf(exchange, { observed: form === "observed" }));
    },
  });
  try {
    const folder = writeProject({
      ...files,
      "dimsync.yaml": configText(service.url, {
        guards: {
          ...{ maxCreates: 1000, maxExposedColumns: 1_000_000, maxChangedPercent: 100 },
          ...{ maxRemovedRelations: 1000, maxResyncedTables: 1000 },
        },
        ...(mode === "observed" ? { service: { extended: true } } : {}),
        // The service answers in this process, and the machine may be busy.
        client: { concurrency: 4, timeoutSeconds: 300, schemaWaitSeconds: 300 },
      }),
    });
    const env = { [keyVariable]: service.apiKey, CANARY: canary };
    const load = () => loadProject({ cwd: folder, env });
    let project = await load();
    const around = { env, signal: new AbortController().signal, clock: clockWithoutWaiting() };
    const result = await use({
      plan: (options = {}) => planAccount(project, options, around),
      drift: async () => (await driftAccount(project, { attribution: false }, around)).report,
      apply: async (options = {}) => (await applyAccount(project, options, around)).result,
      state: service.state,
      reload: async () => {
        project = await load();
      },
      mutate: (change) => service.mutate(change),
      calls: () => calls.splice(0),
      folder,
    });
    if (violations.length > 0) throw new Error(violations.join("\n"));
    return result;
  } finally {
    await service.close();
  }
}

/** One file with all documents; JSON is YAML. */
export const inOneFile = (documents: readonly object[]): Readonly<Record<string, string>> => ({
  "manifests/all.yaml": documents.map((document) => `${JSON.stringify(document)}\n`).join("---\n"),
});
