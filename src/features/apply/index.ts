import type { Context } from "../../cli/context.ts";
import {
  type ApplyFlags,
  applyOptions,
  comparisonOptions,
  declared,
  type PlanFlags,
  protectOnlyOption,
  type RunCommand,
} from "../../cli/flags.ts";

// Makes the account match the manifests. Nothing else writes to the account, except the controller.

/** `loadPlan` loads what --dry-run does. */
export const applyCommand = (loadPlan: () => Promise<RunCommand<PlanFlags, [readonly string[]]>>) =>
  declared({
    usage: "apply [plan-file]",
    description:
      "Make the account match the manifests. With a plan file, apply runs exactly that plan, once. Without one, it makes a plan and asks for confirmation. It verifies every response and records the ids.",
    options: { ...comparisonOptions(), ...protectOnlyOption, ...applyOptions },
    examples: [
      "dimsync apply",
      "dimsync apply --yes --result result.json",
      "dimsync apply plan.json",
      'dimsync apply --allow maxCreates="first rollout"',
    ],
    onInterrupt: "\ndimsync: interrupted. No new requests are started; writes in flight finish. Interrupt again to stop at once.\n",
    load: async () => {
      const [{ runApply }, runPlan] = await Promise.all([import("./command.ts"), loadPlan()]);
      return (context: Context<ApplyFlags>, file: string | undefined) =>
        context.flags.dryRun === true ? runPlan(context, []) : runApply(context, file);
    },
  });
