import { byText } from "../model/address.ts";
import type { CallCounts } from "../model/plan.ts";

/** "1 object", "2 objects", "3 policies". */
export const counted = (count: number, one: string): string => `${count} ${count === 1 ? one : pluralOf(one)}`;

const pluralOf = (one: string): string => `${one.replace(/(?<=[^aeiou])y$/u, "ie").replace(/(?<=s|x|ch)$/u, "e")}s`;

/** The counts that aren't 0, in the order given: "1 by hand, 2 blocked". */
export function countList(counts: readonly (readonly [count: number, words: string])[]): string {
  return counts
    .filter(([count]) => count > 0)
    .map(([count, words]) => `${count} ${words}`)
    .join(", ");
}

/** "45 s", "90 s", "12 min", "1 h", "5 h", "3 days": at least two of a unit, unless one is exact. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const fits = (unit: number): boolean => seconds >= 2 * unit || seconds === unit;
  if (fits(86_400)) return counted(Math.round(seconds / 86_400), "day");
  if (fits(3_600)) return `${Math.round(seconds / 3_600)} h`;
  return fits(60) ? `${Math.round(seconds / 60)} min` : `${seconds} s`;
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

const secondsPerUnit: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/**
 * Milliseconds of `30`, `"30s"`, `"5m"`, `"2h"` or `"1d"`; a number is seconds. Undefined for
 * anything else.
 */
export function durationMs(value: unknown): number | undefined {
  if (typeof value === "number") return value >= 0 ? Math.round(value * 1000) : undefined;
  const [, amount, unit = ""] = (typeof value === "string" && /^([0-9]+(?:\.[0-9]+)?)([smhd])$/u.exec(value)) || [];
  return amount === undefined ? undefined : Math.round(Number(amount) * (secondsPerUnit[unit] ?? 1) * 1000);
}
