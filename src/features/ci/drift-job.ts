import { ofTarget } from "../../cli/each-target.ts";
import { say } from "../../cli/io.ts";
import { checkOutputs, filePrefix, writeDocuments } from "../../cli/output.ts";
import { failOnFlags } from "../../cli/plan-options.ts";
import { loadOptions, loadProjects } from "../../cli/project.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import { listTargets } from "../../core/manifests/index.ts";
import { driftAccount, notifyDrift } from "../../core/operations/index.ts";
import { targetPlace } from "../../core/render/index.ts";
import { type CiContext, type CiJob, eachJobTarget, endJob, jobDestinations } from "./job.ts";
import { notMade } from "./plan-comment.ts";
import { reportDrift } from "./provider.ts";

/**
 * `dimsync ci drift`: reports the drift of each target in an issue. If every report is in one, the job succeeds despite drift and what violates a
 * policy: exit 2 or 3 becomes 0. The output `exit_code` stays.
 */
export async function driftJob(context: CiContext, job: CiJob): Promise<ExitCode> {
  const { io, flags } = context;
  checkOutputs(context);
  const failOn = failOnFlags(flags.failOn, "DriftReport");
  const isWhole = flags.only.length + flags.exclude.length === 0;
  const projects = await loadProjects(context, { account: true, interruptible: true });
  const { made, failed } = await eachJobTarget(context, projects, async (project) => {
    const { report } = await ofTarget(context, project, (of, options, run) => driftAccount(of, { ...options, failOn }, run));
    const webhook = isWhole ? project.settings.notify : undefined;
    const warn = (text: string): void => say(io, text);
    if (webhook !== undefined) await notifyDrift(project, report, { webhook, warn }, { env: io.env, signal: io.interrupted });
    return report;
  });
  const reports = made.map(({ document }) => document);
  if (reports.length > 0) await writeDocuments(context, jobDestinations(context, job), reports);
  const code = await endJob(context, job, {
    documents: reports,
    failures: failed.map(({ target, failure }) => ({
      ...failure,
      title: notMade("drift report", targetPlace(target, filePrefix(context))),
    })),
  });
  const isInIssue =
    flags.issue !== false && (await reportDrift(job, { reports, failed, known: await listTargets(loadOptions(context, [])) }));
  return isInIssue && (code === 2 || code === 3) ? 0 : code;
}
