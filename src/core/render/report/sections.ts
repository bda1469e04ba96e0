import { changeCount, eachChange, firstChange } from "../../base/model/changes.ts";
import {
  exemptionFindings,
  findingsOf,
  type GuardFinding,
  loosenedOf,
  type PolicyFinding,
  policyFindings,
} from "../../base/model/findings.ts";
import { endedSteps, type Finding, outcomeOf, type Plan, type Result, type Step, stepsOf, whyOf } from "../../base/model/plan.ts";
import { type Diagnostic, diagnosticsIn, placeText } from "../../base/model/problem.ts";
import { counted } from "../../base/text/counts.ts";
import { capitalized } from "../../base/text/describe.ts";
import { andMore, grouped, joinParts } from "../../base/text/lists.ts";
import { wholePath } from "../../base/text/paths.ts";
import { shellWord } from "../../base/text/shell.ts";
import { errorsFirst } from "../../base/text/signs.ts";
import { cutMiddle, valueAt, valueLines } from "../../base/text/values.ts";
import { code, type Entry, id, type Line, listLine, muted, name, place, type Section, value } from "../blocks.ts";
import type { Document, RenderOptions } from "../document.ts";
import { traceText } from "./attribution.ts";
import { type BlockedGroup, blockedGroups } from "./blocked.ts";
import { columnEntries, reviewCommand } from "./columns.ts";
import { nextEntries } from "./next.ts";
import { notKeptEntry, notKeptNote } from "./not-kept.ts";
import { choices, outcomeEntry, outcomeGroups } from "./outcomes.ts";
import { countsByPolicy, exemptionEntry, exemptionText, policyEntries } from "./policies.ts";
import { guardText, liftReason, shownGuards } from "./refusals.ts";
import { elsewhereHead, unmanagedEntries, unmanagedHead } from "./unmanaged.ts";
import { isAlarm, reviewed, severityTones } from "./words.ts";

/** A document as families see it. */
interface Source {
  readonly document: Document;
  readonly options: RenderOptions;
  /** Undefined: a result or a validation. */
  readonly plan?: Plan;
  readonly result?: Result;
  /** Without those of a result that have an outcome. */
  readonly steps: readonly Step[];
}

type Drawn = Pick<Section, "entries"> & Partial<Section>;

/** A family of findings or steps with its section. `draw` adds the entries, and what of the section depends on them. */
interface Family extends Omit<Section, "count" | "entries"> {
  readonly draw: (of: Source) => Drawn;
}

/** How to send what is held. */
export const heldNote = "Only changes that protect are sent (--protect-only). To send the others, run plan and apply without the flag.";

