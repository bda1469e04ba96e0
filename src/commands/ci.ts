import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CiSurroundings } from "../ci/surroundings.ts";
import { DimsyncError } from "../model/errors.ts";
import { combineExits, type ExitCode } from "../model/exit.ts";
import type { Plan } from "../model/plan.ts";
import { keepBindings } from "./ci-bindings.ts";
import { commentFailure, commentPlans, reportDrift } from "./ci-forge.ts";
import type { Context } from "./context.ts";
import type { CiFlags } from "./flags.ts";

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
  const { surroundingsOf } = await import("../ci/surroundings.ts");
  const around = surroundingsOf(io.env, cwd);
  const folder = await mkdtemp(join(io.env["RUNNER_TEMP"] ?? tmpdir(), "dimsync-"));
  const inner = around.forge === "github" ? withOutputs(context, ["github"]) : context;
  try {
    if (known === "plan") return await ciPlan(inner, around, folder);
    return known === "apply" ? await ciApply(inner, around, folder) : await ciDrift(inner, around, folder);
  } catch (error) {
    // Here and not in main, whose flags don't know that the outputs of a step are to be set.
    const { reportError } = await import("./report.ts");
    const code = reportError(inner, error);
    if (known === "plan") await commentFailure(inner, around);
    return code;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function ciPlan(context: Context<CiFlags>, around: CiSurroundings, folder: string): Promise<ExitCode> {
  const { io } = context;
  if (around.isFork && !hasKey(io.env)) {
    io.stderr("dimsync: a pull request from a fork gets no secrets, so its manifests are only validated.\n");
    const { runValidate } = await import("./validate.ts");
    return await runValidate(context, []);
  }
  const { code, documents } = await planned(context, folder);
  await commentPlans(context, around, documents);
  return code;
}

/** Plans, saves, and applies exactly what was saved, target by target, which also serves protected ones; then sees to the bindings file. */
async function ciApply(context: Context<CiFlags>, around: CiSurroundings, folder: string): Promise<ExitCode> {
  const { flags } = context;
  if (flags.allTargets === true) throw new DimsyncError("E_USAGE", "dimsync ci apply takes each target by name. Name them with -t.");
  const targets: readonly (readonly string[])[] = flags.target.length === 0 ? [[]] : flags.target.map((target) => [target]);
  const exits: ExitCode[] = [];
  for (const [index, target] of targets.entries()) {
    const ofTarget = { ...context, flags: { ...flags, target } };
    exits.push(await applyTarget(ofTarget, join(folder, `plan-${index}.json`)));
    exits.push(await keepBindings(ofTarget, around));
    if (context.io.interrupted.aborted) return 130;
  }
  return combineExits(exits.map((code) => ({ code, reasons: [] }))).code;
}

async function applyTarget(context: Context<CiFlags>, planFile: string): Promise<ExitCode> {
  const { deliver } = await import("./output.ts");
  const quiet: Context<CiFlags> = { ...withOutputs(context, []), io: { ...context.io, stdout: () => {} } };
  const { code, documents } = await planned(
    { ...quiet, flags: { ...quiet.flags, out: planFile, detailedExitcode: false } },
    `${planFile}.d`,
  );
  const isNothing = documents.every(({ items, deferred }) => items.length === 0 && deferred.length === 0);
  if (code !== 0 || isNothing) {
    await deliver(context, documents);
    return code;
  }
  await deliver({ ...context, flags: { ...context.flags, output: [] } }, documents);
  const { runApply } = await import("./apply.ts");
  return await runApply(context, planFile);
}

/** Drift that an issue tells of is no failure of the job: exit 2 becomes 0, while the output `exit_code` keeps it. */
async function ciDrift(context: Context<CiFlags>, around: CiSurroundings, folder: string): Promise<ExitCode> {
  const { runDrift } = await import("./drift.ts");
  const file = join(folder, "drift.json");
  const code = await runDrift(withOutputs(context, [`json=${file}`]), []);
  const isTold = await reportDrift(context, around, await documentsIn(file));
  return code === 2 && isTold ? 0 : code;
}

async function planned(
  context: Context<CiFlags>,
  folder: string,
): Promise<{ readonly code: ExitCode; readonly documents: readonly Plan[] }> {
  const { runPlan } = await import("./plan.ts");
  await mkdir(folder, { recursive: true });
  const file = join(folder, "document.json");
  const code = await runPlan(withOutputs(context, [`json=${file}`]), []);
  return { code, documents: await documentsIn(file) };
}

/** What this process has just written with `-o json`: a plan or a report, or a list of them. */
async function documentsIn(file: string): Promise<readonly Plan[]> {
  const value = JSON.parse(await readFile(file, "utf8")) as Plan | readonly Plan[];
  return "kind" in value ? [value] : value;
}

/** The flags with further outputs, except those of a format that goes to stdout already. */
function withOutputs<Flags extends CiFlags>(context: Context<Flags>, outputs: readonly string[]): Context<Flags> {
  const { output } = context.flags;
  const toStdout = output.some((text) => !text.includes("="));
  return { ...context, flags: { ...context.flags, output: [...output, ...outputs.filter((text) => text.includes("=") || !toStdout)] } };
}

const hasKey = ({ DIMSYNC_API_KEY: key, DIMSYNC_API_KEY_FILE: file }: NodeJS.ProcessEnv): boolean =>
  (key ?? "") !== "" || (file ?? "") !== "";
