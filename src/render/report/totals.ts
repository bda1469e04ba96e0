import type { Exit, ExitCode } from "../../model/exit.ts";
import type { GuardFinding, Plan } from "../../model/plan.ts";
import type { Validation } from "../../model/result.ts";
import { visible } from "../../text/control-characters.ts";
import { counted, countList } from "../../text/counts.ts";
import { andMore, joinParts } from "../../text/lists.ts";
import { severities } from "../../text/severity.ts";
import type { Document } from "../document.ts";
import { timeText } from "./attribution.ts";
import { isDone, outcomesText } from "./outcomes.ts";
import { wordsOf } from "./words.ts";

/** Whether the account was read completely and there is nothing to do and nothing to report. */
export function isEmpty(plan: Plan): boolean {
  const lists = [plan.items, plan.manual, plan.blocked, plan.deferred, plan.policy, plan.guards];
  return plan.complete && lists.every((list) => list.length === 0) && plan.diagnostics.every(({ severity }) => severity !== "error");
}

/** The verdict on an empty plan. It only says that what the service shows matches. */
export function emptyText(plan: Plan): string {
  const unverifiable = plan.unverifiable.reduce((sum, { paths }) => sum + paths.length, 0);
  const objects = counted(plan.summary.noop, "object");
  const no = plan.kind === "Plan" ? "No changes." : "No drift.";
  const live = plan.snapshot === undefined ? "account" : `snapshot of ${plan.snapshot}`;
  if (unverifiable === 0) return `${no} The ${live} matches the manifests (${objects} compared).`;
  return `${no} As far as the service shows it, the ${live} matches the manifests (${objects} in sync, ${counted(unverifiable, "value")} unverifiable).`;
}

/** The whole plan in one line, without a full stop. */
export interface Totals {
  /** "1 to create, 2 to update" */
  readonly steps: string;
  /** "1 manual, 2 blocked"; "" if there is nothing. */
  readonly others: string;
  /** "3 protect, 0 expose"; "" without changes. */
  readonly risks: string;
}

export function totalsOf(plan: Plan): Totals {
  const { summary } = plan;
  const { protects = 0, exposes = 0, exposed = 0, stricter = 0 } = summary;
  const steps =
    plan.kind === "Plan"
      ? countList([
          [summary.create, "to create"],
          [summary.update, "to update"],
          [summary.relate, "to relate"],
          [summary.bind, "to bind"],
        ])
      : countList([
          [summary.create, "missing"],
          [summary.update, summary.update === 1 ? "differs" : "differ"],
          [summary.relate, summary.relate === 1 ? "tag relation missing" : "tag relations missing"],
          [summary.bind, summary.bind === 1 ? "id not recorded" : "ids not recorded"],
        ]);
  const hasChanges = plan.items.some(({ changes }) => changes.length > 0);
  const risks = plan.kind === "Plan" ? `${protects} protect, ${exposes} expose` : `${exposed} exposed, ${stricter} stricter than desired`;
  return {
    steps: steps === "" ? (plan.kind === "Plan" ? "no changes" : "nothing that a request could change") : steps,
    others: countList([
      [summary.manual, "manual"],
      [summary.blocked, "blocked"],
      [summary.deferred, "deferred"],
    ]),
    risks: hasChanges ? risks : "",
  };
}

/** "1 to create, 2 to update; 1 manual; 3 protect, 0 expose" */
export function totalsText(plan: Plan): string {
  const { steps, others, risks } = totalsOf(plan);
  return joinParts([steps, others, risks], "; ");
}

/** Why apply refuses the plan, or why a report may not show everything; one sentence each, none if all is well. */
export function refusalsOf(plan: Plan): readonly string[] {
  const { diagnostics, calls, complete, snapshot, guards, executable } = plan;
  const errors = diagnostics.filter(({ severity, code }) => severity === "error" && code !== "E_READ_FAILED").length;
  if (errors > 0 && Object.keys(calls.read).length === 0) return ["The account was not read. Fix the errors first."];
  if (plan.kind === "DriftReport")
    return [
      ...(complete ? [] : ["The report is incomplete, because a read failed. There may be more differences."]),
      ...(snapshot === undefined ? [] : [`The report was made from a snapshot taken ${timeText(snapshot)}.`]),
    ];
  if (executable) return protectedReasons(plan);
  const reasons = [
    ...(complete ? [] : ["The plan is incomplete, because a read failed. Creates are blocked: what looks missing may exist."]),
    ...(errors === 0 ? [] : [`There ${errors === 1 ? "is 1 error" : `are ${errors} errors`}. Fix ${errors === 1 ? "it" : "them"} first.`]),
    ...(snapshot === undefined ? [] : [`The plan was made from a snapshot taken ${timeText(snapshot)}, so it cannot be applied.`]),
    ...guards.filter(({ allowed }) => allowed === undefined).map((guard) => `${guardText(guard)}.`),
  ];
  return reasons.length === 0 ? ["Apply refuses this plan."] : reasons;
}

