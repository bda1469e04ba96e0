import { ofTarget } from "../../cli/each-target.ts";
import { withSignalsCaught } from "../../cli/io.ts";
import { checkOutputs, writeDocuments, writeMetricsFlag } from "../../cli/output.ts";
import { failOnFlags } from "../../cli/plan-options.ts";
import { loadOptions, loadProjects } from "../../cli/project.ts";
import { say } from "../../cli/say.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { driftAccount } from "../../core/operations/drift.ts";
import { notifyDrift } from "../../core/operations/notify-drift.ts";
import { requestDriftPulls } from "./drift-pull-request.ts";
import { type CiContext, type CiJob, eachJobTarget, endJob, jobDestinations } from "./job.ts";
import { notMade } from "./plan-comment.ts";
import { reportDrift } from "./provider.ts";

/**
 * `dimsync ci drift`: reports the drift of each target in an issue, and with `--pull-request` in a pull request that accepts it. If
 * every report is in one of them, the job succeeds despite drift: exit 2 becomes 0. So does exit 3, for what violates a policy, if every
 * report is in an issue. The output `exit_code` stays.
 */
export async function driftJob(context: CiContext, job: CiJob): Promise<ExitCode> {
  const { io, flags } = context;
  checkOutputs(context);
  const failOn = failOnFlags(flags.failOn, "DriftReport");
  const isWhole = flags.only.length + flags.exclude.length === 0;
  const projects = await loadProjects(context, { account: true, interruptible: true });
  const { made, failed } = await eachJobTarget(context, projects, async (project) => {
    // What a merge wants and no apply has sent yet must not be accepted as drift.
    const sinceApply = loadOptions(context, []);
    const { report } = await ofTarget(context, project, (of, options, run) => driftAccount(of, { ...options, sinceApply, failOn }, run));
    const webhook = isWhole ? project.settings.notify : undefined;
    const warn = (text: string): void => say(io, text);
    if (webhook !== undefined) await notifyDrift(project, report, { webhook, warn }, { env: io.env, signal: io.interrupted });
    return report;
  });
  const reports = made.map(({ document }) => document);
  if (reports.length > 0) await writeDocuments(context, jobDestinations(context, job), reports);
  await writeMetricsFlag(context, reports);
  const code = await endJob(context, job, {
    documents: reports,
    failures: failed.map(({ target, failure }) => ({ ...failure, title: notMade("drift report", target) })),
  });
  const isInIssue = flags.issue !== false && (await reportDrift(job, reports));
  const isInPull =
    flags.pullRequest === true && (await withSignalsCaught(io, () => requestDriftPulls(job, made, loadOptions(context, []))));
  // A pull request does not fix what violates a policy.
  return (code === 2 && (isInIssue || isInPull)) || (code === 3 && isInIssue) ? 0 : code;
}
