import { schemasKind } from "../../../core/model/address.ts";
import { changeCount } from "../../../core/model/changes.ts";
import type { Plan } from "../../../core/model/plan.ts";
import type { AlertEvent } from "../../../core/model/settings/notifications.ts";
import type { RunOutcome } from "./check.ts";

// What is stored of the outcome of a run, besides its texts.

/** The state of the account that a report shows; undefined if it was not read completely and nothing is known to be exposed. */
export function stateOf({ complete, summary, policy, exit }: Plan): "exposed" | "drifted" | "in-sync" | undefined {
  if ((summary.exposed ?? 0) > 0 || violations({ policy }) > 0) return "exposed";
  if (!complete || exit.code === 1) return undefined;
  return exit.code === 2 ? "drifted" : "in-sync";
}

const violations = ({ policy }: Pick<Plan, "policy">): number =>
  policy.filter(({ severity, state }) => severity === "error" && state !== "fixed").length;

function differencesIn({ items }: Plan): number {
  return items.reduce((sum, item) => sum + (item.action === "bind" ? 0 : item.action === "create" ? 1 : Math.max(1, changeCount(item))), 0);
}

/** Of columns and what contains them; the setting of an integration is not one of them. */
const exposedIn = ({ items }: Plan): number =>
  items.filter(({ kind }) => kind === schemasKind).reduce((sum, item) => sum + changeCount(item, ({ risk }) => risk === "exposed"), 0);

/** Whether a run that had the lease stopped, because another run took it or it could not be renewed in time. */
export const hasLostLease = ({ exit, result }: RunOutcome): boolean =>
  [exit, result?.exit].some((each) => each?.reasons.includes("lock-lost")) ||
  result?.items.some(({ code }) => code === "E_LOCKED" || code === "E_RECORDS_UNCLEAR") === true;

/** What a comparison has found, by the columns of the database. */
export function countsIn({ report }: Pick<RunOutcome, "report">) {
  return {
    exposed_columns: report === undefined ? 0 : exposedIn(report),
    differences: report === undefined ? 0 : differencesIn(report),
    manual: report?.manual.length ?? 0,
    policy_violations: report === undefined ? 0 : violations(report),
  };
}

export const changesSent = ({ result }: RunOutcome): number =>
  result?.items.filter(({ outcome, action }) => action !== "bind" && (outcome === "done" || outcome === "recovered")).length ?? 0;

/** The event of a run that failed. */
export function faultOf({
  outcome: { error },
  isRefused = false,
}: {
  readonly outcome: RunOutcome;
  readonly isRefused?: boolean;
}): AlertEvent | undefined {
  if (error === undefined) return undefined;
  return error.code === "E_PROTECT_STOPPED" ? "protection-stopped" : isRefused ? "bundle-refused" : "failing";
}
