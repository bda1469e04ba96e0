import { byText } from "../../model/address.ts";
import type { Plan, Result } from "../../model/plan.ts";
import { unmanagedObjects } from "../../model/plan.ts";
import type { Severity } from "../../model/problem.ts";
import { severities } from "../../text/signs.ts";
import { openFindings } from "../report/policies.ts";
import { kindOfList } from "../report/unmanaged.ts";
import { familyText, type Labels, type Sample } from "./prometheus.ts";

/** What a document does not contain about its run. Times in seconds since 1970. */
export interface RunTimes {
  readonly finishedAtSeconds: number;
  readonly durationSeconds: number;
  /** By target, of the last run that succeeded, read from the metrics file of the previous run. */
  readonly lastSuccessSeconds: ReadonlyMap<string, number>;
}

/**
 * Prometheus text format 0.0.4 for the textfile collector of the node exporter. A run succeeds if it
 * reads everything and no request fails: with exit 0, 2 (differences are a finding, not a failure) or
 * 3 (a refusal).
 */
export function metricsText(documents: readonly (Plan | Result)[], times: RunTimes): string {
  return [...runFamilies(times), ...contentFamilies]
    .map(({ name, help, samplesOf }) => {
      const samples = documents.flatMap((document) =>
        samplesOf(document).map(([labels, value]): Sample => [{ ...identity(document), ...labels }, value]),
      );
      // All are gauges: the values of each run replace those of the previous run.
      return familyText({ name, help, type: "gauge", samples });
    })
    .join("");
}

/** A metric: its name without "dimsync_", and its samples of one document. */
interface Family {
  readonly name: string;
  readonly help: string;
  readonly samplesOf: (document: Plan | Result) => readonly Sample[];
}

const ofPlan =
  (samplesOf: (plan: Plan) => readonly Sample[]): Family["samplesOf"] =>
  (document) =>
    document.kind === "Result" ? [] : samplesOf(document);

/** When the run was, and how it ended. */
const runFamilies = ({ finishedAtSeconds, durationSeconds, lastSuccessSeconds }: RunTimes): readonly Family[] => [
  { name: "last_run_timestamp_seconds", help: "When the last run ended.", samplesOf: () => [[{}, finishedAtSeconds]] },
  {
    name: "last_success_timestamp_seconds",
    help: "End of the last run that read everything and in which no request failed.",
    samplesOf: (document) => {
      const last = succeeded(document) ? finishedAtSeconds : lastSuccessSeconds.get(document.target);
      return last === undefined ? [] : [[{}, last]];
    },
  },
  { name: "run_duration_seconds", help: "Duration of the last run.", samplesOf: () => [[{}, durationSeconds]] },
  { name: "exit_code", help: "Exit code of the last run.", samplesOf: ({ exit }) => [[{}, exit.code]] },
  { name: "complete", help: "1 if every read succeeded.", samplesOf: ofPlan(({ complete }) => [[{}, complete ? 1 : 0]]) },
];

/** What the plans and results contain. */
const contentFamilies: readonly Family[] = [
  {
    name: "objects",
    help: "Objects by planned action.",
    samplesOf: ofPlan(({ summary: { protects: _, exposes: __, exposed: ___, stricter: ____, ...states } }) =>
      Object.entries(states).map(([state, count]): Sample => [{ state }, count]),
    ),
  },
  {
    name: "changes",
    help: "Changes by risk: protects and exposes in a plan, exposed and stricter in drift.",
    samplesOf: ofPlan(({ summary: { protects, exposes, exposed, stricter } }) =>
      Object.entries({ protects, exposes, exposed, stricter }).flatMap(([risk, count]): readonly Sample[] =>
        count === undefined ? [] : [[{ risk }, count]],
      ),
    ),
  },
  {
    name: "unmanaged",
    help: "Live objects and columns that no manifest covers.",
    samplesOf: ofPlan(({ unmanaged }) => [
      ...Array.from(unmanagedObjects(unmanaged), ([list, { length }]): Sample => [{ kind: kindOfList(list).toLowerCase() }, length]),
      [{ kind: "column" }, unmanaged.columns],
    ]),
  },
  {
    name: "unreviewed_columns",
    help: "Live columns that nobody has reviewed.",
    samplesOf: ofPlan(({ newColumns, neverReviewed = [] }) =>
      newColumns === undefined ? [] : [[{}, neverReviewed.reduce((sum, { columns }) => sum + columns, newColumns.length)]],
    ),
  },
  {
    name: "outcomes",
    help: "Items of the last apply, by outcome.",
    samplesOf: (document) => (document.kind === "Result" ? outcomes(document) : []),
  },
  { name: "policy_findings", help: "Policy findings.", samplesOf: ({ policy }) => bySeverity(openFindings(policy)) },
  { name: "diagnostics", help: "Problems found.", samplesOf: ({ diagnostics }) => bySeverity(diagnostics) },
  {
    name: "calls",
    help: "Requests of the last run by method.",
    samplesOf: (document) =>
      Object.entries(document.kind === "Result" ? document.calls : document.calls.read)
        .sort(([a], [b]) => byText(a, b))
        .map(([method, count]): Sample => [{ method }, count]),
  },
];

/** The time of the last success by target, read from a text of `metricsText`; empty for any other text. */
export function lastSuccesses(text: string): ReadonlyMap<string, number> {
  const found = text.matchAll(/^dimsync_last_success_timestamp_seconds\{[^\n]*?target="((?:[^"\\\n]|\\.)*)"\} ([0-9.]+)$/gmu);
  return new Map(
    [...found].map(([, target = "", value]) => [
      target.replace(/\\(.)/gu, (_, character: string) => (character === "n" ? "\n" : character)),
      Number(value),
    ]),
  );
}

const identity = (document: Plan | Result): Labels => ({
  command: document.kind === "Result" ? "apply" : document.kind === "Plan" ? "plan" : "drift",
  target: document.target,
});

function succeeded(document: Plan | Result): boolean {
  return [0, 2, 3].includes(document.exit.code) && (document.kind === "Result" || document.complete);
}

const outcomeNames = ["done", "recovered", "failed", "unknown", "skipped", "blocked", "deferred", "not-converged"] as const;

const outcomes = ({ items }: Result): readonly Sample[] =>
  outcomeNames.map((outcome) => [{ outcome }, items.filter((item) => item.outcome === outcome).length]);

const bySeverity = (entries: readonly { readonly severity: Severity }[]): readonly Sample[] =>
  severities.map((severity) => [{ severity }, entries.filter((entry) => entry.severity === severity).length]);
