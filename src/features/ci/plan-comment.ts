import { failureReasons } from "../../cli/github-outputs.ts";
import { defined } from "../../core/base/model/json/json.ts";
import type { Finding, Plan, Result } from "../../core/base/model/plan.ts";
import { moreOf } from "../../core/base/text/lists.ts";
import { cutMiddle } from "../../core/base/text/values.ts";
import type { RenderOptions } from "../../core/render/index.ts";
import { isEmpty, summaryLine, targetPlace } from "../../core/render/index.ts";
import { code, details, prose, renderMarkdown } from "../../core/render/markdown/index.ts";
import type { TargetSection } from "./comments.ts";
import type { FailedTarget } from "./job.ts";

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
  /** What the plan said that the manifests give up since the commit that was applied last. */
  readonly loosened: readonly Finding[];
}

/** The section of what apply did after the merge, or of the plan that it did not apply. */
export function resultSection(document: Plan | Result, { room, loosened, filePrefix }: ResultOptions): SectionContent {
  const given = loosened.slice(0, mostLoosened).map(({ address = "", rule }) => `- ${code(cutMiddle(address, 120))} ${code(rule)}`);
  const more = loosened.length > mostLoosened ? [`- … ${moreOf(loosened.length - mostLoosened, "change")}`] : [];
  const title = `**Loosened since the commit that was applied last (${loosened.length}):**`;
  const note = loosened.length === 0 ? "" : [title, "", ...given, ...more].join("\n");
  const text = renderMarkdown(document, {
    color: false,
    verbose: false,
    budget: room - note.length - 300,
    ...defined({ filePrefix }),
  }).trim();
  return {
    text: note === "" ? text : `${text}\n\n${note}`,
    isEmpty: document.kind !== "Result" && isEmpty(document) && document.exit.code === 0,
  };
}

const mostLoosened = 10;

/** The section of a target that could not be planned: why. */
export const failedSection = (
  what: "plan" | "result",
  { target, failure }: FailedTarget,
  { head, filePrefix }: Partial<Pick<SectionOptions, "head" | "filePrefix">>,
): SectionContent => ({
  text: [`## ${notMade(what, targetPlace(target, filePrefix))}`, ...failureReasons(failure), ...commitLines(head)].join("\n\n"),
  isEmpty: false,
});

const commitLines = (head: string | undefined): readonly string[] => (head === undefined ? [] : [`Commit ${head.slice(0, 7)}.`]);

/** The section of a target that was not planned, because no file of the project changed. */
export const unchangedSection = (target: string, { head, filePrefix }: Pick<SectionOptions, "head" | "filePrefix">): SectionContent => ({
  text: `## No changes for ${code(cutMiddle(targetPlace(target, filePrefix), 80))}\n\n${head === undefined ? "The pull request changes no file of the project." : `Up to ${head.slice(0, 7)}, no file of the project changes.`}`,
  isEmpty: true,
});

/** The section of a target after a run that failed before it planned any. */
export const withdrawnSection = (
  { target }: TargetSection,
  { head, filePrefix }: Pick<SectionOptions, "head" | "filePrefix">,
): TargetSection => ({
  target,
  text: [
    `## ${notMade("plan", targetPlace(target, filePrefix))}`,
    "The last run of `dimsync plan` failed before it made one.",
    ...commitLines(head),
  ].join("\n\n"),
});

/** "No plan for `deploy/eu, prod`", in Markdown. */
export const notMade = (what: "plan" | "result" | "drift report", place: string): string => `No ${what} for ${code(cutMiddle(place, 80))}`;
