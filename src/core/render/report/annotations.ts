import { objectAddress } from "../../base/model/address.ts";
import { changeCount, firstChange, isOutside } from "../../base/model/changes.ts";
import { findingsOf, type GuardFinding, loosenedOf, openFindings, type PolicyFinding } from "../../base/model/findings.ts";
import { defined } from "../../base/model/json/json.ts";
import {
  type Change,
  type ChangeGroup,
  endedSteps,
  type Finding,
  outcomeOf,
  type Plan,
  type ReadyStep,
  type Result,
  readySteps,
  type Step,
  stepsOf,
  whyOf,
} from "../../base/model/plan.ts";
import { type Diagnostic, diagnosticsIn, type Severity } from "../../base/model/problem.ts";
import { visible } from "../../base/text/control-characters.ts";
import { counted } from "../../base/text/counts.ts";
import { andMore, joinParts } from "../../base/text/lists.ts";
import { pathText, spaced, wholePath } from "../../base/text/paths.ts";
import { errorsFirst } from "../../base/text/signs.ts";
import { valueAt } from "../../base/text/values.ts";
import type { Document } from "../document.ts";
import { type BlockedGroup, blockedGroups } from "./blocked.ts";
import { type ChangeRow, changeRows } from "./change-rows.ts";
import { type ColumnGroup, columnGroups, integrationsOf, nodeOf } from "./columns.ts";
import { isDone } from "./outcomes.ts";
import { requirementText } from "./policies.ts";
import { guardText, shownGuards } from "./refusals.ts";
import { heldNote } from "./sections.ts";
import { isAlarm, wordsOf } from "./words.ts";

/** What annotations and jobs report, with the manifest's line if it is known. */
export interface Annotation {
  /** Stable: "E_AMBIGUOUS", "Policy/pii-must-be-hashed", "guard/maxCreates", "exposes", "drift", "byHand". */
  readonly rule: string;
  /** The meaning of the rule, without user text. */
  readonly title: string;
  readonly severity: Severity;
  /** Full sentences in one paragraph. Can contain any text. */
  readonly message: string;
  /** Lines below it: a command to run, how to lift a guard. */
  readonly more?: readonly string[];
  readonly address?: string;
  /** JSON Pointer into the live object. */
  readonly path?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** `existing`: a policy finding that the plan does not cause. `refuses`: a guard refuses the plan because of it. `blocks`: an item that must not run. */
  readonly effect?: "existing" | "refuses" | "blocks";
}

/** All findings of a document, errors first, otherwise in the order of the document. */
export function annotationsOf(document: Document): readonly Annotation[] {
  if (document.kind === "Validation")
    return errorsFirst([...diagnosticsIn(document).map(ofDiagnostic), ...findingsOf(document, "loosened").map(ofLoosened)]);
  const { kind } = document;
  const refusing = shownGuards(document).filter(({ guard: { allowed } }) => allowed === undefined);
  const isRefused = refusing.some(({ rule }) => rule === "policy");
  const shared = [
    ...diagnosticsIn(document).map(ofDiagnostic),
    ...openFindings(document).map((finding) => ofPolicy(finding, kind, isRefused)),
    ...refusing.map((guard) => ofGuard(guard, kind)),
  ];
  return errorsFirst([...shared, ...(document.kind === "Result" ? ofResult(document) : ofPlan(document))]);
}

const ofDiagnostic = (finding: Diagnostic): Annotation => ({
  ...ofFinding(finding, finding.summary, finding.message),
  more: linesOf(finding.command),
  ...defined({ column: finding.column }),
});

function ofPolicy(finding: PolicyFinding, kind: Document["kind"], isRefused: boolean): Annotation {
  const { address, path, message } = finding;
  const requirement = requirementText(finding);
  const where = requirement === "" ? wholePath(path) : joinParts([pathText(path).node, requirement], ": ");
  const text = `${spaced(address, where)}${requirement === "" ? ":" : "."} ${message}`;
  return { ...ofFinding(finding, "Policy violated", text), ...defined({ effect: policyEffect(finding, kind, isRefused) }) };
}

