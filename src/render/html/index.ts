import { counted } from "../../text/counts.ts";
import type { Table } from "../blocks.ts";
import type { Document, RenderOptions, Shown } from "../document.ts";
import { timeText } from "../report/attribution.ts";
import { objectsOf } from "../report/changes/objects.ts";
import { renderedOf, stateCounts, targetTable } from "../report/targets.ts";
import { unmanagedCounts } from "../report/unmanaged.ts";
import { type Report, reportOf } from "../report.ts";
import { changeBlockHtml, lineHtml, objectCards, sectionPart } from "./blocks.ts";
import { chart } from "./chart.ts";
import { blocks, chip, type Html, html, isEmpty, joined, list, markupOf, note, paragraph, table } from "./html.ts";
import { type Page, type Part, page, type Tile } from "./page.ts";

/** A single HTML file that loads nothing and runs no script. */
export function renderHtml(document: Shown, options: RenderOptions): string {
  return markupOf(page(documentPage(document, options)));
}

/** The parts of that file, for a page that adds links to it. */
export const documentPage = (document: Shown, options: RenderOptions): Page => pageOf(document, reportOf(document, options), options);

/** The documents of several targets as one page: a table of the targets, then each of them. */
export function renderHtmlAll(documents: readonly Document[], options: RenderOptions): string {
  const all = renderedOf(documents, options);
  const pages = all.map(({ document, report }) => pageOf(document, report, options));
  const [first] = all;
  const whole = page({
    title: `${first?.report.words.title ?? ""}: ${counted(all.length, "target")}`,
    titleNote: "",
    about: html``,
    lead: targetsHtml(targetTable(all)),
    tiles: [],
    parts: pages.flatMap(({ title, titleNote, about, lead, tiles, parts, footer }, index) => {
      const prefix = `target-${index + 1}`;
      const linked = tiles.map((tile) => ({ ...tile, part: `${prefix}-${tile.part}` }));
      return [
        { id: prefix, title, titleNote, html: blocks(about, lead, footer), tiles: linked },
        ...parts.map((part) => ({ ...part, id: `${prefix}-${part.id}`, isBelow: true })),
      ];
    }),
    footer: html`<p>dimsync</p>`,
  });
  return markupOf(whole);
}

/** Each target is a link to its part. */
function targetsHtml(targets: Table): Html {
  const rows = targets.rows.map(([target = [], ...cells], index) => [
    html`<a href="#target-${index + 1}">${lineHtml(target)}</a>`,
    ...cells.map(lineHtml),
  ]);
  return table("Targets", targets.heads, rows, "targets");
}

/** The same of a report. */
export function pageOf(document: Shown, report: Report, options: RenderOptions): Page {
  return {
    title: report.title,
    titleNote: report.refusalTitle,
    about: aboutHtml(report),
    lead: leadHtml(report),
    tiles: tilesOf(document, report),
    parts: partsOf(document, report, options),
    footer: footerHtml(report),
  };
}

function aboutHtml({ about }: Report): Html {
  const times = about.times.map((time) => html`<time datetime=${time}>${timeText(time)}</time>`);
  const text = joined([about.account, joined(times, " to "), about.commit], " · ");
  return isEmpty(text) ? text : html`<p class="quiet">${text}</p>`;
}

function leadHtml({ headline, refusals, refusalTitle, limits }: Report): Html {
  const sentences = (texts: readonly string[]): Html => (texts.length < 2 ? paragraph(texts) : list(texts));
  return blocks(
    html`<p class="headline">${chip(headline.word, headline.tone)} <span>${headline.text}</span></p>`,
    note("bad", sentences(limits)),
    refusalTitle !== "" &&
      note("bad", [html`<p><strong>Apply will refuse this plan.</strong></p>`, sentences(refusals.map(({ text }) => text))]),
  );
}

/** The most important numbers, each with a link to the part that explains it. */
function tilesOf(document: Shown, report: Report): readonly Tile[] {
  if (document.kind !== "Plan" && document.kind !== "DriftReport") return stateCounts({ document, report });
  const unmanaged = unmanagedCounts(document.unmanaged);
  return [
    ...stateCounts({ document, report }),
    { label: "unmanaged objects", count: unmanaged.objects, part: "unmanaged" },
    { label: "unmanaged columns", count: unmanaged.columns, part: "unmanaged" },
  ];
}

function partsOf(document: Shown, report: Report, options: RenderOptions): readonly Part[] {
  const { words, isGrouped } = report;
  const isReport = words.kind === "DriftReport";
  const history = document.kind === "Plan" || isReport ? options.history?.get("planId" in document ? document.planId : "") : undefined;
  const title = words.change === "difference" ? "Differences" : "Changes";
  const items = document.kind === "Validation" || document.kind === "Result" ? [] : document.items;
  const sections = report.sections.map(({ part, ...section }) => ({
    isBelow: part === "work" || part === "rest",
    part: sectionPart({ part, ...section }, words),
  }));
  return [
    ...sections.filter(({ isBelow }) => !isBelow).map(({ part }) => part),
    { id: "rules", title: `${title} by ${words.by}`, html: rulesHtml(report) },
    {
      id: "changes",
      title: `${title}${isGrouped ? " by object" : ""}`,
      count: report.changes,
      html: blocks(objectCards(objectsOf(items, words), words, !isGrouped), bindsHtml(report)),
    },
    ...sections.filter(({ isBelow }) => isBelow).map(({ part }) => part),
    { id: "over-time", title: "Drift over time", html: history === undefined ? html`` : chart(history) },
  ];
}

/** The changes of schemas by rule, if there are many, and lists of names that are only counted. */
const rulesHtml = ({ changeBlocks, words }: Report): Html =>
  blocks(...changeBlocks.filter(({ isSummary }) => isSummary).map((block) => changeBlockHtml(block, words)));

/** Ids to record. */
const bindsHtml = ({ changeBlocks }: Report): Html =>
  list(
    changeBlocks
      .filter(({ action, names }) => action === "bind" && names.length === 0)
      .map(({ head, label }) => joined([...head.map(lineHtml), label], " ")),
  );

const footerHtml = ({ calls, exit, about }: Report): Html =>
  blocks(paragraph(joined([...calls, exit], " ")), paragraph(joined([about.tool ?? "dimsync", about.id], ", ")));
