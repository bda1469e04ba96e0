import type { Comparison, LoneObject } from "../model/comparison.ts";
import type { ExitCode } from "../model/exit.ts";
import type { GuardFinding } from "../model/findings.ts";
import type { Blocked, Deferred, Manual, Plan, Unverifiable } from "../model/plan.ts";
import type { Diagnostic } from "../model/problem.ts";
import type { ItemResult, Result, Validation } from "../model/result.ts";
import { visible } from "../text/control-characters.ts";
import { callsText, counted, countList } from "../text/counts.ts";
import { joinParts } from "../text/lists.ts";
import { wholePath } from "../text/paths.ts";
import { errorsFirst } from "../text/severity.ts";
import { forTarget, shellWord } from "../text/shell.ts";
import { valueAt } from "../text/values.ts";
import type { ChangeBlock, Section } from "./blocks.ts";
import type { RenderOptions, ReportHistory, Shown } from "./document.ts";
import type { Traced } from "./report/attribution.ts";
import { alarmsIn, changeBlocks, changeCount, isGrouped } from "./report/changes/groups.ts";
import { ownerOf } from "./report/changes/objects.ts";
import { columnsOf, type ReportColumns } from "./report/columns.ts";
import { exitText } from "./report/exits.ts";
import { heldOf, type ReportHeld } from "./report/held.ts";
import { type Impacts, impactsOf } from "./report/impact.ts";
import { type NextStep, nextSteps } from "./report/next.ts";
import { isDone, outcomesText, type ReportOutcome, reportOutcomes } from "./report/outcomes.ts";
import { type Outside, outsideOf } from "./report/outside.ts";
import { type Policies, policiesOf } from "./report/policies.ts";
import { limitsOf, type Refusal, refusalsOf, refusalTitle, shownGuards } from "./report/refusals.ts";
import { sectionsOf } from "./report/sections.ts";
import { emptyText, isEmpty, totalsText, validationText } from "./report/totals.ts";
import { type Unmanaged, unmanagedOf } from "./report/unmanaged.ts";
import { type WayOut, waysOut } from "./report/ways-out.ts";
import { type Words, wordsOf } from "./report/words.ts";

/**
 * The content of every format for people, computed once. The formats only arrange and escape it.
 * Texts are as they are in the document unless a comment says otherwise.
 */
export interface Report {
  readonly words: Words;
  /** "Plan for prod" */
  readonly title: string;
  /** "prod"; "" for a validation. Raw, as the title. */
  readonly target: string;
  readonly about: About;
  readonly headline: Headline;
  /** "(apply will refuse it: 1 error)", to follow the title; "" if it will not. */
  readonly refusalTitle: string;
  readonly refusals: readonly Refusal[];
  /** What a drift report may lack: sentences. */
  readonly limits: readonly string[];
  /** What to do about drift. */
  readonly next: readonly NextStep[];
  readonly guards: readonly GuardFinding[];
  /** What lets apply run a refused plan, besides a change of the manifests. */
  readonly waysOut: readonly WayOut[];
  readonly policies: Policies;
  /** Errors first. */
  readonly problems: readonly Diagnostic[];
  readonly changeBlocks: readonly ChangeBlock[];
  readonly changes: number;
  /** Whether the changes are shown by rule, so that single ones are not visible. */
  readonly isGrouped: boolean;
  readonly outcomes: readonly ReportOutcome[];
  readonly blocked: readonly Blocked[];
  readonly deferred: readonly Deferred[];
  readonly held: readonly ReportHeld[];
  readonly manual: readonly ManualStep[];
  readonly done: ReportHistory["done"];
  readonly unverifiable: readonly Unverifiable[];
  readonly unmanaged: Unmanaged;
  readonly columns: ReportColumns;
  /** "Integration/forum, 917 columns": objects that lost their manifest; without control characters. */
  readonly released: readonly string[];
  /** Of a comparison: the objects that only one account has. */
  readonly lone: readonly { readonly title: string; readonly objects: readonly LoneObject[] }[];
  /** What a plan would undo. */
  readonly outside: Outside;
  /** Who reads what changes. */
  readonly impacts: Impacts;
  /** The ids that apply recorded; with -v every binding. */
  readonly ids: readonly (readonly [address: string, id: string])[];
  readonly idsTitle: string;
  /** Everything but the head, the changes and the end, in the order of a page. */
  readonly sections: readonly Section[];
  /** "Apply will send: 1 PATCH.", "Read with 41 GET." */
  readonly calls: readonly string[];
  /** "Exit 2 (drift): …"; "" for 0. */
  readonly exit: string;
}

