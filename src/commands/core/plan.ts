import { resolve } from "node:path";
import { type Context, recordsNotice } from "../../cli/context.ts";
import type { PlanFlags } from "../../cli/flags.ts";
import { checkOutputs, checkWritable, deliver } from "../../cli/output.ts";
import { planOptions } from "../../cli/plan-options.ts";
import { showProgress } from "../../cli/progress.ts";
import { loadOptions, loadProjects } from "../../cli/project.ts";
import { say } from "../../cli/say.ts";
import { type FailOn, failOnNames, withPlanExit } from "../../engine/exit-codes.ts";
import type { PlanOptions } from "../../engine/session.ts";
import type { Project } from "../../manifests/project.ts";
import { DimsyncError, interruptedError } from "../../model/errors.ts";
import { combineExits, type ExitCode } from "../../model/exit.ts";
import type { Plan } from "../../model/plan.ts";
import { loadBase } from "../../operations/core/base.ts";
import { planAccount } from "../../operations/core/plan.ts";
import type { RunEnvironment } from "../../operations/session.ts";
import { didYouMean } from "../../text/suggest.ts";

/** `dimsync plan`: shows what apply would change. Only sends GET. */
export async function runPlan(context: Context<PlanFlags>, paths: readonly string[]): Promise<ExitCode> {
  const { flags, cwd, io } = context;
  checkOutputs(context);
  const failOn = failOnFlags(flags.failOn, "Plan");
  if (flags.out !== undefined) checkWritable("--out", flags.out, resolve(cwd, flags.out));
  const planned = await eachTarget(context, paths, planAccount);
  const plans = planned.map(({ made }) => withPlanExit(made, { detailed: flags.detailedExitcode === true, failOn }));
  if (flags.out !== undefined) {
    const [only, second] = plans;
    if (only === undefined || second !== undefined)
      throw new DimsyncError("E_USAGE", "--out saves the plan of one target. Select it with -t NAME.");
    const { writePlanFile } = await import("../../records/plan-file.ts");
    await writePlanFile(resolve(cwd, flags.out), only, { digestKey: io.env["DIMSYNC_DIGEST_KEY"], signal: io.interrupted });
  }
  await deliver(context, plans);
  return combineExits(plans.map(({ exit }) => exit)).code;
}

export interface MadeOfTarget<T> {
  readonly project: Project;
  readonly made: T;
}

/** Makes something of every target of the flags, one after the other. Throws E_INTERRUPTED instead of returning what is incomplete. */
export async function eachTarget<T>(
  context: Context<PlanFlags>,
  paths: readonly string[],
  make: (project: Project, options: PlanOptions, run: RunEnvironment) => Promise<T>,
): Promise<readonly MadeOfTarget<T>[]> {
  const { io, flags } = context;
  const options = planOptions(flags);
  const projects = await loadProjects(context, { paths, account: flags.snapshot === undefined });
  const results: MadeOfTarget<T>[] = [];
  for (const project of projects) {
    const base = flags.base === undefined ? undefined : await loadBase(project, flags.base, loadOptions(context, paths));
    if (base !== undefined && base.errors > 0 && flags.quiet !== true)
      say(
        io,
        `The project at ${flags.base ?? ""} could only be read in part (errors: ${base.errors}). Manifests that are missing there count as new.`,
      );
    const progress = showProgress(context);
    try {
      const made = await make(
        project,
        { ...options, ...(base === undefined ? {} : { base }) },
        {
          env: io.env,
          signal: io.interrupted,
          onProgress: progress.onProgress,
          onRecords: recordsNotice(context),
          ...(flags.snapshot === undefined ? {} : { snapshotFile: resolve(context.cwd, flags.snapshot) }),
        },
      );
      // Reads that an interruption ended look like failed reads, so the plan is useless.
      if (io.interrupted.aborted) throw interruptedError();
      results.push({ project, made });
    } finally {
      progress.end();
    }
  }
  return results;
}

/** `--fail-on a,b` of the command that makes such a document. Throws E_USAGE for an unknown word. */
export function failOnFlags(texts: readonly string[], kind: Plan["kind"]): readonly FailOn[] {
  const known: readonly string[] = failOnNames[kind];
  const words = texts
    .flatMap((text) => text.split(","))
    .map((word) => word.trim())
    .filter((word) => word !== "");
  const unknown = words.find((word) => !known.includes(word));
  if (unknown !== undefined)
    throw new DimsyncError(
      "E_USAGE",
      `Unknown --fail-on value ${JSON.stringify(unknown)}. Known values: ${known.join(", ")}.${didYouMean(unknown, known)}`,
    );
  return failOnNames[kind].filter((name) => words.includes(name));
}
