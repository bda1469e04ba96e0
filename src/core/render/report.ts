import type { ExitCode } from "../base/model/exit.ts";
import type { GuardFinding } from "../base/model/findings.ts";
import { defined } from "../base/model/json/json.ts";
import { endedSteps, isDeclined, type Plan, type Result, readySteps, stepsOf, type Validation } from "../base/model/plan.ts";
import { diagnosticsIn, isError } from "../base/model/problem.ts";
import { visible } from "../base/text/control-characters.ts";
import { callsText } from "../base/text/counts.ts";
import { andMore } from "../base/text/lists.ts";
import { forTarget, withFlags } from "../base/text/shell.ts";
import type { Entry, Section } from "./blocks.ts";
import type { Document, RenderOptions } from "./document.ts";
import { changesSection, detailEntries } from "./report/changes.ts";
import { exitText } from "./report/exits.ts";
import { targetPlace, withFiles } from "./report/from-root.ts";
import { contentText, isReview } from "./report/headline.ts";
import { isDone, outcomesText } from "./report/outcomes.ts";
import { limitsOf, type Refusal, refusalsOf, refusalText, refusalTitle, shownGuards } from "./report/refusals.ts";
import { sectionsOf } from "./report/sections.ts";
import { emptyText, isEmpty, type StateCount, stateCounts, validationText } from "./report/totals.ts";
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
  /** "prod", in a folder of the repository "deploy/eu, prod"; "" for a validation. Raw, as the title. */
  readonly target: string;
  readonly about: About;
  readonly headline: Headline;
  /** "(apply will refuse it: 1 error)", to follow the title; "" if it will not. */
  readonly refusalTitle: string;
  /** "Apply will refuse this plan"; "" if it will not. */
  readonly refusal: string;
  readonly refusals: readonly Refusal[];
  /** What a drift report may lack: sentences. */
  readonly limits: readonly string[];
  readonly guards: readonly GuardFinding[];
  /** What lets apply run a refused plan, besides a change of the manifests. */
  readonly waysOut: readonly WayOut[];
  /** What differs; none for a result and a validation. */
  readonly changes: Section;
  /** Each item with its changes and requests, for those who ask. */
  readonly details: readonly Entry[];
  /** The most important numbers, the worst first. */
  readonly counts: readonly StateCount[];
  /** Everything but the head, the changes and the end, in the order of a page. */
  readonly sections: readonly Section[];
  /** "Apply sends 1 PATCH.", "Read with 41 GET." */
  readonly calls: readonly string[];
  /** "Exit 2 (drift): …"; "" for 0. */
  readonly exit: string;
}

