import type { Diagnostic } from "../../base/model/problem.ts";
import { visible } from "../../base/text/control-characters.ts";
import { moreOf } from "../../base/text/lists.ts";
import { cutMiddle, valueLines } from "../../base/text/values.ts";
import {
  type Entry,
  filledColumns,
  type Line,
  lineText,
  type Section,
  type Span,
  type Table,
  type Tone,
  textOf,
  withGaps,
} from "../blocks.ts";
import type { RenderOptions } from "../document.ts";
import { type ChangeLine, changeLines } from "../report/change-lines.ts";
import { problemEntry } from "../report/sections.ts";
import { type Words, wordsOf } from "../report/words.ts";
import {
  type Cell,
  cell,
  textOf as cellText,
  gap,
  headedLines,
  joined,
  type LayoutRow,
  type Screen,
  screenOf,
  tableLines,
  widthOf,
  wrap,
} from "./layout.ts";

/** Lines that belong together; tight blocks follow each other without a blank line. */
interface Block {
  readonly lines: readonly string[];
  readonly tight: boolean;
}

/** Lines with a blank line before and after. */
export const apart = (lines: readonly string[]): Block => ({ lines, tight: false });

/** Joins the blocks with a blank line, except between two tight blocks. */
export function stacked(blocks: readonly Block[]): string {
  const filled = blocks.filter(({ lines }) => lines.length > 0);
  const lines = filled.flatMap((block, index) => {
    const before = filled[index - 1];
    return before === undefined || (before.tight && block.tight) ? block.lines : ["", ...block.lines];
  });
  return `${lines.join("\n")}\n`;
}

const indent = "    ";
// Without -v: entries of a section that is read on demand, and rows of an entry. The rest is counted.
const mostEntries = 20;
const mostRows = { usual: 20, minor: 3 };

const order: readonly Section["part"][] = ["first", "cause", "changes", "result", "work", "rest", "attention", "decision"];

/** The sections from the least to the most important, because the end stays on the screen. */
export function inOrder(sections: readonly Section[]): readonly Section[] {
  const isReversed = ({ part }: Section): boolean => part === "work" || part === "decision";
  const all = [...sections.filter(isReversed).reverse(), ...sections.filter((section) => !isReversed(section))];
  return all.sort((a, b) => order.indexOf(a.part) - order.indexOf(b.part));
}

/** Sections as a whole output, in their order. */
export const sectionsText = (sections: readonly Section[], options: RenderOptions): string =>
  stacked(sections.flatMap((section) => sectionBlocks(section, wordsOf("Plan"), screenOf(options))));

/** A section as blocks. */
export function sectionBlocks(section: Section, words: Words, screen: Screen): readonly Block[] {
  const {
    title,
    count,
    aside = "",
    entries,
    notes = [],
    command,
    isPlain = false,
    isFolded = false,
    isSentence,
    heads,
    noun = "entry",
  } = section;
  const { paint, verbose, width } = screen;
  const listed = verbose ? entries : entries.filter(({ isDetail }) => isDetail !== true);
  const shown = verbose || !isFolded ? listed : listed.slice(0, mostEntries);
  const number = aside !== "" ? ` (${aside})` : count > 0 ? ` (${count})` : "";
  const end = shown.length === 0 ? "." : ":";
  const before = isPlain ? [] : wrap(`${title}${number}${isSentence === true ? "." : end}`, "", width).map(paint.bold);
  const after = [
    ...(shown.length < listed.length ? [moreLine(listed.length - shown.length, noun, screen)] : []),
    ...notes.flatMap((note) => noteLines(note, screen)),
    ...commandLines(command, screen),
  ];
  if (heads !== undefined) return [apart([...alignedLines(shown, words, screen, section.part === "changes" ? "  " : ""), ...after])];
  const drawn = runs(shown).map((run) => entryLines(run, words, screen, isPlain ? "" : indent));
  return isPlain ? [...drawn.map(apart), apart(after)] : [apart([...before, ...drawn.flat(), ...after])];
}