/** In a report every finding exists: that is what it reports. */
function policyEffect({ state, severity }: PolicyFinding, kind: Document["kind"], isRefused: boolean): Annotation["effect"] | undefined {
  if (state === "existing") return kind === "DriftReport" ? undefined : "existing";
  return isRefused && severity === "error" ? "refuses" : undefined;
}

function ofGuard(finding: GuardFinding, kind: Document["kind"]): Annotation {
  const { rule, message } = finding;
  const isReport = kind === "DriftReport";
  const more = [`${guardText(finding, kind)}.`, ...(isReport ? [] : [`To lift it, give a reason: --allow ${rule}="reason"`])];
  const title = isReport ? "Guard would refuse to restore the manifests" : "Guard refuses";
  return { rule: `guard/${rule}`, title, severity: "error", message, more, effect: "refuses" };
}

const ofResult = (result: Result): readonly Annotation[] => [
  ...endedSteps(result).flatMap(ofOutcome),
  ...stepsOf(result, "held").map(ofHeld),
  ...stepsOf(result, "byHand").map((step) => ofByHand(step, [])),
];

function ofPlan(plan: Plan): readonly Annotation[] {
  const { kind } = plan;
  const items = readySteps(plan);
  const blocked = stepsOf(plan, "blocked");
  return [
    // What was not read has one cause. Everything else is reported at its own line.
    ...blockedGroups(blocked.filter(isUnread)).map((entry) => ofBlocked(entry, plan)),
    ...blocked.filter((entry) => !isUnread(entry)).map((entry) => ofBlocked({ ...entry, names: entry.address, why: whyOf(entry) }, plan)),
    ...stepsOf(plan, "held").map(ofHeld),
    ...items.flatMap((item) => (kind === "DriftReport" ? ofDifference(item) : ofExposure(item))),
    ...stepsOf(plan, "byHand").map((step) => ofByHand(step, items)),
    ...columnGroups(plan.findings.filter(({ rule }) => rule === "new-column")).map(ofNewColumn),
    ...plan.findings.filter(({ rule }) => rule === "never-reviewed").map(ofNeverReviewed),
    ...loosenedOf(plan).map(ofLoosened),
  ];
}

const ofFinding = ({ rule, severity, address, path, file, line }: Finding, title: string, message: string): Annotation => ({
  ...{ rule, title, severity, message },
  ...defined({ address, path, file, line }),
});

/** A line of the base is not there any more. */
function ofLoosened({ address = "", file, line, ...finding }: Finding): Annotation {
  const place = finding.at === undefined ? defined({ file, line }) : {};
  return ofFinding({ ...finding, ...place }, "The manifests loosen a rule", `${address}: ${finding.message}`);
}

/** One for the same column of all integrations. */
function ofNewColumn(group: ColumnGroup): Annotation {
  const [finding] = group;
  return ofFinding(finding, "A column that nobody has reviewed", `${nodeOf(group)}, ${finding.message} (${integrationsOf(group)}).`);
}

const ofNeverReviewed = (finding: Finding): Annotation =>
  ofFinding(finding, "An integration that nobody has reviewed", `${finding.message}.`);

const isUnread = ({ why }: Step): boolean => why?.code === "E_READ_FAILED";

/** An error if the run fails because of it. */
function ofBlocked({ names, address, why: { code = "E_DEPENDENCY", message, command } }: BlockedGroup, plan: Plan): Annotation {
  const { exit } = plan;
  const items = readySteps(plan);
  const severity = exit.reasons.includes("blocked") ? "error" : "warning";
  const text = `${names} ${address === undefined ? "are" : "is"} blocked. ${message}`;
  const place = address === undefined ? {} : { address, ...placeOf(literalOf(address, items)) };
  return { rule: code, title: "Blocked", severity, message: text, more: linesOf(command), effect: "blocks", ...place };
}