/** Every section, in the order of a page. A new kind of finding or a new standing is one row. */
const families: readonly Family[] = [
  { id: "loosened", title: "Loosened", part: "first", noun: "change", isVital: true, draw: loosened },
  { id: "next", title: "What to do next", part: "decision", isPlain: true, draw: next },
  { id: "guards", title: "Guards", part: "decision", isPlain: true, isAlert: true, draw: guards },
  { id: "failed-reads", title: "Failed reads", part: "cause", noun: "problem", isPlain: true, draw: problems("failed-reads") },
  {
    id: "outcomes",
    title: "Outcomes",
    part: "result",
    noun: "outcome",
    isPlain: true,
    heads: ["Object", "Outcome", "Id", "Why"],
    draw: outcomes,
  },
  { id: "problems", title: "Problems", part: "attention", noun: "problem", isPlain: true, draw: problems("problems") },
  { id: "warnings", title: "Warnings", part: "attention", noun: "warning", isFolded: true, isPlain: true, draw: problems("warnings") },
  {
    id: "elsewhere",
    title: "Problems in files that the pull request does not change",
    part: "attention",
    noun: "problem",
    isFolded: true,
    isPlain: true,
    draw: problems("elsewhere"),
  },
  { id: "policies", title: "Policy findings", part: "attention", noun: "message", isPlain: true, draw: policies("new") },
  {
    id: "existing",
    title: "Existing policy findings",
    part: "attention",
    noun: "message",
    isFolded: true,
    isVital: true,
    draw: policies("existing"),
  },
  {
    id: "fixed",
    title: "Policy findings that the plan fixes",
    part: "attention",
    noun: "message",
    isFolded: true,
    draw: policies("fixed"),
  },
  {
    id: "exemptions",
    title: "Exempt from policies",
    part: "attention",
    noun: "exemption",
    isFolded: true,
    isVital: true,
    draw: exemptions,
  },
  { id: "released", title: "No longer managed", part: "attention", noun: "object", isVital: true, draw: released },
  { id: "columns", title: "Columns to review", part: "attention", isPlain: true, isVital: true, draw: columns },
  { id: "notKept", title: "Not kept by the service", part: "attention", noun: "object", draw: notKept },
  {
    id: "byHand",
    title: "By hand",
    part: "work",
    noun: "step",
    aside: "no request can change these",
    draw: standing("byHand", byHandEntry),
  },
  { id: "blocked", title: "Blocked", part: "work", noun: "reason", isPlain: true, draw: blocked },
  {
    id: "held",
    title: "Held by --protect-only",
    part: "work",
    noun: "step",
    isFolded: true,
    notes: [[heldNote]],
    draw: standing("held", heldEntry),
  },
  { id: "waits", title: "Waits", part: "work", noun: "object", isPlain: true, draw: standing("waits", waitingEntry) },
  {
    id: "unseen",
    title: "Never shown by the service",
    part: "rest",
    noun: "object",
    isFolded: true,
    isPlain: true,
    draw: standing("unseen", unseenEntry),
  },
  { id: "targets", title: "Only in other targets", part: "rest", isFolded: true, draw: otherTargets },
  { id: "unmanaged", title: "Not managed by any manifest", part: "rest", isFolded: true, draw: unmanaged },
  { id: "ids", title: "Ids recorded in this run", part: "rest", noun: "id", isFolded: true, draw: ids },
];

/** Everything but the changes. A section without entries is left out. */
export function sectionsOf(document: Document, options: RenderOptions): readonly Section[] {
  const of: Source =
    document.kind === "Validation"
      ? { document, options, steps: [] }
      : document.kind === "Result"
        ? { document, options, result: document, steps: document.steps.filter((step) => outcomeOf(step) === undefined) }
        : { document, options, plan: document, steps: document.steps };
  return families
    .map(({ draw, ...section }): Section => {
      const drawn = draw(of);
      return { ...section, count: drawn.entries.length, ...drawn };
    })
    .filter(({ entries, isSentence }) => entries.length > 0 || isSentence === true);
}

const nothing: Drawn = { entries: [] };

function standing(standing: Step["standing"], entry: (step: Step, of: Source, index: number) => Entry): Family["draw"] {
  return (of) => ({ entries: stepsOf(of, standing).map((step, index) => entry(step, of, index)) });
}

/** What the manifests give up. It stands before everything else. */
function loosened({ document, plan }: Source): Drawn {
  const all = document.kind === "Validation" ? findingsOf(document, "loosened") : plan === undefined ? [] : loosenedOf(plan);
  const isApplied = plan?.loosenedSince === "applied";
  const title = isApplied ? "Loosened since the commit that was applied last" : `${capitalized(reviewed(plan ?? {}))} also loosens`;
  return { title, entries: all.map(loosenedEntry) };
}

function next({ plan, options }: Source): Drawn {
  return { count: 0, entries: nextEntries(plan, options) };
}

function outcomes({ result, options: { verbose } }: Source): Drawn {
  return { entries: result === undefined ? [] : outcomeGroups(endedSteps(result), verbose).map(outcomeEntry) };
}

function guards({ document }: Source): Drawn {
  if (document.kind === "Validation") return nothing;
  return { entries: shownGuards(document).map((finding) => guardEntry(finding, document.kind)) };
}

