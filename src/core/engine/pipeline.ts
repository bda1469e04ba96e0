import type { Plan } from "../model/plan.ts";
import { assemblePlan, type RoundParts } from "./assemble.ts";
import { checkPolicies } from "./checks/policies.ts";
import { ignoredFileProblems, leftOutProblems } from "./left-out.ts";
import { recoverRound } from "./recover.ts";
import { compareRound, observeRound } from "./round.ts";
import type { Run } from "./run.ts";

// The whole flow. Planning ends with a plan as a value; `apply` (src/core/apply/apply.ts) executes that
// same value, and calls `plan` again for items that the first round made possible.

/** Compares the project with the account. Only reads. */
export async function plan(run: Run): Promise<Plan> {
  const recovered = await recoverRound(run);
  const observed = await observeRound(run, recovered);
  const git = await run.git;
  const { project } = run;
  const leftOut = leftOutProblems(git, project.settings.folder);
  const problems = [...observed.problems, ...ignoredFileProblems(git, project.settings)];
  if (leftOut.length === 0) return await finished(run, { recovered, git, observed: { ...observed, problems } });
  // Errors of the project keep everything from being compared.
  const stopped = { ...run, project: { ...project, problems: [...project.problems, ...leftOut] } };
  return await finished(stopped, { recovered, git, observed: { ...observed, compared: [], base: undefined } });
}

async function finished(run: Run, parts: Pick<RoundParts, "recovered" | "observed" | "git">): Promise<Plan> {
  const policies = checkPolicies(run, parts.observed);
  const compared = await compareRound(run, parts.observed, policies);
  return assemblePlan(run, { ...parts, policies, compared });
}