/** What the sections are made from. */
export type ReportContent = Omit<Report, "sections">;

/** The subject of a document. */
export interface About {
  readonly account?: string;
  /** "commit 4f2c1ab with uncommitted changes" */
  readonly commit?: string;
  /** ISO 8601: when the document was created, or when apply began and ended. */
  readonly times: readonly string[];
  /** "plan p-01jz" */
  readonly id?: string;
  /** "dimsync 0.1.0" */
  readonly tool?: string;
}

/** The result as one word and one sentence. */
export interface Headline {
  readonly word: string;
  readonly tone: "good" | "bad" | "warn" | "info";
  readonly text: string;
  /** Whether the text is a sentence; otherwise it is a list of counts. */
  readonly isSentence: boolean;
}

/** One step of the checklist; the texts are without control characters, except the instruction. */
export interface ManualStep {
  readonly number: number;
  readonly id: string;
  readonly address: string;
  /** "paused"; "" for the whole object. */
  readonly path: string;
  /** "" if not known. */
  readonly live: string;
  readonly desired: string;
  readonly instruction: string;
  readonly command: string | undefined;
  readonly trace: Traced;
}

/** `byRule` groups the changes by rule, however few there are. */
export function reportOf(document: Shown, options: RenderOptions, byRule = false): Report {
  const { words, ...content } = contentOf(document, options, byRule);
  const named = (command: string): string => ("target" in document ? forTarget(command, document) : command);
  const report = { ...content, words: { ...words, command: named(words.command) } };
  return { ...report, sections: sectionsOf(report).map((section) => withCommands(section, named)) };
}

const withCommands = ({ command, entries, ...section }: Section, named: (command: string) => string): Section => ({
  ...section,
  ...(command === undefined ? {} : { command: named(command) }),
  entries: entries.map(({ commands, ...entry }) => (commands === undefined ? entry : { ...entry, commands: commands.map(named) })),
});

function contentOf(document: Shown, options: RenderOptions, byRule: boolean): ReportContent {
  if (document.kind === "Comparison") return ofComparison(document, options, byRule);
  if (document.kind === "Validation") return ofValidation(document);
  return document.kind === "Result" ? ofResult(document, options, byRule) : ofPlan(document, options, byRule);
}

function ofPlan(plan: Plan, { verbose, history, isResolved }: RenderOptions, byRule: boolean): ReportContent {
  const words = wordsOf(plan.kind);
  const grouped = byRule || isGrouped(plan.items, verbose);
  const read = `Read with ${callsText(plan.calls.read)}.`;
  const send = plan.kind === "Plan" && !isEmpty(plan) ? [`Apply will send: ${callsText(plan.calls.planned)}.`] : [];
  return {
    ...common(plan),
    title: `${words.title} for ${plan.target}`,
    target: plan.target,
    about: {
      account: plan.account,
      ...(plan.git === undefined ? {} : { commit: commitText(plan.git) }),
      times: [plan.createdAt],
      id: `${plan.kind === "Plan" ? "plan" : "report"} ${plan.planId}`,
      tool: `${plan.tool.name} ${plan.tool.version}`,
    },
    headline: planHeadline(plan),
    refusalTitle: refusalTitle(plan),
    refusals: refusalsOf(plan),
    waysOut: waysOut(plan),
    limits: limitsOf(plan),
    next: nextSteps(plan).filter(({ commands }) => isResolved !== true || commands.length === 0),
    changeBlocks: changeBlocks(plan.items, words, grouped),
    changes: changeCount(plan.items),
    isGrouped: grouped,
    blocked: plan.blocked,
    deferred: plan.deferred,
    done: history?.get(plan.planId)?.done ?? [],
    unverifiable: plan.unverifiable,
    unmanaged: unmanagedOf(plan.unmanaged),
    columns: columnsOf(plan),
    released: (plan.released ?? []).map(
      ({ address, columns }) => `${visible(address)}${columns === 0 ? "" : `, ${counted(columns, "column")}`}`,
    ),
    outside: outsideOf(plan),
    impacts: impactsOf(plan),
    calls: [...send, read],
  };
}

