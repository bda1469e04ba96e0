import { type CommandFailure, failureReasons } from "../../cli/github-outputs.ts";
import { loosenedOf } from "../../core/base/model/findings.ts";
import { defined } from "../../core/base/model/json/json.ts";
import type { Finding, Plan, Result } from "../../core/base/model/plan.ts";
import { enumerate } from "../../core/base/text/describe.ts";
import { moreOf } from "../../core/base/text/lists.ts";
import { cutMiddle } from "../../core/base/text/values.ts";
import type { RenderOptions } from "../../core/render/index.ts";
import { isEmpty, summaryLine, targetPlace } from "../../core/render/index.ts";
import { code, details, prose, renderMarkdown } from "../../core/render/markdown/index.ts";

/** What a comment says about a target. */
interface SectionContent {
  readonly text: string;
  readonly isEmpty: boolean;
}

/** `filePrefix` is the folder of the project. */
type Placed = Pick<RenderOptions, "filePrefix">;

interface SectionOptions extends Placed {
  /** The characters that it may take. */
  readonly room: number;
  readonly touches?: RenderOptions["touches"];
  /** The last commit of the pull request; the checkout may be a merge of it. */
  readonly head: string | undefined;
}

/** The section of a plan; an empty plan is collapsed. */
export function planSection({ git, ...given }: Plan, { room, touches, head, filePrefix }: SectionOptions): SectionContent {
  const plan: Plan = git === undefined ? given : { ...given, git: { ...git, commit: head ?? git.commit } };
  const options = { color: false, verbose: false, budget: room - 300, ...defined({ touches, filePrefix }) };
  const text = renderMarkdown(plan, options).trim();
  return isEmpty(plan) ? { text: details(prose(summaryLine(plan, filePrefix)), text), isEmpty: true } : { text, isEmpty: false };
}

interface ResultOptions extends Placed {
  readonly room: number;
  /** The plan that was applied, if any: what it changed, and what it said that the manifests give up since the commit that was applied last. */
  readonly applied: Plan | undefined;
  /** What the run is about, such as "#6" and "#7". */
  readonly requests: readonly string[];
}

/** The section of what apply did after the merge, or of the plan that it did not apply. */
export function resultSection(document: Plan | Result, { room, applied, requests, filePrefix }: ResultOptions): SectionContent {
  const isResult = document.kind === "Result";
  const plan = isResult ? applied : undefined;
  const notes = [loosenedNote(plan === undefined ? [] : loosenedOf(plan)), togetherNote(requests, isResult)].filter((text) => text !== "");
  const left = room - notes.join("").length - 300;
  const draw = (of: Plan | Result, budget: number): string =>
    renderMarkdown(of, { color: false, verbose: false, budget, ...defined({ filePrefix }) }).trim();
  const changes = plan === undefined ? [] : [details(prose(summaryLine(plan, filePrefix)), draw(plan, Math.floor(left / 2) - 200))];
  return {
    text: [draw(document, plan === undefined ? left : Math.floor(left / 2)), ...changes, ...notes].join("\n\n"),
    isEmpty: !isResult && isEmpty(document) && document.exit.code === 0,
  };
}

function loosenedNote(loosened: readonly Finding[]): string {
  if (loosened.length === 0) return "";
  const given = loosened.slice(0, mostLoosened).map(({ address = "", rule }) => `- ${code(cutMiddle(address, 120))} ${code(rule)}`);
  const more = loosened.length > mostLoosened ? [`- … ${moreOf(loosened.length - mostLoosened, "change")}`] : [];
  return [`**Loosened since the commit that was applied last (${loosened.length}):**`, "", ...given, ...more].join("\n");
}

/** A reader of one request also sees what the others changed. */
const togetherNote = (requests: readonly string[], isApplied: boolean): string =>
  requests.length < 2 ? "" : `This run ${isApplied ? "applied" : "is for"} ${enumerate(requests, "and")} together.`;

const mostLoosened = 10;

/** The section of a target that has no plan or result: why. `title`: as of `notMade`. */
export const failedSection = (title: string, failure: CommandFailure, head?: string): SectionContent => ({
  text: [`## ${title}`, ...failureReasons(failure), ...commitLines(head)].join("\n\n"),
  isEmpty: false,
});

const commitLines = (head: string | undefined): readonly string[] => (head === undefined ? [] : [`Commit ${head.slice(0, 7)}.`]);

/** The section of a target that was not planned, because no file of the project changed. */
export const unchangedSection = (target: string, { head, filePrefix }: Pick<SectionOptions, "head" | "filePrefix">): SectionContent => ({
  text: [notComparedText(targetPlace(target, filePrefix)), ...commitLines(head)].join("\n\n"),
  isEmpty: true,
});

/** Says of a target, in Markdown, that its account was not read. */
export const notComparedText = (place: string): string =>
  `## ${code(cutMiddle(place, 80))}: not compared\n\nNo file of the project changed, so there is no plan.`;

/** "No plan for `deploy/eu, prod`", in Markdown. Without a result, apply may have sent something. */
export const notMade = (what: "plan" | "result" | "drift report", place: string): string => `No ${what} for ${code(cutMiddle(place, 80))}`;

/** The title of a target that apply did not get to. */
export const notSent = (place: string): string => `Nothing was sent to ${code(cutMiddle(place, 80))}`;
