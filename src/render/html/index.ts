import { counted } from "../../text/counts.ts";
import { joinParts } from "../../text/lists.ts";
import type { Document, RenderOptions } from "../document.ts";
import { timeText } from "../report/attribution.ts";
import { changeLines } from "../report/changes/changes.ts";
import { objectsOf } from "../report/changes/objects.ts";
import type { ReportOutcome } from "../report/outcomes.ts";
import { nodeCount } from "../report/policies.ts";
import { type Rendered, renderedOf, stateCounts, targetName } from "../report/targets.ts";
import { partTitles } from "../report/words.ts";
import { type Report, reportOf } from "../report.ts";
import { changeTable, objectCards, ruleTable } from "./changes.ts";
import { chart } from "./chart.ts";
import { blocks, chip, code, command, escaped, folded, list, type Tone, table } from "./escape.ts";
import {
  blockedList,
  checklist,
  columnsHtml,
  deferredList,
  guardNotes,
  heldHtml,
  outsideHtml,
  policiesHtml,
  problemList,
  releasedHtml,
  unmanagedHtml,
  unverifiableList,
} from "./findings.ts";
import { type Page, type Part, page, type Tile } from "./page.ts";

/** A single HTML file that loads nothing and runs no script. */
export function renderHtml(document: Document, options: RenderOptions): string {
  return page(documentPage(document, options));
}

/** The parts of that file, for a page that adds links to it. */
export const documentPage = (document: Document, options: RenderOptions): Page => pageOf(document, reportOf(document, options), options);

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
      `<a href="#target-${index + 1}">${escaped(targetName({ document, report }))}</a> ${chip(report.verdict.word, report.verdict.tone)}`,
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

