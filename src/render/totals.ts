import type { Plan } from "../model/plan.ts";
import { counted, countList } from "./counts.ts";

/** Nothing to do, nothing to say, and everything was read. */
export function isEmpty(plan: Plan): boolean {
  const findings = [plan.items, plan.manual, plan.blocked, plan.deferred, plan.policy, plan.guards];
  return plan.complete && findings.every((list) => list.length === 0) && plan.diagnostics.every(({ severity }) => severity !== "error");
}

/** The one line of an empty plan. Equality is claimed only for what the interface shows. */
export function emptyText(plan: Plan): string {
  const unverifiable = plan.unverifiable.reduce((sum, { paths }) => sum + paths.length, 0);
  const compared = `${counted(plan.summary.noop, "object")} compared`;
  const no = plan.kind === "Plan" ? "No changes." : "No drift.";
  const looked = plan.snapshot === undefined ? "account" : `snapshot of ${plan.snapshot}`;
  if (unverifiable === 0) return `${no} The ${looked} equals the manifests (${compared}).`;
  return `${no} What the ${looked} shows equals the manifests (${compared}, ${counted(unverifiable, "value")} can't be verified).`;
}

/** "1 to create, 2 to update; 1 manual; 3 protect, 0 expose": the whole plan in one line, without full stop. */
export function totalsText(plan: Plan): string {
  const { summary } = plan;
  const steps =
    plan.kind === "Plan"
      ? countList([
          [summary.create, "to create"],
          [summary.update, "to update"],
          [summary.relate, "to relate"],
          [summary.bind, "to bind"],
        ]) || "nothing to change"
      : countList([
          [summary.create, "missing"],
          [summary.update, summary.update === 1 ? "differs" : "differ"],
          [summary.relate, summary.relate === 1 ? "tag relation missing" : "tag relations missing"],
          [summary.bind, summary.bind === 1 ? "id not recorded" : "ids not recorded"],
        ]) || "nothing that a call could change";
  const others = countList([
    [summary.manual, "manual"],
    [summary.blocked, "blocked"],
    [summary.deferred, "deferred"],
  ]);
  const risks =
    plan.kind === "Plan"
      ? `${summary.protects} protect, ${summary.exposes} expose`
      : `${summary.protects} exposed, ${summary.exposes} stricter than declared`;
  return [steps, others, plan.items.some(({ changes }) => changes.length > 0) ? risks : ""].filter((part) => part !== "").join("; ");
}

/** Why apply would refuse the plan; "" where it would not. */
export function obstacleText(plan: Plan): string {
  const isReport = plan.kind === "DriftReport";
  const isMistaken = plan.diagnostics.some(({ severity, code }) => severity === "error" && code !== "E_READ_FAILED");
  if (isMistaken && Object.keys(plan.calls.read).length === 0)
    return "The account was not looked at: what is wrong has to be mended first.";
  if (!plan.complete && isReport) return "The report is incomplete: a read failed, so more may differ than is shown.";
  if (!plan.complete)
    return "The plan is incomplete: a read failed, so nothing is planned as create because of it, and apply refuses to run it.";
  if (plan.snapshot !== undefined)
    return `The account was not read: ${isReport ? "the report" : "the plan"} stands on a snapshot of ${plan.snapshot}${isReport ? "." : ", and can't be applied."}`;
  return plan.executable || isReport ? "" : "Apply refuses to run this plan as it stands.";
}
