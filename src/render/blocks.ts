// What terminal, Markdown and HTML draw. The report (report/sections.ts) turns a document into
// sections; a section has entries; an entry has a head, notes, rows, changes and commands. All of it is
// plain data with raw text: only a layout knows colours, markup and widths, and it escapes each text
// once, when it draws it.
//
// A layout knows these types and no section. So a new section is one function in report/sections.ts, and
// every layout draws it. What a section needs to differ from others is a member here that says what
// it is ("folded": read on demand), not how one layout draws it. How much of a list each layout shows
// is decided by the layout, in one table.

import type { WithChanges } from "./report/changes/changes.ts";

/** How good the news is. A layout chooses the colour; it is never the only sign. */
export type Tone = "bad" | "good" | "warn" | "info" | "quiet";

/**
 * A part of a line. A string is running text; one that begins with a comma or colon follows without a space. The others
 * are a name of an object, its id, code, a value (which a terminal may shorten), a place in a file, something less important,
 * or a word about the state.
 */
export type Span =
  | string
  | { readonly as: "name" | "id" | "code" | "value" | "place" | "muted" | "word"; readonly text: string; readonly tone?: Tone | undefined };

/** Spans with a space between them. */
export type Line = readonly Span[];

/** Cells, which a terminal aligns. */
export type Row = readonly Line[];

export interface Entry {
  /** "✗", "1."; none for an entry that is only text. */
  readonly sign?: string;
  readonly tone?: Tone;
  /** A word for layouts that have no colours, or more space: "error". */
  readonly label?: string;
  /** An entry of a checklist. */
  readonly task?: "open" | "done";
  readonly head: Row;
  /** Lines of the source with a caret below. */
  readonly excerpt?: { readonly line: number | undefined; readonly text: readonly [source: string, caret: string] } | undefined;
  /** Paragraphs. */
  readonly notes?: readonly Line[];
  readonly rows?: readonly Row[];
  /** Whether fewer rows than usual are enough. */
  readonly isMinor?: boolean;
  /** Whether its head is enough, where space is short. */
  readonly isBrief?: boolean;
  /** What changed, or would change, for those who ask. `isKey`: to understand the entry, one has to see it. */
  readonly changes?: { readonly of: WithChanges; readonly title: string; readonly isKey: boolean };
  /** Lines of YAML. */
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
   * What it is to the reader. `decision`: what to do now. `cause`: why entries of other sections are missing. `result`:
   * what the command did. `attention`: read it before the changes. `work`: left to do. `rest`: for the record.
   */
  readonly part: "decision" | "cause" | "result" | "attention" | "work" | "rest";
  readonly entries: readonly Entry[];
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

export const name = (text: string, tone?: Tone): Span => ({ as: "name", text, tone });
export const id = (text: string): Span => ({ as: "id", text });
export const code = (text: string, tone?: Tone): Span => ({ as: "code", text, tone });
export const value = (text: string): Span => ({ as: "value", text });
export const place = (text: string): Span => ({ as: "place", text });
export const muted = (text: string): Span => ({ as: "muted", text });
export const word = (text: string, tone: Tone): Span => ({ as: "word", text, tone });

export const textOf = (span: Span): string => (typeof span === "string" ? span : span.text);

/** The spans that have text, each with the space before it. */
export function withGaps(line: Line): readonly (readonly [gap: string, span: Span])[] {
  const filled = line.filter((span) => textOf(span) !== "");
  return filled.map((span, index) => [index === 0 || (typeof span === "string" && /^[,:]/u.test(span)) ? "" : " ", span]);
}

/** The line as one text; `draw` draws a span. */
export const lineText = (line: Line, draw: (span: Span) => string): string =>
  withGaps(line)
    .map(([gap, span]) => gap + draw(span))
    .join("");
