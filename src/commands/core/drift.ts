import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import type { DriftFlags } from "../../cli/flags.ts";
import { checkOutputs, checkWritable, deliver } from "../../cli/output.ts";
import { planOptions } from "../../cli/plan-options.ts";
import { say } from "../../cli/say.ts";
import { withDriftExit } from "../../engine/exit-codes.ts";
import type { Project } from "../../manifests/project.ts";
import { DimsyncError } from "../../model/errors.ts";
import { combineExits, type ExitCode } from "../../model/exit.ts";
import type { Plan } from "../../model/plan.ts";
import { type Drift, driftAccount } from "../../operations/core/drift.ts";
import type { ReportHistory } from "../../render/index.ts";
import { momentFlag } from "../inspect/audit.ts";
import { acceptReport, checkDriftFlags, recordReport } from "./drift-actions.ts";
import { eachTarget, failOnFlags } from "./plan.ts";

/** `dimsync drift`: reports how the account differs, who changed it, and what to do. Never writes to the account; --resolve writes manifests or a plan file. */
export async function runDrift(context: Context<DriftFlags>, paths: readonly string[]): Promise<ExitCode> {
  const { flags, cwd } = context;
  checkOutputs(context);
  checkDriftFlags(flags);
  const failOn = failOnFlags(flags.failOn, "DriftReport");
  if (flags.snapshot !== undefined && flags.resolve === "revert")
    throw new DimsyncError(
      "E_USAGE",
      "--resolve revert cannot be combined with --snapshot: a plan made from a snapshot cannot be applied.",
    );
  const revertTo = flags.resolve === "revert" ? resolve(cwd, flags.out ?? "revert.plan.json") : undefined;
  if (revertTo !== undefined) checkWritable("--out", flags.out ?? "revert.plan.json", revertTo);
  const scope = {
    has: planOptions(flags).scope?.item ?? (() => true),
    isWhole: paths.length + flags.only.length + flags.exclude.length === 0 && flags.snapshot === undefined,
  };
  const histories = new Map<string, ReportHistory>();
  const since = flags.since === undefined ? undefined : momentFlag("--since", flags.since, Date.now());
  const found = await eachTarget(context, paths, (project, options, run) =>
    driftAccount(
      project,
      { ...options, ...(since === undefined ? {} : { since }), attribution: flags.attribution !== false, revert: revertTo !== undefined },
      run,
    ),
  );
  const reported: { readonly project: Project; readonly report: Plan }[] = [];
  for (const { project, made } of found) {
    const report = withDriftExit(made.report, failOn);
    const history = await recordReport(context, project, report, scope);
    if (history !== undefined) histories.set(report.planId, history);
    reported.push({ project, report });
  }
  await deliver(
    context,
    reported.map(({ report }) => report),
    { history: histories },
  );
  for (const { project, report } of reported) {
    if (flags.resolve === "accept") await acceptReport(context, project, report);
  }
  if (revertTo !== undefined) await saveRevert(context, revertTo, found);
  return combineExits(reported.map(({ report }) => report.exit)).code;
}

/** Saves a plan that undoes the drift; `dimsync apply FILE` runs it. */
async function saveRevert({ io }: Context<DriftFlags>, file: string, found: readonly { readonly made: Drift }[]): Promise<void> {
  const [only, second] = found;
  if (only?.made.revert === undefined || second !== undefined)
    throw new DimsyncError("E_USAGE", "--resolve revert saves the plan of one target. Select it with -t NAME.");
  const { writePlanFile } = await import("../../records/plan-file.ts");
  await writePlanFile(file, only.made.revert, { digestKey: io.env["DIMSYNC_DIGEST_KEY"], signal: io.interrupted });
  say(io, `saved a plan that undoes the drift. To apply it:`, `dimsync apply ${file}`);
}
