import type { Counted } from "../engine/checks/guards.ts";
import type { Address } from "../model/address.ts";
import type { Item } from "../model/plan.ts";
import type { ItemResult } from "../model/result.ts";
import { isGood } from "./step.ts";

/** How often one address is planned again because it changed between plan and write. */
export const replansPerAddress = 3;

/** The outcomes of an apply so far, over all its rounds. */
export function newOutcomes() {
  const byStep = new Map<string, ItemResult>();
  const replans = new Map<Address, number>();
  const counted: Counted[] = [];
  return {
    /** True if something was created, related or bound that deferred items may have waited for. */
    add(items: readonly Item[], results: readonly ItemResult[]): boolean {
      for (const result of results) byStep.set(`${result.action} ${result.address}`, result);
      const reached = new Set(results.filter(({ outcome }) => mayHaveActed(outcome)).map(({ id }) => id));
      for (const { id, address, action, exposedColumns: exposed = 0 } of items)
        if (reached.has(id)) counted.push({ address, created: action === "create" ? 1 : 0, exposed });
      return results.some(({ outcome, action }) => isGood(outcome) && action !== "update");
    },
    failed: (): boolean => [...byStep.values()].some(({ outcome, code }) => !isGood(outcome) && code !== "E_STALE"),
    /** Removes the stale items that may be planned again, counts them, and returns their addresses. */
    takeStale(): readonly Address[] {
      const stale = [...byStep].filter(([, { code, address }]) => code === "E_STALE" && (replans.get(address) ?? 0) < replansPerAddress);
      for (const [step, { address }] of stale) {
        byStep.delete(step);
        replans.set(address, (replans.get(address) ?? 0) + 1);
      }
      return stale.map(([, { address }]) => address);
    },
    /** What earlier rounds did, which the guards of the next round add to its own. */
    counts: (): readonly Counted[] => counted,
    addresses: (): ReadonlySet<Address> => new Set([...byStep.values()].map(({ address }) => address)),
    results: (): readonly ItemResult[] => [...byStep.values()],
  };
}

const mayHaveActed = (outcome: ItemResult["outcome"]): boolean => outcome !== "skipped" && outcome !== "failed" && outcome !== "blocked";
