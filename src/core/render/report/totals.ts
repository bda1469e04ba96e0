import { exemptionFindings, findingsOf, guardFindings, loosenedOf, openFindings, policyFindings } from "../../base/model/findings.ts";
import { endedSteps, type Plan, readySteps, type Step, stepsOf, type Validation } from "../../base/model/plan.ts";
import { diagnosticsIn, isError } from "../../base/model/problem.ts";
import { visible } from "../../base/text/control-characters.ts";
import { counted } from "../../base/text/counts.ts";
import { joinParts, targetList } from "../../base/text/lists.ts";
import { severities } from "../../base/text/signs.ts";
import type { Document, RenderOptions } from "../document.ts";
import { targetPlace } from "./from-root.ts";
import { contentText } from "./headline.ts";
import { isDone, outcomesText } from "./outcomes.ts";
import { refusalTitle } from "./refusals.ts";
import { unmanagedCounts } from "./unmanaged.ts";
import { wordsOf } from "./words.ts";

/** Whether the account was read completely, and there is nothing to do or report. */
export function isEmpty(plan: Plan): boolean {
  const found = [plan.steps.filter(({ standing }) => standing !== "unseen"), policyFindings(plan), guardFindings(plan)];
  // A report is about drift.
  const exemptions = plan.kind === "Plan" ? exemptionFindings(plan) : [];
  const lists = [...found, exemptions, findingsOf(plan, "loosened"), findingsOf(plan, "released")];
  return plan.complete && lists.every((list) => list.length === 0) && !diagnosticsIn(plan).some(isError);
}

/** The summary of an empty plan. It only claims what the service shows. */
export function emptyText(plan: Plan): string {
  const unseen = stepsOf(plan, "unseen").reduce((sum, { changes }) => sum + changes.length, 0);
  const objects = counted(plan.counts.equal, "object");
  const no = plan.kind === "Plan" ? "No changes." : "No drift.";
  if (unseen === 0) return `${no} The account matches the manifests (${objects} compared).`;
  return `${no} As far as the service shows it, the account matches the manifests (${objects} in sync, ${counted(unseen, "value")} never shown).`;
}

/** "2 errors, 1 warning in 2 files.", "Valid: 8 manifests in 4 files, no problems found." */
export function validationText(validation: Validation): string {
  const { targets, manifests, files: read } = validation;
  const diagnostics = diagnosticsIn(validation);
  const forTargets = targets === undefined ? "" : ` for ${targetList(targets)}`;
  const nouns = { error: "error", warning: "warning", info: "note" };
  const counts = severities.flatMap((severity) => {
    const count = diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
    return count === 0 ? [] : [counted(count, nouns[severity])];
  });
  if (counts.length === 0) return `Valid${forTargets}: ${counted(manifests, "manifest")} in ${counted(read, "file")}, no problems found.`;
  const files = new Set(diagnostics.flatMap(({ file }) => (file === undefined ? [] : [file]))).size;
  const where = files === 0 ? "" : ` in ${counted(files, "file")}`;
  const isValid = !diagnostics.some(isError);
  return `${isValid ? `Valid${forTargets}, with ` : ""}${counts.join(", ")}${where}${isValid ? "" : forTargets}.`;
}

/** "deploy/eu, prod: 6 changes, all protect; 1 outside change is undone": one line without control characters. */
export function summaryLine(document: Document, filePrefix?: RenderOptions["filePrefix"]): string {
  if (document.kind === "Validation") return validationText(document);
  const target = visible(targetPlace(document.target, filePrefix));
  if (document.kind === "Result")
    return `Apply on ${target}: ${endedSteps(document).length + stepsOf(document, "held").length === 0 ? "nothing to apply" : outcomesText(document)}`;
  return `${joinParts([target, refusalTitle(document)], " ")}: ${isEmpty(document) ? emptyText(document) : contentText(document)}`;
}

/**
 * Whether a plan would change something, a report found a difference, or apply did something.
 * Recording an id does not count.
 */
export function hasChanges(document: Document): boolean {
  if (document.kind === "Validation") return false;
  if (document.kind === "Result") return document.steps.some(isDone);
  const changing: readonly Step["standing"][] =
    document.kind === "DriftReport" ? ["waits", "held", "byHand", "notKept"] : ["waits", "held"];
  return readySteps(document).some(({ verb }) => verb !== "bind") || document.steps.some(({ standing }) => changing.includes(standing));
}

/** One number that describes the state of a target. */
export interface StateCount {
  readonly label: string;
  readonly count: number;
  /** The part of a page that explains it. */
  readonly part: string;
  readonly isAlarm?: boolean;
  /** Whether it is left out beside other targets. */
  readonly isDetail?: boolean;
}

/** The most important numbers of a document, the worst first. */
export function stateCounts(document: Document, changeCount: number): readonly StateCount[] {
  if (document.kind === "Validation") return [];
  const words = wordsOf(document.kind);
  const changes: StateCount = { label: `${words.change}s`, count: changeCount, part: "changes" };
  const isReport = document.kind === "DriftReport";
  const violations = openFindings(document);
  // In a report every finding exists.
  const needsAction = violations.filter(({ state }) => isReport || state === "new");
  const shared = [
    { label: "by hand", count: stepsOf(document, "byHand").length, part: "byHand" },
    {
      label: "policy findings",
      count: violations.length,
      part: needsAction.length > 0 ? "policies" : "existing",
      isAlarm: needsAction.some(({ severity }) => severity === "error"),
    },
  ];
  if (document.kind === "Result") {
    const open = endedSteps(document).filter((item) => !isDone(item)).length;
    return [{ label: "not done", count: open, part: "outcomes", isAlarm: open > 0 }, ...shared];
  }
  const { exposes = 0, exposed = 0 } = document.counts;
  const alarms = isReport ? exposed : exposes;
  const unmanaged = unmanagedCounts(document.unmanaged);
  const loosened = loosenedOf(document);
  const added = document.findings.filter(({ rule }) => rule === "new-column");
  return [
    ...(loosened.length === 0 ? [] : [{ label: "loosened", count: loosened.length, part: "loosened", isAlarm: true }]),
    { label: isReport ? "exposed" : "expose", count: alarms, part: "changes", isAlarm: alarms > 0 },
    changes,
    ...shared,
    { label: "blocked", count: stepsOf(document, "blocked").length, part: "blocked" },
    ...(added.length === 0
      ? []
      : [{ label: "new columns", count: added.length, part: "columns", isAlarm: added.some(({ severity }) => severity === "warning") }]),
    { label: "unmanaged objects", count: unmanaged.objects, part: "unmanaged", isDetail: true },
    { label: "unmanaged columns", count: unmanaged.columns, part: "unmanaged", isDetail: true },
  ];
}
