import { groupBy } from "../../base/model/maps.ts";
import { moreOf } from "../../base/text/lists.ts";

/** The levels of detail, from most to least. */
export type Detail = "full" | "short" | "brief" | "counts";

const details: readonly Detail[] = ["full", "short", "brief", "counts"];
/** In characters. */
const defaultBudget = 60_000;

/** The document with the most detail that fits the budget; at least the counts. */
export function fitted(draw: (detail: Detail) => string, budget = defaultBudget): string {
  let text = "";
  for (const detail of details) {
    text = draw(detail);
    if (text.length <= budget) break;
  }
  return text;
}

// Maximum entries of a list, such as the steps by hand. The rest is counted.
const listLimits: Readonly<Record<Detail, number>> = { full: Number.POSITIVE_INFINITY, short: 100, brief: 20, counts: 0 };

// Of each group, where entries have groups, so that no group hides another.
const groupLimits: typeof listLimits = { full: Number.POSITIVE_INFINITY, short: 20, brief: 5, counts: 2 };

/** Maximum rows of an entry. */
export const mostRows: Readonly<Record<Detail, number>> = { full: 20, short: 10, brief: 3, counts: 0 };

interface ListedOptions<T> {
  readonly draw: (entry: T) => string;
  /** What each entry is. */
  readonly one: string;
  readonly between?: string;
  readonly groupOf?: (entry: T) => string | undefined;
}

/** As many entries as the detail allows, and how many are left out. */
export function listed<T>(all: readonly T[], detail: Detail, { draw, one, between = "\n", groupOf }: ListedOptions<T>): string {
  const isGrouped = all.some((entry) => groupOf?.(entry) !== undefined);
  const shown = isGrouped
    ? [...groupBy(all, (entry) => groupOf?.(entry)).values()].flatMap((group) => group.slice(0, groupLimits[detail]))
    : all.slice(0, listLimits[detail]);
  const left = all.length - shown.length;
  return [...shown.map(draw), ...(left === 0 ? [] : [`- … ${moreOf(left, one)}`])].join(between);
}

/** What is left out, and the command that shows it; "" if the document is complete. */
export function shortenedText(detail: Detail, command: string): string {
  const shorter = detail === "counts" ? "Only the totals are shown." : `Lists end after ${listLimits[detail]} entries.`;
  return detail === "full" ? "" : `**Shortened:** ${shorter} See everything with \`${command}\`.`;
}
