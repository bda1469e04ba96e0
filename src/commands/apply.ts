import { resolve } from "node:path";
import { planExit } from "../engine/exits.ts";
import type { Project } from "../manifests/project.ts";
import { DimsyncError } from "../model/errors.ts";
import { combineExits, type ExitCode } from "../model/exit.ts";
import type { Plan, Result } from "../model/plan.ts";
import { type Context, wantsColor } from "./context.ts";
import type { ApplyFlags } from "./flags.ts";
import { type ApplyAccountOptions, applyAccount } from "./operations.ts";
import { checkOutputs, deliver } from "./output.ts";
import { runPlan } from "./plan.ts";
import { planOptions } from "./plan-options.ts";
import { showProgress } from "./progress.ts";
import { durationFlag, loadProjects } from "./project.ts";
import { checkSavedPlan, refuseUnsavedOnProtected } from "./saved-plan.ts";

/** `dimsync apply [FILE]`: makes the calls of a plan, verifies them, records the ids. */
export async function runApply(context: Context<ApplyFlags>, file: string | undefined): Promise<ExitCode> {
  const { flags, cwd, io } = context;
  if (flags.dryRun === true) return runPlan(context, []);
  await checkOutputs(context);
  if (flags.readOnly === true || isSet(io.env["DIMSYNC_READ_ONLY"]))
    throw new DimsyncError(
      "E_READ_ONLY",
      "apply writes, and this run is read-only (--read-only or DIMSYNC_READ_ONLY). Use plan to see what it would do.",
    );
  if (file === undefined && flags.yes !== true && !(io.stdinIsTty && io.stderrIsTty))
    throw new DimsyncError(
      "E_NOT_CONFIRMED",
      "apply asks before it writes, and there is no terminal to ask on. Give --yes, or a plan that `dimsync plan --out FILE` saved.",
    );
  const projects = await loadProjects(context);
  if (file !== undefined && projects.length > 1) throw new DimsyncError("E_USAGE", "A saved plan is for one target. Name it with -t.");
  const results: Result[] = [];
  for (const project of projects) results.push(await applyTarget(context, project, file === undefined ? undefined : resolve(cwd, file)));
  const { writeAtomic } = await import("../records/atomic.ts");
  if (flags.result !== undefined)
    await writeAtomic(resolve(cwd, flags.result), `${JSON.stringify(results.length === 1 ? results[0] : results, undefined, 2)}\n`);
  await deliver(context, results);
  return combineExits(results.map(({ exit }) => exit)).code;
}

const isSet = (text: string | undefined): boolean => text !== undefined && text !== "" && text !== "0" && text !== "false";

async function applyTarget(context: Context<ApplyFlags>, project: Project, file: string | undefined): Promise<Result> {
  const { flags, io } = context;
  const { settings } = project;
  const saved =
    file === undefined
      ? undefined
      : await checkSavedPlan(file, project, {
          digestKey: io.env["DIMSYNC_DIGEST_KEY"],
          ...(flags.maxPlanAge === undefined ? {} : { maxAgeMs: durationFlag("--max-plan-age", flags.maxPlanAge) }),
        });
  if (saved === undefined) refuseUnsavedOnProtected(settings);
  const progress = showProgress(context);
  const options: ApplyAccountOptions = {
    ...planOptions(flags),
    failFast: flags.failFast === true,
    lockTimeoutMs: flags.lockTimeout === undefined ? 0 : durationFlag("--lock-timeout", flags.lockTimeout),
    onNotice: (text) => io.stderr(`dimsync: ${text}\n`),
    ...(saved === undefined ? {} : { saved }),
    ...(flags.yes === true || saved !== undefined ? {} : { confirm: (plan) => ask(context, plan, progress.end) }),
  };
  try {
    return (await applyAccount(project, options, { env: io.env, signal: io.interrupted, onProgress: progress.onProgress })).result;
  } finally {
    progress.end();
  }
}

/** Shows the plan on stderr and asks; only "y" and "yes" go on. */
async function ask(context: Context<ApplyFlags>, plan: Plan, endProgress: () => void): Promise<boolean> {
  const { io, flags } = context;
  endProgress();
  const { renderHuman } = await import("../render/human/index.ts");
  io.stderr(
    renderHuman(
      { ...plan, exit: planExit(plan, { detailed: false, failOn: [] }) },
      { color: wantsColor(context, io.stderrIsTty), width: io.columns, verbose: flags.verbose === true },
    ),
  );
  const answer = await io.ask(`\nApply this to ${plan.target} (${plan.account})? [y/N] `);
  return /^y(?:es)?$/iu.test(answer.trim());
}
