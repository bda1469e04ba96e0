import { resolve } from "node:path";
import { withDriftExit } from "../../engine/exit-codes.ts";
import type { Project } from "../../manifests/project.ts";
import { DimsyncError } from "../../model/errors.ts";
import { combineExits, type ExitCode } from "../../model/exit.ts";
import type { Plan } from "../../model/plan.ts";
import { attributeReport } from "../../operations/core/attribution.ts";
import { planAccount } from "../../operations/core/plan.ts";
import type { ReportHistory } from "../../render/index.ts";
import { momentFlag } from "../inspect/audit.ts";
import type { Context } from "../shared/context.ts";
import type { DriftFlags } from "../shared/flags.ts";
import { checkOutputs, checkWritable, deliver } from "../shared/output.ts";
import { planOptions } from "../shared/plan-options.ts";
import { say } from "../shared/say.ts";
import { acceptReport, checkDriftFlags, recordReport } from "./drift-actions.ts";
import { failOnFlags, planTargets } from "./plan.ts";

/** `dimsync drift`: reports how the account differs, who changed it, and what to do. Never writes to the account; --resolve writes manifests or a plan file. */
export async function runDrift(context: Context<DriftFlags>, paths: readonly string[]): Promise<ExitCode> {
  const { flags, io, cwd } = context;
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
  const reported: { readonly project: Project; readonly report: Plan }[] = [];
  const histories = new Map<string, ReportHistory>();
  for (const { project, plan } of await planTargets(context, paths, "DriftReport")) {
    const run = { env: io.env, signal: io.interrupted };
    const attributed =
      flags.attribution === false || flags.snapshot !== undefined ? plan : await attributeReport(project, plan, sinceOf(flags, plan), run);
    const report = withDriftExit(attributed, failOn);
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
    if (revertTo !== undefined) await saveRevert(context, project, revertTo, reported.length);
  }
  return combineExits(reported.map(({ report }) => report.exit)).code;
}

const sinceOf = ({ since }: DriftFlags, { createdAt }: Plan): string | undefined =>
  since === undefined ? undefined : momentFlag("--since", since, Date.parse(createdAt));

/** Saves a plan that undoes the drift; `dimsync apply FILE` runs it. */
async function saveRevert(context: Context<DriftFlags>, project: Project, file: string, targets: number): Promise<void> {
  const { flags, io } = context;
  if (targets > 1) throw new DimsyncError("E_USAGE", "--resolve revert saves the plan of one target. Select it with -t NAME.");
  const plan = await planAccount(project, planOptions(flags), { env: io.env, signal: io.interrupted });
  const { writePlanFile } = await import("../../records/plan-file.ts");
  await writePlanFile(file, plan, { digestKey: io.env["DIMSYNC_DIGEST_KEY"], signal: io.interrupted });
  say(io, `saved a plan that undoes the drift. To apply it:`, `dimsync apply ${file}`);
}
