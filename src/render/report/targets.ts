import { muted, name, type Row, type Span, type Table, word } from "../blocks.ts";
import type { Document, RenderOptions, Shown } from "../document.ts";
import { type Report, reportOf } from "../report.ts";
import { timeText } from "./attribution.ts";
import { alarmsIn } from "./changes/groups.ts";
import { isDone } from "./outcomes.ts";
import { openFindings } from "./policies.ts";

/** A document with its content. */
export interface Rendered {
  readonly document: Shown;
  readonly report: Report;
}

export const renderedOf = (documents: readonly Document[], options: RenderOptions): readonly Rendered[] =>
  documents.map((document) => ({ document, report: reportOf(document, options) }));

/** One number that describes the state of a target. */
export interface StateCount {
  readonly label: string;
  readonly count: number;
  /** The part of a page that explains it. */
  readonly part: string;
  readonly isAlarm?: boolean;
}

/** The most important numbers of a document, the worst first. */
export function stateCounts({ document, report }: Rendered): readonly StateCount[] {
  if (document.kind === "Validation") return [];
  const { words } = report;
  const changes: StateCount = { label: `${words.change}s`, count: report.changes, part: "changes" };
  if (document.kind === "Comparison") {
    const count = alarmsIn(document.items);
    return [{ label: words.risks[0], count, part: "changes", isAlarm: count > 0 }, changes];
  }
  const isReport = document.kind === "DriftReport";
  const violations = openFindings(document.policy);
  // In a report every finding exists.
  const needsAction = violations.filter(({ state }) => isReport || state === "new");
  const shared = [
    { label: "manual", count: document.manual.length, part: "manual" },
    {
      label: "policy findings",
      count: violations.length,
      part: needsAction.length > 0 ? "policies" : "existing",
      isAlarm: needsAction.some(({ severity }) => severity === "error"),
    },
  ];
  if (document.kind === "Result") {
    const open = document.items.filter((item) => !isDone(item)).length;
    return [{ label: "not done", count: open, part: "outcomes", isAlarm: open > 0 }, ...shared];
  }
  const { exposes = 0, exposed = 0 } = document.summary;
  const alarms = isReport ? exposed : exposes;
  return [
    { label: isReport ? "exposed" : "expose", count: alarms, part: "changes", isAlarm: alarms > 0 },
    changes,
    ...shared,
    { label: "blocked", count: document.blocked.length, part: "blocked" },
    // Most projects do not review columns.
    ...(document.newColumns === undefined
      ? []
      : [
          {
            label: "new columns",
            count: document.newColumns.length,
            part: "columns",
            isAlarm: document.newColumns.some(({ replicated, hashed }) => replicated && !hashed),
          },
        ]),
  ];
}

/** Targets with their state, to see at a glance which one needs attention. */
export function targetTable(all: readonly Rendered[]): Table {
  const counts = all.map((one) => new Map(stateCounts(one).map((count) => [count.label, count])));
  const labels = [...new Set(counts.flatMap((of) => [...of.keys()]))];
  const rows = all.map(({ report }, index): Row => {
    const { headline, about } = report;
    return [
      [name(report.target || report.title)],
      [word(headline.word, headline.tone)],
      ...labels.map((label) => [countSpan(counts[index]?.get(label))]),
      [timeText(about.times.at(-1) ?? "")],
    ];
  });
  return { heads: ["Target", "State", ...labels, "Last run"], rows };
}

function countSpan(of: StateCount | undefined): Span {
  if (of === undefined) return "";
  return of.isAlarm === true ? word(String(of.count), "bad") : of.count === 0 ? muted("0") : String(of.count);
}
