import { counted } from "../../text/counts.ts";
import { joinParts } from "../../text/lists.ts";
import type { Document, RenderOptions, Shown } from "../document.ts";
import { timeText } from "../report/attribution.ts";
import { objectsOf } from "../report/changes/objects.ts";
import { type Rendered, renderedOf, stateCounts, targetName } from "../report/targets.ts";
import { type Report, reportOf } from "../report.ts";
import { sectionPart } from "./blocks.ts";
import { objectCards, ruleTable, traceHtml } from "./changes.ts";
import { chart } from "./chart.ts";
import { blocks, chip, code, escaped, folded, list, table } from "./escape.ts";
import { type Page, type Part, page, type Tile } from "./page.ts";

/** A single HTML file that loads nothing and runs no script. */
export function renderHtml(document: Shown, options: RenderOptions): string {
  return page(documentPage(document, options));
}

/** The parts of that file, for a page that adds links to it. */
export const documentPage = (document: Shown, options: RenderOptions): Page => pageOf(document, reportOf(document, options), options);

/** The documents of several targets as one page: a table of the targets, then each of them. */
export function renderHtmlAll(documents: readonly Document[], options: RenderOptions): string {
  const all = renderedOf(documents, options);
  const pages = all.map(({ document, report }) => pageOf(document, report, options));
  const [first] = all;
  return page({
    title: `${first?.report.words.title ?? ""}: ${counted(all.length, "target")}`,
    titleNote: "",
    about: "",
    lead: targetTable(all),
    tiles: [],
    parts: pages.flatMap(({ title, titleNote, about, lead, tiles, parts, footer }, index) => {
      const prefix = `target-${index + 1}`;
      const linked = tiles.map((tile) => ({ ...tile, part: `${prefix}-${tile.part}` }));
      return [
        { id: prefix, title, titleNote, html: blocks(about, lead, footer), tiles: linked },
        ...parts.map((part) => ({ ...part, id: `${prefix}-${part.id}`, isBelow: true })),
      ];
    }),
    footer: "<p>dimsync</p>",
  });
}

/** Targets with their state, to see at a glance which one needs attention. */
function targetTable(all: readonly Rendered[]): string {
  const labels = [...new Set(all.flatMap(({ document, report }) => tilesOf(document, report).map(({ label }) => label)))];
  const rows = all.map(({ document, report }, index) => {
    const tiles = new Map(tilesOf(document, report).map((tile) => [tile.label, tile]));
    return [
      `<a href="#target-${index + 1}">${escaped(targetName({ report }))}</a> ${chip(report.headline.word, report.headline.tone)}`,
      ...labels.map((label) => numberHtml(tiles.get(label))),
      escaped(timeText(report.about.times.at(-1) ?? "")),
    ];
  });
  return table("Targets", ["Target", ...labels, "Last run"], rows, "targets");
}

const numberHtml = (tile: Tile | undefined): string =>
  tile === undefined
    ? ""
    : tile.isAlarm
      ? `<strong class="alarm">${tile.count}</strong>`
      : tile.count === 0
        ? `<span class="quiet">0</span>`
        : String(tile.count);

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

function aboutHtml({ about }: Report): string {
  const times = about.times.map((time) => `<time datetime="${escaped(time)}">${escaped(timeText(time))}</time>`).join(" to ");
  const parts = [escaped(about.account ?? ""), times, escaped(about.commit ?? "")];
  const text = joinParts(parts, " · ");
  return text === "" ? "" : `<p class="quiet">${text}</p>`;
}

function leadHtml({ headline, refusals, refusalTitle, limits }: Report): string {
  const sentences = (texts: readonly string[]): string =>
    texts.length < 2 ? texts.map((text) => `<p>${escaped(text)}</p>`).join("") : list(texts.map(escaped));
  const reasons = sentences(refusals.map(({ text }) => text));
  return blocks(
    `<p class="headline">${chip(headline.word, headline.tone)} <span>${escaped(headline.text)}</span></p>`,
    limits.length === 0 ? "" : `<div class="note bad">${sentences(limits)}</div>`,
    refusalTitle === "" ? "" : `<div class="note bad"><p><strong>Apply will refuse this plan.</strong></p>${reasons}</div>`,
  );
}

/** The most important numbers, each with a link to the part that explains it. */
function tilesOf(document: Shown, report: Report): readonly Tile[] {
  const { unmanaged } = report;
  if (document.kind !== "Plan" && document.kind !== "DriftReport") return stateCounts({ document, report });
  return [
    ...stateCounts({ document, report }),
    { label: "unmanaged objects", count: unmanaged.objects.length, part: "unmanaged" },
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
    { id: "over-time", title: "Drift over time", html: history === undefined ? "" : chart(history) },
  ];
}

/** The changes of schemas by rule, if there are many, and lists of names that are only counted. */
function rulesHtml({ groups, isGrouped }: Report): string {
  if (!isGrouped) return "";
  return blocks(
    ...groups.map((group) => {
      if (group.type === "rules") return ruleTable(group);
      if (group.type === "item") return "";
      const title = joinParts([escaped(group.address), escaped(group.title)], " ");
      return folded(title, blocks(traceHtml(group.trace), list(group.names.map(code))));
    }),
  );
}

/** Ids to record. */
const bindsHtml = ({ groups, isGrouped }: Report): string =>
  list(
    groups.flatMap((group) =>
      group.type === "item" && group.action === "bind" && !isGrouped
        ? [`${escaped(group.address)} ${code(group.liveId ?? "")} will be recorded`]
        : [],
    ),
  );

function footerHtml({ calls, exit, about }: Report): string {
  const made = joinParts([escaped(about.tool ?? "dimsync"), escaped(about.id ?? "")], ", ");
  const text = joinParts([...calls, exit].map(escaped), " ");
  return blocks(text === "" ? "" : `<p>${text}</p>`, `<p>${made}</p>`);
}
