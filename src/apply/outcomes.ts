import type { Address } from "../model/address.ts";
import type { Item, ItemResult } from "../model/plan.ts";

/** How often one address is planned afresh because it changed between plan and write. */
export const replansPerAddress = 3;

/** The endings of an apply so far, by what was done where, over all its rounds. */
export function newOutcomes() {
  const byStep = new Map<string, ItemResult>();
  const replans = new Map<Address, number>();
  const isStale = ({ code, address }: ItemResult): boolean => code === "E_STALE" && (replans.get(address) ?? 0) < replansPerAddress;
  const tally = {
    created: 0,
    exposed: 0,
    /** Whether something that others may have waited for is there now. */
    add(items: readonly Item[], endings: readonly ItemResult[]): boolean {
      for (const ending of endings) byStep.set(`${ending.action} ${ending.address}`, ending);
      const reached = new Set(
        endings.filter(({ outcome }) => outcome !== "skipped" && outcome !== "failed" && outcome !== "blocked").map(({ id }) => id),
      );
      tally.created += items.filter(({ id, action }) => action === "create" && reached.has(id)).length;
      tally.exposed += items.reduce((sum, { id, exposedColumns }) => sum + (reached.has(id) ? (exposedColumns ?? 0) : 0), 0);
      return endings.some(({ outcome, action }) => isGood(outcome) && action !== "update");
    },
    failed: (): boolean => [...byStep.values()].some(({ outcome, code }) => !isGood(outcome) && code !== "E_STALE"),
    /** Addresses to plan afresh; they are forgotten here, and counted. */
    stale(): readonly Address[] {
      const found = [...byStep].filter(([, ending]) => isStale(ending));
      for (const [step, { address }] of found) {
        byStep.delete(step);
        replans.set(address, (replans.get(address) ?? 0) + 1);
      }
      return found.map(([, { address }]) => address);
    },
    settled: (): ReadonlySet<Address> => new Set([...byStep.values()].map(({ address }) => address)),
    results: (): readonly ItemResult[] => [...byStep.values()],
  };
  return tally;
}

const isGood = (outcome: ItemResult["outcome"]): boolean => outcome === "done" || outcome === "recovered";
