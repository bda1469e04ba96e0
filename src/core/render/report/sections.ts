import { eachChange, firstChange } from "../../base/model/changes.ts";
import { findingsOf, type GuardFinding, loosenedOf, policyFindings } from "../../base/model/findings.ts";
import { type Change, endedSteps, type Finding, type Plan, type Result, type Step, stepsOf, whyOf } from "../../base/model/plan.ts";
import { type Diagnostic, diagnosticsIn, placeText } from "../../base/model/problem.ts";
import { counted } from "../../base/text/counts.ts";
import { capitalized } from "../../base/text/describe.ts";
import { wholePath } from "../../base/text/paths.ts";
import { shellWord } from "../../base/text/shell.ts";
import { errorsFirst } from "../../base/text/signs.ts";
import { cutMiddle, valueAt, valueLines } from "../../base/text/values.ts";
import { code, type Entry, id, type Line, listLine, muted, name, place, type Section, value } from "../blocks.ts";
import type { Document, RenderOptions } from "../document.ts";
import { traceText } from "./attribution.ts";
import { blockedGroups } from "./blocked.ts";
import { columnsSection } from "./columns.ts";
import { heldSection } from "./held.ts";
import { nextSection } from "./next.ts";
import { notKeptSection } from "./not-kept.ts";
import { choices, outcomesSection } from "./outcomes.ts";
import { exemptionsSection, policySections } from "./policies.ts";
import { guardText, liftReason, shownGuards } from "./refusals.ts";
import { elsewhereSection, unmanagedSection } from "./unmanaged.ts";
import { reviewed, severityTones } from "./words.ts";

/** Everything but the changes, in the order of a page. A section without entries is left out. */
export const sectionsOf = (document: Document, options: RenderOptions): readonly Section[] =>
  sectionsOfKind(document, options).filter(({ entries, isSentence }) => entries.length > 0 || isSentence === true);

function sectionsOfKind(document: Document, options: RenderOptions): readonly Section[] {
  const { verbose, touches } = options;
  const problems = errorsFirst(diagnosticsIn(document));
  if (document.kind === "Validation")
    return [loosenedSection(findingsOf(document, "loosened")), failedReads(problems), ...otherProblems(problems)];
  const { kind } = document;
  const findings = [...otherProblems(problems, touches), ...policySections(policyFindings(document), kind)];
  const refused = [guards(shownGuards(document), kind), failedReads(problems)];
  const steps = byHand(stepsOf(document, "byHand"), kind);
  const notKept = notKeptSection(stepsOf(document, "notKept"));
  const held = heldSection(stepsOf(document, "held"));
  const unshown = unseen(stepsOf(document, "unseen"));
  if (document.kind === "Result") {
    const outcomes = outcomesSection(endedSteps(document), verbose);
    return [...refused, outcomes, ...findings, notKept, steps, held, unshown, ids(document, verbose)];
  }
  return [
    loosenedSection(loosenedOf(document), document),
    nextSection(document, options),
    ...refused,
    ...findings,
    exemptionsSection(document.exemptions ?? []),
    released(document.loosenedSince === undefined ? findingsOf(document, "released") : []),
    columnsSection(document),
    notKept,
    steps,
    blocked(document),
    held,
    waiting(stepsOf(document, "waits")),
    unseen(stepsOf(document, "unseen")),
    ...(verbose ? [elsewhereSection(document)] : []),
    ...(verbose || document.exit.reasons.includes("unmanaged") ? [unmanagedSection(document)] : []),
  ];
}

/** A guard refuses, or is lifted. A drift report applies nothing, so nothing lifts them. */
function guards(all: readonly GuardFinding[], kind: Plan["kind"] | "Result"): Section {
  const entry = (finding: GuardFinding): Entry => {
    const isLifted = finding.guard.allowed !== undefined;
    const isReport = kind === "DriftReport";
    const lift = isLifted ? `Reason: ${liftReason(finding)}` : isReport ? "" : "To lift it, give a reason. It is recorded in the result.";
    return {
      sign: isLifted ? "✓" : "✗",
      tone: isLifted ? "info" : isReport ? "warn" : "bad",
      head: [[name(guardText(finding, kind))]],
      notes: [[finding.message], [lift]],
      commands: isLifted || isReport ? [] : [`--allow ${finding.rule}="reason"`],
    };
  };
  return {
    id: "guards",
    title: "Guards",
    count: all.length,
    part: "decision",
    isPlain: true,
    isAlert: true,
    entries: all.map(entry),
  };
}

