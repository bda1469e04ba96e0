import type { Change } from "../../model/plan.ts";
import { counted } from "../../text/counts.ts";
import { pathText, spaced, wholePath } from "../../text/paths.ts";
import { valueText } from "../../text/values.ts";
import { attributionText, originText, type Traced, traceOfAll } from "../report/attribution.ts";
import { causeText } from "../report/changes.ts";
import { groupByRule } from "../report/groups.ts";
import type { Wording } from "../report/wording.ts";
import { chip, code, escaped, type Tone } from "./escape.ts";

// From this many changes on, the table shows them by rule and all of them are folded away below it.
const mostOpenRows = 40;

/** The changes of one object as a table; of many, one row per rule, and every single one in a second table that opens. */
export function changeTables(changes: readonly Change[], caption: string, wording: Wording): string {
  if (changes.length === 0) return "";
  const isTraced = changes.some(({ origin, attribution }) => attribution !== undefined || originText(origin) !== "");
  const draw = (change: Change, what: string, trace: Traced): string => row(change, what, isTraced ? trace : undefined, wording);
  const table = (rows: readonly string[], title: string): string => tableHtml(rows, title, isTraced, wording);
  const all = (): string =>
    table(
      changes.map((change) => draw(change, pathHtml(change.path), change)),
      caption,
    );
  const groups = changes.length <= mostOpenRows ? [] : groupByRule(changes);
  if (groups.length === 0 || groups.length === changes.length) return all();
  const rows = groups.map(({ first, changes: group }) =>
    draw(first, group.length === 1 ? pathHtml(first.path) : groupHtml(first, group), traceOfAll(group)),
  );
  return `${table(rows, `${caption}, by rule`)}
<details><summary>All ${counted(changes.length, "difference")} one by one</summary>
${all()}</details>`;
}

function tableHtml(rows: readonly string[], caption: string, isTraced: boolean, wording: Wording): string {
  const isDrift = wording.title === "Drift";
  const heads = ["What", "Live", isDrift ? "Declared" : "After apply", ...(isTraced ? ["Origin and person"] : []), "Why"];
  return `<table class="${isDrift ? "t-drift" : "t-plan"} ${isTraced ? "traced" : "bare"}"><caption>${escaped(caption)}</caption>
<thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead>
<tbody>
${rows.join("\n")}
</tbody></table>`;
}

/** Without `trace` the table has no column for it. */
function row({ path, before, after, risk, cause }: Change, what: string, trace: Traced | undefined, wording: Wording): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const value = (of: Change["before"], unknown: string): string =>
    of === undefined ? `<span class="quiet">${unknown}</span>` : code(valueText(of, name));
  const reason = cause?.reason === undefined ? "" : `<br><span class="quiet">${escaped(cause.reason)}</span>`;
  const cells = [
    value(before, "not shown"),
    value(after, "open"),
    ...(trace === undefined ? [] : [traceHtml(trace)]),
    cause === undefined ? "" : code(causeText(cause, false)) + reason,
  ];
  const risks = chip(wording.risk[risk], risk === wording.alarm ? "bad" : "good");
  return `<tr><th scope="row">${what} ${risks}</th>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
}

/** The origin as a chip, who did it and when, and the event as the audit log tells it. */
export function traceHtml({ origin, attribution }: Traced): string {
  const who = attributionText(attribution);
  const event = attribution === undefined || attribution.own ? "" : ` <span class="quiet small">“${escaped(attribution.event)}”</span>`;
  return `${originChip(origin)}${who === "" ? "" : ` <span class="who">${escaped(who)}</span>${event}`}`.trim();
}

/** Where a difference comes from, as a coloured word; "" where that isn't known. */
function originChip(origin: Traced["origin"]): string {
  const tones: Readonly<Record<string, Tone>> = { config: "info", drift: "warn", conflict: "bad" };
  return origin === undefined ? "" : chip(originText(origin), tones[origin] ?? "quiet");
}

function pathHtml(path: string): string {
  const { node, leaf } = pathText(path);
  return `<code>${escaped(node)}${node === "" || leaf === "" ? "" : " "}<b>${escaped(leaf)}</b></code>`;
}

function groupHtml({ path }: Change, group: readonly Change[]): string {
  const { node, leaf } = pathText(path);
  return `${group.length} × ${leaf === "" ? "" : `<code><b>${escaped(leaf)}</b></code>`}<br><span class="quiet">such as ${code(node === "" ? wholePath(path) : node)}</span>`;
}

/** "12 differences, 3 exposed". */
export function changeCounts(changes: readonly Change[], wording: Wording): readonly string[] {
  const alarming = changes.filter(({ risk }) => risk === wording.alarm).length;
  const noun = wording.title === "Drift" ? "difference" : "change";
  return [counted(changes.length, noun), ...(alarming === 0 ? [] : [spaced(String(alarming), wording.risk[wording.alarm])])];
}
