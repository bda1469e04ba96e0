import { createHash } from "node:crypto";
import { byText } from "../model/address.ts";
import { changeCount, eachChange, sizeOf } from "../model/changes.ts";
import { canonicalJson } from "../model/json/json.ts";
import { type Manual, type Origin, type Plan, unmanagedObjects } from "../model/plan.ts";
import { unmanagedCounts } from "../render/report/unmanaged.ts";

/** A report in a few figures: counts, a fingerprint and the open manual steps, but no values from the account. */
export interface DriftSummary {
  /** ISO 8601: when the report was created. */
  readonly at: string;
  readonly target: string;
  readonly fingerprint: string;
  readonly exit: number;
  readonly counts: {
    /** Leaves that a request could fix, and missing objects. */
    readonly differences: number;
    /** Leaves that are less protected than declared. */
    readonly exposed: number;
    readonly manual: number;
    readonly blocked: number;
    readonly policy: number;
    /** Integrations and tags that no manifest covers. */
    readonly unmanaged: number;
    /** Columns of managed integrations that nothing covers. */
    readonly unmanagedColumns: number;
  };
  /** Differences per origin, manual ones included. */
  readonly origins: Readonly<Record<Origin, number>>;
  readonly manual: readonly Pick<Manual, "id" | "address" | "path" | "instruction">[];
}

export function driftSummary(report: Plan): DriftSummary {
  const items = report.items.filter(({ action }) => action !== "bind");
  const origins: Record<Origin, number> = { config: 0, drift: 0, conflict: 0, unknown: 0 };
  for (const { origin } of report.manual) origins[origin ?? "unknown"] += 1;
  for (const item of items) for (const entry of item.changes) origins[entry.origin ?? "unknown"] += sizeOf(entry);
  return {
    at: report.createdAt,
    target: report.target,
    fingerprint: fingerprintOf(report),
    exit: report.exit.code,
    counts: {
      differences: items.reduce((sum, item) => sum + (item.action === "create" ? 1 : Math.max(1, changeCount(item))), 0),
      exposed: report.summary.exposed ?? 0,
      manual: report.manual.length,
      blocked: report.blocked.length,
      policy: report.policy.length,
      unmanaged: unmanagedCounts(report.unmanaged).objects,
      unmanagedColumns: unmanagedCounts(report.unmanaged).columns,
    },
    origins,
    manual: report.manual.map(({ id, address, path, instruction }) => ({ id, address, path, instruction })),
  };
}

/**
 * "sha256:…" of the differences: addresses, paths and values, in any order. Times, attribution and
 * the number of unmanaged columns do not count, because sources add columns all the time.
 */
function fingerprintOf(report: Plan): string {
  const facts = [
    ...report.items
      .filter(({ action }) => action !== "bind")
      .flatMap((item) => [
        ["item", item.address, item.action],
        ...Array.from(eachChange(item), ({ path, before, after }) => ["change", item.address, path, before ?? null, after ?? null]),
      ]),
    ...report.manual.map(({ id, expected, actual }) => ["manual", id, expected ?? null, actual ?? null]),
    ...report.blocked.map(({ address, code }) => ["blocked", address, code]),
    ...report.deferred.map(({ address }) => ["deferred", address]),
    ...[...unmanagedObjects(report.unmanaged).values()].flat().map(({ id }) => ["unmanaged", id]),
    ...report.policy.map(({ policy, severity, address, path }) => ["policy", policy, severity, address, path]),
    ["complete", report.complete],
  ];
  const hash = createHash("sha256");
  for (const fact of facts.map((each) => canonicalJson(each)).sort(byText)) hash.update(fact).update("\n");
  return `sha256:${hash.digest("hex")}`;
}
