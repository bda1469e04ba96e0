import { compare, comparison, type Tool } from "../../cli/tool.ts";
import { planAccount } from "../../core/operations/plan.ts";

/** `plan` for agents. */
export const planTool: Tool = {
  name: "plan",
  description:
    "Show what apply would change in the account, with the rule that causes each change, guards and policy findings. Sends only GET requests.",
  parameters: {
    ...comparison,
    protectOnly: { type: "boolean", description: "Plan only changes that hash or disable columns; report the others as held" },
  },
  run: (call) => compare(call, planAccount),
};
