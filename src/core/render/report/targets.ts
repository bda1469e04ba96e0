import { muted, name, type Row, type Span, type Table, word } from "../blocks.ts";
import type { Report } from "../report.ts";
import { timeText } from "./attribution.ts";
import type { StateCount } from "./totals.ts";

/** Whether there are several targets with a state: a validation has no state of an account. */
export const hasTargets = (reports: readonly Report[]): boolean =>
  reports.length > 1 && reports.some(({ words }) => words.kind !== "Validation");

/** Targets with their state, to see at a glance which one needs attention. */
export function targetTable(reports: readonly Report[]): Table {
  const counts = reports.map((report) => new Map(report.counts.filter(({ isDetail }) => isDetail !== true).map((one) => [one.label, one])));
  const labels = [...new Set(counts.flatMap((of) => [...of.keys()]))];
  const rows = reports.map(
    ({ target, title, headline, about }, index): Row => [
      [name(target || title)],
      [word(headline.word, headline.tone)],
      ...labels.map((label) => [countSpan(counts[index]?.get(label))]),
      [timeText(about.times.at(-1) ?? "")],
    ],
  );
  return { heads: ["Target", "State", ...labels, "Last run"], rows };
}

function countSpan(of: StateCount | undefined): Span {
  if (of === undefined) return "";
  return of.isAlarm === true ? word(String(of.count), "bad") : of.count === 0 ? muted("0") : String(of.count);
}
