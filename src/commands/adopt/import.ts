import { resolve } from "node:path";
import type { ExitCode } from "../../model/exit.ts";
import { importProject } from "../../operations/import.ts";
import { importText } from "../../render/terminal/import.ts";
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
  const progress = showProgress(context);
  const run = { env: io.env, signal: io.interrupted, onProgress: progress.onProgress };
  const { dryRun = false, literal = false } = flags;
  const out = flags.out === undefined ? undefined : resolve(cwd, flags.out);
  try {
    const { report, manifests } = await importProject(project, { load: loadOptions(context, []), addresses, out, dryRun, literal }, run);
    progress.end();
    await deliverForms(context, {
      human: (options) => importText(report, manifests, options),
      json: () => `${JSON.stringify(report, undefined, 2)}\n`,
    });
    return report.exit.code;
  } finally {
    progress.end();
  }
}
