// The library: what the command line does, as functions. Nothing here prints, ends the process, or
// reads process.env unless you pass it. docs/library.md describes it.

import type { PlanOptions } from "./engine/session.ts";
import type { ImportReport } from "./import/report.ts";
import { type LoadOptions, listTargets as list, loadProject as load, type Project } from "./manifests/project.ts";
import type { Address } from "./model/address.ts";
import type { Comparison } from "./model/comparison.ts";
import { DimsyncError } from "./model/errors.ts";
import type { NodePath } from "./model/nodes.ts";
import type { Plan } from "./model/plan.ts";
import type { Result } from "./model/result.ts";
import type { Environment } from "./model/settings/env.ts";
import { compareSides } from "./operations/adopt/compare.ts";
import { type ImportProjectOptions, importProject } from "./operations/adopt/import.ts";
import { type SnapshotTaken, takeSnapshot } from "./operations/adopt/snapshot.ts";
import { type ApplyAccountOptions, applyAccount } from "./operations/core/apply.ts";
import { type DriftOptions, driftAccount } from "./operations/core/drift.ts";
import { planAccount } from "./operations/core/plan.ts";
import { type ExplainedNode, explainSchemaNode } from "./operations/inspect/explain.ts";
import type { RunEnvironment } from "./operations/session.ts";

export type { EmbeddedOptions, EmbeddedService } from "./embedded/index.ts";
export { startEmbeddedService } from "./embedded/index.ts";
export type { PlanOptions } from "./engine/session.ts";
export type { ImportReport } from "./import/report.ts";
export { integrations, tags, users } from "./kinds/lists.ts";
export type { LoadOptions, Project } from "./manifests/project.ts";
export type { Address } from "./model/address.ts";
export { eachChange } from "./model/changes.ts";
export type { GoneColumn, NewColumn, SeenGroup } from "./model/columns.ts";
export type { Comparison } from "./model/comparison.ts";
export { DimsyncError, ProblemsError, ServiceError } from "./model/errors.ts";
export type { Exit, ExitCode } from "./model/exit.ts";
export type * from "./model/live.ts";
export type { Nodes } from "./model/nodes.ts";
export type * from "./model/plan.ts";
export type { Diagnostic, Problem } from "./model/problem.ts";
export type * from "./model/result.ts";
export type { ProgressEvent } from "./model/runtime/progress.ts";
export type { Environment } from "./model/settings/env.ts";
export { Secret } from "./model/settings/secret.ts";
export type { ImportProjectOptions } from "./operations/adopt/import.ts";
export type { SnapshotTaken } from "./operations/adopt/snapshot.ts";
export type { ApplyAccountOptions } from "./operations/core/apply.ts";
export type { ExplainedNode } from "./operations/inspect/explain.ts";
export { type Document, type Format, type RenderOptions, renderers } from "./render/index.ts";
export { type Client, type ClientOptions, createClient } from "./service/client.ts";

/** What a run may read, and how to stop it. Without `env`, no environment variable is read. */
export interface RunOptions {
  readonly env?: Environment;
  readonly signal?: AbortSignal;
  readonly onProgress?: RunEnvironment["onProgress"];
}

/** What a plan reads. */
export interface ReadOptions {
  /** Absolute path of a snapshot that is read instead of the account; needs no key and no network. */
  readonly snapshotFile?: string;
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

const runEnvironment = ({ env, signal, onProgress, snapshotFile }: RunOptions & ReadOptions): RunEnvironment => ({
  env: env ?? {},
  signal: signal ?? new AbortController().signal,
  onProgress,
  snapshotFile,
});

/** The names of the targets in the config; empty if it has none. Throws ProblemsError if there is no usable config. */
export async function listTargets(options: ProjectOptions): Promise<readonly string[]> {
  return list(loadOptions(options));
}

/** Reads config and manifests. Mistakes in manifests are `problems` of the project; throws ProblemsError if the config cannot be used. */
export async function loadProject(options: ProjectOptions): Promise<Project> {
  return load(loadOptions(options));
}

/** What `apply` would do. Reads only. Throws DimsyncError if the account cannot be opened; a failed read makes the plan incomplete instead. */
export async function plan(project: Project, options: PlanOptions & RunOptions & ReadOptions = {}): Promise<Plan> {
  return planAccount(project, { ...options, failOn: ["changes"] }, runEnvironment(options));
}

/** The differences between the manifests and the account, and who made them. Reads only. */
export async function drift(
  project: Project,
  options: Omit<DriftOptions, "revert" | "failOn"> & RunOptions & ReadOptions = {},
): Promise<Plan> {
  return (await driftAccount(project, options, runEnvironment(options))).report;
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

/** Compares two accounts, or an account with a snapshot file (absolute path). Reads only. Throws DimsyncError. */
export function compare(from: Project | string, to: Project | string, options: RunOptions = {}): Promise<Comparison> {
  return compareSides(side(from), side(to), runEnvironment(options));
}

const side = (one: Project | string) =>
  typeof one === "string" ? { name: one, source: { snapshotFile: one } } : { name: one.settings.target, source: one };

/** Saves the live state of the project's account to a file (absolute path). Reads the account only. Throws DimsyncError. */
export function snapshot(project: Project, file: string, options: RunOptions = {}): Promise<SnapshotTaken> {
  return takeSnapshot(project, file, runEnvironment(options));
}

/**
 * Which rule decides a schema, table or column, for each integration that the SchemaConfig selects. `path`: the names of the schema, table and column.
 * Reads only. Throws DimsyncError.
 */
export async function explain(
  project: Project,
  { address, path }: { readonly address: Address; readonly path: readonly string[] },
  options: RunOptions & ReadOptions = {},
): Promise<readonly ExplainedNode[]> {
  return explainSchemaNode(project, { address, node: nodeOf(path) }, runEnvironment(options));
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
