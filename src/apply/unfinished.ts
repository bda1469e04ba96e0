import { kindOf } from "../model/address.ts";
import type { Deferred, Plan } from "../model/plan.ts";
import type { ItemResult } from "../model/result.ts";
import { dependencyFailed } from "./execute.ts";
import { isGood } from "./step.ts";

/**
 * Addresses without an item: those that the first or the last plan blocked, and those still
 * deferred at the end.
 */
export function unfinishedItems(plans: readonly Plan[], results: readonly ItemResult[]): readonly ItemResult[] {
  const first = plans[0];
  const last = plans.at(-1);
  const blocked = new Map([...(first?.blocked ?? []), ...(last?.blocked ?? [])].map((item) => [item.address, item]));
  const waiting = (last?.deferred ?? []).filter(({ address }) => !blocked.has(address));
  return [
    ...[...blocked.values()].map(
      ({ address, code, message }): ItemResult => ({ address, kind: kindOf(address), outcome: "blocked", code, message }),
    ),
    ...waitingResults(waiting, results),
  ];
}

/** A deferred item is skipped if something that it waits for failed, directly or through another deferred item. */
function waitingResults(deferred: readonly Deferred[], results: readonly ItemResult[]): readonly ItemResult[] {
  const ended = new Map(results.map((result) => [result.address, result]));
  const waiting = new Map(deferred.flatMap((entry) => (ended.has(entry.address) ? [] : [[entry.address, entry] as const])));
  const entries = [...waiting.values()];
  const failedBefore = ({ address, waitsFor }: Deferred): ItemResult | undefined => {
    // Each is visited once: a saved plan is a file, and could contain a cycle.
    waiting.delete(address);
    for (const dependency of waitsFor) {
      const awaited = waiting.get(dependency);
      if (awaited !== undefined) ended.set(dependency, resultOf(awaited));
      const result = ended.get(dependency);
      if (result !== undefined && !isGood(result.outcome)) return result;
    }
    return undefined;
  };
  const resultOf = (entry: Deferred): ItemResult => {
    const failed = failedBefore(entry);
    const isSkipped = failed !== undefined && failed.outcome !== "deferred";
    return { address: entry.address, kind: kindOf(entry.address), ...(isSkipped ? dependencyFailed(failed) : stillWaits(entry)) };
  };
  return entries.map((entry) => {
    const result = ended.get(entry.address) ?? resultOf(entry);
    ended.set(entry.address, result);
    return result;
  });
}

function stillWaits({ waitsFor, liveId }: Deferred) {
  const names = waitsFor.join(", ");
  return {
    outcome: "deferred" as const,
    code: "E_STILL_WAITING",
    message:
      liveId === undefined
        ? `It still waits for ${names}. Run apply again later.`
        : `${names} is in the account, but the service has not discovered the declared schemas, tables and columns yet. Run apply again when it has. client.schemaWaitSeconds limits how long apply waits for that.`,
  };
}
