import { comparisonOptions, declared, type FlagsOf, type Options, type PlanFlags, readOptions } from "../../cli/flags.ts";

// Reports how the account differs from the manifests, and who changed it. For scheduled jobs and on-call engineers.

const options = {
  "--since <time>": "How far back to read the audit log: a date, or an age such as 24h or 7d (default: 30d)",
  "--resolve <how>": {
    text: "accept: change the manifests to match the account; revert: save a plan that undoes the drift",
    choices: ["accept", "revert"],
  },
  "--out <file>": "Plan file that --resolve revert writes (default: revert.plan.json)",
} as const satisfies Options;

export interface DriftFlags extends PlanFlags, FlagsOf<typeof options> {}

export const driftCommand = declared({
  usage: "drift [path...]",
  description:
    "Report drift between manifests and the account. Names who changed the account, from the audit log. Sends only GET requests. Exits with 2 if there is drift.",
  options: { ...comparisonOptions("exposed, stricter"), ...readOptions, ...options },
  examples: ["dimsync drift", "dimsync drift --base origin/main -o html=drift.html", "dimsync drift --resolve accept"],
  load: async () => (await import("./command.ts")).runDrift,
});