function ofResult(result: Result, { verbose }: RenderOptions, byRule: boolean): ReportContent {
  const { items, bindings, calls } = result;
  const recorded = new Set(items.filter(({ action }) => action === "create" || action === "bind").map(({ address }) => address));
  return {
    ...common(result),
    title: `Apply on ${result.target}`,
    target: result.target,
    about: {
      account: result.account,
      times: [result.startedAt, result.finishedAt],
      id: `run ${result.runId}`,
      tool: `${result.tool.name} ${result.tool.version}`,
    },
    headline: resultHeadline(result),
    outcomes: isDeclined(items) ? [] : reportOutcomes(items, verbose && !byRule),
    ids: Object.entries(bindings).filter(([address]) => verbose || recorded.has(address)),
    idsTitle: verbose ? "Recorded ids" : "Ids recorded in this run",
    calls: [`Sent: ${callsText(calls)}.`],
  };
}

function ofComparison({ from, to, items, onlyFrom, onlyTo, exit }: Comparison, options: RenderOptions, byRule: boolean): ReportContent {
  const words = { ...wordsOf("Comparison"), command: `dimsync compare --from ${shellWord(from)} --to ${shellWord(to)}` };
  const target = `${from} → ${to}`;
  const [grouped, changes, alarms] = [byRule || isGrouped(items, options.verbose), changeCount(items), alarmsIn(items)];
  const counts = [
    changes === 0
      ? ""
      : `${counted(changes, "difference")} in ${counted(new Set(items.map(({ address }) => ownerOf(address))).size, "object")}`,
    countList([[onlyFrom.length + onlyTo.length, "only in one of them"]]),
    countList([[alarms, words.risks[0]]]),
  ];
  return {
    ...empty,
    words,
    target,
    title: `${words.title} ${words.preposition} ${target}`,
    headline:
      exit.code === 0
        ? { word: "no differences", tone: "good", text: "No differences.", isSentence: true }
        : { word: "different", tone: alarms > 0 ? "bad" : "warn", text: `${joinParts(counts, "; ")}.`, isSentence: false },
    changeBlocks: changeBlocks(items, words, grouped),
    changes,
    isGrouped: grouped,
    lone: [
      { title: `Only in ${visible(from)}`, objects: onlyFrom },
      { title: `Only in ${visible(to)}`, objects: onlyTo },
    ],
    exit: exit.code === 0 ? "" : `Exit ${exit.code} (${exit.reasons.join(", ")}): the accounts differ.`,
  };
}

function ofValidation(validation: Validation): ReportContent {
  const isValid = validation.diagnostics.every(({ severity }) => severity !== "error");
  return {
    ...empty,
    words: wordsOf("Validation"),
    title: "Validation",
    headline: { word: isValid ? "valid" : "invalid", tone: isValid ? "good" : "bad", text: validationText(validation), isSentence: true },
    problems: errorsFirst(validation.diagnostics),
  };
}

const nothing: Plan["unmanaged"] = { columns: 0 };