const moreLine = (count: number, one: string, { paint }: Screen): string =>
  paint.dim(`${indent}${moreOf(count, one)}: -v shows ${count === 1 ? "it" : "them"}`);

/** An entry with details stands alone. Others in a row are aligned. */
function runs(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const all: Entry[][] = [];
  let isOpen = false;
  for (const entry of entries) {
    const isAlone = hasDetails(entry);
    if (isOpen && !isAlone) all.at(-1)?.push(entry);
    else all.push([entry]);
    isOpen = !isAlone;
  }
  return all;
}

const hasDetails = ({ notes = [], rows = [], yaml, excerpt, isBrief = false }: Entry): boolean =>
  (!isBrief && notes.length + rows.length > 0) || yaml !== undefined || excerpt !== undefined;

/** Entries as lines, their heads aligned. `before` indents those without a sign. */
function entryLines(entries: readonly Entry[], words: Words, screen: Screen, before: string): readonly string[] {
  const rows = entries.flatMap((entry): readonly LayoutRow[] => [headCells(entry, screen), ...detailLines(entry, words, screen)]);
  return tableLines(rows, entries.every(({ sign }) => sign === undefined) ? before : "", screen.width);
}

/** One problem: location, code and summary; the source line with its caret; the message; a command. */
export const diagnosticLines = (diagnostic: Diagnostic, screen: Screen): readonly string[] =>
  entryLines([problemEntry(diagnostic)], wordsOf("Validation"), screen, "");

/** All entries as one table, with space around those with details. */
function alignedLines(entries: readonly Entry[], words: Words, screen: Screen, before: string): readonly string[] {
  let wasLong = false;
  const rows = entries.flatMap((entry, index): readonly LayoutRow[] => {
    const details = detailLines(entry, words, screen);
    const isApart = index > 0 && (details.length > 0 || wasLong);
    wasLong = details.length > 0;
    return [...(isApart ? [""] : []), headCells(entry, screen), ...details];
  });
  return tableLines(rows, before, screen.width);
}

function headCells({ sign, tone, head }: Pick<Entry, "sign" | "tone" | "head">, screen: Screen): readonly Cell[] {
  const [first = [], ...more] = head.map((line) => lineCell(line, screen));
  const mark = cell(sign === undefined ? "" : `${sign} `, tonePaint(tone, screen));
  return [joined(mark, first), ...more];
}

function detailLines(entry: Entry, words: Words, screen: Screen): readonly string[] {
  const {
    excerpt,
    tone,
    notes = [],
    rows = [],
    isMinor,
    isBrief,
    changes,
    requests = [],
    yaml = [],
    commands = [],
    noun = "place",
  } = entry;
  const { verbose, width } = screen;
  if (isBrief === true && !verbose) return [];
  const shown = verbose ? rows : rows.slice(0, isMinor === true ? mostRows.minor : mostRows.usual);
  const hidden = rows.length - shown.length;
  const lines = changes === undefined || !(verbose || changes.isKey) ? [] : changeLines(changes.of, words);
  return [
    ...(excerpt === undefined ? [] : excerptLines(excerpt, tonePaint(tone, screen), screen)),
    ...notes.flatMap((note) => noteLines(note, screen)),
    ...tableLines(
      shown.map((row) => row.map((line) => lineCell(line, screen))),
      indent,
      width,
    ),
    ...(hidden === 0 ? [] : [moreLine(hidden, noun, screen)]),
    ...changeRows(lines, words, screen),
    ...(verbose ? requests.flatMap((request) => requestLines(request, screen)) : []),
    ...yaml.map((line) => indent + visible(line)),
    ...commands.flatMap((command) => commandLines(command, screen, hasDetails(entry) ? undefined : indent)),
  ];
}

