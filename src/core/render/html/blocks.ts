import { counted } from "../../base/text/counts.ts";
import { moreOf } from "../../base/text/lists.ts";
import { type Entry, filledColumns, type Line, type Section, type Span, textOf, withGaps } from "../blocks.ts";
import { type ChangeLine, changeLines } from "../report/change-lines.ts";
import type { Words } from "../report/words.ts";
import {
  aside,
  blocks,
  breakable,
  chip,
  code,
  command,
  folded,
  type Html,
  type HtmlContent,
  html,
  isEmpty,
  joined,
  list,
  note,
  paragraph,
  quiet,
  source,
  table,
} from "./html.ts";
import type { PagePart } from "./page.ts";

// Lists that are longer are folded, and changes beyond this many are counted.
const mostEntries = 50;
const mostRows = 10;
const mostChanges = 200;
// A browser takes seconds to lay out more changes of all objects together.
const mostListed = 20_000;

/** A section as a part of a page. */
export function sectionPart(section: Section, words: Words): PagePart {
  const { id, title, count, entries, notes = [], command: next, isFolded = false, isAlert = false, heads } = section;
  if (heads !== undefined && section.part === "changes")
    return {
      id,
      title,
      count,
      html: blocks(
        rowTable(heads, entries, title),
        notes.map((line) => paragraph(lineHtml(line))),
      ),
    };
  const drawn = entries.map((entry) => entryHtml(entry, words));
  const all = isAlert
    ? blocks(entries.map(({ tone = "info" }, index) => note(tone, drawn[index])))
    : list(drawn, entries.every(isLine) ? undefined : entries.some(({ commands = [] }) => commands.length > 1) ? "steps beside" : "steps");
  const isLong = entries.length > (isFolded ? mostRows : mostEntries) && !isAlert;
  return {
    id,
    title,
    count,
    html: blocks(
      isLong ? folded(counted(entries.length, section.noun ?? "entry"), all) : all,
      notes.map((line) => paragraph(lineHtml(line))),
      next !== undefined && command(next),
    ),
  };
}

/** Entries as rows of a table, without columns that are empty in all rows. */
function rowTable(heads: readonly string[], entries: readonly Entry[], caption: string): Html {
  const rows = entries.map(({ head }) => head.map(lineHtml));
  const filled = filledColumns(rows, isEmpty);
  return table(caption, filled(heads), rows.map(filled), "rows");
}

/** Whether it is only its head. */
const isLine = ({ notes = [], rows = [], commands = [], changes, yaml, task }: Entry): boolean =>
  notes.length + rows.length + commands.length === 0 && changes === undefined && yaml === undefined && task === undefined;

function entryHtml(entry: Entry, words: Words): Html {
  const {
    sign = "",
    tone = "quiet",
    task,
    label = "",
    head,
    notes = [],
    rows = [],
    yaml = [],
    commands = [],
    excerpt,
    changes,
    noun = "place",
  } = entry;
  const box = task !== undefined && html`<span aria-hidden="true">${task === "open" ? "☐" : "☑"}</span>`;
  const first = joined([box, /^\d/u.test(sign) && sign, chip(label, tone), ...head.map(lineHtml)], " ");
  if (isLine(entry)) return first;
  const places = list(rows.map((row) => joined(row.map(lineHtml), " ")));
  return blocks(
    html`<p>${first}</p>`,
    source((excerpt?.text ?? []).map((line) => line.replaceAll("\t", " "))),
    notes.map((line) => paragraph(lineHtml(line))),
    rows.length > mostRows ? folded(counted(rows.length, noun), places) : places,
    folded("Desired", source(yaml)),
    changes !== undefined && changesHtml(changes, words),
    commands.map(command),
  );
}

function changesHtml({ of, title }: NonNullable<Entry["changes"]>, words: Words): Html {
  const lines = changeLines(of, words);
  const left = lines.length - mostChanges;
  return folded(
    title.replace(/ of .*/su, ""),
    blocks(changeTable(lines.slice(0, mostChanges), title), left > 0 && html`<p>${moreOf(left, words.change)}</p>`),
  );
}

// A browser lays out only open details, so many objects are split into bundles.
const bundleSize = 100;

/** The objects with all their changes, in bundles if there are many. */
export function objectCards(all: readonly Entry[], words: Words): Html {
  const most = Math.max(mostChanges, Math.floor(mostListed / Math.max(1, all.length)));
  const drawn = (some: readonly Entry[]): Html => blocks(some.map((entry) => objectCard(entry, words, most)));
  if (all.length <= bundleSize) return drawn(all);
  const bundles: Html[] = [];
  for (let from = 0; from < all.length; from += bundleSize) {
    const some = all.slice(from, from + bundleSize);
    bundles.push(
      html`<details class="card"><summary>Objects ${from + 1} to ${from + some.length} of ${all.length}</summary><div class="inside">\n${drawn(some)}\n</div></details>`,
    );
  }
  return blocks(bundles);
}

function objectCard({ head, changes, requests = [] }: Entry, words: Words, most: number): Html {
  const lines = changes === undefined ? [] : changeLines(changes.of, words);
  const left = lines.length - most;
  const sent = requests.map(({ text }) => code(text));
  return html`<details class="card"><summary>${joined([html`<h3>${joined(head.map(lineHtml), " ")}</h3>`, chip(counted(lines.length, words.change), "quiet")], " ")}</summary><div class="inside">
${blocks(
  changeTable(lines.slice(0, most), changes?.title ?? ""),
  left > 0 && html`<p>${moreOf(left, words.change)}: ${code(`${words.command} -o json`)} prints all of them.</p>`,
  sent.length > 0 && html`<p class="small">Requests: ${joined(sent, ", ")}</p>`,
)}
</div></details>`;
}

export const lineHtml = (line: Line): Html => html`${withGaps(line).map(([gap, span]) => [gap, spanHtml(span)])}`;

function spanHtml(span: Span): Html | string {
  const text = textOf(span);
  if (typeof span === "string") return text;
  if (span.as === "name" && span.tone === undefined) return html`<strong>${text}</strong>`;
  if (span.as === "word" || span.tone !== undefined) return chip(text, span.tone ?? "quiet");
  if (span.as === "code" && text !== "") return html`<code>${breakable(text)}</code>`;
  if (span.as === "code" || span.as === "value" || span.as === "ref") return code(text);
  return span.as === "muted" ? quiet(text) : aside(text);
}

/** Every change as a row. */
function changeTable(lines: readonly ChangeLine[], caption: string): Html {
  const rows = lines.map((line): readonly HtmlContent[] => [
    pathHtml(line),
    valueHtml(line.live),
    valueHtml(line.desired),
    quiet(line.why),
  ]);
  const filled = filledColumns(rows, isEmpty);
  return rows.length === 0 ? html`` : table(caption, filled(["What", "Live", "Desired", "Why"]), rows.map(filled));
}

const pathHtml = ({ path: { node, leaf }, isAlarm }: ChangeLine): Html =>
  joined(
    [html`<code>${breakable(node)}${node !== "" && leaf !== "" && " "}<b>${leaf}</b></code>`, isAlarm && chip("readable", "bad")],
    " ",
  );

const valueHtml = (text: string): Html => (text.startsWith("(") ? quiet(text) : code(text));
