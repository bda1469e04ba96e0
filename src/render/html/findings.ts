import { changeCount } from "../../model/changes.ts";
import type { GuardFinding } from "../../model/findings.ts";
import type { Blocked, Deferred, Unverifiable } from "../../model/plan.ts";
import type { Diagnostic, Severity } from "../../model/problem.ts";
import { counted } from "../../text/counts.ts";
import { joinParts } from "../../text/lists.ts";
import { wholePath } from "../../text/paths.ts";
import { valueLines } from "../../text/values.ts";
import { blockedGroups } from "../report/blocked.ts";
import { changeLines, placeText, waitsForText } from "../report/changes/changes.ts";
import { acceptNote, type ReportColumns } from "../report/columns.ts";
import { heldNote } from "../report/held.ts";
import { nodeCount, type Policies, type PolicyGroup } from "../report/policies.ts";
import { guardText, liftReason } from "../report/refusals.ts";
import { releasedNote } from "../report/released.ts";
import { integrationsText } from "../report/unmanaged.ts";
import { partTitles } from "../report/words.ts";
import type { ManualStep, Report } from "../report.ts";
import { changeTable, traceHtml } from "./changes.ts";
import { blocks, chip, code, command, escaped, folded, list, type Tone, table } from "./escape.ts";

// More names than this are folded.
const mostNames = 50;
const mostNodes = 10;
const mostHeld = 200;

const tones: Readonly<Record<Severity, Tone>> = { error: "bad", warning: "warn", info: "info" };

/** The numbered checklist, and the steps done since the previous report. */
export function checklist({ manual, done, words }: Report): string {
  const [live, desired] = words.kind === "DriftReport" ? ["live", "desired"] : ["is", "must be"];
  const steps = manual.map((step) => stepHtml(step, live ?? "", desired ?? ""));
  const finished = done.map(
    ({ id, address, path }) =>
      `<span aria-hidden="true">☑</span> <strong>${escaped(address)}</strong>${path === "" ? "" : ` ${code(wholePath(path))}`} <span class="quiet small">${escaped(id)}</span>`,
  );
  return blocks(list(steps, "steps"), finished.length === 0 ? "" : `<h3>${partTitles.done}</h3>\n${list(finished, "steps done")}`);
}

function stepHtml(step: ManualStep, liveWord: string, desiredWord: string): string {
  const { number, id, address, path, live, desired, instruction, trace } = step;
  const values = joinParts([live === "" ? "" : `${liveWord} ${code(live)}`, desired === "" ? "" : `${desiredWord} ${code(desired)}`], ", ");
  const head = `<span aria-hidden="true">☐</span> <strong>${number}. ${escaped(address)}</strong>${path === "" ? "" : ` ${code(path)}`}${values === "" ? "" : `: ${values}`} <span class="quiet small">${escaped(id)}</span>`;
  const who = traceHtml(trace);
  return `<p>${head}</p><p>${escaped(instruction)}</p>${who === "" ? "" : `<p class="small trace">${who}</p>`}`;
}

export const blockedList = (blocked: readonly Blocked[]): string =>
  list(
    blockedGroups(blocked).map(
      ({ names, code: name, message, command: next }) =>
        `<strong>${escaped(names)}</strong> ${chip(name, "bad")}<p>${escaped(message)}</p>${command(next)}`,
    ),
    "steps",
  );

export const deferredList = (deferred: readonly Deferred[]): string =>
  deferred
    .map(
      (entry) =>
        `<details class="card"><summary><strong>${escaped(entry.address)}</strong> <span class="quiet">${waitsForText(entry, escaped)}</span></summary><div class="inside"><pre>${valueLines(entry.desired).map(escaped).join("\n")}</pre></div></details>`,
    )
    .join("\n");

/** What `--protect-only` does not send, each object with its changes folded. */
export function heldHtml({ held, words }: Report): string {
  if (held.length === 0) return "";
  const entries = held.map(({ address, text, held: one }) => {
    const lines = changeLines(one, words, mostHeld);
    const left = changeCount(one) - mostHeld;
    const more = left > 0 ? `<p>and ${left} more changes</p>` : "";
    return blocks(
      `<p><strong>${escaped(address)}</strong> <span class="quiet">${escaped(text)}</span></p>`,
      lines.length === 0 ? "" : folded("Held changes", blocks(changeTable(lines, `Held changes of ${address}`, words), more)),
    );
  });
  return blocks(`<p>${escaped(heldNote)}</p>`, list(entries, "steps"));
}

export const unverifiableList = (unverifiable: readonly Unverifiable[]): string =>
  list(
    unverifiable.map(
      ({ address, paths, reason }) =>
        `<strong>${escaped(address)}</strong>: ${paths.map((path) => code(wholePath(path))).join(", ")}<p class="quiet">${escaped(reason)}</p>`,
    ),
    "steps",
  );