/** Every change of an item, one per line. */
const changeRows = (lines: readonly ChangeLine[], words: Words, screen: Screen): readonly string[] =>
  tableLines(
    lines.map((line) => [pathCell(line, screen), valueCell(line, words, screen), cell(line.why, screen.paint.dim)]),
    "    ",
    screen.width,
  );

function pathCell({ path: { node, leaf } }: ChangeLine, { paint }: Screen): Cell {
  if (node === "" || leaf === "") return cell(node + leaf);
  return joined(cell(`${node} `), cell(leaf, paint.cyan));
}

function valueCell(line: ChangeLine, words: Words, { paint, verbose, width }: Screen): Cell {
  const strong = line.isAlarm ? (text: string) => paint.bold(paint.red(text)) : paint.bold;
  if (line.live === "") return cell(line.desired, strong);
  const [live, desired] = verbose || line.isSecret ? [line.live, line.desired] : fitPair(line.live, line.desired, Math.floor(width / 2));
  if (words.kind !== "DriftReport") return joined(cell(live, paint.dim), cell(" → ", paint.dim), cell(desired, strong));
  return joined(cell("live ", paint.dim), cell(live), cell(", desired ", paint.dim), cell(desired, strong));
}

/** Both texts in at most `width` characters, the middle of the longer one cut. */
function fitPair(a: string, b: string, width: number): readonly [string, string] {
  if (a.length + b.length <= width) return [a, b];
  const half = Math.floor(width / 2);
  const cut = (text: string, other: string): string => cutMiddle(text, Math.max(12, width - Math.min(other.length, half)));
  return [cut(a, b), cut(b, a)];
}

/** "↳ PATCH /v1/…, after Asset/lake", and the body. */
const requestLines = ({ text, body }: NonNullable<Entry["requests"]>[number], { paint, width }: Screen): readonly string[] =>
  [...wrap(`↳ ${text}`, indent, width), ...valueLines(body ?? {}).map((line) => `        ${line}`)].map(paint.dim);

/** A paragraph. It is painted as a whole, because its words are wrapped. */
function noteLines(note: Line, screen: Screen): readonly string[] {
  const [first] = note;
  const paint = first === undefined ? String : spanPaint(first, screen);
  return wrap(lineText(note, spanText), indent, screen.width).map(paint);
}

/** A table. What has no room beside the others is below its row, after its heading. */
export const headedTable = ({ heads, rows }: Table, screen: Screen, before = ""): readonly string[] =>
  headedLines(
    heads.map((text) => cell(text.toUpperCase(), screen.paint.bold)),
    rows.map((row) => row.map((line) => lineCell(line, screen))),
    before,
    screen.width,
  );

/** Lines of a table, and whether they have all of it. */
interface ShortTable {
  readonly lines: readonly string[];
  readonly isWhole: boolean;
}

/** The same with one line for each row. Only its first two cells may be wider than the terminal. */
export function shortTable(table: Table, screen: Screen, before: string): ShortTable {
  const whole = shortLines(table, screen, before);
  if (whole.isWhole) return whole;
  const rows = table.rows.map((row) => row.map(withoutMuted));
  return { ...shortLines({ ...table, rows }, screen, before), isWhole: false };
}

/** The first two columns, and each other one that has room beside those before it. */
function shortLines({ heads, rows }: Table, screen: Screen, before: string): ShortTable {
  const filled = filledColumns(rows, (line) => line.every((span) => textOf(span) === ""));
  const all = [
    filled(heads).map((text) => cell(text.toUpperCase(), screen.paint.bold)),
    ...rows.map((row) => filled(row).map((line) => lineCell(line, screen))),
  ];
  const widths = filled(heads).map((_, column) => all.reduce((most, row) => Math.max(most, widthOf(cellText(row[column] ?? []))), 0));
  const [first = 0, second = 0] = widths;
  const width = Math.max(screen.width, before.length + first + gap + second);
  let room = width - before.length + gap;
  const isShown = widths.map((cellWidth, column) => {
    const isFitting = column < 2 || cellWidth + gap <= room;
    if (isFitting) room -= cellWidth + gap;
    return isFitting;
  });
  const shown = all.map((row) => row.filter((_, column) => isShown[column]));
  return { lines: tableLines(shown, before, width), isWhole: isShown.every(Boolean) };
}

