import type { Context } from "../../cli/context.ts";
import { printError } from "../../cli/report-error.ts";
import { DimsyncError } from "../../core/base/model/errors.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import { once } from "../../core/base/model/maps.ts";
import type { CiFlags } from "./index.ts";
import { baseOfJob, type CiContext, type CiJob, endJob } from "./job.ts";

type Job = (context: CiContext, job: CiJob, planFile: string | undefined) => Promise<ExitCode>;

interface Task {
  readonly load: () => Promise<Job>;
  /** The title of a failure of the whole job. */
  readonly failed: string;
}

const tasks: Readonly<Record<"plan" | "apply" | "drift", Task>> = {
  plan: { load: async () => (await import("./plan-job.ts")).planJob, failed: "No plan" },
  apply: { load: async () => (await import("./apply-job.ts")).applyJob, failed: "No result" },
  drift: { load: async () => (await import("./drift-job.ts")).driftJob, failed: "No drift report" },
};

/**
 * `dimsync ci TASK [FILE]`: plan, apply or drift as a job, and what a job needs besides, so that no
 * workflow needs a script: the comment on the pull request, the issue about drift. Throws E_USAGE for an unknown task.
 */
export async function runCi(context: Context<CiFlags>, name: string, planFile: string | undefined): Promise<ExitCode> {
  const task = checkUsage(context, name, planFile);
  const { io, cwd } = context;
  const { readCiEnvironment } = await import("../../core/operations/forge/index.ts");
  const environment = readCiEnvironment(io.env, cwd);
  const base = once(() => baseOfJob(environment, { cwd, env: io.env }));
  const job: CiJob = { environment, env: io.env, signal: io.interrupted, base, log: io.stderr };
  try {
    return await (await task.load())(context, job, planFile);
  } catch (error) {
    if (io.interrupted.aborted) return 130;
    // Without the base: the secrets of a project that could not be loaded are not known, and git would see them.
    return await endJob(context, job, { documents: [], failures: [{ ...printError(context, error), title: task.failed }], touched: {} });
  }
}

function checkUsage({ flags }: Context<CiFlags>, name: string, planFile: string | undefined): Task {
  const known = (["plan", "apply", "drift"] as const).find((one) => one === name);
  if (known === undefined)
    throw new DimsyncError("E_USAGE", `dimsync ci takes ${Object.keys(tasks).join(", ")}, not ${JSON.stringify(name)}.`);
  if (planFile !== undefined && known !== "apply")
    throw new DimsyncError("E_USAGE", `dimsync ci ${known} takes no file. Only dimsync ci apply takes a saved plan.`);
  if (flags.protectOnly === true && known === "drift")
    throw new DimsyncError("E_USAGE", "dimsync ci drift only reports. --protect-only is for plan and apply.");
  return tasks[known];
}
