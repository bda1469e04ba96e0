import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { DimsyncError } from "../../core/model/errors.ts";
import { isObject, own } from "../../core/model/json/json.ts";
import { parseJson, whyNotJson } from "../../core/model/json/parse.ts";
import type { RegisterRow } from "../../core/model/register.ts";
import { registerColumns, safeRow } from "./render/csv.ts";

/** A register that was saved before. */
interface SavedRegister {
  /** When it was made, ISO 8601, or the file as shown if the file does not say it. */
  readonly at: string;
  readonly rows: readonly RegisterRow[];
  /** A row as the file would have it: CSV lacks what a column breaks. */
  readonly asSaved: (row: RegisterRow) => RegisterRow;
}

/** Reads a register in JSON or CSV. Throws E_REGISTER. */
export async function savedRegister(file: string): Promise<SavedRegister> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw unreadable(file, error instanceof Error && "code" in error ? String(error.code) : "it cannot be read");
  });
  if (/^\uFEFF?(?:integration|"integration")\s*,/u.test(text)) return registerInCsv(text, file);
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw unreadable(file, `it ${whyNotJson(error, "is not JSON, and does not begin like a register in CSV")}`);
  }
  const [kind, at, rows] = isObject(value) ? [own(value, "kind"), own(value, "at"), own(value, "rows")] : [];
  if (kind !== "Register" || typeof at !== "string" || !Array.isArray(rows))
    throw new DimsyncError("E_REGISTER", `${file} is not a register. ${howToSave}`);
  return { at, rows: rows as readonly RegisterRow[], asSaved: (row) => row }; // written by `register -o json`
}

const howToSave = "Save one with -o json=FILE or -o csv=FILE.";
const unreadable = (file: string, why: string): DimsyncError =>
  new DimsyncError("E_REGISTER", `${file} can't be read as a register (${why}). ${howToSave}`);

async function registerInCsv(text: string, file: string): Promise<SavedRegister> {
  const { CsvError, parse } = await import("csv-parse/sync");
  let records: readonly Readonly<Record<string, string>>[];
  try {
    records = parse(text, { columns: true, skip_empty_lines: true, bom: true });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw unreadable(file, `line ${typeof error["lines"] === "number" ? error["lines"] : 1} is not valid CSV: ${error.message}`);
  }
  const [first] = records;
  const missing = first === undefined ? [] : registerColumns.flatMap(([name]) => (own(first, name) === undefined ? [name] : []));
  if (missing.length > 0) throw unreadable(file, `the header lacks ${missing.join(", ")}`);
  return { at: basename(file), rows: records.map(rowOfRecord), asSaved: (row) => ({ ...safeRow(row), breaks: [] }) };
}

const emptyRow: RegisterRow = {
  integration: "",
  integrationId: "",
  source: "",
  destination: "",
  schema: "",
  table: "",
  column: "",
  destinationSchema: "",
  destinationTable: "",
  destinationColumn: "",
  label: "",
  labelSource: "",
  replicated: false,
  hashed: false,
  rule: "",
  reason: "",
  exemption: "",
  approvedBy: "",
  expires: "",
  breaks: [],
  since: "",
};

/** A row without what the file does not have. */
function rowOfRecord(record: Readonly<Record<string, string>>): RegisterRow {
  const cells = registerColumns.map(([name, member]) => {
    const cell = own(record, name) ?? "";
    return [member, typeof emptyRow[member] === "boolean" ? cell === "true" : cell];
  });
  return safeRow({ ...emptyRow, ...Object.fromEntries(cells) });
}
