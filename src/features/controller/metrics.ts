import { version } from "../../core/base/model/runtime/version.ts";
import type { Sample } from "../../core/render/machine/index.ts";
import { familyText } from "../../core/render/machine/index.ts";
import type { AccountRow } from "./accounts.ts";

/** Prometheus text format 0.0.4. Each account has its labels, as `label_team`. */
export function metricsOf(accounts: readonly AccountRow[]): string {
  const gauge = (name: string, help: string, value: (account: AccountRow) => number | null): string => {
    const samples = accounts
      .map((account) => [labelsOf(account), value(account)] as const)
      .filter((sample): sample is Sample => sample[1] !== null);
    return familyText({ name: `controller_${name}`, help, type: "gauge", samples });
  };
  // Nothing is known of an account before its first check.
  const known = (of: "exposed" | "differences" | "byHand" | "policy") => (account: AccountRow) =>
    account.checkedAt === null && account.exposed === 0 ? null : account[of];
  const age = ({ readAt, checkedAt }: AccountRow) => (checkedAt === null ? null : (Date.parse(readAt) - Date.parse(checkedAt)) / 1000);
  return [
    familyText({ name: "controller_build_info", help: "The version of the process.", type: "gauge", samples: [[{ version }, 1]] }),
    gauge("exposed_columns", "Columns that are less protected than the manifests declare.", known("exposed")),
    gauge("differences", "Differences that a request could fix, missing objects, and what is not compared.", known("differences")),
    gauge("by_hand", "Differences that somebody must fix by hand.", known("byHand")),
    gauge("policy_findings", "Violated policies.", known("policy")),
    gauge("failures", "Checks that failed in a row.", ({ failures }) => failures),
    gauge("stale", "1 if the account was not checked within three intervals.", ({ isStale }) => (isStale ? 1 : 0)),
    gauge("check_age_seconds", "Time since the last check that read everything.", age),
    gauge("check_duration_seconds", "Duration of the last check.", ({ durationMs }) => durationMs && durationMs / 1000),
    gauge("check_interval_seconds", "Interval of the checks.", ({ everyMs }) => everyMs / 1000),
  ].join("");
}

const labelsOf = ({ target, mode, labels }: AccountRow): Readonly<Record<string, string>> => ({
  target,
  mode,
  ...Object.fromEntries(Object.entries(labels).map(([name, value]) => [`label_${name.replaceAll(/\W/gu, "_")}`, value])),
});
