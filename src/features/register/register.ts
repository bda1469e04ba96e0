import { unknownLabel } from "../../core/kinds/label-references.ts";
import { nameMatcher } from "../../core/kinds/patterns/names.ts";
import type { Project } from "../../core/manifests/project.ts";
import { byText } from "../../core/model/address.ts";
import { DimsyncError, refuseErrors } from "../../core/model/errors.ts";
import type { Exit } from "../../core/model/exit.ts";
import { getOrAdd } from "../../core/model/maps.ts";
import { problemAt } from "../../core/model/problem.ts";
import type { Register, RegisterCount, RegisterRow } from "../../core/model/register.ts";
import { systemClock } from "../../core/model/runtime/clock.ts";
import { accountName } from "../../core/model/settings/config.ts";
import { readRecords } from "../../core/operations/open-records.ts";
import type { RunEnvironment } from "../../core/operations/run.ts";
import { withReads } from "../../core/operations/run.ts";
import { currentRows } from "./current.ts";

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
  const tally = newTally();
  await withReads(project, run, async (reads) => {
    const records = await readRecords(project.settings, run);
    const session = { reads, records, today: at.slice(0, 10), onProgress: run.onProgress, integrations: options.integrations };
    for await (const integration of currentRows(project, session)) {
      const wanted = integration.filter(isWanted);
      for (const row of wanted) rows.push(row);
      tally.add(wanted);
    }
  });
  const summary = tally.counts();
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
