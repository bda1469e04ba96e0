import { resolve } from "node:path";
import { ofTarget } from "../cli/each-target.ts";
import { withSignalsCaught } from "../cli/io.ts";
import { checkOutputs, checkWritable, writeDocuments, writeMetricsFlag } from "../cli/output.ts";
import { failOnFlags } from "../cli/plan-options.ts";
import { loadOptions, loadProjects } from "../cli/project.ts";
import { say } from "../cli/say.ts";
import type { FailOn } from "../engine/exit-codes.ts";
import { fetchMissing } from "../git/base.ts";
import { listTargets, type Project } from "../manifests/project.ts";
import { DimsyncError, ProblemsError } from "../model/errors.ts";
import type { ExitCode } from "../model/exit.ts";
import { once } from "../model/maps.ts";
import type { Plan } from "../model/plan.ts";
import type { Environment } from "../model/settings/env.ts";
import { planAccount } from "../operations/core/plan.ts";
import { savePlan } from "../operations/core/saved-plan.ts";
import { secretVariablesAt, targetChange } from "../operations/core/target-changes.ts";
import { validateProject } from "../operations/core/validate.ts";
import { type CiContext, type CiJob, eachJobTarget, endJob, jobDestinations, planSinceApply, targetsOutput, touchedLines } from "./job.ts";
import { notMade } from "./plan-comment.ts";
import { commentPlans, type PlannedTargets, withdrawComments } from "./provider.ts";

/** `dimsync ci plan`: plans each target, and comments on the pull request. */
export async function planJob(context: CiContext, job: CiJob): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  if (job.environment.isRestricted && !hasKey(io.env)) return await validateJob(context, job);
  const isCommented = flags.comment !== false;
  const planned = await planTargets(context, job).catch(async (error: unknown) => {
    if (isCommented) await withdrawComments(job, flags.target);
    throw error;
  });
  const { plans, failed, projects } = planned;
  const planFile = flags.out === undefined || plans.length === 0 ? undefined : resolve(cwd, flags.out);
  if (planFile !== undefined)
    for (const plan of plans) await withSignalsCaught(io, () => savePlan(planFile, plan, { env: io.env, signal: io.interrupted }));
  const failures = failed.map(({ target, failure }) => ({ ...failure, title: notMade("plan", target) }));
  const touched = await touchedLines(context, job, { documents: plans, failures });
  if (plans.length > 0) await writeDocuments(context, jobDestinations(context, job), plans, touched);
  await writeMetricsFlag(context, plans);
  const code = await endJob(context, job, {
    documents: plans,
    failures,
    touched,
    outputs: targetsOutput(job, projects),
    ...(planFile === undefined ? {} : { planFile }),
  });
  if (isCommented) await commentPlans(job, planned);
  return code;
}

interface Planned extends PlannedTargets {
  readonly projects: readonly Project[];
}

/** A target that the pull request changed is not planned, because its author could have changed it to get the API key. */
async function planTargets(context: CiContext, { environment }: CiJob): Promise<Planned> {
  const { flags, cwd } = context;
  checkOutputs(context);
  const failOn = flags.failOn.length === 0 ? (["blocked"] as const) : failOnFlags(flags.failOn, "Plan");
  if (flags.out !== undefined) checkWritable("--out", flags.out, resolve(cwd, flags.out));
  const secretVariables = environment.isPullRequest ? once(() => secretVariablesAt(environment.base, loadOptions(context, []))) : undefined;
  const projects = await loadProjects(context, { account: true, interruptible: true, secretVariables });
  if (flags.out !== undefined && projects.length > 1)
    throw new DimsyncError("E_USAGE", "--out saves the plan of one target. Select it with -t NAME.");
  const { made, failed } = await eachJobTarget(context, projects, async (project) => {
    const change = environment.isPullRequest ? await targetChange(project, environment.base, loadOptions(context, [])) : undefined;
    if (change !== undefined) throw new ProblemsError([change], project.locate);
    return await planTarget(context, environment, { project, failOn });
  });
  const known = await listTargets(loadOptions(context, []));
  return { plans: made.map(({ document }) => document), failed, projects, known };
}

/** The base of a pull request, or the commit that was applied last, shows what the manifests cause, and what someone changed in the account. */
async function planTarget(
  context: CiContext,
  { isPullRequest, base }: CiJob["environment"],
  { project, failOn }: { readonly project: Project; readonly failOn: readonly FailOn[] },
): Promise<Plan> {
  if (!isPullRequest) return await ofTarget(context, project, planSinceApply(context, failOn));
  const plan: typeof planAccount = (given, options, run) => planAccount(given, { ...options, failOn }, run);
  if (base === undefined) return await ofTarget(context, project, plan);
  await fetchMissing(project.settings.folder, base, context.io.env);
  return await ofTarget({ ...context, flags: { ...context.flags, base } }, project, plan);
}

async function validateJob(context: CiContext, job: CiJob): Promise<ExitCode> {
  say(context.io, "A pull request from a fork or from Dependabot has no secrets, so dimsync only validates its manifests.");
  checkOutputs(context);
  const documents = await Promise.all((await loadProjects(context, { interruptible: true })).map(validateProject));
  const touched = await touchedLines(context, job, { documents, failures: [] });
  await writeDocuments(context, jobDestinations(context, job), documents, touched);
  return await endJob(context, job, { documents, failures: [], touched });
}

const hasKey = ({ DIMSYNC_API_KEY: key, DIMSYNC_API_KEY_FILE: file }: Environment): boolean => (key ?? "") !== "" || (file ?? "") !== "";
