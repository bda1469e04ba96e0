import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import { eachTarget } from "../../cli/each-target.ts";
import type { PlanFlags } from "../../cli/flags.ts";
import { withSignalsCaught } from "../../cli/io.ts";
import { checkOutputs, checkWritable, deliver } from "../../cli/output.ts";
import { failOnFlags } from "../../cli/plan-options.ts";
import { DimsyncError } from "../../core/base/model/errors.ts";
import { combineExits, type ExitCode } from "../../core/base/model/exit.ts";
import { planAccount } from "../../core/operations/index.ts";

/** `dimsync plan`: shows what apply would change. Only sends GET. */
export async function runPlan(context: Context<PlanFlags>, paths: readonly string[]): Promise<ExitCode> {
  const { flags, cwd, io } = context;
  checkOutputs(context);
  const failOn = [...(flags.detailedExitcode === true ? (["changes"] as const) : []), ...failOnFlags(flags.failOn, "Plan")];
  if (flags.out !== undefined) checkWritable("--out", flags.out, resolve(cwd, flags.out));
  const planned = await eachTarget(context, paths, (project, options, run) => planAccount(project, { ...options, failOn }, run));
  const plans = planned.map(({ made }) => made);
  if (flags.out !== undefined) {
    const [only, second] = plans;
    if (only === undefined || second !== undefined)
      throw new DimsyncError("E_USAGE", "--out saves the plan of one target. Select it with -t NAME.");
    const { savePlan } = await import("../../core/operations/index.ts");
    const file = resolve(cwd, flags.out);
    await withSignalsCaught(io, () => savePlan(file, only, { env: io.env, signal: io.interrupted }));
  }
  await deliver(context, plans);
  return combineExits(plans.map(({ exit }) => exit)).code;
}
