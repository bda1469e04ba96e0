import type { ItemResult, Outcome, Result } from "../../model/result.ts";
import { callsText } from "../../text/counts.ts";
import { timeText } from "../report/attribution.ts";
import { openFindings } from "../report/findings.ts";
import { nextSteps, outcomesText, outcomeWords } from "../report/outcomes.ts";
import { exitText } from "../report/totals.ts";
import { wordingOfResult } from "../report/wording.ts";
import { changeTables } from "./changes.ts";
import { blocks, chip, code, escaped, prose, type Tone } from "./escape.ts";
import { checklist, diagnosticList, guardNotes, policyList } from "./findings.ts";
import type { Page } from "./page.ts";

const tones: Readonly<Record<Outcome, Tone>> = {
  done: "good",
  recovered: "good",
  failed: "bad",
  unknown: "bad",
  skipped: "quiet",
  blocked: "bad",
  deferred: "info",
  "not-converged": "bad",
};

/** What apply did: every outcome, the ones that need someone first. */
export function resultPage(result: Result): Page {
  const { target, account, runId, items, manual, guards, diagnostics, bindings, calls, exit, tool, startedAt, finishedAt } = result;
  const findings = openFindings(result.policy);
  const isDone = ({ outcome }: ItemResult): boolean => outcome === "done" || outcome === "recovered";
  const total = items.length === 0 ? "Nothing to apply." : `${outcomesText(items)}.`;
  const text = exitText(exit);
  const open = items.filter((item) => !isDone(item));
  const ids = Object.entries(bindings);
  return {
    title: `Apply on ${target}`,
    lead: blocks(
      `<p class="quiet">${escaped(account)}, ${escaped(timeText(startedAt))} to ${escaped(timeText(finishedAt))}, run ${code(runId)}</p>`,
      `<p class="verdict">${chip(open.length === 0 ? "done" : "incomplete", open.length === 0 ? "good" : "bad")} <span>${escaped(total)}</span></p>`,
    ),
    parts: [
      { id: "guards", title: "Guards", count: guards.length, html: guardNotes(guards) },
      { id: "open", title: "Not done", count: open.length, html: open.map(outcome).join("\n") },
      { id: "done", title: "Done", count: items.length - open.length, html: items.filter(isDone).map(outcome).join("\n") },
      { id: "by-hand", title: "To do by hand", count: manual.length, html: checklist(manual, []) },
      { id: "policies", title: "Policy findings", count: findings.length, html: policyList(findings) },
      { id: "diagnostics", title: "Diagnostics", count: diagnostics.length, html: diagnosticList(diagnostics) },
      {
        id: "ids",
        title: "Ids on record",
        count: ids.length,
        html: ids.length === 0 ? "" : `<ul>${ids.map(([address, id]) => `<li>${escaped(address)} ${code(id)}</li>`).join("")}</ul>`,
      },
    ],
    footer: `<p>Sent: ${callsText(calls)}.${text === "" ? "" : ` ${escaped(text)}`}</p>\n<p>${escaped(tool.name)} ${escaped(tool.version)}</p>`,
  };
}

function outcome(item: ItemResult): string {
  const { address, outcome: ending, action, liveId, code: problem, message, changes = [] } = item;
  return `<div class="card">${blocks(
    `<p><strong>${escaped(address)}</strong> ${chip(outcomeWords(ending, action), tones[ending])}${liveId === undefined ? "" : ` ${code(liveId)}`}${problem === undefined ? "" : ` <span class="quiet">${escaped(problem)}</span>`}</p>`,
    message === undefined ? "" : `<p>${prose(message)}</p>`,
    ...nextSteps(item).map((command) => `<pre>${escaped(command)}</pre>`),
    changes.length === 0
      ? ""
      : `<details><summary>What changed</summary>\n${changeTables(changes, `Changes of ${address}`, wordingOfResult)}\n</details>`,
  )}</div>`;
}
