import type { Plan } from "../base/model/plan.ts";
import { endChecks } from "./checks/check.ts";
import { startChecks } from "./checks/index.ts";
import { compare } from "./compare.ts";
import { decide } from "./decide.ts";
import { observe, observeReviewed } from "./observe.ts";
import { recover } from "./recover.ts";
import type { Run } from "./run.ts";

/**
 * The life of a plan. Sends GET only. Each station reads what the ones above returned, and nothing else. `apply` (src/core/apply/apply.ts) executes
 * the plan, and calls this again for items that the first round made possible.
 */
export async function plan(run: Run): Promise<Plan> {
  const earlier = await recover(run); // creates whose response was lost
  const account = await observe(run, earlier); // lists, ids, and which object each manifest has
  const reviewed = await observeReviewed(run, earlier, account); // the same account by the manifests at the base
  const checks = startChecks({ run, account, reviewed }); // policies, labels, what the manifests give up, what is kept: one list
  const comparison = await compare({ run, account, reviewed, checks }); // pair by pair; each tree is in memory once
  const found = await endChecks(checks, comparison);
  return decide(run, { earlier, account, reviewed, comparison, found, git: await run.git });
}
