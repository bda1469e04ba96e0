import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { unknownLabel } from "../../kinds/label-references.ts";
import { nameMatcher } from "../../kinds/patterns/names.ts";
import type { Project } from "../../manifests/project.ts";
import { byText } from "../../model/address.ts";
import { DimsyncError, refuseErrors } from "../../model/errors.ts";
import { isObject, own } from "../../model/json/json.ts";
import { parseJson, whyNotJson } from "../../model/json/parse.ts";
import { problemAt } from "../../model/problem.ts";
import type { Register, RegisterDiff, RegisterRow } from "../../model/register.ts";
import { systemClock } from "../../model/runtime/clock.ts";
import { accountName } from "../../model/settings/config.ts";
import { currentRows } from "../../protection/register/current.ts";
import { registerChanges } from "../../protection/register/diff.ts";
import { rememberedAt, rememberRun, runsIn, targetFolder, withHistory } from "../../protection/register/history.ts";
import { newSpool, type Spool } from "../../protection/register/spool.ts";
import { newTally, registerExit, type Tally } from "../../protection/register/summary.ts";
import { ensureStateFolder, stateFolder } from "../../records/state-folder.ts";
import { registerColumns, safeRow } from "../../render/register/csv.ts";
import { withReads } from "../reads.ts";
import { readRecords } from "../records/open.ts";
import type { RunEnvironment } from "../session.ts";

export interface RegisterOptions {
  /** Only columns with these labels; all if empty. */
  readonly labels: readonly string[];
  /** Only integrations that one of these patterns matches; all if empty. */
  readonly integrations: readonly string[];
  /** Absolute path of the folder with the history. Default: `.dimsync/register`. */
  readonly historyFolder?: string | undefined;
  /** Whether to add the register to the history. Default: true; the register of a snapshot is never added. */
  readonly remember?: boolean;
}

/** What `--diff` compares with: ISO 8601, or the absolute path of a register in JSON or CSV. */
export type RegisterBase = { readonly time: string } | { readonly file: string };

export interface MadeRegister {
  readonly register: Register;
  /** What changed since the base, if there is one. Exit 2 if anything did. */
  readonly diff?: RegisterDiff;
  /** Removes the rows, which are in a temporary file. */
  readonly close: () => void;
}

/** What happens to every labelled column, and what changed since `base`. Throws DimsyncError, ProblemsError and ServiceError. */
export async function makeRegister(
  project: Project,
  { base, ...options }: RegisterOptions & { readonly base?: RegisterBase | undefined },
  run: RunEnvironment,
): Promise<MadeRegister> {
  const spool = await newSpool();
  try {
    const into: Into = { spool, tally: newTally(), isWanted: filterOf(options) };
    const at = await addCurrent(project, options, run, into);
    const summary = into.tally.counts();
    const { target, baseUrl } = project.settings;
    const register = { target, account: accountName(baseUrl), at, summary, rows: spool.rows, exit: registerExit(summary) };
    const diff = base === undefined ? {} : { diff: await diffRegister(project, register, { base, options }) };
    return { register, ...diff, close: spool.close };
  } catch (error) {
    spool.close();
    throw error;
  }
}

async function diffRegister(
  project: Project,
  register: Register,
  { base, options }: { readonly base: RegisterBase; readonly options: RegisterOptions },
): Promise<RegisterDiff> {
  const isWanted = filterOf(options);
  const saved = "file" in base ? await registerInFile(base.file) : await remembered(project, options, base.time);
  const { at: from, rows, isCsv = false } = saved;
  const changes = registerChanges(rows.filter(isWanted), isCsv ? rowsOfCsv(register.rows()) : register.rows());
  const exit = changes.length === 0 ? ({ code: 0, reasons: [] } as const) : ({ code: 2, reasons: ["changes"] } as const);
  return { target: register.target, from, to: register.at, changes, exit };
}

/** Where rows are collected. */
interface Into {
  readonly spool: Spool;
  readonly tally: Tally;
  readonly isWanted: (row: RegisterRow) => boolean;
}

