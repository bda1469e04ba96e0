import { createHash } from "node:crypto";
import { byText } from "../model/address.ts";
import { canonicalJson } from "../model/json.ts";
import type { Plan } from "../model/plan.ts";

/**
 * "sha256:…" of what differs: addresses, paths and values, in any order; neither when it was seen, nor who did it, nor how many columns nobody
 * manages (sources grow columns by themselves). Two reports with one fingerprint tell a person the same.
 */
export function fingerprintOf(report: Plan): string {
  const facts = [
    ...report.items
      .filter(({ action }) => action !== "bind")
      .flatMap(({ address, action, changes }) => [
        ["item", address, action],
        ...changes.map(({ path, before, after }) => ["change", address, path, before ?? null, after ?? null]),
      ]),
    ...report.manual.map(({ id, expected, actual }) => ["manual", id, expected ?? null, actual ?? null]),
    ...report.blocked.map(({ address, code }) => ["blocked", address, code]),
    ...report.deferred.map(({ address }) => ["deferred", address]),
    ...[...report.unmanaged.integrations, ...report.unmanaged.tags].map(({ id }) => ["unmanaged", id]),
    ...report.policy.map(({ policy, severity, address, path }) => ["policy", policy, severity, address, path]),
    ["complete", report.complete],
  ];
  const hash = createHash("sha256");
  for (const fact of facts.map((each) => canonicalJson(each)).sort(byText)) hash.update(fact).update("\n");
  return `sha256:${hash.digest("hex")}`;
}
