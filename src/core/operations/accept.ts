import { type Accepted, acceptDrift, type FileEdit, type Unaccepted, writeEdits } from "../accept/accept.ts";
import { acceptListed } from "../catalog/accept.ts";
import { reviewedIn } from "../catalog/blocks.ts";
import { policyAddress } from "../kinds/manifests.ts";
import { type LoadOptions, listTargets, loadProject, type Project } from "../manifests/project.ts";
import type { NewColumn } from "../model/columns.ts";
import { ProblemsError } from "../model/errors.ts";
import { isWithin } from "../model/json/pointer.ts";
import { nodePointer } from "../model/nodes.ts";
import type { Plan } from "../model/plan.ts";

/** An edited file that other targets read, too. */
export interface SharedEdit extends Pick<FileEdit, "file" | "values"> {
  /** Also those that could not be loaded. */
  readonly targets: readonly string[];
}

interface AcceptOptions {
  readonly load: LoadOptions;
  /** Called before the first write, if other targets read an edited file. */
  readonly onShared: (shared: readonly SharedEdit[]) => void;
}

/** Edits the manifests so that they match the account as the report saw it. Throws like `acceptDrift` and `writeEdits`. */
export async function acceptInFiles(
  project: Project,
  report: Plan,
  { load, onShared }: AcceptOptions,
): Promise<Accepted & { readonly shared: readonly SharedEdit[] }> {
  const accepted = await acceptDrift(report, project, load.cwd);
  const shared = await sharedEdits(project, accepted.edits, load);
  if (shared.length > 0) onShared(shared);
  await writeEdits(accepted.edits);
  return { ...accepted, shared };
}

/** The edits that change what other targets want. Reads no account. */
async function sharedEdits({ settings }: Project, edits: readonly FileEdit[], load: LoadOptions): Promise<readonly SharedEdit[]> {
  if (edits.length === 0) return [];
  const others = (await listTargets(load)).filter((target) => target !== settings.target);
  const readers = await Promise.all(others.map(async (target) => ({ target, files: await filesOf(target, load) })));
  return edits.flatMap(({ file, path, values }): readonly SharedEdit[] => {
    const targets = readers.filter(({ files }) => files?.has(path) !== false).map(({ target }) => target);
    return targets.length === 0 ? [] : [{ file, values, targets }];
  });
}

/** The files that a target reads; undefined if it cannot be loaded. */
async function filesOf(target: string, load: LoadOptions): Promise<ReadonlySet<string> | undefined> {
  try {
    return new Set((await loadProject({ ...load, target, needsAccount: false })).sourceFiles.files);
  } catch (error) {
    if (error instanceof ProblemsError) return undefined;
    throw error;
  }
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
  readonly shared: readonly SharedEdit[];
}

/** The edits of manifests and of the catalog, and what they leave out. Throws like `acceptDrift`. */
export async function acceptedDrift(project: Project, report: Plan, load: LoadOptions): Promise<AcceptedDrift> {
  const { edits, accepted, unaccepted } = await acceptDrift(report, project, load.cwd);
  const { columns, files, leftOut } = acceptedColumns(project, report);
  const reviewed = new Set(columns.map((column) => `${column.address} ${pointerOf(column)}/enabled`));
  return {
    files: [...edits.map(({ path, after }) => ({ path, text: after })), ...files],
    accepted,
    columns,
    leftOut: [...unaccepted.filter(({ address, path }) => !reviewed.has(`${address} ${path}`)), ...leftOut],
    shared: await sharedEdits(project, edits, load),
  };
}

const pointerOf = ({ schema, table, column }: NewColumn): string => nodePointer([schema, table, column]);

/** The new columns for the catalog, without those that a policy of severity error does not allow as they are. */
function acceptedColumns(
  { catalog, settings: { catalogFile } }: Project,
  { newColumns = [], goneColumns = [], policy }: Plan,
): Omit<AcceptedDrift, "accepted" | "shared"> {
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
