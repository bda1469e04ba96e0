import type { ItemResult, Outcome, Result } from "../../model/result.ts";
import { visible } from "../../text/control-characters.ts";
import { callsText } from "../../text/counts.ts";
import type { RenderOptions } from "../document.ts";
import { nextSteps, outcomesText, outcomeWords } from "../report/outcomes.ts";
import { exitText } from "../report/totals.ts";
import { wordingOfResult } from "../report/wording.ts";
import { changeLines } from "./changes.ts";
import { diagnosticLines } from "./diagnostics.ts";
import { guardLines, manualLines, policyBlocks } from "./findings.ts";
import type { Block } from "./items.ts";
import { alignRows, cell, type Screen, screenOf, wrap } from "./layout.ts";
import { apart, stacked } from "./plan.ts";

const outcomeSigns: Readonly<Record<Outcome, string>> = {
  done: "✓",
  recovered: "✓",
  failed: "✗",
  unknown: "?",
  skipped: "-",
  blocked: "✗",
  deferred: "…",
  "not-converged": "≠",
};

/** What apply did: every item's outcome, why where it isn't done, what to do next, and the ids that must not be lost. */
export function renderHumanResult(result: Result, options: RenderOptions): string {
  const screen = screenOf(options);
  const { paint } = screen;
  const declined = result.items.length > 0 && result.items.every(({ code }) => code === "E_DECLINED");
  return stacked([
    apart([
      `${paint.bold(`Apply on ${visible(result.target)}`)}${paint.dim(` (${visible(result.account)}), run ${visible(result.runId)}`)}`,
    ]),
    ...(declined ? [] : outcomeBlocks(result.items, screen)),
    apart(manualLines(result.manual, screen, false)),
    ...result.diagnostics.map((diagnostic) => apart(diagnosticLines(diagnostic, screen))),
    ...policyBlocks(result.policy, result.guards, screen).map(apart),
    ...result.guards.map((guard) => apart(guardLines(guard, screen))),
    apart(bindingLines(result, screen)),
    apart(closing(result, declined, screen)),
  ]);
}

function outcomeBlocks(items: readonly ItemResult[], screen: Screen): readonly Block[] {
  const { paint, width, verbose } = screen;
  const colors: Readonly<Record<Outcome, (text: string) => string>> = {
    done: paint.green,
    recovered: paint.green,
    failed: paint.red,
    unknown: paint.magenta,
    skipped: paint.dim,
    blocked: paint.red,
    deferred: paint.blue,
    "not-converged": paint.red,
  };
  const heads = alignRows(
    items.map(({ address, outcome, action, liveId, code }) => [
      cell(`${outcomeSigns[outcome]} ${visible(address)}`, (text) => colors[outcome](text.slice(0, 1)) + paint.bold(text.slice(1))),
      cell(outcomeWords(outcome, action), colors[outcome]),
      cell(liveId === undefined ? "" : visible(liveId), paint.dim),
      cell(code === undefined ? "" : visible(code), colors[outcome]),
    ]),
    "",
  );
  return items.map((item, index) => {
    const { message, outcome, changes = [], action = "update" } = item;
    const withChanges = verbose || outcome === "not-converged";
    const lines = [
      heads[index] ?? "",
      ...(message === undefined ? [] : wrap(message, "    ", width)),
      ...(withChanges ? changeLines(changes, action, "each", screen, wordingOfResult) : []),
      ...nextSteps(item).map((command) => `      ${paint.cyan(command)}`),
    ];
    return { lines, tight: lines.length === 1 };
  });
}

/** The ids that this run brought; with -v every binding. */
function bindingLines({ bindings, items }: Result, { paint, verbose }: Screen): readonly string[] {
  const fresh = new Set(items.filter(({ action }) => action === "create" || action === "bind").map(({ address }) => address));
  const shown = Object.entries(bindings).filter(([address]) => verbose || fresh.has(address));
  if (shown.length === 0) return [];
  return [
    paint.bold(verbose ? "Ids on record:" : "Ids recorded in this run:"),
    ...alignRows(
      shown.map(([address, id]) => [cell(visible(address)), cell(visible(id))]),
      "    ",
    ),
  ];
}

function closing({ items, calls, exit }: Result, declined: boolean, { paint, width }: Screen): readonly string[] {
  const isComplete = items.every(({ outcome }) => outcome === "done" || outcome === "recovered");
  const total = declined
    ? "Not confirmed: nothing was applied."
    : items.length === 0
      ? "Nothing to apply."
      : `Apply: ${outcomesText(items)}.`;
  const text = exitText(exit);
  return [
    ...wrap(total, "", width).map((line) => paint.bold(isComplete ? paint.green(line) : paint.red(line))),
    `Sent: ${callsText(calls)}.`,
    ...(text === "" ? [] : [text]),
  ];
}
