import { CsvError, parse } from "csv-parse/sync";
import type { LabelledColumn } from "../../base/model/columns.ts";
import type { CsvSource } from "../../base/model/manifest.ts";
import { addAll } from "../../base/model/maps.ts";
import type { Problem, SourceLocation } from "../../base/model/problem.ts";
import { conflictMarkers } from "../../base/text/file-text.ts";
import { andMore } from "../../base/text/lists.ts";
import { nearest } from "../../base/text/suggest.ts";

// A table of labelled columns, as a spreadsheet exports it: a header, then one row per column and label, separated by commas,
// semicolons or tabs.

const required = ["schema", "table", "column", "label"] as const;
const known = ["integration", ...required, "reason"] as const;
type Name = (typeof known)[number];

interface CsvLabels {
  readonly columns: readonly LabelledColumn[];
  readonly problems: readonly Problem[];
}

interface Row {
  readonly record: Readonly<Record<string, string>>;
  /** From 1. */
  readonly line: number;
}

/** The labels in a CSV file (RFC 4180). `file` is as shown; `mapped`: how it calls its columns. A file with problems labels nothing. */
export function readCsvLabels(text: string, file: string, mapped: CsvSource["columns"] = undefined): CsvLabels {
  const starts = lineStarts(text);
  const at = (line: number): SourceLocation => ({ file, document: 0, pointer: `@${starts[line - 1] ?? 0}` });
  const read = parseRows(text, { file, at, mapped });
  if ("problems" in read) return { columns: [], problems: read.problems };
  const problems = read.rows.flatMap((row) => rowProblems(row, file, at));
  if (problems.length > 0) return { columns: [], problems };
  const columns = read.rows.flatMap(({ record, line }): readonly LabelledColumn[] => {
    const [integration, reason] = [cell(record, "integration"), cell(record, "reason")];
    const labels = cell(record, "label")
      .split(mapped?.separator ?? /[;|,]/u)
      .map((label) => label.trim())
      .filter((label) => label !== "");
    return [...new Set(labels)].map((label) => ({
      side: "source",
      ...(integration === "" ? {} : { integration }),
      schema: cell(record, "schema"),
      table: cell(record, "table"),
      column: cell(record, "column"),
      label,
      origin: { text: `${file}:${line}`, ...(reason === "" ? {} : { reason }), place: at(line), isInManifest: false },
      describedBy: file,
    }));
  });
  return { columns, problems: [] };
}

const cell = (record: Row["record"], name: Name): string => record[name] ?? "";

interface CsvFile {
  readonly file: string;
  readonly at: (line: number) => SourceLocation;
  readonly mapped: CsvSource["columns"];
}

function parseRows(
  text: string,
  { file, at, mapped }: CsvFile,
): { readonly rows: readonly Row[] } | { readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const conflict = conflictMarkers(text);
  if (conflict !== undefined) return { problems: [invalid({ ...at(1), pointer: `@${conflict.offset}` }, conflict.message)] };
  const { delimiter, headerLine, isOpen } = layoutOf(text);
  const columns = (header: readonly string[]): (string | false)[] => {
    const written = header.map((name) => name.trim().toLowerCase());
    const called = new Map(known.map((name) => [mapped?.[name]?.trim().toLowerCase() ?? name, name]));
    const named = written.map((name) => called.get(name) ?? name);
    const names = named.slice(0, named.findLastIndex((name) => name !== "") + 1);
    addAll(problems, headerProblems(names, { file, at, mapped }, at(headerLine)));
    return named.map((name, index) => (names[index] !== undefined && (mapped === undefined || isKnown(name)) ? name : false));
  };
  try {
    // Some programs end the header with a separator, and the rows without one.
    const options = {
      delimiter,
      from_line: headerLine,
      relax_column_count_less: isOpen,
      columns,
      info: true,
      trim: true,
      skip_empty_lines: true,
    };
    // `info` makes each row { record, info }, which the types of the package do not say.
    const rows = parse(text, options) as unknown as readonly {
      readonly record: Row["record"];
      readonly info: { readonly lines: number };
    }[];
    if (problems.length > 0) return { problems };
    if (text.trim() === "") return { problems: [invalid(at(1), `${file} is empty. ${layout}`)] };
    return { rows: rows.map(({ record, info }) => ({ record, line: info.lines })) };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { line, message } = csvMistake(error, text);
    return { problems: [...problems, invalid(at(line), `${file}:${line} is not valid CSV: ${message}`)] };
  }
}