/** One for each object, at the line of the first change. */
function ofHeld(held: Step): Annotation {
  const { address, waitsFor = [] } = held;
  const count = changeCount(held);
  const what =
    count > 0 ? counted(count, "change") : waitsFor.length > 0 ? `it waits for ${andMore(waitsFor, "object")}` : "the whole step";
  return {
    rule: "held",
    title: "Held by --protect-only",
    severity: "info",
    message: `${address} is held: ${what}. ${heldNote}`,
    address,
    ...placeOf(firstCause(held)),
  };
}

function ofByHand(step: Step, items: readonly ReadyStep[]): Annotation {
  const { id, address, why } = step;
  const { path, before, after } = firstChange(step);
  const values = joinParts(
    [before === undefined ? "" : `is ${valueAt(path, before)}`, after === undefined ? "" : `must be ${valueAt(path, after)}`],
    ", ",
  );
  return {
    rule: "byHand",
    title: "By hand: no request can change this",
    severity: "warning",
    message: `${spaced(address, wholePath(path), values)} (${id}). ${why?.message ?? ""}`,
    address,
    path,
    ...placeOf(literalOf(address, items)),
  };
}

/** What someone changed in the account is apart from what the manifests cause. */
function ofExposure(item: ReadyStep): readonly Annotation[] {
  const ofRisk = (rule: string, title: string, test: (entry: ChangeGroup) => boolean): readonly Annotation[] => {
    const changes = item.changes.filter(test);
    if (changes.length === 0) return [];
    return changeRows([{ ...item, changes }], wordsOf("Plan")).map((row) => ofRow(row, { rule, title, address: item.address }));
  };
  return [
    ...ofRisk("exposes", "Data becomes readable", (entry) => isAlarm(entry) && !isOutside(entry)),
    ...ofRisk("outside", "Changed in the account, and undone by apply", isOutside),
  ];
}

const ofDifference = (item: ReadyStep): readonly Annotation[] =>
  changeRows([item], wordsOf("DriftReport")).map((row) =>
    ofRow(row, { rule: "drift", title: "The account differs from the manifests", address: item.address }),
  );

/** "shop-it customers.email: no longer hashed (un-hashed by dana@example.com, 2026-03-03 06:37 UTC)." */
function ofRow(
  { what, noun, count, where, verb, value, why, cause, path }: ChangeRow,
  of: Pick<Annotation, "rule" | "title"> & { readonly address: string },
): Annotation {
  const subject = spaced(where.length === 1 ? visible(where[0] ?? "") : "", andMore(what, noun, { total: Math.max(what.length, count) }));
  const message = `${spaced(`${subject}: ${verb}`, value, why === "" ? "" : `(${why})`)}.`;
  return { ...of, severity: "warning", message, ...(path === "" ? {} : { path }), ...placeOf(cause) };
}

const failedOutcomes = new Set(["failed", "unknown", "not-converged"]);

function ofOutcome(item: Step): readonly Annotation[] {
  const outcome = outcomeOf(item) ?? "done";
  if (isDone(item)) return [];
  const { address } = item;
  const { code, message } = whyOf(item);
  return [
    {
      rule: code ?? `outcome/${outcome}`,
      title: `Not applied: ${outcome}`,
      severity: failedOutcomes.has(outcome) ? "error" : "warning",
      message: spaced(`${address}: ${outcome}.`, message),
      address,
      ...placeOf(firstCause(item)),
    },
  ];
}

const placeOf = (cause: Change["cause"]): Pick<Annotation, "file" | "line"> => defined({ file: cause?.file, line: cause?.line });

/** A literal of the same manifest, for findings without a line of their own. */
function literalOf(address: string, items: readonly ReadyStep[]): Change["cause"] {
  const manifest = objectAddress(address);
  return items
    .filter((item) => objectAddress(item.address) === manifest)
    .flatMap(({ changes }) => changes)
    .find(({ cause }) => cause !== undefined && cause.rule === undefined)?.cause;
}

const firstCause = ({ changes }: Pick<Step, "changes">): Change["cause"] => changes.find(({ cause }) => cause !== undefined)?.cause;

const linesOf = (command: string | undefined): readonly string[] => (command === undefined ? [] : [command]);
