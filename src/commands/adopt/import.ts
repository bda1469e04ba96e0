import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { scopeOf } from "../../engine/scope.ts";
import { type ImportFolders, importFolders } from "../../import/folder.ts";
import type { OtherTarget } from "../../import/other-targets.ts";
import { type ImportedFile, importedFile, importReport, importText } from "../../import/report.ts";
import { type Imported, importAccount } from "../../import/run.ts";
import { createSelection } from "../../import/selection.ts";
import { namesMatcher } from "../../kinds/patterns/names.ts";
import { listTargets, loadProject, type Project } from "../../manifests/project.ts";
import { ProblemsError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import type { Plan } from "../../model/plan.ts";
import { openAccount, systemClock } from "../../operations/account.ts";
import { planAccount } from "../../operations/plan.ts";
import { openRecords } from "../../operations/records.ts";
import type { RunEnvironment } from "../../operations/session.ts";
import type { Context } from "../shared/context.ts";
import type { ImportFlags } from "../shared/flags.ts";
import { checkOutputs, deliverForms } from "../shared/output.ts";
import { showProgress } from "../shared/progress.ts";
import { loadOneProject, loadOptions } from "../shared/project.ts";

/** `dimsync import [ADDRESS…]`: writes manifests and bindings for live objects, or updates them. Sends GET only; writes files. */
export async function runImport(context: Context<ImportFlags>, addresses: readonly string[]): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  checkOutputs(context, ["human", "json"]);
  const project = await loadOneProject(context, { account: true });
  const folders = importFolders(project, flags.out === undefined ? undefined : resolve(cwd, flags.out));
  refuseProblems(project, folders);
  const progress = showProgress(context);
  const run = { env: io.env, signal: io.interrupted, onProgress: progress.onProgress };
  try {
    const files: ImportedFile[] = [];
    const imported = await importFiles({ context, project, folders, run }, addresses, (file) => files.push(file));
    const planned = addresses.length === 0 ? undefined : imported.addresses;
    const plan = flags.dryRun === true ? undefined : await planAfter(context, planned, run);
    const report = importReport({ target: project.settings.target, files, imported, plan });
    progress.end();
    await deliverForms(context, {
      human: () => importText(report, imported.addresses.length),
      json: () => `${JSON.stringify(report, undefined, 2)}\n`,
    });
    return report.exit.code;
  } finally {
    progress.end();
  }
}

/** A folder for manifests that does not exist is no error here: import creates it. */
function refuseProblems(project: Project, { shared, own = shared }: ImportFolders): void {
  const isMissing = !existsSync(shared) || !existsSync(own);
  const errors = project.problems.filter(({ severity, code }) => severity === "error" && !(code === "E_PATH_NOT_FOUND" && isMissing));
  if (errors.length > 0) throw new ProblemsError(errors, project.locate);
}

interface ImportInput {
  readonly context: Context<ImportFlags>;
  readonly project: Project;
  readonly folders: ImportFolders;
  readonly run: RunEnvironment;
}

async function importFiles(
  { context, project, folders, run }: ImportInput,
  addresses: readonly string[],
  onFile: (file: ImportedFile) => void,
): Promise<Imported> {
  const { flags, cwd } = context;
  const selection = createSelection(addresses);
  const others = await otherTargets(context, project, run);
  const records = await openRecords(project.settings, run.env);
  const imported = importAccount(
    project,
    {
      ...{ cwd, folders, dryRun: flags.dryRun === true, literal: flags.literal === true },
      isSelected: selection.isSelected,
      beforeWriting: selection.refuseUnused,
      onFile: (change) => onFile(importedFile(change, cwd)),
    },
    {
      ...{ records, otherTargets: others, signal: run.signal, onProgress: run.onProgress },
      today: systemClock.now().toISOString().slice(0, 10),
      openReads: async () => {
        const account = await openAccount(project.settings, { readOnly: true, env: run.env, signal: run.signal });
        return { reads: account.client.asReadOnly(), close: account.close };
      },
    },
  );
  return await imported.finally(records.close);
}

/** The manifests and bindings of the project's other targets. */
async function otherTargets(
  context: Context<ImportFlags>,
  { settings }: Project,
  { env }: RunEnvironment,
): Promise<readonly OtherTarget[]> {
  const options = loadOptions(context, []);
  const names = (await listTargets(options)).filter((name) => name !== settings.target);
  return await Promise.all(
    names.map(async (target): Promise<OtherTarget> => {
      const other = await loadProject({ ...options, target });
      const records = await openRecords(other.settings, env);
      const { bindings } = await records.read().finally(records.close);
      return { name: target, resources: other.resources, bindings };
    }),
  );
}

/** Loads what was written and plans it. `addresses` undefined: all. */
async function planAfter(context: Context<ImportFlags>, addresses: readonly string[] | undefined, run: RunEnvironment): Promise<Plan> {
  const project = await loadOneProject(context);
  return planAccount(project, addresses === undefined ? {} : { scope: scopeOf(addresses, [], namesMatcher) }, run);
}