function filterOf({ labels, integrations }: RegisterOptions): Into["isWanted"] {
  const matches = nameMatcher(integrations);
  return ({ label, integration }) => (labels.length === 0 || labels.includes(label)) && matches(integration);
}

function add({ spool, tally, isWanted }: Into, rows: readonly RegisterRow[]): void {
  const wanted = rows.filter(isWanted);
  spool.add(wanted);
  tally.add(wanted);
}

const folderOf = ({ settings }: Project, { historyFolder }: RegisterOptions): string =>
  targetFolder(historyFolder ?? join(stateFolder(settings.folder), "register"), settings.target);

async function addCurrent(project: Project, options: RegisterOptions, run: RunEnvironment, into: Into): Promise<string> {
  checkLabels(project, options.labels);
  const at = systemClock.now().toISOString();
  return withReads(project, run, async (reads) => {
    const { settings } = project;
    const records = await readRecords(settings, run);
    const session = { reads, records, today: at.slice(0, 10), onProgress: run.onProgress };
    const folder = folderOf(project, options);
    const remember = run.snapshotFile === undefined && options.remember !== false;
    if (remember && options.historyFolder === undefined) await ensureStateFolder(settings.folder);
    const ids: string[] = [];
    for await (const { integrationId, rows } of currentRows(project, session)) {
      ids.push(integrationId);
      add(into, await withHistory(folder, integrationId, { rows, at, remember }));
    }
    if (remember) await rememberRun(folder, at, ids);
    return at;
  });
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

/** What the last run before a time has found. Throws E_REGISTER if there is none. */
async function remembered(project: Project, options: RegisterOptions, time: string): Promise<SavedRegister> {
  const folder = folderOf(project, options);
  const runs = [...(await runsIn(folder))].sort(byText);
  const at = runs.findLast((one) => Date.parse(one) <= Date.parse(time));
  if (at === undefined) {
    const [first] = runs;
    const known = first === undefined ? "No register has been made" : `The first register was made at ${first}`;
    throw new DimsyncError(
      "E_REGISTER",
      `${known} in ${folder}, so the state at ${time} is not known. dimsync remembers what each run of register finds. Run it on a schedule, and keep the folder with --history.`,
    );
  }
  const rows: RegisterRow[] = [];
  for await (const some of rememberedAt(folder, at)) rows.push(...some);
  return { at, rows };
}

/** A register that was saved before. */
interface SavedRegister {
  /** When it was made, ISO 8601, or the file as shown if the file does not say it. */
  readonly at: string;
  readonly rows: readonly RegisterRow[];
  /** Whether the rows are as a CSV file has them, which lacks what a column breaks. */
  readonly isCsv?: boolean;
}

async function registerInFile(file: string): Promise<SavedRegister> {
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
  return { at, rows: rows as readonly RegisterRow[] }; // written by `register -o json`
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
  return { at: basename(file), rows: records.map((record) => safeRow(rowOfCsv((name) => own(record, name) ?? ""))), isCsv: true };
}

/** A row without what the file does not have. */
const rowOfCsv = (cell: (name: string) => string): RegisterRow => ({
  integration: cell("integration"),
  integrationId: cell("integration_id"),
  source: "",
  destination: "",
  schema: cell("schema"),
  table: cell("table"),
  column: cell("column"),
  destinationSchema: cell("destination_schema"),
  destinationTable: cell("destination_table"),
  destinationColumn: cell("destination_column"),
  label: cell("label"),
  labelSource: cell("label_source"),
  replicated: cell("replicated") === "true",
  hashed: cell("hashed") === "true",
  rule: cell("rule"),
  reason: cell("reason"),
  exemption: cell("exemption"),
  approvedBy: cell("approved_by"),
  expires: cell("expires"),
  breaks: [],
  since: cell("since").replace("at least ", ""),
  atLeast: cell("since").startsWith("at least "),
});

/** What a CSV file has of the rows of a register. */
function* rowsOfCsv(rows: Iterable<RegisterRow>): Iterable<RegisterRow> {
  for (const row of rows) yield { ...safeRow(row), breaks: [] };
}
