import { type Register, type RegisterDiff, type RegisterRow, stateText } from "../../../core/model/register.ts";
import { version } from "../../../core/model/runtime/version.ts";
import { tableHtml } from "../../../core/render/html/blocks.ts";
import { blocks, chip, code, html, markupOf } from "../../../core/render/html/html.ts";
import { type Page, type Part, page } from "../../../core/render/html/page.ts";
import { timeText } from "../../../core/render/report/attribution.ts";
import { counted } from "../../../core/text/counts.ts";
import { byIntegration, changeTable, columnTable, noChanges, summaryTable, totalText } from "./texts.ts";

/** A browser can't lay out a table of any length. */
const mostRows = 20_000;

/** For A4 paper, in landscape: a row has seven columns. */
const print = html`@page{size:A4 landscape;margin:12mm}@media print{.page{max-width:none;padding:0}header{padding-top:0}body{font-size:9pt}table{font-size:8pt}th,td{padding:.25rem .6rem .25rem 0}thead{display:table-header-group}h2{break-after:avoid}footer{margin-top:1rem}}@media (min-width:44.01rem){.register tbody th,.totals tbody th{width:auto}.register tbody td,.totals tbody td,.register tbody td:last-child,.totals tbody td:last-child{min-width:0}.totals td{font-variant-numeric:tabular-nums}.register th,.register td{overflow-wrap:anywhere}}@media (min-width:72rem){.register tbody th{min-width:13rem}.register tbody td:nth-child(4){min-width:10.5rem}.register tbody td:nth-child(3){min-width:11.5rem}.register tbody td:nth-child(5){min-width:6.5rem}.register tbody td:last-child{min-width:10rem}}`;

/** The register as one page: the totals, then the columns of each integration. */
export function registerHtml(register: Register): string {
  const { target, account, summary } = register;
  const sum = (key: "hashed" | "readable" | "off" | "breaking"): number => summary.reduce((total, one) => total + one[key], 0);
  const breaking = sum("breaking");
  const verdict = breaking === 0 ? "No policy is broken" : `${counted(breaking, "column")} ${breaking === 1 ? "breaks" : "break"} a policy`;
  return registerPage(target, {
    about: html`<p class="quiet">${account} · ${timeText(register.at)}</p>`,
    lead: html`<p class="headline">${chip(verdict, breaking === 0 ? "good" : "bad")} <span>${totalText(register)}</span></p>`,
    tiles: [
      { label: "hashed", count: sum("hashed"), part: "summary" },
      { label: "readable", count: sum("readable"), part: "summary", isAlarm: sum("readable") > 0 },
      { label: "not replicated", count: sum("off"), part: "summary" },
    ],
    parts: [summaryPart(register), ...integrationParts(register)],
  });
}

const registerPage = (target: string, content: Pick<Page, "about" | "lead" | "tiles" | "parts">): string =>
  markupOf(
    page({
      title: `Register of ${target}`,
      titleNote: "",
      ...content,
      footer: html`<p>Made by dimsync ${version}.</p>`,
      extraStyle: print,
    }),
  );

const byBreaking = (a: Register["summary"][number], b: Register["summary"][number]): number =>
  b.breaking - a.breaking || b.readable - b.exempt - (a.readable - a.exempt);

const summaryPart = (register: Register): Part => ({
  id: "summary",
  title: "Summary",
  html:
    register.summary.length === 0
      ? html``
      : tableHtml("By integration and label", summaryTable({ ...register, summary: register.summary.toSorted(byBreaking) }), "totals"),
});

function integrationParts({ rows, summary }: Register): readonly Part[] {
  const left = summary.reduce((total, { columns }) => total + columns, -mostRows);
  const more = html`<p>Left out here: ${counted(left, "column")}. <code>dimsync register -o csv</code> lists all of them.</p>`;
  return [...byNeed(rows).map(integrationPart), { id: "more", title: "Left out", html: left <= 0 ? html`` : more }];
}

/** The rows of each integration; first those that break a policy, then those that are readable without an exemption. */
function byNeed(rows: readonly RegisterRow[]): readonly (readonly [RegisterRow, ...RegisterRow[]])[] {
  const need = (row: RegisterRow): number => (row.breaks.length > 0 ? 0 : stateText(row) !== "readable" ? 3 : row.exemption === "" ? 1 : 2);
  const least = new Map<string, number>();
  for (const row of rows) least.set(row.integrationId, Math.min(need(row), least.get(row.integrationId) ?? 3));
  const ofIntegration = ({ integrationId }: RegisterRow): number => least.get(integrationId) ?? 3;
  const groups = [...byIntegration(rows)].sort(([a], [b]) => ofIntegration(a) - ofIntegration(b));
  const sorted = groups.flatMap((group) => group.toSorted((a, b) => need(a) - need(b)));
  return [...byIntegration(sorted.slice(0, mostRows))];
}

function integrationPart(rows: readonly [RegisterRow, ...RegisterRow[]], index: number): Part {
  const [{ integration, integrationId, source, destination }] = rows;
  const about = html`<p class="quiet">${source} → ${destination} · ${code(integrationId)}</p>`;
  return {
    id: `integration-${index}`,
    title: integration,
    count: rows.length,
    html: html`${about}${tableHtml(`Labelled columns of ${integration}`, columnTable(rows), "register")}`,
  };
}

export function registerDiffHtml(diff: RegisterDiff): string {
  const { target, from, to, changes } = diff;
  const left = changes.length - mostRows;
  const drawn = tableHtml("Changes", changeTable({ ...diff, changes: changes.slice(0, mostRows) }), "register");
  return registerPage(target, {
    about: html`<p class="quiet">${timeText(from)} → ${timeText(to)}</p>`,
    lead: html`<p class="headline">${changes.length === 0 ? noChanges : counted(changes.length, "change")}</p>`,
    tiles: [],
    parts: [
      {
        id: "changes",
        title: "Changes",
        html: blocks(changes.length > 0 && drawn, left > 0 && html`<p>Left out here: ${counted(left, "change")}.</p>`),
      },
    ],
  });
}
