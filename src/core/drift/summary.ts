import { createHash } from "node:crypto";
import { type Address, byText } from "../base/model/address.ts";
import { changeCount, eachChange, firstChange, sizeOf } from "../base/model/changes.ts";
import { policyFindings } from "../base/model/findings.ts";
import { canonicalJson } from "../base/model/json/json.ts";
import type { Pointer } from "../base/model/json/pointer.ts";
import { type Origin, type Plan, readySteps, stepsOf, unmanagedObjects, whyOf } from "../base/model/plan.ts";
import { spaced } from "../base/text/paths.ts";
import { unmanagedCounts } from "../render/index.ts";

/** A report in a few figures: counts, a fingerprint and the open steps by hand, but no values from the account. */
interface DriftSummary {
  /** ISO 8601: when the report was created. */
  readonly at: string;
  readonly target: string;
  readonly fingerprint: string;
  readonly exit: number;
  readonly counts: {
    /** Leaves that a request could fix, and missing objects. */
    readonly differences: number;
    /** Leaves that are less protected than declared, and what was kept hashed or disabled and cannot be shown to be so. */
    readonly exposed: number;
    readonly byHand: number;
    readonly blocked: number;
    readonly policy: number;
    /** Integrations and tags that no manifest covers. */
    readonly unmanaged: number;
    /** Columns of managed integrations that nothing covers. */
    readonly unmanagedColumns: number;
  };
  /** Differences per origin, steps by hand included. */
  readonly origins: Readonly<Record<Origin, number>>;
  readonly byHand: readonly { readonly id: string; readonly address: Address; readonly path: Pointer; readonly instruction: string }[];
}

export function driftSummary(report: Plan): DriftSummary {
  const items = readySteps(report).filter(({ verb }) => verb !== "bind");
  const byHand = stepsOf(report, "byHand");
  const origins: Record<Origin, number> = { config: 0, drift: 0, new: 0, conflict: 0, unknown: 0 };
  for (const step of [...items, ...byHand]) for (const entry of step.changes) origins[entry.origin ?? "unknown"] += sizeOf(entry);
  return {
    at: report.createdAt,
    target: report.target,
    fingerprint: fingerprintOf(report),
    exit: report.exit.code,
    counts: {
      differences: items.reduce((sum, item) => sum + (item.verb === "create" ? 1 : Math.max(1, changeCount(item))), 0),
      exposed: (report.counts.exposed ?? 0) + byHand.filter(({ obligation }) => obligation === true).length,
      byHand: byHand.length,
      blocked: stepsOf(report, "blocked").length,
      policy: policyFindings(report).length,
      unmanaged: unmanagedCounts(report.unmanaged).objects,
      unmanagedColumns: unmanagedCounts(report.unmanaged).columns,
    },
    origins,
    byHand: byHand.map((step) => ({
      id: step.id,
      address: step.address,
      path: firstChange(step).path,
      instruction: spaced(whyOf(step).message, whyOf(step).command ?? ""),
    })),
  };
}

/**
 * "sha256:…" of the differences: addresses, paths and values, in any order. Times, attribution and
 * the number of unmanaged columns do not count, because sources add columns all the time.
 */
function fingerprintOf(report: Plan): string {
  const facts = [
    ...readySteps(report)
      .filter(({ verb }) => verb !== "bind")
      .flatMap((item) => [
        ["step", item.address, item.verb],
        ...Array.from(eachChange(item), ({ path, before, after }) => ["change", item.address, path, before ?? null, after ?? null]),
      ]),
    ...stepsOf(report, "byHand").map((step) => ["byHand", step.id, firstChange(step).after ?? null, firstChange(step).before ?? null]),
    ...stepsOf(report, "blocked").map(({ address, why }) => ["blocked", address, why?.code ?? ""]),
    ...stepsOf(report, "waits").map(({ address }) => ["waits", address]),
    ...[...unmanagedObjects(report.unmanaged).values()].flat().map(({ id }) => ["unmanaged", id]),
    ...policyFindings(report).map(({ rule, severity, address, path }) => ["policy", rule, severity, address, path]),
    ["complete", report.complete],
  ];
  const hash = createHash("sha256");
  for (const fact of facts.map((each) => canonicalJson(each)).sort(byText)) hash.update(fact).update("\n");
  return `sha256:${hash.digest("hex")}`;
}
