import { leftAt } from "../core/base/git/base.ts";
import { interruptedError } from "../core/base/model/errors.ts";
import { type Project, withLocations } from "../core/manifests/index.ts";
import { loadReviewBase, type RunEnvironment } from "../core/operations/index.ts";
import type { PlanOptions } from "../core/plan/index.ts";
import type { Context } from "./context.ts";
import type { PlanFlags } from "./flags.ts";
import { say, withSignalsCaught } from "./io.ts";
import { planOptions } from "./plan-options.ts";
import { withRun } from "./progress.ts";
import { loadProjects } from "./project.ts";

export interface MadeOfTarget<T> {
  readonly project: Project;
  readonly made: T;
}

/** An operation that compares a project with its account. */
type Make<T> = (project: Project, options: PlanOptions, run: RunEnvironment) => Promise<T>;

/** Makes something of every target of the flags, one after the other. Throws E_INTERRUPTED instead of returning what is incomplete. */
export async function eachTarget<T>(
  context: Context<PlanFlags>,
  paths: readonly string[],
  make: Make<T>,
): Promise<readonly MadeOfTarget<T>[]> {
  const projects = await loadProjects(context, { paths, account: true, interruptible: true });
  const results: MadeOfTarget<T>[] = [];
  for (const project of projects) results.push({ project, made: await ofTarget(context, project, make) });
  return results;
}

/** The same for one target. */
export async function ofTarget<T>(context: Context<PlanFlags>, project: Project, make: Make<T>): Promise<T> {
  const { io, flags } = context;
  const { base: ref } = flags;
  const base =
    ref === undefined
      ? undefined
      : await withSignalsCaught(io, async () => {
          const commit = await leftAt(project.settings.folder, ref, io.env);
          return await baseOfTarget(context, project, { commit, ref });
        });
  const options = { ...planOptions(flags), ...(base === undefined ? {} : { base }) };
  const made = await withLocations(
    project,
    withRun(context, (run) => make(project, options, run)),
  );
  // Reads that an interruption ended look like failed reads, so the plan is useless.
  if (io.interrupted.aborted) throw interruptedError();
  return made;
}

/** The project at a commit, as the base of its plan. Says if it could only be read in part. `ref`: what the user calls the commit. */
export async function baseOfTarget(
  context: Context<PlanFlags>,
  project: Project,
  { commit, ref = commit }: { readonly commit: string; readonly ref?: string },
): ReturnType<typeof loadReviewBase> {
  const base = await loadReviewBase(project, commit);
  if (base.errors !== "" && context.flags.quiet !== true)
    say(context.io, `The project at ${ref} could only be read in part (${base.errors}). Manifests that are missing there count as new.`);
  return base;
}
