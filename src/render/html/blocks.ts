import { counted } from "../../text/counts.ts";
import { joinParts } from "../../text/lists.ts";
import { type Entry, type Line, lineText, type Section, type Span, textOf } from "../blocks.ts";
import { changeLines } from "../report/changes/changes.ts";
import type { Words } from "../report/words.ts";
import { changeTable } from "./changes.ts";
import { blocks, chip, code, command, escaped, folded, list } from "./escape.ts";
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
    ? entries.map(({ tone = "info" }, index) => `<div class="note ${tone}">${drawn[index]}</div>`).join("\n")
    : list(drawn, entries.every(isLine) ? "" : entries.some(({ commands = [] }) => commands.length > 1) ? "steps beside" : "steps");
  const isLong = entries.length > (isFolded ? mostRows : mostEntries) && !isAlert;
  return {
    ...{ id, title, count },
    html: blocks(isLong ? folded(counted(entries.length, "entry", "entries"), all) : all, ...notes.map(paragraph), command(next)),
  };
}

/** Whether it is only its head. */
const isLine = ({ notes = [], rows = [], commands = [], changes, yaml, task }: Entry): boolean =>
  notes.length + rows.length + commands.length === 0 && changes === undefined && yaml === undefined && task === undefined;

function entryHtml(entry: Entry, words: Words): string {
  const { sign = "", tone = "quiet", task, label = "", head, notes = [], rows = [], yaml = [], commands = [], excerpt, changes } = entry;
  const box = task === undefined ? "" : `<span aria-hidden="true">${task === "open" ? "☐" : "☑"}</span>`;
  const number = /^\d/u.test(sign) ? escaped(sign) : "";
  const first = joinParts([box, number, chip(label, tone), ...head.map(lineHtml)], " ");
  if (isLine(entry)) return first;
  const places = list(rows.map((row) => joinParts(row.map(lineHtml), " ")));
  return blocks(
    `<p>${first}</p>`,
    excerpt === undefined ? "" : `<pre>${excerpt.text.map((line) => escaped(line.replaceAll("\t", " "))).join("\n")}</pre>`,
    ...notes.map(paragraph),
    rows.length > mostRows ? folded(counted(rows.length, "place"), places) : places,
    yaml.length === 0 ? "" : folded("Desired", `<pre>${yaml.map(escaped).join("\n")}</pre>`),
    changes === undefined ? "" : changesHtml(changes, words),
    ...commands.map(command),
  );
}

function changesHtml({ of, title }: NonNullable<Entry["changes"]>, words: Words): string {
  const lines = changeLines(of, words);
  const left = lines.length - mostChanges;
  return folded(
    escaped(title.replace(/ of .*/su, "")),
    blocks(changeTable(lines.slice(0, mostChanges), title, words), left > 0 ? `<p>and ${left} more changes</p>` : ""),
  );
}

function paragraph(line: Line): string {
  const text = lineHtml(line);
  return text === "" ? "" : `<p>${text}</p>`;
}

const lineHtml = (line: Line): string => lineText(line, spanHtml);

function spanHtml(span: Span): string {
  const text = textOf(span);
  if (typeof span === "string") return escaped(text);
  if (span.as === "name" && span.tone === undefined) return `<strong>${escaped(text)}</strong>`;
  if (span.as === "word" || span.tone !== undefined) return chip(text, span.tone ?? "quiet");
  if (span.as === "code" || span.as === "value") return code(text);
  return `<span class="quiet${span.as === "muted" ? "" : " small"}">${escaped(text)}</span>`;
}
