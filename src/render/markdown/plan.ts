import type { Plan } from "../../model/plan.ts";
import { callsText } from "../../text/counts.ts";
import { cutMiddle } from "../../text/values.ts";
import type { RenderOptions, ReportHistory } from "../document.ts";
import { blockedReason, emptyText, exitText, isEmpty, totalsText } from "../report/totals.ts";
import { wordingOf } from "../report/wording.ts";
import { type Detail, fitted, shortenedText } from "./budget.ts";
import { itemBlocks } from "./changes.ts";
import { code, prose } from "./escape.ts";
import {
  blockedSection,
  deferredSection,
  diagnosticsSection,
  guardBlocks,
  manualSection,
  policySection,
  unmanagedSection,
  unverifiableSection,
} from "./findings.ts";

const shorterForms = {
  "by rule": "The changes are grouped by rule.",
  "by object": "The changes of each object are only counted.",
  counts: "Only the totals are shown.",
};

/** A plan or a drift report for a pull request or an issue, within the budget. */
export function renderMarkdownPlan(plan: Plan, { budget, history }: RenderOptions): string {
  return fitted((detail) => draw(plan, detail, history?.get(plan.planId)), budget);
}

function draw(plan: Plan, detail: Detail, history: ReportHistory | undefined): string {
  const wording = wordingOf(plan);
  const obstacle = blockedReason(plan);
  const blocks = [
    `## ${wording.title} for ${code(cutMiddle(plan.target, 80))}: ${isEmpty(plan) ? "no changes" : totalsText(plan).split("; ")[0]}`,
    shortenedText(detail, shorterForms, `${wording.command} -v`),
    isEmpty(plan) ? emptyText(plan) : `**${wording.title}: ${totalsText(plan)}.**`,
    ...(obstacle === "" ? [] : [`> [!WARNING]\n> ${obstacle}`]),
    ...guardBlocks(plan.guards, detail),
    policySection(plan.policy, detail),
    items(plan, detail),
    deferredSection(plan.deferred, detail),
    blockedSection(plan.blocked, detail),
    manualSection(plan.manual, detail, history?.done),
    unverifiableSection(plan.unverifiable, detail),
    unmanagedSection(plan.unmanaged, detail),
    diagnosticsSection(plan.diagnostics, detail),
    closing(plan),
  ];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}

function items(plan: Plan, detail: Detail): string {
  if (plan.items.length === 0 || detail === "counts") return "";
  return `### ${plan.kind === "Plan" ? "Changes" : "Differences"}\n\n${itemBlocks(plan.items, detail, wordingOf(plan))}`;
}

function closing(plan: Plan): string {
  const send = plan.kind === "Plan" && !isEmpty(plan) ? `Apply will send: ${callsText(plan.calls.planned)}. ` : "";
  const exit = prose(exitText(plan.exit, plan.kind));
  const git =
    plan.git === undefined ? "" : ` Commit ${code(plan.git.commit.slice(0, 12))}${plan.git.dirty ? " with uncommitted changes" : ""}.`;
  return `---\n\n${send}Read with ${callsText(plan.calls.read)}.${git}${exit === "" ? "" : ` ${exit}`}`;
}
