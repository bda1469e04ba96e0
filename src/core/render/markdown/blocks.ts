import { joinParts, moreOf } from "../../base/text/lists.ts";
import { type Entry, filledColumns, type Line, lineText, type Row, type Section, type Span, type Table, textOf } from "../blocks.ts";
import { type Detail, listed, mostRows } from "./budget.ts";
import { code, details, fenced, htmlCode, prose, table } from "./escape.ts";

/** A section with its heading, or folded. "" if the detail leaves it out. */
export function sectionBlock(section: Section, detail: Detail): string {
  const { title, count, contents = [], notes = [], command, isFolded = false, isVital = false, heads } = section;
  if (detail === "counts" && !isVital) return "";
  const name = count === 0 ? prose(title) : `${prose(title)} (${count})`;
  const list = heads === undefined ? entryList(section, detail) : entryTable(heads, section, detail);
  const after = joinParts([...notes.map((note) => lineText(note, span)), command === undefined ? "" : code(command)], "<br>");
  const isGrouped = section.entries.some(({ group }) => group !== undefined);
  if (detail === "counts" && !isGrouped) return joinParts([`**${name}.**`, lineText(contents, span), after], " ");
  if (heads !== undefined) return joinParts([list, after], "\n\n");
  if (list === "") return joinParts([`${name}.`, after], "\n\n");
  const summary = joinParts([name, lineText(contents, htmlSpan)], ": ");
  return isFolded ? joinParts([details(summary, list), after], "\n\n") : joinParts([`### ${name}`, list, after], "\n\n");
}

/** Entries with YAML are folded, each by itself. */
function entryList({ entries, noun: one = "entry" }: Section, detail: Detail): string {
  const isYaml = detail === "full" && entries.some(({ yaml }) => yaml !== undefined);
  return isYaml
    ? listed(entries, detail, {
        draw: ({ head, yaml = [] }) => details(rowText(head, htmlSpan), fenced(yaml, "yaml")),
        one,
        between: "\n\n",
      })
    : listed(entries, detail, { draw: (entry) => entryText(entry, detail), one, groupOf: ({ group }) => group });
}

/** "[ ]", "**error**", "`~`" */
function markOf({ task, label, sign = "" }: { readonly [Key in "task" | "label" | "sign"]?: Entry[Key] | undefined }): string {
  if (task !== undefined) return task === "open" ? "[ ]" : "[x]";
  if (label !== undefined) return `**${label}**`;
  return sign === "" || sign === "-" ? "" : `\`${sign}\``;
}

function entryText(entry: Entry, detail: Detail): string {
  const { head, notes = [], rows = [], commands = [], excerpt } = entry;
  const text = joinParts(
    [
      joinParts(["-", markOf(entry), rowText(head, span)], " "),
      ...(detail === "counts" ? [] : notes.map((note) => lineText(note, span))),
      ...(rows.length === 1 ? rows.map((row) => rowText(row, span)) : []),
      ...commands.map(code),
    ],
    "<br>",
  );
  const nested = rows.length > 1 ? rowList(entry, detail) : "";
  if (excerpt === undefined || detail !== "full") return text + nested;
  const source = fenced(
    excerpt.text.map((line) => line.replaceAll("\t", " ")),
    "yaml",
  );
  return `${text}${nested}\n\n${source.replace(/^/gmu, "  ")}\n`;
}

function rowList({ rows = [], noun = "place" }: Entry, detail: Detail): string {
  const shown = rows.slice(0, mostRows[detail]).map((row) => rowText(row, span));
  const left = rows.length - shown.length;
  return [...shown, ...(left === 0 ? [] : [`… ${moreOf(left, noun)}`])].map((row) => `\n  - ${row}`).join("");
}

/** Entries as rows of a table. The shorter forms leave out the good ones. */
function entryTable(heads: readonly string[], { entries, noun = "entry" }: Section, detail: Detail): string {
  const wanted = detail === "full" ? entries : entries.filter(({ tone }) => tone !== "good");
  const shown = wanted.slice(0, mostRows[detail] * 10);
  if (shown.length === 0) return "";
  const left = entries.length - shown.length;
  const rows = shown.map(({ head, notes = [], commands = [] }) => {
    const cells = head.map((line) => lineText(line, span));
    const why = detail === "brief" ? [] : notes.map((note) => lineText(note, span));
    return [...cells.slice(0, -1), joinParts([cells.at(-1) ?? "", ...why, ...commands.map(code)], "<br>")];
  });
  const filled = filledColumns(rows, (cell) => cell === "");
  return joinParts([table(filled(heads), rows.map(filled)), left === 0 ? "" : `… ${moreOf(left, noun)}.`], "\n\n");
}

/** A table. In a cell, what is less important is on a line of its own. */
export const tableBlock = ({ heads, rows }: Table): string => [table(heads, []), ...rows.map(tableLine)].join("\n");

const tableLine = (row: Row): string => `| ${row.map(cellText).join(" | ")} |`;

function cellText(line: Line): string {
  const isMuted = (one: Span): boolean => typeof one !== "string" && one.as === "muted";
  const main = line.filter((one) => !isMuted(one));
  return joinParts([lineText(main, span), ...line.filter(isMuted).map(span)], "<br>");
}

const rowText = (row: Row, draw: (one: Span) => string): string =>
  joinParts(
    row.map((line) => lineText(line, draw)),
    " ",
  );

function span(one: Span): string {
  const text = textOf(one);
  if (typeof one === "string" || one.as === "muted") return prose(text);
  if (one.as === "link") return `[${prose(text)}](${one.href ?? ""})`;
  if (one.as === "word") return one.tone === "good" ? prose(text) : `**${prose(text)}**`;
  return one.as === "place" || one.as === "ref" ? `(${code(text)})` : code(text);
}

/** The same within an HTML block. */
const htmlSpan = (one: Span): string => (typeof one === "string" || one.as === "muted" ? prose(textOf(one)) : htmlCode(textOf(one)));