const isFailedRead = ({ rule }: Diagnostic): boolean => rule === "E_READ_FAILED";

/** The cause of blocked or missing entries. */
const failedReads = (all: readonly Diagnostic[]): Section => problemSection("failed-reads", "Failed reads", all.filter(isFailedRead));

// More warnings than this are folded.
const mostWarnings = 5;

/** Errors first; many warnings are a section of their own, and those of files that a pull request does not change. */
function otherProblems(all: readonly Diagnostic[], touches?: RenderOptions["touches"]): readonly Section[] {
  const isElsewhere = ({ severity, file }: Diagnostic): boolean =>
    touches !== undefined && severity !== "error" && file !== undefined && !touches(file, undefined);
  const elsewhere = all.filter(isElsewhere);
  const shown = all.filter((problem) => !isFailedRead(problem) && !isElsewhere(problem));
  const title = "Problems in files that the pull request does not change";
  return [...ownProblems(shown), { ...problemSection("elsewhere", title, elsewhere), isFolded: true }];
}

function ownProblems(shown: readonly Diagnostic[]): readonly Section[] {
  const warnings = shown.filter(({ severity }) => severity !== "error");
  if (warnings.length <= mostWarnings) return [problemSection("problems", "Problems", shown)];
  const errors = shown.filter(({ severity }) => severity === "error");
  return [problemSection("problems", "Problems", errors), { ...problemSection("warnings", "Warnings", warnings), isFolded: true }];
}

const problemSection = (id: string, title: string, all: readonly Diagnostic[]): Section => ({
  id,
  title,
  count: all.length,
  part: id === "failed-reads" ? "cause" : "attention",
  isPlain: true,
  noun: id === "warnings" ? "warning" : "problem",
  entries: all.map(problemEntry),
});

/** Location, code and summary; the source line with its caret; the message; a command. */
export function problemEntry(problem: Diagnostic): Entry {
  const { severity, rule, summary, message, command, address = "", excerpt, line } = problem;
  const tone = severityTones[severity];
  return {
    label: severity,
    tone,
    head: [[name(placeText(problem) || address)], [code(rule, tone)], [summary]],
    excerpt: excerpt === undefined ? undefined : { line, text: excerpt },
    notes: [[message]],
    commands: command === undefined ? [] : [command],
  };
}

/** Objects and relations that the manifests no longer have. */
const released = (all: readonly Finding[]): Section => ({
  id: "released",
  title: "No longer managed",
  count: all.length,
  part: "attention",
  isVital: true,
  noun: "object",
  entries: all.map(({ address = "", count = 0 }) => ({ head: [[`${address}${count === 0 ? "" : `, ${counted(count, "column")}`}`]] })),
  notes: [["dimsync sends nothing; the account keeps them."]],
});

function byHand(all: readonly Step[], kind: Plan["kind"] | "Result"): Section {
  const [live, desired] = kind === "DriftReport" ? ["live", "desired"] : ["is", "must be"];
  const values = ({ path, before, after }: Change): Line => {
    const is: Line = before === undefined ? [] : [live, value(valueAt(path, before))];
    if (after === undefined) return is;
    return [...is, is.length === 0 ? desired : `, ${desired}`, value(valueAt(path, after))];
  };
  return {
    id: "byHand",
    title: "By hand",
    count: all.length,
    aside: "no request can change these",
    part: "work",
    noun: "step",
    entries: all.map((step, index) => {
      const change = firstChange(step);
      const { message, command } = whyOf(step);
      return {
        sign: `${index + 1}.`,
        tone: "warn",
        task: "open",
        head: [[name(step.address)], [code(wholePath(change.path))], values(change), [id(step.id)]],
        notes: [[muted(traceText(change))], [message]],
        commands: command === undefined ? [] : [command],
      };
    }),
  };
}

