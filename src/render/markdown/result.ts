import type { ItemResult, Result } from "../../model/result.ts";
import { callsText } from "../../text/counts.ts";
import { cutMiddle } from "../../text/values.ts";
import type { RenderOptions } from "../document.ts";
import { nextSteps, outcomesText, outcomeWords } from "../report/outcomes.ts";
import { exitText } from "../report/totals.ts";
import { type Detail, fitted, shortenedText } from "./budget.ts";
import { code, prose, table } from "./escape.ts";
import { diagnosticsSection, guardBlocks, manualSection, policySection } from "./findings.ts";

const shorterForms = {
  "by rule": "What is done is only counted.",
  "by object": "What is done is only counted, and messages are left out.",
  counts: "Only the totals are shown.",
};

/** What apply did, for a pull request or a job's summary, within the budget. */
export function renderMarkdownResult(result: Result, { budget }: RenderOptions): string {
  return fitted((detail) => draw(result, detail), budget);
}

function draw(result: Result, detail: Detail): string {
  const { items, manual, guards, policy, diagnostics, calls, exit } = result;
  const total = items.length === 0 ? "nothing to apply" : outcomesText(items);
  const text = prose(exitText(exit));
  const blocks = [
    `## Apply on ${code(cutMiddle(result.target, 80))}: ${total}`,
    shortenedText(detail, shorterForms, "dimsync show FILE"),
    ...guardBlocks(guards, detail),
    outcomes(items, detail),
    manualSection(manual, detail),
    policySection(policy, detail),
    diagnosticsSection(diagnostics, detail),
    `---\n\nSent: ${callsText(calls)}.${text === "" ? "" : ` ${text}`}`,
  ];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}

/** Every outcome; in the shorter forms what is done is left to the counts. */
function outcomes(items: readonly ItemResult[], detail: Detail): string {
  const shown = detail === "full" ? items : items.filter(({ outcome }) => outcome !== "done" && outcome !== "recovered");
  const limited = shown.slice(0, detail === "by object" ? 20 : shown.length);
  if (limited.length === 0 || detail === "counts") return "";
  const rows = limited.map((item) => {
    const { address, outcome, action, liveId, code: problem, message } = item;
    const isDone = outcome === "done" || outcome === "recovered";
    const why = [
      problem === undefined ? "" : code(problem),
      message === undefined || detail === "by object" ? "" : prose(message),
      ...nextSteps(item).map(code),
    ];
    return [
      code(address),
      isDone ? outcomeWords(outcome, action) : `**${outcomeWords(outcome, action)}**`,
      liveId === undefined ? "" : code(liveId),
      why.filter((part) => part !== "").join("<br>"),
    ];
  });
  const left = items.length - limited.length;
  return `${table(["Object", "Outcome", "Id", "Why"], rows)}${left === 0 ? "" : `\n\n… and ${left} more.`}`;
}
