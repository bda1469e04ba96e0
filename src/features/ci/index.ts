import { type ApplyFlags, comparisonOptions, declared, type FlagsOf, type Options, protectOnlyOption } from "../../cli/flags.ts";

// Runs plan, apply and drift as jobs, with comments and issues. For GitHub Actions and GitLab CI.

const options = {
  "--out <file>": "plan: save the plan",
  "--no-comment": "plan, apply: write nothing on the pull request",
  "--no-issue": "drift: do not open or update an issue",
  "--lock-timeout <duration>": "apply: how long to wait for another apply to finish",
  "--max-plan-age <duration>": "apply: maximum age of a saved plan (default: 24h)",
} as const satisfies Options;

export interface CiFlags extends ApplyFlags, FlagsOf<typeof options> {}

export const ciCommand = declared({
  usage: "ci <task> [plan-file]",
  description:
    "Run plan, apply or drift as a CI job. Runs in GitHub Actions and GitLab CI. Comments on the pull request, and keeps an issue about drift up to date. With a plan file, ci apply runs exactly that plan.",
  options: { ...comparisonOptions(), ...protectOnlyOption, ...options },
  examples: ["dimsync ci plan", "dimsync ci apply", "dimsync ci drift --no-issue"],
  load: async () => (await import("./ci.ts")).runCi,
});
