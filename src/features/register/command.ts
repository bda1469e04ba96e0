import type { Context } from "../../cli/context.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadValidProject } from "../../cli/project.ts";
import { byText } from "../../core/base/model/address.ts";
import { DimsyncError, refuseErrors } from "../../core/base/model/errors.ts";
import type { Exit, ExitCode } from "../../core/base/model/exit.ts";
import { addAll, getOrAdd } from "../../core/base/model/maps.ts";
import { problemAt } from "../../core/base/model/problem.ts";
import { systemClock } from "../../core/base/model/runtime/clock.ts";
import { accountName } from "../../core/base/model/settings/config.ts";
import { jsonDocument, visible } from "../../core/base/text/control-characters.ts";
import { counted } from "../../core/base/text/counts.ts";
import { grouped, joinParts } from "../../core/base/text/lists.ts";
import { nameText } from "../../core/base/text/paths.ts";
import { outcomeSigns } from "../../core/base/text/signs.ts";
import { kindNames, nameMatcher, unknownLabel } from "../../core/kinds/index.ts";
import type { Project } from "../../core/manifests/index.ts";
import { type RunEnvironment, readRecords, withReads } from "../../core/operations/index.ts";
import { code, muted, type RenderOptions, type Span, type Table, textTable, word } from "../../core/render/index.ts";
import { headedTable, type Screen, screenOf, shortTable, wrap } from "../../core/render/terminal/index.ts";
import { currentRows, type RegisterRow } from "./current.ts";
import type { RegisterFlags } from "./index.ts";

/** `dimsync register`: what happens to every labelled column. Sends GET only; exit 3 if one breaks a policy of severity error. */
export async function runRegister(context: Context<RegisterFlags>): Promise<ExitCode> {
  const { flags } = context;
  checkOutputs(context, ["human", "csv", "json"]);
  const project = await loadValidProject(context, { account: true, interruptible: true });
  const options = { labels: flags.label, integrations: flags.integration };
  const register = await withRun(context, (run) => makeRegister(project, options, run));
  await deliverForms(context, {
    human: (how) => registerText(register, how),
    csv: () => registerCsv(register),
    json: () => jsonDocument({ formatVersion: "1.0", kind: "Register", ...register }),
  });
  return register.exit.code;
}

const indent = "  ";

const headLine = (title: string, beside: string, { paint }: Screen): string =>
  `${paint.bold(visible(title))}   ${paint.dim(visible(beside))}\n`;

/** The totals, then the columns of each integration. */
export function* registerText(register: Register, options: RenderOptions): Iterable<string> {
  const screen = screenOf(options);
  const { width, verbose } = screen;
  const { target, at, summary, rows } = register;
  yield `${headLine(`Register of ${target}`, at, screen)}${wrap(totalText(register), "", width).join("\n")}\n`;
  if (summary.length === 0) return;
  yield `\n${headedTable(summaryTable(register), screen, indent).join("\n")}\n`;
  let isCut = false;
  for (const group of grouped(rows, ({ integrationId }) => integrationId)) {
    const [{ integration, source, destination }] = group;
    const table = columnTable(group);
    const { lines, isWhole } = verbose ? { lines: headedTable(table, screen, indent), isWhole: true } : shortTable(table, screen, indent);
    isCut ||= !isWhole;
    yield `\n${headLine(integration, `${source} → ${destination}`, screen)}${lines.join("\n")}\n`;
  }
  if (isCut) yield `\n${wrap("The terminal is too narrow for everything: -v shows it.", "", width).join("\n")}\n`;
}

export const sourcePath = ({ schema, table, column }: RegisterRow): string => [schema, table, column].map(nameText).join(".");

/** "" if the service returned no names for the destination. */
const destinationPath = ({ destinationSchema, destinationTable, destinationColumn }: RegisterRow): string =>
  [destinationSchema, destinationTable, destinationColumn]
    .filter((name) => name !== "")
    .map(nameText)
    .join(".");