/** The same as a whole output. */
export const tableText = (table: Table, options: Pick<RenderOptions, "color" | "width">): string =>
  `${headedTable(table, screenOf({ ...options, verbose: false })).join("\n")}\n`;

const lineCell = (line: Line, screen: Screen): Cell =>
  withGaps(line).flatMap(([gap, span]) => cell(visible(gap + shortened(span, screen)), spanPaint(span, screen)));

/** Without what is less important, unless there is nothing else. */
function withoutMuted(line: Line): Line {
  const main = line.filter((span) => typeof span === "string" || span.as !== "muted");
  return main.length === 0 ? line : main;
}

const shortened = (span: Span, { verbose, width }: Screen): string =>
  verbose || typeof span === "string" || span.as !== "value" ? spanText(span) : cutMiddle(span.text, Math.max(16, Math.floor(width / 3)));

const spanText = (span: Span): string => (typeof span !== "string" && span.as === "ref" ? `(${span.text})` : textOf(span));

function spanPaint(span: Span, screen: Screen): (text: string) => string {
  if (typeof span === "string" || span.as === "value") return String;
  if (span.tone !== undefined) return tonePaint(span.tone, screen);
  const { paint } = screen;
  return {
    name: paint.bold,
    id: paint.dim,
    ref: paint.dim,
    code: paint.cyan,
    place: paint.dim,
    muted: paint.dim,
    link: paint.cyan,
    word: String,
  }[span.as];
}

const tonePaint = (tone: Tone | undefined, { paint }: Screen): ((text: string) => string) =>
  tone === undefined ? String : { bad: paint.red, good: paint.green, warn: paint.yellow, info: paint.cyan, quiet: paint.dim }[tone];

/** A command on its own line, if there is one. Never wrapped, so that it can be copied. */
const commandLines = (command: string | undefined, { paint }: Screen, before = "      "): readonly string[] =>
  command === undefined ? [] : [`${before}${paint.cyan(visible(command))}`];

/**
 * The source line and its caret beside the line number. An escape takes more columns than its
 * character, so the caret moves along. A long line is cut around the caret.
 */
function excerptLines(
  { line, text: [source = "", caret = ""] }: NonNullable<Entry["excerpt"]>,
  color: (text: string) => string,
  { paint, width }: Screen,
): readonly string[] {
  const number = line === undefined ? "" : String(line);
  let shown = "";
  let marks = "";
  let index = 0;
  for (const character of source) {
    const text = character === "\t" ? "  " : visible(character);
    const marked = caret.slice(index, index + character.length).includes("^");
    shown += text;
    marks += (marked ? "^" : " ").repeat(widthOf(text));
    index += character.length;
  }
  // The caret can be past the last character, if something is missing there.
  if (caret.lastIndexOf("^") >= index) marks += `${" ".repeat(Math.max(0, caret.indexOf("^", index) - index))}^`;
  const textWidth = width - number.length - 7;
  const start = [...shown].length <= textWidth ? 0 : Math.max(0, marks.indexOf("^") - Math.floor(textWidth / 3));
  const cut = (text: string): string[] => [...text].slice(start, start + textWidth);
  const excerpt = cut(shown);
  if (start > 0) excerpt[0] = "…";
  if ([...shown].length > start + textWidth) excerpt[excerpt.length - 1] = "…";
  return [
    `    ${paint.dim(`${number} |`)} ${excerpt.join("").trimEnd()}`,
    `    ${paint.dim(`${" ".repeat(number.length)} |`)} ${color(cut(marks).join("").trimEnd())}`,
  ];
}