function blocked(plan: Plan): Section {
  const { severalTargets, target } = plan;
  const all = stepsOf(plan, "blocked");
  return {
    id: "blocked",
    title: "Blocked",
    count: all.length,
    part: "work",
    isPlain: true,
    noun: "reason",
    entries: [
      ...blockedGroups(all).map(
        ({ names, why }): Entry => ({
          sign: "✗",
          tone: "bad",
          head: [[name(names)], [code(why.code ?? "", "bad")]],
          notes: [[why.message]],
          commands: choices(why),
        }),
      ),
      ...(severalTargets === true && all.some(({ why }) => why?.code === "E_INTEGRATION_MISSING") ? [onlyElsewhere(target)] : []),
    ],
  };
}

const onlyElsewhere = (target: string): Entry => ({
  head: [["If integrations are in another target only, let import write that into their manifests (metadata.targets):"]],
  commands: [`dimsync import -t ${shellWord(target)}`],
});

/** What waits for an object that another step creates, with their desired state. */
const waiting = (all: readonly Step[]): Section => ({
  id: "waits",
  title: "Waits",
  count: all.length,
  part: "work",
  isPlain: true,
  noun: "object",
  entries: all.map(({ address, waitsFor = [], liveId, why, changes }) => ({
    sign: "…",
    tone: "info",
    head: [[name(address)], waitsForLine(waitsFor, liveId)],
    ...(why === undefined ? {} : { notes: [[why.message]] }),
    yaml: valueLines(firstChange({ changes }).after ?? null),
  })),
});

const waitsForLine = (waitsFor: readonly string[], liveId: string | undefined): Line =>
  waitsFor.length === 0
    ? []
    : [
        liveId === undefined ? "waits for" : "waits for the service to discover the schema of",
        ...listLine(waitsFor, (address) => code(address), { one: "object" }),
      ];

const unseen = (all: readonly Step[]): Section => ({
  id: "unseen",
  title: "Never shown by the service",
  count: all.length,
  part: "rest",
  isPlain: true,
  isFolded: true,
  noun: "object",
  entries: all.map(({ address, changes, why }) => ({
    sign: "?",
    tone: "warn",
    head: [[name(address)], [muted(`${counted(changes.length, "value")} never shown: ${why?.message ?? ""}`)]],
    rows: Array.from(eachChange({ changes }), ({ path }) => [[code(wholePath(path))]]),
    noun: "value",
    isBrief: true,
  })),
});

/** The ids that apply recorded; with -v every binding. */
function ids(result: Result, verbose: boolean): Section {
  const { bindings } = result;
  const recorded = new Set(
    endedSteps(result)
      .filter(({ verb }) => verb === "create" || verb === "bind")
      .map(({ address }) => address),
  );
  const shown = Object.entries(bindings).filter(([address]) => verbose || recorded.has(address));
  return {
    id: "ids",
    title: verbose ? "Recorded ids" : "Ids recorded in this run",
    count: 0,
    part: "rest",
    isFolded: true,
    noun: "id",
    entries: shown.map(([address, liveId]) => ({ head: [[name(address)], [id(liveId)]] })),
  };
}

/** What the manifests give up. It stands before everything else. */
const loosenedSection = (all: readonly Finding[], of: Pick<Plan, "loosenedSince" | "reviews"> = {}): Section => ({
  id: "loosened",
  title: of.loosenedSince === "applied" ? "Loosened since the commit that was applied last" : `${capitalized(reviewed(of))} also loosens`,
  count: all.length,
  part: "decision",
  isVital: true,
  isFirst: true,
  noun: "change",
  entries: all.map(loosenedEntry),
});

function loosenedEntry(entry: Finding): Entry {
  const { address = "", rule, message, at } = entry;
  const where = placeText(entry);
  return {
    sign: "!",
    tone: "bad",
    group: rule,
    head: [[name(cutMiddle(address, 120))], [code(rule, "bad")], where === "" ? [] : [place(where), at === "base" ? "at the base" : ""]],
    notes: [[cutMiddle(message, 600)]],
  };
}
