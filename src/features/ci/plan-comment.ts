import { failureReasons } from "../../cli/github-outputs.ts";
import type { Plan, Result } from "../../core/model/plan.ts";
import type { RenderOptions } from "../../core/render/document.ts";
import { code, details, prose } from "../../core/render/markdown/escape.ts";
import { renderMarkdown } from "../../core/render/markdown/index.ts";
import { isEmpty, summaryLine } from "../../core/render/report/totals.ts";
import { moreOf } from "../../core/text/lists.ts";
import { cutMiddle } from "../../core/text/values.ts";
import type { TargetSection } from "./comments.ts";
import type { FailedTarget } from "./job.ts";

/** What a comment says about a target. */
interface SectionContent {
  readonly text: string;
  readonly isEmpty: boolean;
}

interface SectionOptions {
  /** The characters that it may take. */
  readonly room: number;
  readonly touches?: RenderOptions["touches"];
  /** The last commit of the pull request; the checkout may be a merge of it. */
  readonly head: string | undefined;
}

/** The section of a plan; an empty plan is collapsed. */
export function planSection({ git, ...given }: Plan, { room, touches, head }: SectionOptions): SectionContent {
  const plan: Plan = git === undefined ? given : { ...given, git: { ...git, commit: head ?? git.commit } };
  const options = { color: false, verbose: false, budget: room - 300, ...(touches === undefined ? {} : { touches }) };
  const text = renderMarkdown(plan, options).trim();
  return isEmpty(plan) ? { text: details(prose(summaryLine(plan)), text), isEmpty: true } : { text, isEmpty: false };
}

interface ResultOptions {
  readonly room: number;
  /** What the plan said that the manifests give up since the commit that was applied last. */
  readonly loosened: Plan["loosened"] | undefined;
}

/** The section of what apply did after the merge, or of the plan that it did not apply. */
export function resultSection(document: Plan | Result, { room, loosened = [] }: ResultOptions): SectionContent {
  const given = loosened.slice(0, mostLoosened).map(({ subject, code: of }) => `- ${code(cutMiddle(subject, 120))} ${code(of)}`);
  const more = loosened.length > mostLoosened ? [`- … ${moreOf(loosened.length - mostLoosened, "change")}`] : [];
  const title = `**Loosened since the commit that was applied last (${loosened.length}):**`;
  const note = loosened.length === 0 ? "" : [title, "", ...given, ...more].join("\n");
  const text = renderMarkdown(document, { color: false, verbose: false, budget: room - note.length - 300 }).trim();
  return {
    text: note === "" ? text : `${text}\n\n${note}`,
    isEmpty: document.kind !== "Result" && isEmpty(document) && document.exit.code === 0,
  };
}

const mostLoosened = 10;

/** The section of a target that could not be planned: why. */
export const failedSection = (what: "plan" | "result", { target, failure }: FailedTarget, head?: string): SectionContent => ({
  text: [`## ${notMade(what, target)}`, ...failureReasons(failure), ...commitLines(head)].join("\n\n"),
  isEmpty: false,
});

const commitLines = (head: string | undefined): readonly string[] => (head === undefined ? [] : [`Commit ${head.slice(0, 7)}.`]);

/** The section of a target that was not planned, because no file of the project changed. */
export const unchangedSection = (target: string, head: string | undefined): SectionContent => ({
  text: `## No changes for ${code(cutMiddle(target, 80))}\n\n${head === undefined ? "The pull request changes no file of the project." : `Up to ${head.slice(0, 7)}, no file of the project changes.`}`,
  isEmpty: true,
});

/** The section of a target after a run that failed before it planned any. */
export const withdrawnSection = ({ target }: TargetSection, head: string | undefined): TargetSection => ({
  target,
  text: [`## ${notMade("plan", target)}`, "The last run of `dimsync plan` failed before it made one.", ...commitLines(head)].join("\n\n"),
});

/** "No plan for `prod`", in Markdown. */
export const notMade = (what: "plan" | "result" | "drift report", target: string): string =>
  `No ${what} for ${code(cutMiddle(target, 80))}`;
