import type { Exit } from "../model/exit.ts";
import { visible } from "../text/control-characters.ts";
import { counted } from "../text/counts.ts";
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

/** Differences per object that are shown without --verbose. */
const shownPerObject = 20;

/** The comparison for the terminal. */
export function comparisonText({ from, to, differences }: Comparison, verbose: boolean): string {
  if (differences.length === 0) return `No differences between ${visible(from)} and ${visible(to)}.\n`;
  const byObject = new Map<string, AccountDifference[]>();
  for (const difference of differences) byObject.set(difference.object, [...(byObject.get(difference.object) ?? []), difference]);
  const objects = [...byObject].flatMap(([object, found]) => {
    const shown = verbose ? found : found.slice(0, shownPerObject);
    const left = found.length - shown.length;
    return [object, ...shown.map(differenceLine), ...(left > 0 ? [`  and ${left} more; --verbose shows all`] : [])];
  });
  const summary = `${counted(differences.length, "difference")} in ${counted(byObject.size, "object")}.`;
  return `${[`from  ${from}`, `to    ${to}`, "", ...objects, "", summary].map(visible).join("\n")}\n`;
}

function differenceLine({ path, from, to }: AccountDifference): string {
  if (path !== "") return `  ${path.slice(1)}: ${valueText(from)} → ${valueText(to)}`;
  return `  only in ${from === undefined ? "to" : "from"}, with id ${JSON.stringify(from ?? to)}`;
}

const valueText = (value: unknown): string => (value === undefined ? "(none)" : JSON.stringify(value));
