import { comparisonOptions, declared, protectOnlyOption, readOptions, savePlanOptions } from "../../cli/flags.ts";

// Shows what apply would change. For everyone who reviews a change before it is made.

export const planCommand = declared({
  usage: "plan [path...]",
  description: "Show what apply would change. Sends only GET requests. Paths replace the manifests that the config names.",
  options: { ...comparisonOptions(), ...protectOnlyOption, ...savePlanOptions, ...readOptions },
  examples: [
    "dimsync plan",
    "dimsync plan --only 'Schemas/*' --detailed-exitcode",
    "dimsync plan --out plan.json && dimsync apply plan.json",
    "dimsync plan -o markdown=plan.md -o json=plan.json",
  ],
  load: async () => (await import("./command.ts")).runPlan,
});
