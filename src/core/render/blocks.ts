// What terminal, Markdown and HTML draw. The report (report/sections.ts) turns a document into
// sections; a section has entries; an entry has a head, notes, rows, changes and commands. All of it is
// plain data with raw text: only a layout knows colours, markup and widths, and it escapes each text
// once, when it draws it.
//
// A layout knows these types and no section. So a new section is one function in report/, and
// every layout draws it. What a section needs to differ from others is a member here that says what
// it is ("folded": read on demand), not how one layout draws it. How much of a list each layout shows
// is decided by the layout, in one table.

import type { JsonValue } from "../base/model/json/json.ts";
import { moreOf } from "../base/text/lists.ts";
import type { WithChanges } from "./report/change-lines.ts";

/** How good the news is. A layout chooses the colour; it is never the only sign. */
export type Tone = "bad" | "good" | "warn" | "info" | "quiet";

/**
 * A part of a line. A string is running text; one that begins with a comma or colon follows without a space. The others
 * are a name of an object, its id (`ref`: in parentheses), code, a value (which a terminal may shorten), a place in a file,
 * something less important, a word about the state, or a link.
 */
export type Span =
  | string
  | {
      readonly as: "name" | "id" | "ref" | "code" | "value" | "place" | "muted" | "word" | "link";
      readonly text: string;
      /** Of a link: a URL that no text of the repository or the service is part of. */
      readonly href?: string;
      readonly tone?: Tone | undefined;
    };

export interface Link {
  readonly text: string;
  readonly href: string;
}

/** Spans with a space between them. */
export type Line = readonly Span[];

/** Cells, which a terminal aligns. */
export type Row = readonly Line[];

/** Rows below heads, such as "Last run". */
export interface Table {
  readonly heads: readonly string[];
  readonly rows: readonly Row[];
}

export interface Entry {
  /** Where space is short, each group keeps its first entries. */
  readonly group?: string;
  /** "✗", "1."; none for an entry that is only text. */
  readonly sign?: string;
  readonly tone?: Tone;
  /** A word for layouts that have no colours, or more space: "error". */
  readonly label?: string;
  /** An entry with a box to tick in Markdown. */
  readonly task?: "open" | "done";
  readonly head: Row;
  /** Lines of the source with a caret below. */
  readonly excerpt?: { readonly line: number | undefined; readonly text: readonly string[] } | undefined;
  /** Paragraphs. */
  readonly notes?: readonly Line[];
  readonly rows?: readonly Row[];
  /** What each row is: "column". */
  readonly noun?: string;
  /** Whether fewer rows than usual are enough. */
  readonly isMinor?: boolean;
  /** Whether its head is enough, where space is short. */
  readonly isBrief?: boolean;
  /** What changed, or would change, for those who ask. `isKey`: to understand the entry, one has to see it. */
  readonly changes?: { readonly of: WithChanges; readonly title: string; readonly isKey: boolean };
  /** What is sent for it: the method and path, and the body. */
  readonly requests?: readonly { readonly text: string; readonly body?: JsonValue | undefined }[];
  /** Lines of YAML, or of a diff. */
  readonly yaml?: readonly string[];
  /** To choose from, or to run in order. */
  readonly commands?: readonly string[];
  /** Whether a terminal lists it only with -v. */
  readonly isDetail?: boolean;
}