/** "Exempt: DPIA-41, approved by privacy@example.com, expires 2027-03-31"; "Breaks pii-must-be-hashed" */
function verdictText({ exemption, approvedBy, expires, breaks }: RegisterRow): string {
  const exempt = [exemption, approvedBy === "" ? "" : `approved by ${approvedBy}`, expires === "" ? "" : `expires ${expires}`];
  return joinParts(
    [breaks.length === 0 ? "" : `Breaks ${breaks.join(", ")}`, exemption === "" ? "" : `Exempt: ${joinParts(exempt, ", ")}`],
    ". ",
  );
}

/** The columns of an integration, or of several. What matters most is first, because a narrow terminal leaves out the last ones. */
const columnTable = (rows: readonly RegisterRow[]): Table => ({
  heads: ["Column", "State", kindNames.policy, "Label", "Decided by", "Destination"],
  rows: rows.map((row) => [
    [code(sourcePath(row))],
    [stateSpan(row)],
    [verdictText(row)],
    [row.label, muted(row.labelSource)],
    [code(row.rule), muted(row.reason)],
    [code(destinationPath(row))],
  ]),
});

function stateSpan(row: RegisterRow): Span {
  const state = !row.replicated ? "not replicated" : row.hashed ? "hashed" : "readable";
  // Also where the terminal has no room for the policy.
  const text = row.breaks.length === 0 ? state : `${outcomeSigns.failed} ${state}`;
  if (state === "readable") return word(text, row.exemption === "" ? "bad" : "warn");
  return state === "hashed" ? word(text, "good") : muted(text);
}

/** By integration and label. */
const summaryTable = ({ summary }: Register): Table =>
  textTable(
    [kindNames.integration, "Label", "Columns", "Hashed", "Readable", "Exempt", "Not replicated", "Breaking"],
    summary.map(({ integration, label, columns, hashed, readable, exempt, off, breaking }) => [
      integration,
      label,
      ...[columns, hashed, readable, exempt, off, breaking].map(String),
    ]),
  );

/** "14 labelled columns in 2 integrations: 9 hashed, 2 readable, 3 not replicated. 1 breaks a policy." */
function totalText({ rows }: Pick<Register, "rows">): string {
  // A column has a row for each of its labels.
  const columns = grouped(rows, (row) => JSON.stringify([row.integrationId, row.schema, row.table, row.column]));
  const count = (is: (row: RegisterRow) => boolean): number => columns.filter((group) => group.some(is)).length;
  const integrations = new Set(rows.map(({ integrationId }) => integrationId)).size;
  if (columns.length === 0) return "No column has a label.";
  const exempted = count(({ exemption }) => exemption !== "");
  const exempt = exempted === 0 ? "" : ` (${exempted} exempt)`;
  const breaking = count(({ breaks }) => breaks.length > 0);
  const [off, hashed] = [count(({ replicated }) => !replicated), count((row) => row.replicated && row.hashed)];
  return `${counted(columns.length, "labelled column")} in ${counted(integrations, "integration")}: ${hashed} hashed, ${columns.length - off - hashed} readable${exempt}, ${off} not replicated.${breaking === 0 ? "" : ` ${breaking === 1 ? "1 breaks" : `${breaking} break`} a policy.`}`;
}

