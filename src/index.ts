// The library: what the command line does, as functions. Nothing here prints, ends the process or reads process.env unless it is given.

import { driftExit, planExit } from "./engine/exit-codes.ts";
import type { PlanOptions } from "./engine/session.ts";
import { type LoadOptions, loadProject as load, type Project } from "./manifests/project.ts";
import type { Environment } from "./model/env.ts";
import type { Plan } from "./model/plan.ts";
import type { Result } from "./model/result.ts";
import { type ApplyAccountOptions, applyAccount } from "./operations/apply.ts";
import { planAccount } from "./operations/plan.ts";
import type { RunEnvironment } from "./operations/session.ts";

export type { EmbeddedOptions, EmbeddedService } from "./embedded/index.ts";
export { startEmbeddedService } from "./embedded/index.ts";
export type { PlanOptions } from "./engine/session.ts";
export type { Project } from "./manifests/project.ts";
export type { Address } from "./model/address.ts";
export { DimsyncError, ProblemsError, ServiceError } from "./model/errors.ts";
export type { Exit, ExitCode } from "./model/exit.ts";
export type * from "./model/live.ts";
export type * from "./model/plan.ts";
export type { Diagnostic, Problem } from "./model/problem.ts";
export type { ProgressEvent } from "./model/progress.ts";
export type * from "./model/result.ts";
export { Secret } from "./model/secret.ts";
export { type Document, type Format, type RenderOptions, renderers } from "./render/index.ts";
export { type Client, type ClientOptions, createClient } from "./service/client.ts";

/** Where a run may look, and how it is stopped. Without `env` no environment variable is seen. */
export interface RunOptions {
  readonly env?: Environment;
  readonly signal?: AbortSignal;
  readonly onProgress?: RunEnvironment["onProgress"];
}

const runEnvironment = ({ env, signal, onProgress }: RunOptions): RunEnvironment => ({
  env: env ?? {},
  signal: signal ?? new AbortController().signal,
  onProgress,
});

/** Reads config and manifests. Mistakes in manifests are `problems` of the project; throws ProblemsError where the config can't be used. */
export function loadProject(options: Omit<LoadOptions, "env"> & { readonly env?: Environment }): Promise<Project> {
  return load({ ...options, env: options.env ?? {} });
}

/** What `apply` would do. Reads only. Throws DimsyncError where the account can't be opened; a failed read makes the plan incomplete instead. */
export async function plan(project: Project, options: PlanOptions & RunOptions = {}): Promise<Plan> {
  const made = await planAccount(project, options, runEnvironment(options));
  return { ...made, exit: planExit(made, { detailed: true, failOn: [] }) };
}

/** Where the account differs. Reads only. */
export async function drift(project: Project, options: PlanOptions & RunOptions = {}): Promise<Plan> {
  const made = await planAccount(project, options, runEnvironment(options), "DriftReport");
  return { ...made, exit: driftExit(made, []) };
}

/** Makes the account equal the manifests; with `saved`, makes exactly that plan's calls. Throws only before the first write. */
export async function apply(project: Project, options: ApplyAccountOptions & RunOptions = {}): Promise<Result> {
  return (await applyAccount(project, options, runEnvironment(options))).result;
}
