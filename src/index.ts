// The library: what the command line does, as functions. Nothing here prints, ends the process, or
// reads process.env unless you pass it. docs/library.md describes it.

import type { Address } from "./core/base/model/address.ts";
import { DimsyncError, interruptedError } from "./core/base/model/errors.ts";
import type { NodePath } from "./core/base/model/nodes.ts";
import type { Plan, Result } from "./core/base/model/plan.ts";
import type { Environment } from "./core/base/model/settings/env.ts";
import type { LoadOptions, Project } from "./core/manifests/index.ts";
import { listTargets as list, loadProject as load } from "./core/manifests/index.ts";
import type { ApplyAccountOptions, DriftOptions, RunEnvironment } from "./core/operations/index.ts";
import { applyAccount, driftAccount, planAccount } from "./core/operations/index.ts";
import type { PlanOptions } from "./core/plan/index.ts";
import { type ExplainedNode, explainSchemaNode } from "./features/explain/explain.ts";
import { type ImportProjectOptions, importProject } from "./features/import/import.ts";
import type { ImportReport } from "./features/import/report.ts";

export type { Address } from "./core/base/model/address.ts";
export { eachChange } from "./core/base/model/changes.ts";
export { DimsyncError, ProblemsError, ServiceError } from "./core/base/model/errors.ts";
export type { Exit, ExitCode } from "./core/base/model/exit.ts";
export type * from "./core/base/model/live.ts";
export type { Nodes } from "./core/base/model/nodes.ts";
export type * from "./core/base/model/plan.ts";
export { stepsOf } from "./core/base/model/plan.ts";
export type { Diagnostic, Problem } from "./core/base/model/problem.ts";
export type { ProgressEvent } from "./core/base/model/runtime/progress.ts";
export type { Environment } from "./core/base/model/settings/env.ts";
export { Secret } from "./core/base/model/settings/secret.ts";
export { integrations, tags, users } from "./core/kinds/index.ts";
export type { LoadOptions, Project } from "./core/manifests/index.ts";
export type { ApplyAccountOptions } from "./core/operations/index.ts";
export type { PlanOptions } from "./core/plan/index.ts";
export { type Document, type Format, type RenderOptions, renderers } from "./core/render/index.ts";
export { type Client, type ClientOptions, createClient } from "./core/service/index.ts";
export type { EmbeddedOptions, EmbeddedService } from "./embedded/index.ts";
export { startEmbeddedService } from "./embedded/index.ts";
export type { ExplainedNode } from "./features/explain/explain.ts";
export type { ImportProjectOptions } from "./features/import/import.ts";
export type { ImportReport } from "./features/import/report.ts";

/** What a run may read, and how to stop it. Without `env`, no environment variable is read. */
export interface RunOptions {
  readonly env?: Environment;
  readonly signal?: AbortSignal;
  readonly onProgress?: RunEnvironment["onProgress"];
}

/** `LoadOptions`; without `env` no environment variable is seen. */
export type ProjectOptions = Omit<LoadOptions, "env"> & { readonly env?: Environment };

/** Throws E_USAGE without a working directory, which callers in JavaScript can forget. */
function loadOptions(options: ProjectOptions): LoadOptions {
  if (typeof (options as Partial<ProjectOptions> | undefined)?.cwd !== "string")
    throw new DimsyncError(
      "E_USAGE",
      "The option cwd is missing. Set it to the absolute path of the folder to look for dimsync.yaml in, such as process.cwd().",
    );
  return { ...options, env: options.env ?? {} };
}

const runEnvironment = ({ env, signal, onProgress }: RunOptions): RunEnvironment => ({
  env: env ?? {},
  signal: signal ?? new AbortController().signal,
  onProgress,
});

/** The names of the targets in the config; empty if it has none. Throws ProblemsError if there is no usable config. */
export async function listTargets(options: ProjectOptions): Promise<readonly string[]> {
  return list(loadOptions(options));
}

/** Reads config and manifests. Mistakes in manifests are `problems` of the project; throws ProblemsError if the config cannot be used. */
export async function loadProject(options: ProjectOptions): Promise<Project> {
  return load(loadOptions(options));
}

/** Throws E_INTERRUPTED if the signal was aborted: what `work` returns or throws would say that reads failed. */
async function uninterrupted<T>({ signal }: RunOptions, work: Promise<T>): Promise<T> {
  const [done] = await Promise.allSettled([work]);
  if (signal?.aborted === true) throw interruptedError();
  return done.status === "fulfilled" ? done.value : await work;
}

/**
 * What `apply` would do. Reads only. Throws DimsyncError if the account cannot be opened, and E_INTERRUPTED if `signal` is aborted; a failed read makes
 * the plan incomplete instead.
 */
export async function plan(project: Project, options: PlanOptions & RunOptions = {}): Promise<Plan> {
  return uninterrupted(options, planAccount(project, { ...options, failOn: ["changes"] }, runEnvironment(options)));
}

/** The differences between the manifests and the account, and who made them. Reads only. Throws as `plan` does. */
export async function drift(project: Project, options: Omit<DriftOptions, "revert" | "failOn"> & RunOptions = {}): Promise<Plan> {
  return (await uninterrupted(options, driftAccount(project, options, runEnvironment(options)))).report;
}

/** Makes the account match the manifests; with `saved`, sends exactly the requests of that plan. Throws only before the first write. */
export async function apply(project: Project, options: ApplyAccountOptions & RunOptions = {}): Promise<Result> {
  return (await applyAccount(project, options, runEnvironment(options))).result;
}

/**
 * Writes manifests and bindings for the objects of the account, or updates them, and plans the result. Reads the account only; writes files.
 * Throws ProblemsError, DimsyncError E_LOCKED and E_OUTPUT, and ServiceError.
 */
export async function importAccount(options: ProjectOptions & ImportProjectOptions & RunOptions): Promise<ImportReport> {
  const loaded = loadOptions(options);
  return (await importProject(await load(loaded), { ...options, load: loaded }, runEnvironment(options))).report;
}

/**
 * Which rule decides a schema, table or column, for each integration that the SchemaConfig selects. `path`: the names of the schema, table and column.
 * Reads only. Throws DimsyncError.
 */
export async function explain(
  project: Project,
  { address, path }: { readonly address: Address; readonly path: readonly string[] },
  options: RunOptions = {},
): Promise<readonly ExplainedNode[]> {
  return uninterrupted(options, explainSchemaNode(project, { address, node: nodeOf(path) }, runEnvironment(options)));
}

function nodeOf([schema, table, column, ...more]: readonly string[]): NodePath {
  if (schema === undefined || more.length > 0)
    throw new DimsyncError(
      "E_USAGE",
      "path must contain the names of a schema, or of a schema and a table, or of a schema, a table and a column.",
    );
  if (table === undefined) return [schema];
  return column === undefined ? [schema, table] : [schema, table, column];
}
