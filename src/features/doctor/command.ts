import type { Context } from "../../cli/context.ts";
import type { DoctorFlags } from "../../cli/flags.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadOneProject } from "../../cli/project.ts";
import type { ExitCode } from "../../core/model/exit.ts";
import { sectionsText } from "../../core/render/terminal/blocks.ts";
import { jsonDocument } from "../../core/text/control-characters.ts";
import { diagnose } from "./doctor.ts";
import { doctorSections } from "./sections.ts";

/** `dimsync doctor`: checks everything that a plan needs. Sends GET only; exit 1 if a check fails. */
export async function runDoctor(context: Context<DoctorFlags>): Promise<ExitCode> {
  checkOutputs(context, ["human", "json"]);
  const project = await loadOneProject(context, { interruptible: true });
  const report = await withRun(context, (run) => diagnose(project, { allIntegrations: context.flags.allIntegrations === true }, run));
  // Reads that an interruption ended look like failed checks.
  context.io.interrupted.throwIfAborted();
  await deliverForms(context, { human: (options) => sectionsText(doctorSections(report), options), json: () => jsonDocument(report) });
  return report.exit.code;
}
