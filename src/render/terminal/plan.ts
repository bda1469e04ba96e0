import type { Plan } from "../../model/plan.ts";
import { visible } from "../../text/control-characters.ts";
import { callsText, counted } from "../../text/counts.ts";
import type { RenderOptions } from "../document.ts";
import { blockedReason, emptyText, exitText, isEmpty, totalsText } from "../report/totals.ts";
import { type Wording, wordingOf } from "../report/wording.ts";
import { diagnosticLines } from "./diagnostics.ts";
import { blockedLines, deferredLines, guardLines, manualLines, policyBlocks, unmanagedLines, unverifiableLines } from "./findings.ts";
import { type Block, changeLineCount, groupingOf, itemBlocks } from "./items.ts";
import { alignRows, cell, type Screen, screenOf, wrap } from "./layout.ts";

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
  const obstacle = blockedReason(plan);
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

/** The reasons of rules that are not told beside each change: once each, "pii-email   GDPR register 12", in the order in which the rules appear. */
function reasonLines({ items }: Plan, { paint, verbose }: Screen): readonly string[] {
  if (verbose) return [];
  const reasons = new Map<string, readonly [rule: string, reason: string]>();
  for (const { changes } of items)
    for (const { cause, risk } of changes)
      if (cause?.rule !== undefined && cause.reason !== undefined && risk !== "exposes" && risk !== "stricter")
        reasons.set(JSON.stringify([cause.rule, cause.reason]), [cause.rule, cause.reason]);
  if (reasons.size === 0) return [];
  return [
    "Reasons that rules give:",
    ...alignRows(
      [...reasons.values()].map(([rule, reason]) => [cell(visible(rule)), cell(visible(reason), paint.dim)]),
      "    ",
    ),
  ];
}