export interface Section {
  /** Unique in a report: "blocked". */
  readonly id: string;
  readonly title: string;
  /** Shown beside the title, if it is not 0. */
  readonly count: number;
  /** Instead of the count in a terminal: what it means or what shows more. */
  readonly aside?: string;
  /**
   * Where it stands, by its purpose. `first`: read before everything else. `decision`: to be decided now. `cause`: explains why other sections
   * lack entries. `changes`: differences. `result`: outcomes. `attention`: read before the changes. `work`: still to do. `rest`: for reference.
   */
  readonly part: "first" | "decision" | "cause" | "changes" | "result" | "attention" | "work" | "rest";
  readonly entries: readonly Entry[];
  /** What each entry is: "warning". */
  readonly noun?: string;
  /** What its entries are, in numbers, where they are folded or left out. */
  readonly contents?: Line;
  /** Paragraphs below the entries. */
  readonly notes?: readonly Line[];
  readonly command?: string;
  /** Its entries say what they are, so that they need no title. */
  readonly isPlain?: boolean;
  /** For those who ask. */
  readonly isFolded?: boolean;
  /** Its title and command are shown however little space there is. */
  readonly isVital?: boolean;
  /** Its title says something without any entry. */
  readonly isSentence?: boolean;
  /** Its entries are reasons to refuse. */
  readonly isAlert?: boolean;
  /** Heads of the cells, if the entries are rows of one table. */
  readonly heads?: readonly string[];
}

/** Whether a section is below the changes. */
export const isBelow = ({ part }: Section): boolean => part === "work" || part === "rest";

export const textTable = (heads: readonly string[], rows: readonly (readonly string[])[]): Table => ({
  heads,
  rows: rows.map((texts) => texts.map((text) => [text])),
});

/** A list in the output of one command. */
export const titled = (id: string, title: string, entries: readonly Entry[]): Section => ({ id, title, count: 0, part: "rest", entries });

/** Entries that need no title. */
export const untitled = (id: string, entries: readonly Entry[]): Section => ({ ...titled(id, "", entries), isPlain: true });

/** Entries that are only texts. */
export const textEntries = (rows: readonly (readonly string[])[]): readonly Entry[] =>
  rows.map((texts) => ({ head: texts.map((text) => [text]) }));

export const name = (text: string, tone?: Tone): Span => ({ as: "name", text, tone });
export const id = (text: string): Span => ({ as: "id", text });
export const ref = (text: string): Span => ({ as: "ref", text });
export const code = (text: string, tone?: Tone): Span => ({ as: "code", text, tone });
export const value = (text: string): Span => ({ as: "value", text });
export const place = (text: string): Span => ({ as: "place", text });
export const muted = (text: string): Span => ({ as: "muted", text });
export const link = ({ text, href }: Link): Span => ({ as: "link", text, href });
export const word = (text: string, tone: Tone): Span => ({ as: "word", text, tone });

export const textOf = (span: Span): string => (typeof span === "string" ? span : span.text);

/** The spans that have text, each with the space before it. */
export function withGaps(line: Line): readonly (readonly [gap: string, span: Span])[] {
  const filled = line.filter((span) => textOf(span) !== "");
  return filled.map((span, index) => [index === 0 || (typeof span === "string" && /^[,:]/u.test(span)) ? "" : " ", span]);
}

interface ListLineOptions {
  /** What each name is. */
  readonly one: string;
  readonly most?: number | undefined;
}

/** "a, b, c and 4 more integrations". */
export const listLine = (names: readonly string[], draw: (name: string) => Span, { one, most = 3 }: ListLineOptions): Line => [
  ...names.slice(0, most).flatMap((one, index) => (index === 0 ? [draw(one)] : [",", draw(one)])),
  ...(names.length > most ? [muted(moreOf(names.length - most, one))] : []),
];

/** The cells of the columns that are filled in any row; to apply to the heads and to each row. */
export function filledColumns<T>(rows: readonly (readonly T[])[], isEmpty: (cell: T) => boolean): <C>(cells: readonly C[]) => readonly C[] {
  const isFilled = rows[0]?.map((_, column) => rows.some((row) => row[column] !== undefined && !isEmpty(row[column]))) ?? [];
  return (cells) => cells.filter((_, column) => isFilled[column]);
}

/** The line as one text; `draw` draws a span. */
export const lineText = (line: Line, draw: (span: Span) => string): string =>
  withGaps(line)
    .map(([gap, span]) => gap + draw(span))
    .join("");
