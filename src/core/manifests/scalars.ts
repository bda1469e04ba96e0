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
