import type { Comparison } from "../model/comparison.ts";
import type { ExitCode } from "../model/exit.ts";
import type { GuardFinding } from "../model/findings.ts";
import type { Plan } from "../model/plan.ts";
import type { Result, Validation } from "../model/result.ts";
import { callsText, counted, countList } from "../text/counts.ts";
import { joinParts } from "../text/lists.ts";
import { forTarget, shellWord } from "../text/shell.ts";
import type { ChangeBlock, Section } from "./blocks.ts";
import type { RenderOptions, Shown } from "./document.ts";
import { alarmsIn, changeBlocks, changeCount, isGrouped } from "./report/changes/groups.ts";
import { ownerOf } from "./report/changes/objects.ts";
import { exitText } from "./report/exits.ts";
import { isDeclined, isDone, outcomesText } from "./report/outcomes.ts";
import { limitsOf, type Refusal, refusalsOf, refusalTitle, shownGuards } from "./report/refusals.ts";
import { sectionsOf } from "./report/sections.ts";
import { emptyText, isEmpty, totalsText, validationText } from "./report/totals.ts";
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
  readonly guards: readonly GuardFinding[];
  /** What lets apply run a refused plan, besides a change of the manifests. */
  readonly waysOut: readonly WayOut[];
  readonly changeBlocks: readonly ChangeBlock[];
  readonly changes: number;
  /** Whether the changes are shown by rule, so that single ones are not visible. */
  readonly isGrouped: boolean;
  /** Everything but the head, the changes and the end, in the order of a page. */
  readonly sections: readonly Section[];
  /** "Apply will send: 1 PATCH.", "Read with 41 GET." */
  readonly calls: readonly string[];
  /** "Exit 2 (drift): …"; "" for 0. */
  readonly exit: string;
}

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

/** `byRule` groups the changes by rule, however few there are. */
export function reportOf(document: Shown, options: RenderOptions, byRule = false): Report {
  const { words, ...content } = contentOf(document, options, byRule);
  const named = (command: string): string => ("target" in document ? forTarget(command, document) : command);
  const sections = sectionsOf(document, options, byRule).map((section) => withCommands(section, named));
  return { ...content, words: { ...words, command: named(words.command) }, sections };
}

type ReportContent = Omit<Report, "sections">;

const withCommands = ({ command, entries, ...section }: Section, named: (command: string) => string): Section => ({
  ...section,
  ...(command === undefined ? {} : { command: named(command) }),
  entries: entries.map(({ commands, ...entry }) => (commands === undefined ? entry : { ...entry, commands: commands.map(named) })),
});

function contentOf(document: Shown, options: RenderOptions, byRule: boolean): ReportContent {
  if (document.kind === "Comparison") return ofComparison(document, options, byRule);
  if (document.kind === "Validation") return ofValidation(document);
  return document.kind === "Result" ? ofResult(document) : ofPlan(document, options, byRule);
}

function ofPlan(plan: Plan, { verbose }: RenderOptions, byRule: boolean): ReportContent {
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
    changeBlocks: changeBlocks(plan.items, words, grouped),
    changes: changeCount(plan.items),
    isGrouped: grouped,
    calls: [...send, read],
  };
}

function ofResult(result: Result): ReportContent {
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
    calls: [`Sent: ${callsText(result.calls)}.`],
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
  };
}

const empty: Omit<ReportContent, "words" | "title" | "headline"> = {
  target: "",
  about: { times: [] },
  refusalTitle: "",
  refusals: [],
  waysOut: [],
  limits: [],
  guards: [],
  changeBlocks: [],
  changes: 0,
  isGrouped: false,
  calls: [],
  exit: "",
};

/** Members of both plans and results. */
function common(document: Plan | Result): Omit<ReportContent, "title" | "headline"> {
  return {
    ...empty,
    words: wordsOf(document.kind),
    guards: shownGuards(document.guards, document.kind),
    exit: exitText(document),
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
