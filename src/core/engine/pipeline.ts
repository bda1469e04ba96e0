import type { Plan } from "../model/plan.ts";
import { assemblePlan, type RoundParts } from "./assemble.ts";
import { checkPolicies } from "./checks/policies.ts";
import { ignoredFileProblems, leftOutProblems } from "./left-out.ts";
import { cachedReads } from "./reads/cached-reads.ts";
import { recoverRound } from "./recover.ts";
import { compareRound, observeRound } from "./round.ts";
import { everything } from "./scope.ts";
import type { PlanOptions, Round, Session } from "./session.ts";

// The whole flow. Planning ends with a plan as a value; `apply` (src/core/apply/apply.ts) executes that
// same value, and calls `planRound` again for items that the first round made possible.

/** Compares the project with the account. Only reads. */
export async function plan(session: Session, options: PlanOptions = {}, kind: Plan["kind"] = "Plan"): Promise<Plan> {
  return planRound(firstRound(session, options, kind));
}

export async function planRound(round: Round): Promise<Plan> {
  const recovered = await recoverRound(round);
  const observed = await observeRound(round, recovered);
  const git = await round.session.git;
  const { project } = round.session;
  const leftOut = leftOutProblems(git, project.settings.folder);
  const problems = [...observed.problems, ...ignoredFileProblems(git, project.settings)];
  if (leftOut.length === 0) return await finished(round, { recovered, git, observed: { ...observed, problems } });
  // Errors of the project keep everything from being compared.
  const session = { ...round.session, project: { ...project, problems: [...project.problems, ...leftOut] } };
  return await finished({ ...round, session }, { recovered, git, observed: { ...observed, compared: [], base: undefined } });
}

async function finished(round: Round, parts: Pick<RoundParts, "recovered" | "observed" | "git">): Promise<Plan> {
  const policies = checkPolicies(round, parts.observed);
  const compared = await compareRound(round, parts.observed, policies);
  return assemblePlan(round, { ...parts, policies, compared });
}

/** The round that covers the whole scope. */
export const firstRound = (session: Session, options: PlanOptions, kind: Plan["kind"] = "Plan"): Round => ({
  session,
  options,
  kind,
  reads: cachedReads(session.reads),
  scope: options.scope ?? everything,
  fresh: new Set(),
  before: [],
  today: session.clock.now().toISOString().slice(0, 10),
});