// More warnings than this are folded.
const mostWarnings = 5;

/** Errors first. Many warnings are apart, and those of files that a pull request does not change. */
function problems(section: "failed-reads" | "problems" | "warnings" | "elsewhere"): Family["draw"] {
  return ({ document, options: { touches } }) => {
    const sectionOf = ({ rule, severity, file }: Diagnostic): typeof section => {
      if (rule === "E_READ_FAILED") return "failed-reads";
      if (severity === "error") return "problems";
      return touches === undefined || file === undefined || touches(file, undefined) ? "warnings" : "elsewhere";
    };
    const all = errorsFirst(diagnosticsIn(document));
    const areFew = all.filter((problem) => sectionOf(problem) === "warnings").length <= mostWarnings;
    const isIn = (of: typeof section): boolean => (of === "warnings" && areFew ? "problems" : of) === section;
    return { entries: all.filter((problem) => isIn(sectionOf(problem))).map(problemEntry) };
  };
}

/** In a report every finding exists, and none is caused by a plan: all are open. */
function policies(state: PolicyFinding["state"]): Family["draw"] {
  return ({ document }) => {
    const all = policyFindings(document).filter((one) => (document.kind === "DriftReport" ? "new" : one.state) === state);
    const contents = state === "existing" ? { contents: countsByPolicy(all) } : {};
    return { count: all.length, entries: policyEntries(all, state), ...contents };
  };
}

/** The exemptions that let violations pass, with what they cover. */
function exemptions({ plan }: Source): Drawn {
  const all = plan === undefined ? [] : exemptionFindings(plan);
  const contents: Line = [joinParts(all.map(exemptionText), "; ")];
  return { count: all.reduce((sum, { count = 1 }) => sum + count, 0), contents, entries: all.map(exemptionEntry) };
}

/** Objects and relations that the manifests no longer have. */
function released({ plan }: Source): Drawn {
  const all = plan === undefined || plan.loosenedSince !== undefined ? [] : findingsOf(plan, "released");
  const entries = all.map(({ address = "", count = 0 }) => ({
    head: [[`${address}${count === 0 ? "" : `, ${counted(count, "column")}`}`]],
  }));
  return { entries, notes: [["dimsync sends nothing; the account keeps them."]] };
}

/** New columns with what the service does with them now, and columns that are gone. */
function columns({ plan }: Source): Drawn {
  const all = plan === undefined ? [] : findingsOf(plan, "columns");
  const count = all.filter(({ rule }) => rule === "new-column").length;
  return { count, entries: columnEntries(all), notes: [["To accept them after review:"]], command: reviewCommand(all) };
}

/** Desired values that the service does not keep, with one entry for each object. */
function notKept({ steps }: Source): Drawn {
  const all = stepsOf({ steps }, "notKept");
  return { count: all.length, entries: grouped(all, ({ address }) => address).map(notKeptEntry), notes: [[notKeptNote(all)]] };
}

function blocked({ steps, plan }: Source): Drawn {
  const all = stepsOf({ steps }, "blocked");
  const isElsewhere = plan?.severalTargets === true && all.some(({ why }) => why?.code === "E_INTEGRATION_MISSING");
  return { count: all.length, entries: [...blockedGroups(all).map(blockedEntry), ...(isElsewhere ? [onlyElsewhere(plan.target)] : [])] };
}

/** Objects of manifests that only other targets have: one sentence. */
function otherTargets({ plan, options: { verbose } }: Source): Drawn {
  return { ...(plan === undefined || !verbose ? {} : elsewhereHead(plan)), entries: [] };
}

/** Live objects and columns that no manifest covers, counted. */
function unmanaged({ plan, options: { verbose } }: Source): Drawn {
  const isShown = verbose || plan?.exit.reasons.includes("unmanaged") === true;
  return plan === undefined || !isShown ? nothing : { count: 0, ...unmanagedHead(plan), entries: unmanagedEntries(plan) };
}