/** The package names records, and of a quote the end of the file. */
function csvMistake({ code, message, ...error }: CsvError, text: string): { readonly line: number; readonly message: string } {
  const line = typeof error["lines"] === "number" ? error["lines"] : 1;
  if (code === "CSV_RECORD_INCONSISTENT_COLUMNS")
    return {
      line,
      message: "it has more or fewer values than the first line has columns. Put a value that contains the separator in quotes.",
    };
  if (code !== "CSV_QUOTE_NOT_CLOSED") return { line, message: `${message}.` };
  const opened = text.split("\n").findIndex((one) => one.split('"').length % 2 === 0);
  return { line: opened < 0 ? line : opened + 1, message: 'a value begins with a quote (") that is not closed. Close it.' };
}

interface Layout {
  readonly delimiter: string;
  /** From 1. */
  readonly headerLine: number;
  /** The header ends with a delimiter. */
  readonly isOpen: boolean;
}

/** A first line `sep=;` names the delimiter, or else it is found in the header. */
function layoutOf(text: string): Layout {
  const [first = "", second = ""] = text.split(/\r?\n/u, 2);
  const declared = /^sep=(.)$/iu.exec(first.trim())?.[1];
  const header = declared === undefined ? first : second;
  const delimiter = declared ?? [",", ";", "\t"].find((sign) => header.includes(sign)) ?? ",";
  return { delimiter, headerLine: declared === undefined ? 1 : 2, isOpen: header.endsWith(delimiter) };
}

const layout = `The first line must name the columns: ${required.join(", ")}, and optionally integration and reason.`;

const isKnown = (name: string): boolean => (known as readonly string[]).includes(name);

/** What other tools call the columns. */
const otherNames: Readonly<Record<string, Name>> = {
  ...{ "schema name": "schema", database_schema: "schema", "table name": "table", entity: "table", "entity.name": "table" },
  ...{ "column name": "column", field: "column", field_name: "column", classification: "label", tags: "label", tag: "label" },
  ...{ sensitivity: "label", description: "reason" },
};

function headerProblems(names: readonly string[], { file, mapped }: CsvFile, place: SourceLocation): readonly Problem[] {
  const missing = required.filter((name) => !names.includes(name));
  const unknown = mapped === undefined ? names.filter((name) => !isKnown(name)) : [];
  const twice = names.filter((name, index) => names.indexOf(name) !== index && (mapped === undefined || isKnown(name)));
  const near = unknown.flatMap((name) => {
    const found = otherNames[name] ?? nearest(name, missing);
    return found === undefined || !missing.some((one) => one === found) ? [] : [`${found}: ${JSON.stringify(name)}`];
  });
  const mapping = near.length === 0 ? "" : ` Or say what the file calls them: columns: { ${near.join(", ")} }.`;
  const others = andMore(
    unknown.map((name) => JSON.stringify(name)),
    "column",
    { shown: 20 },
  );
  return [
    ...(unknown.length === 0
      ? []
      : [
          invalid(
            place,
            `${file} has ${unknown.length === 1 ? "a column" : "columns"} that dimsync does not know: ${others}. ${layout}${mapping}`,
          ),
        ]),
    ...twice.map((name) => invalid(place, `${file} has two columns ${JSON.stringify(name)}. Remove one.`)),
    ...(missing.length === 0 || unknown.length > 0
      ? []
      : [
          invalid(
            place,
            `${file} has no column ${missing.map((name) => mapped?.[name] ?? name).join(", ")}. ${mapped === undefined ? layout : "Correct `columns` of the entry."}`,
          ),
        ]),
  ];
}

function rowProblems({ record, line }: Row, file: string, at: (line: number) => SourceLocation): readonly Problem[] {
  const empty = required.filter((name) => cell(record, name) === "");
  return empty.length === 0 ? [] : [invalid(at(line), `${file}:${line} has no ${empty.join(", ")}. Fill it in, or remove the row.`)];
}

const invalid = (place: SourceLocation, message: string): Problem => ({
  code: "E_LABEL_CSV",
  severity: "error",
  message,
  place,
});

/** The offsets of the lines. */
function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1)) starts.push(end + 1);
  return starts;
}
