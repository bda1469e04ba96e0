import type { Address } from "../model/address.ts";
import type { Deferred, ItemResult, Plan } from "../model/plan.ts";

/** What never became an item: blocked in the first plan or in the last, and what still waits at the end. */
export function unfinishedItems(first: Plan, last: Plan, results: readonly ItemResult[]): readonly ItemResult[] {
  const ended = new Map(results.map((result) => [result.address, result]));
  const blocked = new Map([...first.blocked, ...last.blocked].map((item) => [item.address, item]));
  const waiting = new Map(
    last.deferred.filter(({ address }) => !ended.has(address) && !blocked.has(address)).map((entry) => [entry.address, entry]),
  );
  const failedBefore = ({ address, waitsFor }: Deferred): ItemResult | undefined => {
    // Asked once only: manifests that wait for each other are refused, and a saved plan is a file.
    waiting.delete(address);
    for (const dependency of waitsFor) {
      const awaited = waiting.get(dependency);
      if (awaited !== undefined) ended.set(dependency, endingOf(awaited));
      const ending = ended.get(dependency);
      if (ending !== undefined && !good.includes(ending.outcome)) return ending;
    }
    return undefined;
  };
  const endingOf = (entry: Deferred): ItemResult => {
    const failed = failedBefore(entry);
    const skipped = failed !== undefined && failed.outcome !== "deferred";
    return { address: entry.address, kind: kindOf(entry.address), ...(skipped ? dependsOn(failed) : stillWaits(entry)) };
  };
  return [
    ...[...blocked.values()].map(
      ({ address, code, message }): ItemResult => ({ address, kind: kindOf(address), outcome: "blocked", code, message }),
    ),
    ...[...waiting.values()].map((entry) => {
      const ending = ended.get(entry.address) ?? endingOf(entry);
      ended.set(entry.address, ending);
      return ending;
    }),
  ];
}

const good: readonly ItemResult["outcome"][] = ["done", "recovered"];

const kindOf = (address: Address): string => address.slice(0, address.indexOf("/"));

const dependsOn = ({ address, outcome }: ItemResult) => ({
  outcome: "skipped" as const,
  code: "E_DEPENDENCY",
  message: `It depends on ${address}, which is ${outcome}.`,
});

function stillWaits({ waitsFor, liveId }: Deferred) {
  const names = waitsFor.join(", ");
  return {
    outcome: "deferred" as const,
    code: "E_STILL_WAITING",
    message:
      liveId === undefined
        ? `It still waits for ${names}. Apply again later.`
        : `${names} is in the account, and the service has not yet discovered the schemas, tables and columns that are declared for it. Apply again when it has; client.schemaWaitSeconds says how long apply waits for that.`,
  };
}