/** The ids that apply recorded; with -v every binding. */
function ids({ result, options: { verbose } }: Source): Drawn {
  const { bindings = {}, steps = [] } = result ?? {};
  const recorded = new Set(steps.flatMap(({ address, verb }) => (verb === "create" || verb === "bind" ? [address] : [])));
  const shown = Object.entries(bindings).filter(([address]) => verbose || recorded.has(address));
  const entries = shown.map(([address, liveId]) => ({ head: [[name(address)], [id(liveId)]] }));
  return { ...(verbose ? { title: "Recorded ids" } : {}), count: 0, entries };
}

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

/** A guard refuses, or is lifted. A drift report applies nothing, so nothing lifts them. */
function guardEntry(finding: GuardFinding, kind: (Plan | Result)["kind"]): Entry {
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
}

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

function byHandEntry(step: Step, { document: { kind } }: Source, index: number): Entry {
  const { message, command } = whyOf(step);
  const change = firstChange(step);
  const { path, before, after } = change;
  const [live, desired] = kind === "DriftReport" ? ["live", "desired"] : ["is", "must be"];
  const is: Line = before === undefined ? [] : [live, value(valueAt(path, before))];
  const must: Line = after === undefined ? [] : [is.length === 0 ? desired : `, ${desired}`, value(valueAt(path, after))];
  return {
    sign: `${index + 1}.`,
    tone: "warn",
    task: "open",
    head: [[name(step.address)], [code(wholePath(path))], [...is, ...must], [id(step.id)]],
    notes: [[muted(traceText({ ...step, ...change }))], [message]],
    commands: command === undefined ? [] : [command],
  };
}

const blockedEntry = ({ names, why }: BlockedGroup): Entry => ({
  sign: "✗",
  tone: "bad",
  head: [[name(names)], [code(why.code ?? "", "bad")]],
  notes: [[why.message]],
  commands: choices(why),
});

const onlyElsewhere = (target: string): Entry => ({
  head: [["If integrations are in another target only, let import write that into their manifests (metadata.targets):"]],
  commands: [`dimsync import -t ${shellWord(target)}`],
});

/** "update, 3 changes (2 expose)", "waits for Asset/lake" */
function heldEntry(held: Step): Entry {
  const [count, exposing] = [changeCount(held), changeCount(held, isAlarm)];
  const risk = exposing === 0 ? "" : ` (${exposing} ${exposing === 1 ? "exposes" : "expose"})`;
  const text = joinParts([held.verb, count === 0 ? "" : `${counted(count, "change")}${risk}`], ", ");
  return {
    sign: "-",
    tone: "warn",
    head: [[name(held.address)], [muted(held.waitsFor === undefined ? text : `waits for ${andMore(held.waitsFor, "object")}`)]],
    ...(count === 0 ? {} : { changes: { of: held, title: `Held changes of ${held.address}`, isKey: false } }),
  };
}

/** With the desired state. */
function waitingEntry({ address, waitsFor = [], liveId, why, changes }: Step): Entry {
  const verb = liveId === undefined ? "waits for" : "waits for the service to discover the schema of";
  return {
    sign: "…",
    tone: "info",
    head: [[name(address)], waitsFor.length === 0 ? [] : [verb, ...listLine(waitsFor, (one) => code(one), { one: "object" })]],
    notes: why === undefined ? [] : [[why.message]],
    yaml: valueLines(firstChange({ changes }).after ?? null),
  };
}

function unseenEntry({ address, changes, why }: Step): Entry {
  return {
    sign: "?",
    tone: "warn",
    head: [[name(address)], [muted(`${counted(changes.length, "value")} never shown: ${why?.message ?? ""}`)]],
    rows: Array.from(eachChange({ changes }), ({ path }) => [[code(wholePath(path))]]),
    noun: "value",
    isBrief: true,
  };
}
