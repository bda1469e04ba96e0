import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CiEnvironment } from "../../ci/environment.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import type { Context } from "../shared/context.ts";
import type { CiFlags } from "../shared/flags.ts";
import { ciApply } from "./apply.ts";
import { plansIn, withOutputs } from "./documents.ts";
import { commentFailure, commentPlans, reportDrift } from "./provider.ts";

const tasks = ["plan", "apply", "drift"] as const;

/**
 * `dimsync ci TASK`: what a job does beside the command itself, so that no workflow needs a script: the comment on the pull request, the issue about
 * drift, the bindings file pushed. Throws E_USAGE for an unknown task.
 */
export async function runCi(context: Context<CiFlags>, task: string): Promise<ExitCode> {
  const known = tasks.find((one) => one === task);
  if (known === undefined)
    throw new DimsyncError("E_USAGE", `dimsync ci takes ${tasks.join(", ")}; ${JSON.stringify(task)} is none of them.`);
  const { io, cwd, flags } = context;
  if (flags.bindings !== undefined && !["push", "upload", "none"].includes(flags.bindings))
    throw new DimsyncError("E_USAGE", `--bindings takes push, upload or none; ${JSON.stringify(flags.bindings)} is none of them.`);
  const { ciEnvironmentOf } = await import("../../ci/environment.ts");
  const run = ciEnvironmentOf(io.env, cwd);
  const folder = await mkdtemp(join(io.env["RUNNER_TEMP"] || tmpdir(), "dimsync-"));
  // Where another format has stdout, the summary, the outputs and the annotations are wanted all the same.
  const aside = join(folder, "github.txt");
  const takesStdout = flags.output.every((text) => text.includes("="));
  const inner = run.forge === "github" ? withOutputs(context, [takesStdout ? "github" : `github=${aside}`]) : context;
  try {
    if (known === "plan") return await ciPlan(inner, run, folder);
    return known === "apply" ? await ciApply(inner, run, folder) : await ciDrift(inner, run, folder);
  } catch (error) {
    // Here and not in main, whose flags don't know that the outputs of a step are to be set.
    const { reportError } = await import("../shared/report-error.ts");
    return reportError(inner, error);
  } finally {
    if (existsSync(aside)) io.stderr(annotationsIn(readFileSync(aside, "utf8")));
    await rm(folder, { recursive: true, force: true });
  }
}

async function ciPlan(context: Context<CiFlags>, run: CiEnvironment, folder: string): Promise<ExitCode> {
  const { io } = context;
  if (run.isFork && !hasKey(io.env)) {
    io.stderr("dimsync: a pull request from a fork gets no secrets, so its manifests are only validated.\n");
    const { runValidate } = await import("../core/validate.ts");
    return await runValidate(context, []);
  }
  const file = join(folder, "plan.json");
  const { runPlan } = await import("../core/plan.ts");
  const code = await runPlan(withOutputs(context, [`json=${file}`]), []).catch(async (error: unknown) => {
    await commentFailure(context, run);
    throw error;
  });
  const plans = await plansIn(file);
  return await commentPlans(context, run, plans).then(
    () => code,
    (error: unknown) => forgeFailed(context, error),
  );
}

/** The job fails, and the step's summary and outputs stay those of the plan or report. */
async function forgeFailed(context: Context<CiFlags>, error: unknown): Promise<ExitCode> {
  const { reportError } = await import("../shared/report-error.ts");
  return reportError({ ...context, flags: { ...context.flags, output: [] } }, error);
}

/** Drift that an issue tells of is no failure of the job: exit 2 becomes 0, while the output `exit_code` keeps it. */
async function ciDrift(context: Context<CiFlags>, run: CiEnvironment, folder: string): Promise<ExitCode> {
  const { runDrift } = await import("../core/drift.ts");
  const file = join(folder, "drift.json");
  const code = await runDrift(withOutputs(context, [`json=${file}`]), []);
  const reports = await plansIn(file);
  return await reportDrift(context, run, reports).then(
    (isTold) => (code === 2 && isTold ? 0 : code),
    (error: unknown) => forgeFailed(context, error),
  );
}

/** The lines that the runner reads, which it does on stderr as well. */
const annotationsIn = (text: string): string => (text.match(/^::(?:error|warning|notice) .*\n/gmu) ?? []).join("");

const hasKey = ({ DIMSYNC_API_KEY: key, DIMSYNC_API_KEY_FILE: file }: NodeJS.ProcessEnv): boolean =>
  (key ?? "") !== "" || (file ?? "") !== "";
