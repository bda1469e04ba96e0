import { memberAt } from "../core/base/model/json/json.ts";
import { jsonDocument } from "../core/base/text/control-characters.ts";
import type { RenderOptions } from "../core/render/index.ts";
import { textTable } from "../core/render/index.ts";
import { tableText } from "../core/render/terminal/index.ts";

const absent = "-";

/** "source.lastUpdatedAt" -> "source last updated at" */
const heading = (column: string): string =>
  column
    .replaceAll(".", " ")
    .replaceAll(/(?<=[a-z])(?=[A-Z])/gu, " ")
    .toLowerCase();

function cellTexts(rows: readonly unknown[], columns: readonly string[]): readonly (readonly string[])[] {
  return rows.map((row) => columns.map((column) => cellText(column.split(".").reduce<unknown>((at, key) => memberAt(at, key), row))));
}

function cellText(value: unknown): string {
  if (value === undefined || value === null || value === "") return absent;
  return typeof value === "string" ? value : JSON.stringify(value);
}

interface ListingShape {
  /** For JSON. */
  readonly value: unknown;
  /** For the table. */
  readonly rows: readonly unknown[];
  /** The columns of the table: members, or paths of members with dots. */
  readonly columns: readonly string[];
  /** Whether a terminal shows the table. Otherwise each row is a line, for tools such as grep. */
  readonly isTty: boolean;
}

/** The formats of a list of live objects. */
export function listingForms({ value, rows, columns, isTty }: ListingShape) {
  return {
    human: ({ color, width = 100 }: RenderOptions) => {
      if (rows.length === 0) return "No objects found.\n";
      // A reader needs no column without a value; a tool counts on all.
      const hasValue = (column: string): boolean => cellTexts(rows, [column]).some(([text]) => text !== absent);
      const shown = isTty ? columns.filter(hasValue) : columns;
      return tableText(textTable(shown.map(heading), cellTexts(rows, shown)), { color, width: isTty ? width : Number.POSITIVE_INFINITY });
    },
    json: () => jsonDocument(value),
  };
}