/** Why apply refuses a saved plan of a protected target. */
function protectedReasons({ protected: isProtected, git }: Plan): readonly string[] {
  if (isProtected !== true) return [];
  if (git === undefined) return ["The target is protected, and the plan was not made in a git repository."];
  if (!git.dirty) return [];
  const files = andMore((git.changedFiles ?? []).map(visible));
  return [`The target is protected, and there are uncommitted changes${files === "" ? "" : ` in ${files}`}. Commit them and plan again.`];
}

/** "Guard maxCreates refuses: 7 found, at most 5 allowed"; lifted guards say so. */
export function guardText({ guard, limit, actual, allowed, population }: GuardFinding): string {
  const unit = population === undefined ? "" : "%";
  const found = actual === undefined ? "" : `${actual}${unit} found`;
  const measure = joinParts([found, limit === undefined ? "" : `at most ${limit}${unit} allowed`], ", ");
  return joinParts([`Guard ${visible(guard)} ${allowed === undefined ? "refuses" : "is lifted"}`, measure], ": ");
}

const exitMeanings: Readonly<Record<ExitCode, string>> = {
  0: "",
  1: "there are errors",
  2: "--fail-on named something that was found",
  3: "a guard or a policy refuses",
  4: "apply is incomplete",
  5: "the saved plan cannot be used",
  6: "another run holds the lock",
  130: "interrupted",
};

const kindMeanings: Partial<Readonly<Record<Document["kind"], Partial<Record<ExitCode, string>>>>> = {
  Plan: { 2: "there are changes" },
  DriftReport: {
    2: "the account differs from the manifests",
    3: "the account violates a policy, or a guard refuses what would restore the manifests",
  },
};

/** "Exit 3 (guard): a guard or a policy refuses."; "" for 0. */
export function exitText(exit: Exit, kind: Document["kind"]): string {
  if (exit.code === 0) return "";
  const reasons = exit.reasons.length === 0 ? "" : ` (${exit.reasons.map(visible).join(", ")})`;
  return `Exit ${exit.code}${reasons}: ${kindMeanings[kind]?.[exit.code] ?? exitMeanings[exit.code]}.`;
}

/** "2 errors, 1 warning in 2 files.", "Valid: 8 manifests in 4 files, no problems found." */
export function validationText({ diagnostics, manifests, files: read }: Validation): string {
  const nouns = { error: "error", warning: "warning", info: "note" };
  const counts = severities.flatMap((severity) => {
    const count = diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
    return count === 0 ? [] : [counted(count, nouns[severity])];
  });
  if (counts.length === 0) return `Valid: ${counted(manifests, "manifest")} in ${counted(read, "file")}, no problems found.`;
  const files = new Set(diagnostics.flatMap(({ file }) => (file === undefined ? [] : [file]))).size;
  const where = files === 0 ? "" : ` in ${counted(files, "file")}`;
  const isValid = diagnostics.every(({ severity }) => severity !== "error");
  return `${isValid ? "Valid, with " : ""}${counts.join(", ")}${where}.`;
}

/** "Plan for prod: 1 to create, 2 to update; 3 protect, 0 expose": one line without control characters. */
export function summaryLine(document: Document): string {
  if (document.kind === "Validation") return validationText(document);
  const target = visible(document.target);
  if (document.kind === "Result")
    return `Apply on ${target}: ${document.items.length === 0 ? "nothing to apply" : outcomesText(document.items)}`;
  return `${wordsOf(document.kind).title} for ${target}: ${isEmpty(document) ? emptyText(document) : totalsText(document)}`;
}

/** Whether a plan would change something, a report found a difference, or apply did something. A bind alone is no change. */
export function hasChanges(document: Document): boolean {
  if (document.kind === "Validation") return false;
  if (document.kind === "Result") return document.items.some(isDone);
  const { items, deferred, manual } = document;
  return items.some(({ action }) => action !== "bind") || deferred.length > 0 || (document.kind === "DriftReport" && manual.length > 0);
}
