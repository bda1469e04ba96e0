import type { Plan } from "../../model/plan.ts";
import { visible } from "../visible.ts";
import { alignRows, cell } from "./rows.ts";
import type { Screen } from "./screen.ts";

/** The reasons of rules that are not told beside each change: once each, "pii-email   GDPR register 12", in the order in which the rules appear. */
export function reasonLines({ items }: Plan, { paint, verbose }: Screen): readonly string[] {
  if (verbose) return [];
  const reasons = new Map<string, readonly [rule: string, reason: string]>();
  for (const { changes } of items)
    for (const { cause, risk } of changes)
      if (cause?.rule !== undefined && cause.reason !== undefined && risk !== "exposes")
        reasons.set(JSON.stringify([cause.rule, cause.reason]), [cause.rule, cause.reason]);
  if (reasons.size === 0) return [];
  return [
    "Reasons that rules give:",
    ...alignRows(
      [...reasons.values()].map(([rule, reason]) => [cell(visible(rule)), cell(visible(reason), paint.dim)]),
      "    ",
    ),
  ];
}
