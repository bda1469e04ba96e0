import { counted } from "../../text/counts.ts";
import { type Entry, type Line, type Section, type Span, textOf, withGaps } from "../blocks.ts";
import { changeLines } from "../report/changes/changes.ts";
import type { Words } from "../report/words.ts";
import { changeTable } from "./changes.ts";
import { aside, blocks, chip, code, command, folded, type Html, html, joined, list, note, paragraph, quiet, source } from "./html.ts";
import type { Part } from "./page.ts";

// Lists that are longer are folded, and changes beyond this many are counted.
const mostEntries = 50;
const mostRows = 10;
const mostChanges = 200;

/** A section as a part of a page. */
export function sectionPart(section: Section, words: Words): Part {
  const { id, title, count, entries, notes = [], command: next, isFolded = false, isAlert = false } = section;
  const drawn = entries.map((entry) => entryHtml(entry, words));
  const all = isAlert
    ? blocks(...entries.map(({ tone = "info" }, index) => note(tone, drawn[index])))
    : list(drawn, entries.every(isLine) ? undefined : entries.some(({ commands = [] }) => commands.length > 1) ? "steps beside" : "steps");
  const isLong = entries.length > (isFolded ? mostRows : mostEntries) && !isAlert;
  return {
    ...{ id, title, count },
    html: blocks(
      isLong ? folded(counted(entries.length, "entry", "entries"), all) : all,
      ...notes.map((line) => paragraph(lineHtml(line))),
      next !== undefined && command(next),
    ),
  };
}

/** Whether it is only its head. */
const isLine = ({ notes = [], rows = [], commands = [], changes, yaml, task }: Entry): boolean =>
  notes.length + rows.length + commands.length === 0 && changes === undefined && yaml === undefined && task === undefined;

function entryHtml(entry: Entry, words: Words): Html {
  const { sign = "", tone = "quiet", task, label = "", head, notes = [], rows = [], yaml = [], commands = [], excerpt, changes } = entry;
  const box = task !== undefined && html`<span aria-hidden="true">${task === "open" ? "☐" : "☑"}</span>`;
  const first = joined([box, /^\d/u.test(sign) && sign, chip(label, tone), ...head.map(lineHtml)], " ");
  if (isLine(entry)) return first;
  const places = list(rows.map((row) => joined(row.map(lineHtml), " ")));
  return blocks(
    html`<p>${first}</p>`,
    source((excerpt?.text ?? []).map((line) => line.replaceAll("\t", " "))),
    ...notes.map((line) => paragraph(lineHtml(line))),
    rows.length > mostRows ? folded(counted(rows.length, "place"), places) : places,
    folded("Desired", source(yaml)),
    changes !== undefined && changesHtml(changes, words),
    ...commands.map(command),
  );
}

function changesHtml({ of, title }: NonNullable<Entry["changes"]>, words: Words): Html {
  const lines = changeLines(of, words);
  const left = lines.length - mostChanges;
  return folded(
    title.replace(/ of .*/su, ""),
    blocks(changeTable(lines.slice(0, mostChanges), title, words), left > 0 && html`<p>and ${left} more changes</p>`),
  );
}

const lineHtml = (line: Line): Html => html`${withGaps(line).map(([gap, span]) => [gap, spanHtml(span)])}`;

function spanHtml(span: Span): Html | string {
  const text = textOf(span);
  if (typeof span === "string") return text;
  if (span.as === "name" && span.tone === undefined) return html`<strong>${text}</strong>`;
  if (span.as === "word" || span.tone !== undefined) return chip(text, span.tone ?? "quiet");
  if (span.as === "code" || span.as === "value") return code(text);
  return span.as === "muted" ? quiet(text) : aside(text);
}
