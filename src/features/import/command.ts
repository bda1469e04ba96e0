import { resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import type { ImportFlags } from "../../cli/flags.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadOneProject, loadOptions } from "../../cli/project.ts";
import type { Project } from "../../core/manifests/project.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { sectionsText } from "../../core/render/terminal/blocks.ts";
import { jsonDocument } from "../../core/text/control-characters.ts";
import { importProject } from "./import.ts";
import { importSections } from "./sections.ts";

/** `dimsync import [ADDRESS…]`: writes manifests and bindings for live objects, or updates them. Sends GET only; writes files. */
export async function runImport(context: Context<ImportFlags>, addresses: readonly string[]): Promise<ExitCode> {
  const { flags, cwd } = context;
  checkOutputs(context, ["human", "json"]);
  const project = await loadOneProject(context, { account: true });
  if (flags.suggest === true) return suggest(context, addresses, project);
  const { dryRun = false, literal = false } = flags;
  const out = flags.out === undefined ? undefined : resolve(cwd, flags.out);
  const options = { load: loadOptions(context, []), addresses, out, dryRun, literal };
  const { report, manifests } = await withRun(context, (run) => importProject(project, options, run));
  await deliverForms(context, {
    human: (how) => sectionsText(importSections(report, manifests), how),
    json: () => jsonDocument(report),
  });
  return report.exit.code;
}

/** `import --suggest`: prints a Classification to confirm. Writes nothing. */
async function suggest(context: Context<ImportFlags>, addresses: readonly string[], project: Project): Promise<ExitCode> {
  const { flags } = context;
  if (addresses.length > 0 || flags.out !== undefined || flags.dryRun === true || flags.literal === true)
    throw new DimsyncError(
      "E_USAGE",
      "--suggest prints a Classification and writes nothing. Use it without addresses, --out, --dry-run and --literal.",
      {
        command: "dimsync import --suggest > manifests/personal.yaml",
      },
    );
  const { suggestClassification } = await import("./suggest.ts");
  const { suggestion, yaml } = await withRun(context, (run) => suggestClassification(project, run));
  await deliverForms(context, { human: () => yaml, json: () => jsonDocument(suggestion) });
  return 0;
}
