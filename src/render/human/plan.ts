import type { Plan } from "../../model/plan.ts";
import { callsText, counted } from "../counts.ts";
import type { RenderOptions } from "../document.ts";
import { exitText } from "../exit-text.ts";
import { emptyText, isEmpty, obstacleText, totalsText } from "../totals.ts";
import { visible } from "../visible.ts";
import { type Wording, wordingOf } from "../wording.ts";
import { diagnosticLines } from "./diagnostics.ts";
import { blockedLines, deferredLines, manualLines, unmanagedLines, unverifiableLines } from "./findings.ts";
import { type Block, changeLineCount, groupingOf, itemBlocks } from "./items.ts";
import { reasonLines } from "./reasons.ts";
import { guardLines, policyBlocks } from "./refusals.ts";
import { type Screen, screenOf } from "./screen.ts";
import { wrap } from "./wrap.ts";

/** A plan or a drift report for people: what changes first, what needs a person next, the totals last, where the eye is when it stops scrolling. */
export function renderHumanPlan(plan: Plan, options: RenderOptions): string {
  const screen = screenOf(options);
  const wording = wordingOf(plan);
  const isReport = plan.kind === "DriftReport";
  const blocks: readonly Block[] = [
    apart([title(plan, wording, screen)]),
    ...itemBlocks(plan, screen, wording),
    apart(groupingOf(plan, screen) === "each" ? reasonLines(plan, screen) : []),
    ...plan.deferred.map((deferred) => apart(deferredLines(deferred, screen))),
    ...plan.blocked.map((blocked) => apart(blockedLines(blocked, screen))),
    apart(manualLines(plan.manual, screen, isReport, options.history?.get(plan.planId)?.done)),
    apart(unverifiableLines(plan.unverifiable, screen)),
    apart(unmanagedLines(plan.unmanaged, screen, isReport || screen.verbose)),
    ...plan.diagnostics.map((diagnostic) => apart(diagnosticLines(diagnostic, screen))),
    ...policyBlocks(plan.policy, isReport ? undefined : plan.guards, screen).map(apart),
    ...plan.guards.map((guard) => apart(guardLines(guard, screen))),
    apart(closing(plan, wording, screen)),
  ];
  return stacked(blocks);
}

/** Lines with a blank line before and after. */
export function apart(lines: readonly string[]): Block {
  return { lines, tight: false };
}

/** The blocks as one text: a blank line between two, except between tight ones. */
export function stacked(blocks: readonly Block[]): string {
  const filled = blocks.filter(({ lines }) => lines.length > 0);
  const lines = filled.flatMap((block, index) => {
    const before = filled[index - 1];
    return before === undefined || (before.tight && block.tight) ? block.lines : ["", ...block.lines];
  });
  return `${lines.join("\n")}\n`;
}

function title({ target, account, git, planId }: Plan, wording: Wording, { paint, verbose }: Screen): string {
  const commit = git === undefined ? "" : `, commit ${visible(git.commit).slice(0, 7)}${git.dirty ? " with uncommitted changes" : ""}`;
  const id = verbose ? `, plan ${visible(planId)}` : "";
  return `${paint.bold(`${wording.title} for ${visible(target)}`)}${paint.dim(` (${visible(account)})${commit}${id}`)}`;
}

function closing(plan: Plan, wording: Wording, screen: Screen): readonly string[] {
  const { paint, width } = screen;
  const read = paint.dim(`Read with ${callsText(plan.calls.read)}.`);
  if (isEmpty(plan)) return [paint.bold(paint.green(emptyText(plan))), read];
  const hidden =
    groupingOf(plan, screen) === "by rule" ? `${counted(changeLineCount(plan), "change")} are grouped above. To see each one:` : "";
  const obstacle = obstacleText(plan);
  const exit = exitText(plan.exit, plan.kind);
  return [
    ...(hidden === "" ? [] : [hidden, `  ${paint.cyan(`${wording.command} -v`)}`, ""]),
    ...wrap(`${wording.title}: ${totalsText(plan)}.`, "", width).map(paint.bold),
    ...(plan.kind === "DriftReport" ? [] : [`Apply will send: ${callsText(plan.calls.planned)}.`]),
    read,
    ...(obstacle === "" ? [] : wrap(obstacle, "", width).map((line) => paint.bold(paint.red(line)))),
    ...(exit === "" ? [] : [exit]),
  ];
}
