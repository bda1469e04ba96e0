import { resolve } from "node:path";
import { ofTarget } from "../../cli/each-target.ts";
import { stepPieces, writeGithubStep } from "../../cli/github-outputs.ts";
import { say } from "../../cli/io.ts";
import { checkOutputs, type Destination, filePrefix, writeDocuments } from "../../cli/output.ts";
import { applyOptions, failOnFlags, refuseReadOnly } from "../../cli/plan-options.ts";
import { withRun } from "../../cli/progress.ts";
import { loadOptions, loadProjects } from "../../cli/project.ts";
import { printError } from "../../cli/report-error.ts";
import { withSettings } from "../../core/base/git/remote.ts";
import { DimsyncError } from "../../core/base/model/errors.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import type { Plan, Result } from "../../core/base/model/plan.ts";
import { isLocal } from "../../core/base/model/settings/config.ts";
import type { Environment } from "../../core/base/model/settings/env.ts";
import { shellWord } from "../../core/base/text/shell.ts";
import { listTargets, type Project } from "../../core/manifests/index.ts";
import type { CiEnvironment } from "../../core/operations/forge/index.ts";
import { applyAccount, planAccount, readRecords, readSavedPlan, recordUnchanged } from "../../core/operations/index.ts";
import { unchangedExit } from "../../core/plan/index.ts";
import { type CiContext, type CiJob, endJob, type FailedTarget, isStep, jobDestinations, stdoutFormat, targetsOutput } from "./job.ts";
import { type AppliedBefore, commentResults, failedTitle } from "./results.ts";

/**
 * `dimsync ci apply [FILE]`: makes a plan of each target, shows it and applies exactly that plan,
 * which also works for protected targets. With a file, applies that plan. Stops at the first target that
 * fails without a result.
 */
export async function applyJob(given: CiContext, job: CiJob, planFile: string | undefined): Promise<ExitCode> {
  const { flags, io, cwd } = given;
  if (flags.allTargets === true) throw new DimsyncError("E_USAGE", "dimsync ci apply takes each target by name. Name them with -t.");
  checkOutputs(given);
  refuseReadOnly(given);
  // Records are pushed to the remote of the checkout.
  const context = { ...given, io: { ...io, env: originCredentials(job.environment, io.env) } };
  // An unknown target is reported before the first one is written to.
  const projects = await loadProjects(context, { account: true, interruptible: true });
  if (planFile !== undefined && projects.length > 1) throw new DimsyncError("E_USAGE", "A saved plan is for one target. Name it with -t.");
  const saved = planFile === undefined ? undefined : await readSavedPlan(resolve(cwd, planFile), io.env);
  const log = openLog(context, job);
  const documents: (Plan | Result)[] = [];
  const plans: Plan[] = [];
  const before = new Map<string, AppliedBefore>();
  const failed: FailedTarget[] = [];
  const attempt = async (target: string, work: () => Promise<void>): Promise<void> => {
    await work().catch((error: unknown) => {
      if (!io.interrupted.aborted) failed.push({ target, failure: printError(context, error) });
    });
  };
  for (const project of projects) {
    warnOfLocalRecords(context, job, project);
    const onDocument = (document: Plan | Result): void => void documents.push(document);
    await attempt(project.settings.target, () =>
      applyTarget(context, project, {
        saved,
        log,
        onRecords: (known) => void before.set(project.settings.target, known),
        onPlan: (plan) => void plans.push(plan),
        onDocument,
      }),
    );
    if (failed.length > 0 || io.interrupted.aborted) break;
  }
  const known = await listTargets(loadOptions(context, []));
  const withoutDocument = failed.filter(({ target }) => documents.every((one) => one.target !== target));
  await attempt("", () => log.end(documents));
  const code = await endJob(context, job, {
    documents,
    failures: failed.map(({ target, failure }) => ({
      ...failure,
      ...(target === "" ? {} : { title: failedTitle(target, plans, filePrefix(context)) }),
    })),
    outputs: targetsOutput(job, projects),
    isSummarized: true,
  });
  if (flags.comment !== false) await commentResults(job, { documents, plans, failed: withoutDocument, known, before, folder: cwd });
  return code;
}

interface TargetApply {
  /** A plan that the user saved; undefined: make one. */
  readonly saved: Plan | undefined;
  readonly log: ApplyLog;
  readonly onRecords: (known: AppliedBefore) => void;
  readonly onPlan: (plan: Plan) => void;
  /** Called with the result, or with a plan that has no changes or cannot be applied. */
  readonly onDocument: (document: Plan | Result) => void;
}

