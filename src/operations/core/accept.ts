import { acceptListed } from "../../catalog/accept.ts";
import { reviewedIn } from "../../catalog/blocks.ts";
import { type Accepted, acceptDrift, type Unaccepted, writeEdits } from "../../drift/accept.ts";
import { policyAddress } from "../../kinds/manifests.ts";
import { type LoadOptions, listTargets, type Project } from "../../manifests/project.ts";
import type { NewColumn } from "../../model/columns.ts";
import { isWithin } from "../../model/json/pointer.ts";
import { nodePointer } from "../../model/nodes.ts";
import type { Plan } from "../../model/plan.ts";
import { writeAtomic } from "../../records/files/atomic.ts";

/** Edits the manifests so that they match the account as the report saw it. Throws like `acceptDrift` and `writeEdits`. */
export async function acceptInFiles(
  project: Project,
  report: Plan,
  load: LoadOptions,
): Promise<Accepted & { /** To which the manifests may also apply. */ readonly otherTargets: readonly string[] }> {
  const accepted = await acceptDrift(report, project, load.cwd);
  await writeEdits(accepted.edits, writeAtomic);
  const targets = accepted.edits.length === 0 ? [] : await listTargets(load);
  return { ...accepted, otherTargets: targets.filter((name) => name !== project.settings.target) };
}

/** What accepts the drift of a report. Nothing is written. */
export interface AcceptedDrift {
  /** Manifests and the catalog: whole texts, by absolute path. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** The differences that the edits of the manifests accept. */
  readonly accepted: Accepted["accepted"];
  /** The new columns that the catalog accepts. */
  readonly columns: readonly NewColumn[];
  readonly leftOut: readonly Unaccepted[];
}

/** The edits of manifests and of the catalog, and what they leave out. Shown names are relative to `cwd`. Throws like `acceptDrift`. */
export async function acceptedDrift(project: Project, report: Plan, cwd: string): Promise<AcceptedDrift> {
  const { edits, accepted, unaccepted } = await acceptDrift(report, project, cwd);
  const { columns, files, leftOut } = acceptedColumns(project, report);
  const reviewed = new Set(columns.map((column) => `${column.address} ${pointerOf(column)}/enabled`));
  return {
    files: [...edits.map(({ path, after }) => ({ path, text: after })), ...files],
    accepted,
    columns,
    leftOut: [...unaccepted.filter(({ address, path }) => !reviewed.has(`${address} ${path}`)), ...leftOut],
  };
}

const pointerOf = ({ schema, table, column }: NewColumn): string => nodePointer([schema, table, column]);

/** The new columns for the catalog, without those that a policy of severity error does not allow as they are. */
function acceptedColumns(
  { catalog, settings: { catalogFile } }: Project,
  { newColumns = [], goneColumns = [], policy }: Plan,
): Omit<AcceptedDrift, "accepted"> {
  if (catalog === undefined || catalogFile === undefined || newColumns.length + goneColumns.length === 0)
    return { files: [], columns: [], leftOut: [] };
  const findingOf = (column: NewColumn) =>
    policy.find(({ severity, address, path }) => severity === "error" && address === column.address && isWithin(path, pointerOf(column)));
  const leftOut = newColumns.flatMap((column): readonly Unaccepted[] => {
    const finding = findingOf(column);
    if (finding === undefined) return [];
    const why = `${policyAddress(finding.policy)} does not allow the new column as it is. Fix it in the account, or add an exemption to the policy.`;
    return [{ address: column.address, path: pointerOf(column), why }];
  });
  const columns = newColumns.filter((column) => findingOf(column) === undefined);
  const text = acceptListed(reviewedIn(catalog.columns), { newColumns: columns, goneColumns });
  return { columns, leftOut, files: text === catalog.text ? [] : [{ path: catalogFile, text }] };
}
