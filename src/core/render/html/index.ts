import { counted } from "../../base/text/counts.ts";
import { isBelow, type Table } from "../blocks.ts";
import type { Document, RenderOptions } from "../document.ts";
import { timeText } from "../report/attribution.ts";
import { targetTable } from "../report/targets.ts";
import { type Report, reportOf } from "../report.ts";
import { lineHtml, objectCards, sectionPart } from "./blocks.ts";
import { blocks, chip, type Html, html, isEmpty, joined, list, markupOf, note, paragraph, table } from "./html.ts";
import { type Page, type PagePart, page } from "./page.ts";

export {
  andMore,
  blocks,
  chip,
  code,
  command,
  type Html,
  type HtmlContent,
  html,
  isEmpty,
  joined,
  list,
  markupOf,
  note,
  quiet,
  table,
} from "./html.ts";
export { type Page, type PagePart, page } from "./page.ts";

/** A single HTML file that loads nothing and runs no script. */
export function renderHtml(document: Document, options: RenderOptions): string {
  return markupOf(page(documentPage(document, options)));
}

/** The parts of that file, for a page that adds links to it. */
export const documentPage = (document: Document, options: RenderOptions): Page => pageOf(reportOf(document, options));

/** Documents of several targets are one page: a table of the targets, then each of them. */
export function renderHtmlAll(documents: readonly Document[], options: RenderOptions): string {
  const reports = documents.map((document) => reportOf(document, options));
  const [first, second] = reports;
  if (first !== undefined && second === undefined) return markupOf(page(pageOf(first)));
  const whole = page({
    title: `${first?.words.title ?? ""}: ${counted(reports.length, "target")}`,
    titleNote: "",
    about: html``,
    lead: targetsHtml(targetTable(reports)),
    tiles: [],
    parts: reports.map(pageOf).flatMap(({ title, titleNote, about, lead, tiles, parts, footer }, index) => {
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
function targetsHtml({ heads, rows }: Table): Html {
  const linked = rows.map(([target = [], ...cells], index) => [
    html`<a href="#target-${index + 1}">${lineHtml(target)}</a>`,
    ...cells.map(lineHtml),
  ]);
  return table("Targets", heads, linked, "targets");
}

/** The same of a report. */
export const pageOf = (report: Report): Page => ({
  title: report.title,
  titleNote: report.refusalTitle,
  about: aboutHtml(report),
  lead: leadHtml(report),
  tiles: report.counts,
  parts: partsOf(report),
  footer: footerHtml(report),
});

function aboutHtml({ about }: Report): Html {
  const times = about.times.map((time) => html`<time datetime=${time}>${timeText(time)}</time>`);
  const text = joined([about.account, joined(times, " to "), about.commit], " · ");
  return isEmpty(text) ? text : html`<p class="quiet">${text}</p>`;
}

function leadHtml({ headline, refusals, refusal, limits }: Report): Html {
  const sentences = (texts: readonly string[]): Html => (texts.length < 2 ? paragraph(texts) : list(texts));
  return blocks(
    html`<p class="headline">${chip(headline.word, headline.tone)} <span>${headline.text}</span></p>`,
    note("bad", sentences(limits)),
    refusal !== "" && note("bad", [html`<p><strong>${refusal}.</strong></p>`, sentences(refusals.map(({ text }) => text))]),
  );
}

function partsOf({ words, sections, changes, details }: Report): readonly PagePart[] {
  const { id, title, entries, count } = changes;
  return [
    ...(entries.length === 0 ? [] : [sectionPart(changes, words)]),
    ...sections.filter((section) => !isBelow(section)).map((section) => sectionPart(section, words)),
    { id: `${id}-each`, title: `${title} of each object`, count, html: objectCards(details, words) },
    ...sections.filter(isBelow).map((section) => sectionPart(section, words)),
  ];
}

const footerHtml = ({ calls, exit, about }: Report): Html =>
  blocks(paragraph(joined([...calls, exit], " ")), paragraph(joined([about.tool ?? "dimsync", about.id], ", ")));
