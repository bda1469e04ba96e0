import { ProblemsError } from "../base/model/errors.ts";
import type { Plan } from "../base/model/plan.ts";
import type { Accepted, FileEdit } from "../drift/accept/index.ts";
import { acceptDrift, writeEdits } from "../drift/accept/index.ts";
import type { LoadOptions, Project } from "../manifests/index.ts";
import { listTargets, loadProject } from "../manifests/index.ts";

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
  return edits.flatMap(({ file, path, values: all }): readonly SharedEdit[] => {
    // A new SchemaConfig is for the target alone.
    const values = all.filter(({ isInNew }) => !isInNew);
    const targets = readers.filter(({ files }) => files?.has(path) !== false).map(({ target }) => target);
    return targets.length === 0 || values.length === 0 ? [] : [{ file, values, targets }];
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
