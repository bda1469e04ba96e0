import { byText } from "../../model/address.ts";
import type { Plan } from "../../model/plan.ts";
import type { Severity } from "../../model/problem.ts";
import type { Result } from "../../model/result.ts";
import { severities } from "../../text/severity.ts";
import { openFindings } from "../report/policies.ts";

/** What a document doesn't know of its own run. Times in seconds since 1970. */
export interface RunTimes {
  readonly finishedAtSeconds: number;
  readonly durationSeconds: number;
  /** By target, of the last run that ended well, as a metrics file of before has them. */
  readonly lastSuccessSeconds: ReadonlyMap<string, number>;
}

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number];

/**
 * Prometheus text format 0.0.4 for the textfile collector of the node exporter. A run ends well where it read everything and no call failed: with
 * exit 0, 2 (differences are a finding, not a failure) or 3 (a refusal).
 */
export function metricsText(documents: readonly (Plan | Result)[], times: RunTimes): string {
  const each = (draw: (document: Plan | Result) => readonly Sample[]): readonly Sample[] =>
    documents.flatMap((document) => draw(document).map(([labels, value]): Sample => [{ ...identity(document), ...labels }, value]));
  const ofPlan = (draw: (plan: Plan) => readonly Sample[]) => each((document) => (document.kind === "Result" ? [] : draw(document)));
  return [
    family(
      "dimsync_last_run_timestamp_seconds",
      "When the last run ended.",
      each(() => [[{}, times.finishedAtSeconds]]),
    ),
    family(
      "dimsync_last_success_timestamp_seconds",
      "When the last run ended that read everything and failed at nothing.",
      each((document) => {
        const last = endsWell(document) ? times.finishedAtSeconds : times.lastSuccessSeconds.get(document.target);
        return last === undefined ? [] : [[{}, last]];
      }),
    ),
    family(
      "dimsync_run_duration_seconds",
      "How long the last run took.",
      each(() => [[{}, times.durationSeconds]]),
    ),
    family(
      "dimsync_exit_code",
      "Exit code of the last run.",
      each(({ exit }) => [[{}, exit.code]]),
    ),
    family(
      "dimsync_complete",
      "1 where every read succeeded.",
      ofPlan(({ complete }) => [[{}, complete ? 1 : 0]]),
    ),
    family(
      "dimsync_objects",
      "Objects by what is to be done with them.",
      ofPlan(({ summary: { protects: _, exposes: __, exposed: ___, stricter: ____, ...states } }) =>
        Object.entries(states).map(([state, count]): Sample => [{ state }, count]),
      ),
    ),
    family(
      "dimsync_changes",
      "Changes by risk: protects and exposes in a plan, exposed and stricter in drift.",
      ofPlan(({ summary: { protects, exposes, exposed, stricter } }) =>
        Object.entries({ protects, exposes, exposed, stricter }).flatMap(([risk, count]): readonly Sample[] =>
          count === undefined ? [] : [[{ risk }, count]],
        ),
      ),
    ),
    family(
      "dimsync_unmanaged",
      "Live objects and columns that no manifest covers.",
      ofPlan(({ unmanaged: { integrations, tags, columns } }) => [
        [{ kind: "integration" }, integrations.length],
        [{ kind: "tag" }, tags.length],
        [{ kind: "column" }, columns],
      ]),
    ),
    family(
      "dimsync_outcomes",
      "Items of the last apply by outcome.",
      each((document) => (document.kind === "Result" ? outcomes(document) : [])),
    ),
    family(
      "dimsync_policy_findings",
      "Findings of policies.",
      each(({ policy }) => bySeverity(openFindings(policy))),
    ),
    family(
      "dimsync_diagnostics",
      "Problems found.",
      each(({ diagnostics }) => bySeverity(diagnostics)),
    ),
    family(
      "dimsync_calls",
      "Calls of the last run by method.",
      each((document) =>
        Object.entries(document.kind === "Result" ? document.calls : document.calls.read)
          .sort(([a], [b]) => byText(a, b))
          .map(([method, count]): Sample => [{ method }, count]),
      ),
    ),
  ].join("");
}

/** The last success by target out of a text that `metricsText` made; empty for any other text. */
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

function endsWell(document: Plan | Result): boolean {
  return [0, 2, 3].includes(document.exit.code) && (document.kind === "Result" || document.complete);
}

const outcomeNames = ["done", "recovered", "failed", "unknown", "skipped", "blocked", "deferred", "not-converged"] as const;

const outcomes = ({ items }: Result): readonly Sample[] =>
  outcomeNames.map((outcome) => [{ outcome }, items.filter((item) => item.outcome === outcome).length]);

const bySeverity = (entries: readonly { readonly severity: Severity }[]): readonly Sample[] =>
  severities.map((severity) => [{ severity }, entries.filter((entry) => entry.severity === severity).length]);

/** All are gauges: each run replaces what the one before said. */
function family(name: string, help: string, samples: readonly Sample[]): string {
  if (samples.length === 0) return "";
  const lines = samples.map(
    ([labels, value]) =>
      `${name}{${Object.entries(labels)
        .map(([key, text]) => `${key}="${escaped(text)}"`)
        .join(",")}} ${value}\n`,
  );
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join("")}`;
}

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