/** RFC 4180: lines end with CR LF, and values with commas, quotes or line breaks are quoted. No cell has characters that a reader cannot see, or begins a formula. */
const line = (values: readonly string[]): string =>
  `${values
    .map(safeCell)
    .map((value) => (/[",\r\n]/u.test(value) ? `"${value.replaceAll('"', '""')}"` : value))
    .join(",")}\r\n`;

/** Spreadsheets show a cell that begins with an apostrophe as text, without the apostrophe. */
const safeCell = (value: string): string => `${/^[=+\-@\t\r]/u.test(value) ? "'" : ""}${visible(value)}`;

/** The columns of the CSV file, in its order, and the members that they have. */
const registerColumns: readonly (readonly [name: string, member: keyof RegisterRow])[] = [
  ["integration", "integration"],
  ["integration_id", "integrationId"],
  ["schema", "schema"],
  ["table", "table"],
  ["column", "column"],
  ["destination_schema", "destinationSchema"],
  ["destination_table", "destinationTable"],
  ["destination_column", "destinationColumn"],
  ["label", "label"],
  ["label_source", "labelSource"],
  ["replicated", "replicated"],
  ["hashed", "hashed"],
  ["rule", "rule"],
  ["reason", "reason"],
  ["exemption", "exemption"],
  ["approved_by", "approvedBy"],
  ["expires", "expires"],
];

const names = registerColumns.map(([name]) => name);

export const registerCsv = ({ rows }: Register): string =>
  [names, ...rows.map((row) => registerColumns.map(([, member]) => String(row[member])))].map(line).join("");

/** The columns of one integration with one label. */
interface RegisterCount {
  readonly integration: string;
  readonly label: string;
  readonly columns: number;
  /** Not replicated. */
  readonly off: number;
  readonly hashed: number;
  /** Replicated as readable values. */
  readonly readable: number;
  /** How many of those an exemption covers. */
  readonly exempt: number;
  /** How many break a policy of severity error. */
  readonly breaking: number;
}

export interface Register {
  readonly target: string;
  /** The time that it describes, ISO 8601. */
  readonly at: string;
  readonly account: string;
  /** By integration and label. */
  readonly summary: readonly RegisterCount[];
  /** By integration, schema, table, column and label. */
  readonly rows: readonly RegisterRow[];
  readonly exit: Exit;
}

interface RegisterOptions {
  /** Only columns with these labels; all if empty. */
  readonly labels: readonly string[];
  /** Only integrations that one of these patterns matches; all if empty. */
  readonly integrations: readonly string[];
}

/** What happens to every labelled column. Throws DimsyncError, ProblemsError and ServiceError. */
async function makeRegister(project: Project, options: RegisterOptions, run: RunEnvironment): Promise<Register> {
  checkLabels(project, options.labels);
  const at = systemClock.now().toISOString();
  const isWanted = filterOf(options);
  const rows: RegisterRow[] = [];
  await withReads(project, run, async (reads) => {
    const records = await readRecords(project.settings, run);
    const session = { reads, records, today: at.slice(0, 10), onProgress: run.onProgress, integrations: options.integrations };
    for await (const integration of currentRows(project, session)) addAll(rows, integration.filter(isWanted));
  });
  const summary = countsOf(rows);
  const { target, baseUrl } = project.settings;
  return { target, account: accountName(baseUrl), at, summary, rows, exit: registerExit(summary) };
}

function filterOf({ labels, integrations }: RegisterOptions): (row: RegisterRow) => boolean {
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

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

export function countsOf(rows: readonly RegisterRow[]): readonly RegisterCount[] {
  const found = new Map<string, Mutable<RegisterCount>>();
  for (const { integration, label, replicated, hashed, exemption, breaks } of rows) {
    const none = { columns: 0, off: 0, hashed: 0, readable: 0, exempt: 0, breaking: 0 };
    const count = getOrAdd(found, JSON.stringify([integration, label]), () => ({ integration, label, ...none }));
    count.columns++;
    count[!replicated ? "off" : hashed ? "hashed" : "readable"]++;
    if (exemption !== "") count.exempt++;
    if (breaks.length > 0) count.breaking++;
  }
  return [...found.values()].sort((a, b) => byText(a.integration, b.integration) || byText(a.label, b.label));
}

/** 3 if a column breaks a policy of severity error. */
export const registerExit = (summary: readonly RegisterCount[]): Exit =>
  summary.some(({ breaking }) => breaking > 0) ? { code: 3, reasons: ["policy"] } : { code: 0, reasons: [] };
