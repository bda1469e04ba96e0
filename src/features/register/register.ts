import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { unknownLabel } from "../../core/kinds/label-references.ts";
import { nameMatcher } from "../../core/kinds/patterns/names.ts";
import type { Project } from "../../core/manifests/project.ts";
import { byText } from "../../core/model/address.ts";
import { DimsyncError, refuseErrors } from "../../core/model/errors.ts";
import type { Exit } from "../../core/model/exit.ts";
import { isObject, own } from "../../core/model/json/json.ts";
import { parseJson, whyNotJson } from "../../core/model/json/parse.ts";
import { getOrAdd } from "../../core/model/maps.ts";
import { problemAt } from "../../core/model/problem.ts";
import {
  byPlace,
  type Register,
  type RegisterChange,
  type RegisterCount,
  type RegisterDiff,
  type RegisterRow,
  rowKey,
} from "../../core/model/register.ts";
import { systemClock } from "../../core/model/runtime/clock.ts";
import { accountName } from "../../core/model/settings/config.ts";
import { readRecords } from "../../core/operations/open-records.ts";
import type { RunEnvironment } from "../../core/operations/session.ts";
import { withReads } from "../../core/operations/session.ts";
import { currentRows } from "./current.ts";
import { registerColumns, safeRow } from "./render/csv.ts";

interface RegisterOptions {
  /** Only columns with these labels; all if empty. */
  readonly labels: readonly string[];
  /** Only integrations that one of these patterns matches; all if empty. */
  readonly integrations: readonly string[];
}

interface MadeRegister {
  readonly register: Register;
  /** What changed since the base, if there is one. Exit 2 if anything did. */
  readonly diff?: RegisterDiff;
}

/** What happens to every labelled column, and what changed since `base`: the absolute path of a register in JSON or CSV. Throws DimsyncError, ProblemsError and ServiceError. */
export async function makeRegister(
  project: Project,
  { base, ...options }: RegisterOptions & { readonly base?: string | undefined },
  run: RunEnvironment,
): Promise<MadeRegister> {
  checkLabels(project, options.labels);
  const at = systemClock.now().toISOString();
  const isWanted = filterOf(options);
  const rows: RegisterRow[] = [];
  const tally = newTally();
  await withReads(project, run, async (reads) => {
    const records = await readRecords(project.settings, run);
    const session = { reads, records, today: at.slice(0, 10), onProgress: run.onProgress };
    for await (const integration of currentRows(project, session)) {
      const wanted = integration.filter(isWanted);
      for (const row of wanted) rows.push(row);
      tally.add(wanted);
    }
  });
  const summary = tally.counts();
  const { target, baseUrl } = project.settings;
  const register = { target, account: accountName(baseUrl), at, summary, rows, exit: registerExit(summary) };
  return { register, ...(base === undefined ? {} : { diff: await diffRegister(register, base, isWanted) }) };
}

type RowTest = (row: RegisterRow) => boolean;

async function diffRegister(register: Register, file: string, isWanted: RowTest): Promise<RegisterDiff> {
  const { at: from, rows, asSaved } = await savedRegister(file);
  const changes = registerChanges(rows.filter(isWanted), register.rows.map(asSaved));
  const exit = changes.length === 0 ? ({ code: 0, reasons: [] } as const) : ({ code: 2, reasons: ["changes"] } as const);
  return { target: register.target, from, to: register.at, changes, exit };
}

function filterOf({ labels, integrations }: RegisterOptions): RowTest {
  const matches = nameMatcher(integrations);
  return ({ label, integration }) => (labels.length === 0 || labels.includes(label)) && matches(integration);
}

/** Throws E_REGISTER without a Classification, and ProblemsError for a label that none defines. */
function checkLabels({ columnLabels, locate }: Project, wanted: readonly string[]): void {
  if (columnLabels === undefined)
    throw new DimsyncError("E_REGISTER", "The project has no Classification, so no column has a label. Add one, and run register again.");
  const unknown = wanted.filter((label) => !columnLabels.defined.includes(label));
  refuseErrors(
    unknown.map((label) => problemAt(undefined, unknownLabel("--label selects", label, columnLabels.defined))),
    locate,
  );
}

/** What matters in a row, apart from what identifies it. Files and lines are left out: moving a rule changes nothing. */
const compared = [
  "replicated",
  "hashed",
  "destinationSchema",
  "destinationTable",
  "destinationColumn",
  "exemption",
  "approvedBy",
  "expires",
  "breaks",
] as const satisfies readonly (keyof RegisterRow)[];

/** The rows that only one of two registers has, and those that differ. */
function registerChanges(before: Iterable<RegisterRow>, after: Iterable<RegisterRow>): readonly RegisterChange[] {
  const rows = new Map([...before].map((row) => [rowKey(row), row]));
  const changes: RegisterChange[] = [];
  for (const row of after) {
    const key = rowKey(row);
    const earlier = rows.get(key);
    rows.delete(key);
    if (earlier === undefined) changes.push({ change: "added", row, values: [] });
    else {
      const values = compared
        .map((name) => ({ name, from: textOf(earlier[name]), to: textOf(row[name]) }))
        .filter(({ from, to }) => from !== to);
      if (values.length > 0) changes.push({ change: "changed", row, values });
    }
  }
  for (const row of rows.values()) changes.push({ change: "removed", row, values: [] });
  return changes.sort((a, b) => byPlace(a.row, b.row));
}

const textOf = (value: RegisterRow[(typeof compared)[number]]): string => (typeof value === "object" ? value.join(", ") : String(value));

/** Adds up rows. */
interface Tally {
  readonly add: (rows: readonly RegisterRow[]) => void;
  readonly counts: () => readonly RegisterCount[];
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

export function newTally(): Tally {
  const found = new Map<string, Mutable<RegisterCount>>();
  return {
    add(rows) {
      for (const row of rows) {
        const { integration, label } = row;
        const key = JSON.stringify([integration, label]);
        const none = { columns: 0, off: 0, hashed: 0, readable: 0, exempt: 0, breaking: 0 };
        const count = getOrAdd(found, key, () => ({ integration, label, ...none }));
        count.columns++;
        if (!row.replicated) count.off++;
        else if (row.hashed) count.hashed++;
        else count.readable++;
        if (row.exemption !== "") count.exempt++;
        if (row.breaks.length > 0) count.breaking++;
      }
    },
    counts: () => [...found.values()].sort((a, b) => byText(a.integration, b.integration) || byText(a.label, b.label)),
  };
}

/** 3 if a column breaks a policy of severity error. */
export const registerExit = (summary: readonly RegisterCount[]): Exit =>
  summary.some(({ breaking }) => breaking > 0) ? { code: 3, reasons: ["policy"] } : { code: 0, reasons: [] };

/** A register that was saved before. */
interface SavedRegister {
  /** When it was made, ISO 8601, or the file as shown if the file does not say it. */
  readonly at: string;
  readonly rows: readonly RegisterRow[];
  /** A row as the file would have it: CSV lacks what a column breaks. */
  readonly asSaved: (row: RegisterRow) => RegisterRow;
}

/** Reads a register in JSON or CSV. Throws E_REGISTER. */
async function savedRegister(file: string): Promise<SavedRegister> {
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
};

/** A row without what the file does not have. */
function rowOfRecord(record: Readonly<Record<string, string>>): RegisterRow {
  const cells = registerColumns.map(([name, member]) => {
    const cell = own(record, name) ?? "";
    return [member, typeof emptyRow[member] === "boolean" ? cell === "true" : cell];
  });
  return safeRow({ ...emptyRow, ...Object.fromEntries(cells) });
}