async function applyTarget(
  context: CiContext,
  project: Project,
  { saved, log, onRecords, onPlan, onDocument }: TargetApply,
): Promise<void> {
  const report = async (document: Plan | Result): Promise<void> => {
    onDocument(document);
    await log.document(document);
  };
  const failOn = failOnFlags(context.flags.failOn, "Plan");
  const plan =
    saved ??
    (await ofTarget(context, project, async (of, options, run) => {
      const records = await readRecords(of.settings, run);
      const { commit, manifestDigest } = records.appliedCommit ?? {};
      onRecords({ commit, isSame: manifestDigest === of.manifestDigest() });
      return await planAccount(of, { ...options, failOn, isRecording: true, review: "after merge" }, { ...run, records });
    }));
  const hasWork = plan.steps.some(({ standing }) => standing === "ready" || standing === "waits" || standing === "held");
  if (saved === undefined && (plan.exit.code !== 0 || !hasWork)) {
    if (plan.exit.code === 0) await withRun(context, (run) => recordUnchanged(project, plan, run));
    return await report({ ...plan, exit: unchangedExit(plan) });
  }
  onPlan(plan);
  await log.plan(plan);
  const options = { ...applyOptions(context), saved: plan, isOwnPlan: saved === undefined };
  const { result } = await withRun(context, (run) => applyAccount(project, options, run));
  await report(result);
}

/** The log of the job, in which the targets follow one another, and the files of `-o`, which are written at the end. */
interface ApplyLog {
  /** Shows a plan before it is applied. */
  readonly plan: (plan: Plan) => Promise<void>;
  readonly document: (document: Plan | Result) => Promise<void>;
  /** Throws E_OUTPUT. */
  readonly end: (documents: readonly (Plan | Result)[]) => Promise<void>;
}

/** A file in the checkout would make the work tree of the next target's plan unclean, so files are written at the end. */
function openLog(context: CiContext, job: CiJob): ApplyLog {
  const { io } = context;
  const all = jobDestinations(context, job);
  const format = stdoutFormat(context, job);
  // One document for all targets can only be written at the end, and the log goes to stderr.
  const isLog = format === "human" || format === "github";
  const onStderr = { ...context, io: { ...io, stdout: io.stderr } };
  const summarize = (document: Plan | Result): void => {
    if (isStep(context, job))
      writeGithubStep(io.env, { ...stepPieces(io.env, [document], { filePrefix: filePrefix(context) }), outputs: {} });
  };
  const show = async (document: Plan | Result, to: Destination): Promise<void> =>
    writeDocuments(to.format === "human" && !isLog ? onStderr : context, [to], [document]);
  return {
    plan: async (plan) => {
      await show(plan, { format: "human" });
      summarize(plan);
    },
    document: async (document) => {
      await show(document, { format: isLog ? format : "human" });
      summarize(document);
    },
    end: async (documents) => {
      if (documents.length === 0) return;
      const isWrittenAtEnd = (one: Destination): boolean => one.file !== undefined || !isLog;
      await writeDocuments(context, all.filter(isWrittenAtEnd), documents);
    },
  };
}

/** Records in files are lost with the machine of the job, and a later create could be the second one. */
function warnOfLocalRecords({ io }: CiContext, { environment }: CiJob, { settings: { records, target } }: Project): void {
  if (environment.provider === "none" || !isLocal(records)) return;
  say(
    io,
    `${target}: the records are files of this machine, so later jobs do not know what this one creates. Move them to the remote of the repository:`,
    `dimsync records migrate --to git -t ${shellWord(target)}`,
  );
}

/**
 * The environment with settings of git that send pushes to the remote `origin` to the job's URL, and the token to that URL only. They put it
 * neither on a command line nor in a file. Unchanged if the checkout may push itself.
 */
export function originCredentials({ pushUrl, token }: Pick<CiEnvironment, "pushUrl" | "token">, env: Environment): Environment {
  if (pushUrl === undefined || token === undefined) return env;
  const header = `Authorization: Basic ${Buffer.from(`oauth2:${token}`).toString("base64")}`;
  const settings = [
    ["remote.origin.pushUrl", pushUrl],
    [`http.${pushUrl}.extraHeader`, header],
  ] as const;
  return withSettings(settings, env);
}
