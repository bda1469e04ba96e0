import { existsSync } from "node:fs";
import { scopeOf } from "../../engine/scope.ts";
import { type ImportFolders, importFolders } from "../../import/folder.ts";
import type { OtherTarget } from "../../import/other-targets.ts";
import { type ImportedFile, type ImportReport, importedFile, importReport } from "../../import/report.ts";
import { type Imported, importAccount } from "../../import/run.ts";
import { createSelection } from "../../import/selection.ts";
import { namesMatcher } from "../../kinds/patterns/names.ts";
import { type LoadOptions, listTargets, loadProject, type Project } from "../../manifests/project.ts";
import { refuseErrors } from "../../model/errors.ts";
import type { Plan } from "../../model/plan.ts";
import { systemClock } from "../account.ts";
import { planAccount } from "../core/plan.ts";
import { withReads } from "../reads.ts";
import { openRecords } from "../records/open.ts";
import type { RunEnvironment } from "../session.ts";

export interface ImportProjectOptions {
  /** Globs on addresses: "Integration/orders", "Tag/*". Empty or absent: everything. */
  readonly addresses?: readonly string[];
  /** Absolute path of the folder for new files; by default the first folder of the config's `manifests`. */
  readonly out?: string | undefined;
  /** Reports what would be written, and writes nothing. */
  readonly dryRun?: boolean;
  /** Writes schemas as a literal tree instead of rules. */
  readonly literal?: boolean;
}

export interface ProjectImport {
  readonly report: ImportReport;
  /** How many manifests were written or found. */
  readonly manifests: number;
}

/**
 * Writes manifests and bindings for live objects, or updates them, and plans the result. Sends GET only; writes files. `load`: how the project was
 * loaded. Throws ProblemsError, E_LOCKED while an apply runs, E_OUTPUT and ServiceError.
 */
export async function importProject(
  project: Project,
  options: ImportProjectOptions & { readonly load: LoadOptions },
  run: RunEnvironment,
): Promise<ProjectImport> {
  const { load, addresses = [], dryRun = false } = options;
  const folders = importFolders(project, options.out);
  refuseProblems(project, folders);
  const files: ImportedFile[] = [];
  const imported = await importFiles({ project, folders, options, run }, (file) => files.push(file));
  const plan = dryRun
    ? undefined
    : await planAfter(project, { load, addresses: addresses.length === 0 ? undefined : imported.addresses }, run);
  const report = importReport({ target: project.settings.target, files, imported, plan });
  return { report, manifests: imported.addresses.length };
}

/** A missing folder for manifests is not an error here: import creates it. */
function refuseProblems(project: Project, { shared, own = shared }: ImportFolders): void {
  const isMissing = !existsSync(shared) || !existsSync(own);
  refuseErrors(
    project.problems.filter(({ code }) => !(code === "E_PATH_NOT_FOUND" && isMissing)),
    project.locate,
  );
}

interface ImportInput {
  readonly project: Project;
  readonly folders: ImportFolders;
  readonly options: ImportProjectOptions & { readonly load: LoadOptions };
  readonly run: RunEnvironment;
}

async function importFiles({ project, folders, options, run }: ImportInput, onFile: (file: ImportedFile) => void): Promise<Imported> {
  const { load, addresses = [], dryRun = false, literal = false } = options;
  const { cwd } = load;
  const selection = createSelection(addresses);
  const others = await otherTargets(project, load, run);
  const records = await openRecords(project.settings, run.env);
  const imported = importAccount(
    project,
    {
      cwd,
      folders,
      dryRun,
      literal,
      isSelected: selection.isSelected,
      beforeWriting: selection.refuseUnused,
      onFile: (change) => onFile(importedFile(change, cwd)),
    },
    {
      records,
      otherTargets: others,
      signal: run.signal,
      onProgress: run.onProgress,
      today: systemClock.now().toISOString().slice(0, 10),
      withReads: (work) => withReads(project, run, work),
    },
  );
  return await imported.finally(records.close);
}

/** The manifests and bindings of the project's other targets. */
async function otherTargets({ settings }: Project, load: LoadOptions, { env }: RunEnvironment): Promise<readonly OtherTarget[]> {
  const names = (await listTargets(load)).filter((name) => name !== settings.target);
  return await Promise.all(
    names.map(async (target): Promise<OtherTarget> => {
      const other = await loadProject({ ...load, target });
      const records = await openRecords(other.settings, env);
      const { bindings } = await records.read().finally(records.close);
      return { name: target, resources: other.resources, bindings };
    }),
  );
}

interface AfterImport {
  readonly load: LoadOptions;
  /** Undefined: all. */
  readonly addresses: readonly string[] | undefined;
}

/** Loads what was written and plans it. */
async function planAfter({ settings }: Project, { load, addresses }: AfterImport, run: RunEnvironment): Promise<Plan> {
  const project = await loadProject({ ...load, target: settings.target });
  return planAccount(project, addresses === undefined ? {} : { scope: scopeOf(addresses, [], namesMatcher) }, run);
}
