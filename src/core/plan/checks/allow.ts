import { below, type Problem, problemAt } from "../../base/model/problem.ts";
import type { AllowEntry } from "../../base/model/settings/config.ts";
import { visible } from "../../base/text/control-characters.ts";

const mostDays = 30;
const dayMs = 86_400_000;

/** The entries of `allow` that are in effect on that day, and a problem for each that has expired or that ends too late. */
export function allowances(
  entries: readonly AllowEntry[],
  today: string,
): { readonly current: readonly AllowEntry[]; readonly problems: readonly Problem[] } {
  const days = ({ until }: AllowEntry): number => (Date.parse(until) - Date.parse(today)) / dayMs;
  return {
    current: entries.filter((entry) => days(entry) >= 0 && days(entry) <= mostDays),
    problems: entries.flatMap((entry): readonly Problem[] => {
      const until = below(entry.place, ["until"]);
      if (days(entry) < 0) {
        const message = `The entry lifted ${entryText(entry)} until ${entry.until} (${entry.reason}). It has no effect any more. Remove it from dimsync.yaml.`;
        return [problemAt(until, { code: "W_UNUSED", severity: "warning", message })];
      }
      if (days(entry) <= mostDays) return [];
      const message = `An entry may lift ${entryText(entry)} for at most ${mostDays} days, and ${entry.until} is later. Set an earlier date.`;
      return [problemAt(until, { code: "E_DATE_TOO_LATE", message })];
    }),
  };
}

/** A warning for an entry that lifts nothing. */
export const unusedAllowance = (entry: AllowEntry): Problem =>
  problemAt(entry.place, {
    code: "W_UNUSED",
    severity: "warning",
    message: `The entry lifts ${entryText(entry)}, which does not refuse this plan (${entry.reason}). Remove it from dimsync.yaml, so that it does not lift the guard for another change.`,
  });

const entryText = ({ guard, address }: AllowEntry): string =>
  `the guard ${guard}${address === undefined ? "" : ` for ${visible(address)}`}`;
