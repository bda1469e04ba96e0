import type { Exit } from "../model/exit.ts";
import type { AccountDifference } from "./compare.ts";

/** What `dimsync compare -o json` prints. */
export interface Comparison {
  readonly kind: "Comparison";
  readonly from: string;
  readonly to: string;
  readonly differences: readonly AccountDifference[];
  readonly exit: Exit;
}

/** `from` and `to`: target names or snapshot files, as the user wrote them. */
export function comparisonOf(from: string, to: string, differences: readonly AccountDifference[]): Comparison {
  const exit: Exit = differences.length === 0 ? { code: 0, reasons: [] } : { code: 2, reasons: ["differences"] };
  return { kind: "Comparison", from, to, differences, exit };
}