const empty: Omit<ReportContent, "words" | "title" | "headline"> = {
  target: "",
  about: { times: [] },
  refusalTitle: "",
  refusals: [],
  waysOut: [],
  limits: [],
  next: [],
  guards: [],
  policies: { open: [], existing: [], fixed: [] },
  problems: [],
  changeBlocks: [],
  changes: 0,
  isGrouped: false,
  outcomes: [],
  blocked: [],
  deferred: [],
  held: [],
  manual: [],
  done: [],
  unverifiable: [],
  unmanaged: unmanagedOf(nothing),
  columns: columnsOf({}),
  released: [],
  lone: [],
  outside: { note: "", lines: [] },
  impacts: { columns: [], sum: "", owners: [] },
  ids: [],
  idsTitle: "",
  calls: [],
  exit: "",
};

/** Members of both plans and results. */
function common(document: Plan | Result): Omit<ReportContent, "title" | "headline"> {
  return {
    ...empty,
    words: wordsOf(document.kind),
    guards: shownGuards(document.guards, document.kind),
    policies: policiesOf(document.policy, document.kind),
    problems: errorsFirst(document.diagnostics),
    manual: document.manual.map(manualStep),
    held: heldOf(document.held ?? []),
    exit: exitText(document),
  };
}

function manualStep(step: Manual, index: number): ManualStep {
  const { id, address, path, expected, actual, instruction, command } = step;
  const text = (value: Manual["actual"]): string => (value === undefined ? "" : valueAt(path, value));
  return {
    number: index + 1,
    id,
    address,
    instruction,
    command,
    path: wholePath(path),
    live: text(actual),
    desired: text(expected),
    trace: step,
  };
}

const commitText = ({ commit, dirty }: NonNullable<Plan["git"]>): string =>
  `commit ${commit.slice(0, 7)}${dirty ? " with uncommitted changes" : ""}`;

function planHeadline(plan: Plan): Headline {
  const isReport = plan.kind === "DriftReport";
  if (isEmpty(plan)) return { word: isReport ? "no drift" : "no changes", tone: "good", text: emptyText(plan), isSentence: true };
  const counts = { text: `${totalsText(plan)}.`, isSentence: false };
  if (plan.exit.code === 1) return { word: "error", tone: "bad", ...counts };
  if (!isReport && refusalTitle(plan) !== "") return { word: "refused", tone: "bad", ...counts };
  return { word: leadingState(plan), tone: "warn", ...counts };
}

/** The state of a plan or report with something in it, as one word. */
function leadingState({ kind, items, manual, blocked }: Plan): string {
  if (items.length === 0 && blocked.length > 0) return "blocked";
  if (kind === "DriftReport") return "drift";
  return items.length === 0 && manual.length > 0 ? "manual" : "changes";
}

/** Whether the user did not confirm the plan. */
const isDeclined = (items: readonly ItemResult[]): boolean => items.length > 0 && items.every(({ code }) => code === "E_DECLINED");

/** The state of a run with this exit code that applied nothing. */
const unapplied: Readonly<Partial<Record<ExitCode, string>>> = { 1: "error", 3: "refused", 130: "interrupted" };

function resultHeadline({ items, held = [], exit }: Result): Headline {
  if (isDeclined(items)) return { word: "declined", tone: "bad", text: "Not confirmed: nothing was applied.", isSentence: true };
  const word = unapplied[exit.code];
  if (items.length + held.length === 0)
    return word === undefined
      ? { word: "done", tone: "good", text: "Nothing to apply.", isSentence: true }
      : { word, tone: "bad", text: "Nothing was applied.", isSentence: true };
  const counts = { text: `${outcomesText({ items, held })}.`, isSentence: false };
  const isComplete = held.length === 0 && items.every(isDone);
  return isComplete ? { word: "done", tone: "good", ...counts } : { word: "incomplete", tone: "bad", ...counts };
}