/** Unmanaged objects, counted and listed. */
export function unmanagedHtml({ unmanaged: { counts, objects, tables } }: Report): string {
  if (counts === "" && tables.length === 0) return "";
  const names = list(objects.map(({ kind, id, name }) => `${kind} <strong>${escaped(name)}</strong> ${code(id)}`));
  const columns = list(
    tables.map(
      ({ table, columns: of, integrations }) =>
        `${code(table)}: ${code(of)} <span class="quiet">${escaped(integrationsText(integrations, integrations.length))}</span>`,
    ),
  );
  return blocks(
    counts === "" ? "" : `<p>${escaped(counts)}.</p>`,
    objects.length > mostNames ? folded(counted(objects.length, "object"), names) : names,
    folded(`Columns by table (${tables.length})`, columns),
  );
}

/** The findings that need attention, then existing and fixed ones folded. */
export const policiesHtml = ({ open, existing, fixed }: Policies): string =>
  blocks(
    policyCards(open),
    folded(`${partTitles.existing} (${nodeCount(existing)})`, policyCards(existing)),
    folded(`${partTitles.fixed} (${nodeCount(fixed)})`, policyCards(fixed)),
  );

const quietPlace = (place: string): string => (place === "" ? "" : `<span class="quiet small">${escaped(place)}</span>`);

/** The findings of each policy: the message once, followed by every node. */
const policyCards = (policies: readonly PolicyGroup[]): string =>
  policies
    .map(({ policy, severity, message, place, nodes }) => {
      const rows = list(
        nodes.map(({ address, path, requirement, ...node }) =>
          joinParts([escaped(address), path === "" ? "" : code(path), escaped(requirement), quietPlace(node.place)], " "),
        ),
      );
      const head = joinParts([chip(severity, tones[severity]), `<strong>Policy/${escaped(policy)}</strong>`, quietPlace(place)], " ");
      return `<div class="card"><p>${head}</p><p>${escaped(message)}</p>${nodes.length > mostNodes ? folded(counted(nodes.length, "place"), rows) : rows}</div>`;
    })
    .join("\n");

export const guardNotes = (guards: readonly GuardFinding[], { kind }: Report["words"]): string =>
  guards
    .map((guard) => {
      const isLifted = guard.allowed !== undefined;
      const tone = isLifted ? "info" : kind === "DriftReport" ? "warn" : "bad";
      const head = `<p><strong>${escaped(guardText(guard, kind))}</strong></p><p>${escaped(guard.message)}</p>`;
      return `<div class="note ${tone}">${head}${liftHtml(guard, kind)}</div>`;
    })
    .join("\n");

/** How to lift a guard, or why it was lifted. A drift report applies nothing. */
function liftHtml(finding: GuardFinding, kind: Report["words"]["kind"]): string {
  if (finding.allowed !== undefined) return `<p>Reason: ${escaped(liftReason(finding))}</p>`;
  if (kind === "DriftReport") return "";
  return `<p>To lift it, give a reason. It is recorded in the result.</p>${command(`--allow ${finding.guard}="reason"`)}`;
}

/** Errors with their source lines; warnings are folded if there are errors or many of them. */
export function problemList(problems: readonly Diagnostic[]): string {
  const errors = problems.filter(({ severity }) => severity === "error");
  const others = problems.filter(({ severity }) => severity !== "error");
  const warnings = list(others.map(problemHtml), "steps");
  return blocks(
    list(errors.map(problemHtml), "steps"),
    others.length > mostWarnings ? folded(counted(others.length, "warning"), warnings) : warnings,
  );
}

/** What someone changed in the account, and apply undoes. */
export const outsideHtml = ({ outside: { note, lines } }: Report): string =>
  note === "" ? "" : blocks(`<p>${escaped(note)}</p>`, list(lines.map(escaped)));

/** Objects that lost their manifest since the base. */
export const releasedHtml = ({ released }: Report): string =>
  released.length === 0 ? "" : blocks(list(released.map(escaped)), `<p>${releasedNote}</p>`);

/** New columns with what the service does with them now; gone ones folded. */
export function columnsHtml({ title, added, goneTitle, gone, neverReviewed, command: accept }: ReportColumns): string {
  if (accept === "") return "";
  const rows = added.map(({ name, state, label, isReadable, integrations }) => [
    code(name),
    chip(state, isReadable ? "bad" : "quiet"),
    chip(label, "warn"),
    `<span class="quiet">${escaped(integrationsText(integrations))}</span>`,
  ]);
  const lost = list(
    gone.map(({ name, integrations }) => `${code(name)} <span class="quiet">${escaped(integrationsText(integrations))}</span>`),
  );
  return blocks(
    title === "" ? "" : `<p>${escaped(title)} that nobody has reviewed:</p>`,
    title === "" ? "" : table(title, ["Column", "Now", "Label", "Integrations"], rows),
    list(neverReviewed.map(escaped)),
    folded(escaped(goneTitle), lost),
    `<p>${acceptNote}</p>${command(accept)}`,
  );
}

const mostWarnings = 5;

function problemHtml(problem: Diagnostic): string {
  const { severity, code: name, summary, message, command: next, address = "", excerpt } = problem;
  const where = placeText(problem) || address;
  const source = excerpt === undefined ? "" : `<pre>${excerpt.map((line) => escaped(line.replaceAll("\t", " "))).join("\n")}</pre>`;
  return `${chip(severity, tones[severity])} <strong>${escaped(summary)}</strong> <span class="quiet">${escaped(name)}</span>${where === "" ? "" : ` ${code(where)}`}${source}<p>${escaped(message)}</p>${command(next)}`;
}