function pageOf(document: Document, report: Report, options: RenderOptions): Page {
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

function leadHtml({ verdict, refusals, refusalTitle, limits }: Report): string {
  const sentences = (texts: readonly string[]): string =>
    texts.length < 2 ? texts.map((text) => `<p>${escaped(text)}</p>`).join("") : list(texts.map(escaped));
  const reasons = sentences(refusals.map(({ text }) => text));
  return blocks(
    `<p class="verdict">${chip(verdict.word, verdict.tone)} <span>${escaped(verdict.text)}</span></p>`,
    limits.length === 0 ? "" : `<div class="note bad">${sentences(limits)}</div>`,
    refusalTitle === "" ? "" : `<div class="note bad"><p><strong>Apply will refuse this plan.</strong></p>${reasons}</div>`,
  );
}

/** The most important numbers, each with a link to the part that explains it. */
function tilesOf(document: Document, report: Report): readonly Tile[] {
  const { unmanaged } = report;
  if (document.kind !== "Plan" && document.kind !== "DriftReport") return stateCounts({ document, report });
  return [
    ...stateCounts({ document, report }),
    { label: "unmanaged objects", count: unmanaged.objects.length, part: "unmanaged" },
    { label: "unmanaged columns", count: unmanaged.columns, part: "unmanaged" },
  ];
}

function partsOf(document: Document, report: Report, options: RenderOptions): readonly Part[] {
  const { words, guards, policies, problems, blocked, deferred, unverifiable, manual, isGrouped } = report;
  const isReport = words.kind === "DriftReport";
  const history = document.kind === "Plan" || isReport ? options.history?.get("planId" in document ? document.planId : "") : undefined;
  const guardsPart = { id: "guards", title: partTitles.guards, count: guards.length, html: guardNotes(guards, words) };
  return [
    { id: "next", title: "What to do next", html: nextHtml(report) },
    ...outcomeParts(report),
    ...(isReport ? [] : [guardsPart]),
    {
      id: "policies",
      title: partTitles.policies,
      count: nodeCount([...policies.open, ...policies.existing]),
      html: policiesHtml(policies),
    },
    { id: "outside", title: partTitles.outside, count: report.outside.lines.length, html: outsideHtml(report) },
    { id: "released", title: partTitles.released, count: report.released.length, html: releasedHtml(report) },
    { id: "columns", title: partTitles.columns, count: report.columns.count, html: columnsHtml(report.columns) },
    { id: "problems", title: partTitles.problems, count: problems.length, html: problemList(problems) },
    { id: "rules", title: `${isReport ? "Differences" : "Changes"} by rule`, html: rulesHtml(report) },
    {
      id: "changes",
      title: `${isReport ? "Differences" : "Changes"}${isGrouped ? " by object" : ""}`,
      count: report.changes,
      html:
        document.kind === "Plan" || document.kind === "DriftReport" ? objectCards(objectsOf(document.items, words), words, !isGrouped) : "",
    },
    { id: "manual", title: partTitles.manual, count: manual.length, html: checklist(report) },
    { id: "blocked", title: partTitles.blocked, count: blocked.length, html: blockedList(blocked) },
    { id: "deferred", title: partTitles.deferred, count: deferred.length, html: deferredList(deferred) },
    { id: "held", title: partTitles.held, count: report.held.length, html: heldHtml(report) },
    { id: "over-time", title: "Drift over time", html: history === undefined ? "" : chart(history) },
    { id: "unmanaged", title: partTitles.unmanaged, html: unmanagedHtml(report) },
    { id: "unverifiable", title: partTitles.unverifiable, count: unverifiable.length, html: unverifiableList(unverifiable) },
    { id: "recorded", title: "Recorded ids", html: idsHtml(report) },
    ...(isReport ? [guardsPart] : []),
  ];
}

/** What to do about drift: the commands first. */
function nextHtml({ next }: Report): string {
  const cards = next.filter(({ commands }) => commands.length > 0);
  const notes = next.filter(({ commands }) => commands.length === 0);
  return blocks(
    list(
      cards.map(({ text, commands }) => `<p>${escaped(text)}</p>${commands.map(command).join("")}`),
      "steps beside",
    ),
    list(notes.map(({ text }) => escaped(text))),
  );
}

/** The changes of schemas by rule, if there are many, and lists of names that are only counted. */
function rulesHtml({ groups, isGrouped }: Report): string {
  if (!isGrouped) return "";
  return blocks(
    ...groups.map((group) => {
      if (group.type === "rules") return ruleTable(group);
      if (group.type === "item") return "";
      const title = joinParts([escaped(group.address), escaped(group.title)], " ");
      return folded(title, list(group.names.map(code)));
    }),
  );
}

function idsHtml({ groups, ids, isGrouped }: Report): string {
  const binds = groups.flatMap((group) => (group.type === "item" && group.action === "bind" && !isGrouped ? [group] : []));
  return list([
    ...binds.map(({ address, liveId = "" }) => `${escaped(address)} ${code(liveId)} will be recorded`),
    ...ids.map(([address, id]) => `${escaped(address)} ${code(id)}`),
  ]);
}

const outcomeTones: Readonly<Record<ReportOutcome["item"]["outcome"], Tone>> = {
  ...{ done: "good", recovered: "good", failed: "bad", unknown: "bad" },
  ...{ skipped: "quiet", blocked: "bad", deferred: "info", "not-converged": "bad" },
};

/** The outcomes of apply. Those that need attention come first. */
function outcomeParts(report: Report): readonly Part[] {
  const open = report.outcomes.filter(({ isDone }) => !isDone);
  const done = report.outcomes.filter(({ isDone }) => isDone);
  const cards = (some: readonly ReportOutcome[]): string => some.map((one) => outcomeCard(one, report)).join("\n");
  return [
    { id: "open", title: "Not done", count: open.length, html: cards(open) },
    { id: "done", title: "Done", html: cards(done) },
  ];
}

function outcomeCard({ item, text, commands, count, names }: ReportOutcome, { words }: Report): string {
  const { address, outcome, liveId, code: name, message } = item;
  const head = [
    `<strong>${escaped(count === "" ? address : count)}</strong>`,
    chip(text, outcomeTones[outcome]),
    count !== "" ? `<span class="quiet">${escaped(names)}</span>` : liveId === undefined ? "" : code(liveId),
    name === undefined ? "" : `<span class="quiet">${escaped(name)}</span>`,
  ];
  return `<div class="card">${blocks(
    `<p>${joinParts(head, " ")}</p>`,
    message === undefined ? "" : `<p>${escaped(message)}</p>`,
    ...commands.map(command),
    count === "" ? folded("What changed", changeTable(changeLines(item, words), `Changes of ${address}`, words)) : "",
  )}</div>`;
}

function footerHtml({ calls, exit, about }: Report): string {
  const made = joinParts([escaped(about.tool ?? "dimsync"), escaped(about.id ?? "")], ", ");
  const text = joinParts([...calls, exit].map(escaped), " ");
  return blocks(text === "" ? "" : `<p>${text}</p>`, `<p>${made}</p>`);
}
