import { kindNames } from "../../kinds/manifests.ts";
import { type Register, type RegisterDiff, type RegisterRow, sinceText, stateText } from "../../model/register.ts";
import { version } from "../../model/runtime/version.ts";
import { counted } from "../../text/counts.ts";
import { joinParts } from "../../text/lists.ts";
import { chip, code, escaped, table } from "../html/escape.ts";
import { type Part, page } from "../html/page.ts";
import { changeText, destinationPath, heads, noChanges, sourcePath, summaryCells, summaryHeads, totalText, verdictText } from "./texts.ts";

/** A browser can't lay out a table of any length. */
const mostRows = 20_000;

/** For A4 paper, in landscape: a row has seven columns. */
const print =
  "@page{size:A4 landscape;margin:12mm}@media print{.page{max-width:none;padding:0}header{padding-top:0}body{font-size:9pt}table{font-size:8pt}th,td{padding:.25rem .6rem .25rem 0}thead{display:table-header-group}h2{break-after:avoid}footer{margin-top:1rem}}" +
  "@media (min-width:44.01rem){.register tbody th,.totals tbody th{width:auto}.register tbody td,.totals tbody td,.register tbody td:last-child,.totals tbody td:last-child{min-width:0}.totals td{font-variant-numeric:tabular-nums}}";

/** The register as one page: the totals, then the columns of each integration. */
export function registerHtml(register: Register): string {
  const { target, account, summary } = register;
  const sum = (key: "hashed" | "readable" | "off" | "breaking"): number => summary.reduce((total, one) => total + one[key], 0);
  const breaking = sum("breaking");
  const verdict = breaking === 0 ? "No policy is broken" : `${counted(breaking, "column")} ${breaking === 1 ? "breaks" : "break"} a policy`;
  return page({
    title: `Register of ${target}`,
    titleNote: "",
    about: `<p class="quiet">${escaped(account)} · ${escaped(register.at)}</p>`,
    lead: `<p class="headline">${chip(verdict, breaking === 0 ? "good" : "bad")} <span>${escaped(totalText(register))}</span></p>`,
    tiles: [
      { label: "hashed", count: sum("hashed"), part: "summary" },
      { label: "readable", count: sum("readable"), part: "summary", isAlarm: sum("readable") > 0 },
      { label: "not replicated", count: sum("off"), part: "summary" },
    ],
    parts: [summaryPart(register), ...integrationParts(register)],
    footer: `<p>Made by dimsync ${escaped(version)}.</p>`,
    extraStyle: print,
  });
}

const summaryPart = ({ summary }: Register): Part => {
  const rows = summary.map((one) => summaryCells(one).map(escaped));
  return {
    id: "summary",
    title: "Summary",
    html: rows.length === 0 ? "" : table("By integration and label", summaryHeads, rows, "totals"),
  };
};

function integrationParts({ rows }: Register): readonly Part[] {
  const groups: [RegisterRow, ...RegisterRow[]][] = [];
  let shown = 0;
  let left = 0;
  for (const row of rows()) {
    const group = groups.at(-1);
    if (shown >= mostRows) left++;
    else if (group?.[0].integrationId === row.integrationId) group.push(row);
    else groups.push([row]);
    shown++;
  }
  const more = `<p>Left out here: ${counted(left, "column")}. <code>dimsync register -o csv</code> lists all of them.</p>`;
  return [...groups.map(integrationPart), { id: "more", title: "Left out", html: left === 0 ? "" : more }];
}

function integrationPart(rows: readonly [RegisterRow, ...RegisterRow[]], index: number): Part {
  const [{ integration, integrationId, source, destination }] = rows;
  const about = `<p class="quiet">${escaped(source)} → ${escaped(destination)} · ${code(integrationId)}</p>`;
  return {
    id: `integration-${index}`,
    title: integration,
    count: rows.length,
    html: about + table(`Labelled columns of ${integration}`, heads, rows.map(cellsOf), "register"),
  };
}

const cellsOf = (row: RegisterRow): readonly string[] => [
  code(sourcePath(row)),
  destinationPath(row) === "" ? "" : code(destinationPath(row)),
  `${escaped(row.label)} <span class="quiet small">${escaped(row.labelSource)}</span>`,
  stateChip(row),
  joinParts([row.rule === "" ? "" : code(row.rule), row.reason === "" ? "" : `<span class="small">${escaped(row.reason)}</span>`], " "),
  escaped(verdictText(row)),
  escaped(sinceText(row).replace(/T(\d\d:\d\d).*$/u, " $1 UTC")),
];

function stateChip(row: RegisterRow): string {
  const text = stateText(row);
  return chip(text, text === "readable" ? (row.exemption === "" ? "bad" : "warn") : text === "hashed" ? "good" : "quiet");
}

export function registerDiffHtml({ target, from, to, changes }: RegisterDiff): string {
  const shown = changes.slice(0, mostRows);
  const rows = shown.map((one) => [
    code(sourcePath(one.row)),
    escaped(one.change),
    escaped(one.row.integration),
    escaped(one.row.label),
    escaped(changeText(one)),
  ]);
  const more = changes.length > shown.length ? `<p>Left out here: ${counted(changes.length - shown.length, "change")}.</p>` : "";
  return page({
    title: `Register of ${target}`,
    titleNote: "",
    about: `<p class="quiet">${escaped(from)} → ${escaped(to)}</p>`,
    lead: `<p class="headline">${changes.length === 0 ? noChanges : counted(changes.length, "change")}</p>`,
    tiles: [],
    parts: [
      {
        id: "changes",
        title: "Changes",
        html:
          rows.length === 0 ? "" : table("Changes", ["Column", "Change", kindNames.integration, "Label", "State"], rows, "register") + more,
      },
    ],
    footer: `<p>Made by dimsync ${escaped(version)}.</p>`,
    extraStyle: print,
  });
}
