import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Context } from "../cli/context.ts";
import type { CiFlags } from "../cli/flags.ts";
import { setGithubOutputs } from "../cli/github-outputs.ts";
import { say } from "../cli/say.ts";
import type { CiEnvironment } from "../forge/environment.ts";
import { DimsyncError } from "../model/errors.ts";
import type { ExitCode } from "../model/exit.ts";
import type { Environment } from "../model/settings/env.ts";
import { writeCommands } from "../text/workflow-commands.ts";
import { ciApply } from "./apply.ts";
import { artifactSuffix } from "./apply-job.ts";
import { plansIn, withOutputs } from "./documents.ts";
import { type CiJob, commentPlans, reportDrift, withdrawComments } from "./provider.ts";

const tasks = ["plan", "apply", "drift"] as const;

interface CiRun {
  readonly job: CiJob;
  /** For files of this run only. */
  readonly folder: string;
}

/**
 * `dimsync ci TASK [FILE]`: the command of the same name, and what a job needs besides, so that no
 * workflow needs a script: the comment on the pull request, the issue about drift, the push of a
 * bindings file. Throws E_USAGE for an unknown task.
 */
export async function runCi(context: Context<CiFlags>, task: string, planFile: string | undefined): Promise<ExitCode> {
  const known = checkUsage(context, task, planFile);
  const { io, cwd } = context;
  const { readCiEnvironment } = await import("../forge/environment.ts");
  const environment = readCiEnvironment(io.env, cwd);
  io.catchSignals?.();
  const folder = await mkdtemp(join(io.env["RUNNER_TEMP"] || tmpdir(), "dimsync-"));
  // If stdout belongs to another format, the summary, the outputs and the annotations are still
  // written.
  const annotationsFile = join(folder, "github.txt");
  const isStdoutFree = context.flags.output.every((text) => text.includes("="));
  const inner = environment.provider === "github" ? withOutputs(context, [isStdoutFree ? "github" : `github=${annotationsFile}`]) : context;
  const run: CiRun = { job: { environment, env: io.env, signal: io.interrupted, log: io.stderr }, folder };
  try {
    if (known === "plan") return await ciPlan(inner, run);
    return known === "apply"
      ? await ciApply(await withPushes(inner, environment), { environment, folder, planFile })
      : await ciDrift(inner, run);
  } catch (error) {
    if (io.interrupted.aborted) return 130;
    // Here and not in main, whose flags do not ask for the outputs of a step.
    const { reportError } = await import("../cli/report-error.ts");
    return reportError(inner, error);
  } finally {
    if (existsSync(annotationsFile)) writeCommands(io.stderr, annotationsIn(readFileSync(annotationsFile, "utf8")));
    await rm(folder, { recursive: true, force: true });
  }
}

function checkUsage({ flags }: Context<CiFlags>, task: string, planFile: string | undefined): (typeof tasks)[number] {
  const known = tasks.find((one) => one === task);
  if (known === undefined) throw new DimsyncError("E_USAGE", `dimsync ci takes ${tasks.join(", ")}, not ${JSON.stringify(task)}.`);
  if (planFile !== undefined && known !== "apply")
    throw new DimsyncError("E_USAGE", `dimsync ci ${known} takes no file. Only dimsync ci apply takes a saved plan.`);
  if (flags.protectOnly === true && known === "drift")
    throw new DimsyncError("E_USAGE", "dimsync ci drift only reports. --protect-only is for plan and apply.");
  if (flags.pullRequest === true && known !== "drift")
    throw new DimsyncError("E_USAGE", `--pull-request is a flag of dimsync ci drift, not of dimsync ci ${known}.`);
  if (flags.bindings !== undefined && !["push", "upload", "none"].includes(flags.bindings))
    throw new DimsyncError("E_USAGE", `--bindings takes push, upload or none, not ${JSON.stringify(flags.bindings)}.`);
  return known;
}

/** The same run with the credentials to push records to the remote of the checkout. */
async function withPushes(context: Context<CiFlags>, environment: CiEnvironment): Promise<Context<CiFlags>> {
  const { originCredentials } = await import("./push-credentials.ts");
  const { io } = context;
  return { ...context, io: { ...io, env: originCredentials(environment, io.env) } };
}

async function ciPlan(context: Context<CiFlags>, { job, folder }: CiRun): Promise<ExitCode> {
  const { io, flags } = context;
  if (job.environment.isRestricted && !hasKey(io.env)) {
    say(io, "A pull request from a fork or from Dependabot has no secrets, so dimsync only validates its manifests.");
    const { runValidate } = await import("../commands/core/validate.ts");
    return await runValidate(context, []);
  }
  const file = join(folder, "plan.json");
  const [{ runPlan }, { refuseChangedTargets }] = await Promise.all([import("../commands/core/plan.ts"), import("./changed-targets.ts")]);
  const planned = async (): Promise<ExitCode> => {
    if (job.environment.base !== undefined) await refuseChangedTargets(context, job.environment.base);
    return await runPlan(withOutputs(context, [`json=${file}`]), []);
  };
  const code = await planned().catch(async (error: unknown) => {
    if (flags.comment !== false) await withdrawComments(job, flags.target);
    throw error;
  });
  const plans = await plansIn(file);
  if (flags.comment !== false) await commentPlans(job, plans);
  setArtifactSuffix(
    context,
    job,
    plans.map(({ target }) => target),
  );
  return code;
}

/**
 * If every report is in an issue or pull request, the job succeeds despite drift: exit 2 becomes 0. The output
 * `exit_code` stays 2.
 */
async function ciDrift(context: Context<CiFlags>, { job, folder }: CiRun): Promise<ExitCode> {
  const { runDrift } = await import("../commands/core/drift.ts");
  const file = join(folder, "drift.json");
  const code = await runDrift(withOutputs(context, [`json=${file}`]), []);
  const reports = await plansIn(file);
  const isInIssue = context.flags.issue !== false && (await reportDrift(job, reports));
  const isInPull =
    context.flags.pullRequest === true && (await (await import("./drift-pull-request.ts")).requestDriftPulls(context, job, reports));
  return code === 2 && (isInIssue || isInPull) ? 0 : code;
}

function setArtifactSuffix({ io }: Context<CiFlags>, { environment }: CiJob, targets: readonly string[]): void {
  if (environment.provider !== "github") return;
  setGithubOutputs(io.env["GITHUB_OUTPUT"] ?? "", { artifact_suffix: artifactSuffix(environment.folder, targets) });
}

/** The annotations in the text, which the runner also reads on stderr. */
const annotationsIn = (text: string): string => (text.match(/^::(?:error|warning|notice) .*\n/gmu) ?? []).join("");

const hasKey = ({ DIMSYNC_API_KEY: key, DIMSYNC_API_KEY_FILE: file }: Environment): boolean => (key ?? "") !== "" || (file ?? "") !== "";
