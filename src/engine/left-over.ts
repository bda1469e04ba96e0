import type { Address } from "../model/address.ts";
import type { ItemResult, Plan } from "../model/plan.ts";

/** What never became an item: blocked in the first plan or in the last, and what still waits at the end. */
export function leftOver(first: Plan, last: Plan, results: readonly ItemResult[]): readonly ItemResult[] {
  const ended = new Map(results.map((result) => [result.address, result]));
  const blocked = new Map([...first.blocked, ...last.blocked].map((item) => [item.address, item]));
  const kindOf = (address: Address): string => address.slice(0, address.indexOf("/"));
  const waiting = last.deferred.filter(({ address }) => !ended.has(address) && !blocked.has(address));
  return [
    ...[...blocked.values()].map(
      ({ address, code, message }): ItemResult => ({ address, kind: kindOf(address), outcome: "blocked", code, message }),
    ),
    ...waiting.map(({ address, waitsFor }): ItemResult => {
      const failed = waitsFor
        .flatMap((dependency) => ended.get(dependency) ?? [])
        .find(({ outcome }) => outcome !== "done" && outcome !== "recovered");
      if (failed !== undefined)
        return {
          address,
          kind: kindOf(address),
          outcome: "skipped",
          code: "E_DEPENDENCY",
          message: `It depends on ${failed.address}, which is ${failed.outcome}.`,
        };
      return {
        address,
        kind: kindOf(address),
        outcome: "deferred",
        code: "E_STILL_WAITING",
        message: `It still waits for ${waitsFor.join(", ")}. Apply again later.`,
      };
    }),
  ];
}
