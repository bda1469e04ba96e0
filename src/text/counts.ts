import { byText } from "../model/address.ts";
import type { CallCounts } from "../model/plan.ts";

/** "1 object", "2 objects". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The counts that aren't 0, in the order given: "1 manual, 2 blocked". */
export function countList(counts: readonly (readonly [count: number, words: string])[]): string {
  return counts
    .filter(([count]) => count > 0)
    .map(([count, words]) => `${count} ${words}`)
    .join(", ");
}

/** "1 PATCH, 2 POST", or "nothing". */
export function callsText(calls: CallCounts): string {
  const counts = Object.entries(calls).filter(([, count]) => count > 0);
  if (counts.length === 0) return "nothing";
  return counts
    .sort(([a], [b]) => byText(a, b))
    .map(([method, count]) => `${count} ${method}`)
    .join(", ");
}
