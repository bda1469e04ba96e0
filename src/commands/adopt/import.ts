import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import type { ImportFlags } from "../../cli/flags.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { showProgress } from "../../cli/progress.ts";
import { loadOneProject, loadOptions } from "../../cli/project.ts";
import type { Project } from "../../manifests/project.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import { importProject } from "../../operations/adopt/import.ts";
import { importText } from "../../render/terminal/import.ts";
import { jsonDocument } from "../../text/control-characters.ts";

/** `dimsync import [ADDRESS…]`: writes manifests and bindings for live objects, or updates them. Sends GET only; writes files. */
export async function runImport(context: Context<ImportFlags>, addresses: readonly string[]): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  checkOutputs(context, ["human", "json"]);
  const project = await loadOneProject(context, { account: true });
  if (flags.suggest === true) return suggest(context, addresses, project);
  const progress = showProgress(context);
  const run = { env: io.env, signal: io.interrupted, onProgress: progress.onProgress };
  const { dryRun = false, literal = false } = flags;
  const out = flags.out === undefined ? undefined : resolve(cwd, flags.out);
  try {
    const { report, manifests } = await importProject(project, { load: loadOptions(context, []), addresses, out, dryRun, literal }, run);
    progress.end();
    await deliverForms(context, {
      human: (options) => importText(report, manifests, options),
      json: () => jsonDocument(report),
    });
    return report.exit.code;
  } finally {
    progress.end();
  }
}

/** `import --suggest`: prints a Classification to confirm. Writes nothing. */
async function suggest(context: Context<ImportFlags>, addresses: readonly string[], project: Project): Promise<ExitCode> {
  const { io, flags } = context;
  if (addresses.length > 0 || flags.out !== undefined || flags.dryRun === true || flags.literal === true)
    throw new DimsyncError(
      "E_USAGE",
      "--suggest prints a Classification and writes nothing. Use it without addresses, --out, --dry-run and --literal.",
      {
        command: "dimsync import --suggest > manifests/personal.yaml",
      },
    );
  const [{ suggestClassification }, { suggestionYaml }] = await Promise.all([
    import("../../operations/adopt/suggest.ts"),
    import("../../import/suggest.ts"),
  ]);
  const progress = showProgress(context);
  try {
    const suggestion = await suggestClassification(project, { env: io.env, signal: io.interrupted, onProgress: progress.onProgress });
    progress.end();
    await deliverForms(context, { human: () => suggestionYaml(suggestion), json: () => jsonDocument(suggestion) });
    return 0;
  } finally {
    progress.end();
  }
}