/** The subject of a document. */
interface About {
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
interface Headline {
  readonly word: string;
  readonly tone: "good" | "bad" | "warn" | "info";
  readonly text: string;
  /** Whether the text is a sentence; otherwise it is a list of counts. */
  readonly isSentence: boolean;
}

export function reportOf(given: Document, options: RenderOptions): Report {
  const document = withFiles(given, options.filePrefix);
  const { kind } = document;
  const items = kind === "Result" || kind === "Validation" ? [] : readySteps(document);
  const folder = options.filePrefix?.replace(/\/$/u, "") ?? "";
  const inFolder = (command: string): string => (folder === "" ? command : withFlags(command, [["-C", folder]]));
  const named = (command: string): string => inFolder("target" in document ? forTarget(command, document) : command);
  const isReviewed = kind === "Plan" && isReview(document);
  const words = {
    ...wordsOf(kind),
    command: named(wordsOf(kind).command),
    ...(isReviewed ? { isReview: true, ...defined({ reviews: document.reviews }) } : {}),
  };
  const target = kind === "Validation" ? "" : targetPlace(document.target, options.filePrefix);
  const changes = changesSection(items, words, options.verbose);
  return {
    ...noContent,
    ...contentOf(document, options),
    words,
    title: target === "" ? words.title : `${words.title} ${words.preposition} ${target}`,
    target,
    counts: stateCounts(document, changes.count),
    changes,
    details: detailEntries(items),
    sections: sectionsOf(document, { ...options, ...withoutPrefix(options) }).map((section) => withCommands(section, named)),
  };
}

/** `touches` takes files as the document has them. */
function withoutPrefix({ touches, filePrefix = "" }: RenderOptions): Pick<RenderOptions, "touches"> {
  if (touches === undefined || filePrefix === "") return {};
  return { touches: (file, line) => touches(file.startsWith(filePrefix) ? file.slice(filePrefix.length) : file, line) };
}

const withCommands = ({ command, entries, ...section }: Section, named: (command: string) => string): Section => ({
  ...section,
  ...(command === undefined ? {} : { command: named(command) }),
  entries: entries.map(({ commands, ...entry }) => (commands === undefined ? entry : { ...entry, commands: commands.map(named) })),
});

/** What a validation has not. */
const noContent = {
  about: { times: [] },
  refusalTitle: "",
  refusal: "",
  refusals: [],
  waysOut: [],
  limits: [],
  guards: [],
  calls: [],
  exit: "",
} as const;

function contentOf(document: Document, options: RenderOptions): Pick<Report, "headline"> & Partial<Report> {
  if (document.kind === "Validation") return { headline: validationHeadline(document) };
  const { kind, account, tool } = document;
  const about = { account, tool: `${tool.name} ${tool.version}` };
  const shared = { guards: shownGuards(document), exit: exitText(document) };
  if (kind === "Result")
    return {
      ...shared,
      about: { ...about, times: [document.startedAt, document.finishedAt], id: `run ${document.runId}` },
      headline: resultHeadline(document),
      calls: [`Sent: ${callsText(document.calls.sent)}.`],
    };
  const { git, createdAt, planId, calls } = document;
  const read = `Read with ${callsText(calls.read)}.`;
  return {
    ...shared,
    about: {
      ...about,
      ...(git === undefined ? {} : { commit: commitText(git) }),
      times: [createdAt],
      id: `${kind === "Plan" ? "plan" : "report"} ${planId}`,
    },
    headline: planHeadline(document),
    refusalTitle: refusalTitle(document),
    refusal: refusalText(document),
    refusals: refusalsOf(document),
    waysOut: waysOut(document),
    limits: limitsOf(document),
    calls: [...(kind === "Plan" && !isEmpty(document) ? [`Apply sends ${sentText(calls)}.`] : []), ...(options.verbose ? [read] : [])],
  };
}

/** "1 POST, then 1 PATCH": what waits is sent in later rounds. */
function sentText({ planned, later }: Plan["calls"]): string {
  if (Object.keys(later).length === 0) return callsText(planned);
  return Object.keys(planned).length === 0 ? `${callsText(later)} later` : `${callsText(planned)}, then ${callsText(later)}`;
}

function validationHeadline(validation: Validation): Headline {
  const isValid = !diagnosticsIn(validation).some(isError);
  return { word: isValid ? "valid" : "invalid", tone: isValid ? "good" : "bad", text: validationText(validation), isSentence: true };
}

const commitText = ({ commit, dirty, untracked = [] }: NonNullable<Plan["git"]>): string => {
  const files = untracked.length === 0 ? "" : ` (new: ${andMore(untracked.map(visible), "file")})`;
  return `commit ${commit.slice(0, 7)}${dirty ? " with uncommitted changes" : ""}${files}`;
};

function planHeadline(plan: Plan): Headline {
  const isReport = plan.kind === "DriftReport";
  if (isEmpty(plan)) return { word: isReport ? "no drift" : "no changes", tone: "good", text: emptyText(plan), isSentence: true };
  const counts = { text: `${contentText(plan)}.`, isSentence: false };
  if (plan.exit.code === 1) return { word: "error", tone: "bad", ...counts };
  if (!isReport && refusalTitle(plan) !== "") return { word: "refused", tone: "bad", ...counts };
  return { word: leadingState(plan), tone: "warn", ...counts };
}

/** The state of a plan or report with something in it, as one word. */
function leadingState(plan: Plan): string {
  const { kind } = plan;
  const items = readySteps(plan);
  if (items.length === 0 && stepsOf(plan, "blocked").length > 0) return "blocked";
  if (kind === "DriftReport") return "drift";
  return items.length === 0 && stepsOf(plan, "byHand").length > 0 ? "by hand" : "changes";
}

/** The state of a run with this exit code that applied nothing. */
const unapplied: Readonly<Partial<Record<ExitCode, string>>> = { 1: "error", 3: "refused", 130: "interrupted" };

function resultHeadline(result: Result): Headline {
  const { exit } = result;
  const items = endedSteps(result);
  const held = stepsOf(result, "held");
  if (isDeclined(result)) return { word: "cancelled", tone: "info", text: "Apply cancelled. Nothing was sent.", isSentence: true };
  const word = unapplied[exit.code];
  if (items.length + held.length === 0)
    return word === undefined
      ? { word: "done", tone: "good", text: "Nothing to apply.", isSentence: true }
      : { word, tone: "bad", text: "Nothing was applied.", isSentence: true };
  const counts = { text: `${outcomesText(result)}.`, isSentence: false };
  const isComplete = held.length === 0 && items.every(isDone);
  return isComplete ? { word: "done", tone: "good", ...counts } : { word: "incomplete", tone: "bad", ...counts };
}
