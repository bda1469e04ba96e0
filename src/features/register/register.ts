import { byText } from "../../core/base/model/address.ts";
import { DimsyncError, refuseErrors } from "../../core/base/model/errors.ts";
import type { Exit } from "../../core/base/model/exit.ts";
import { addAll, getOrAdd } from "../../core/base/model/maps.ts";
import { problemAt } from "../../core/base/model/problem.ts";
import { systemClock } from "../../core/base/model/runtime/clock.ts";
import { accountName } from "../../core/base/model/settings/config.ts";
import { nameMatcher, unknownLabel } from "../../core/kinds/index.ts";
import type { Project } from "../../core/manifests/index.ts";
import type { RunEnvironment } from "../../core/operations/index.ts";
import { readRecords, withReads } from "../../core/operations/index.ts";
import { currentRows, type RegisterRow } from "./current.ts";

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
export async function makeRegister(project: Project, options: RegisterOptions, run: RunEnvironment): Promise<Register> {
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
