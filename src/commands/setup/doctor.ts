import type { Context } from "../../cli/context.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadOneProject } from "../../cli/project.ts";
import { diagnose } from "../../doctor/doctor.ts";
import type { ExitCode } from "../../model/exit.ts";
import { version } from "../../model/runtime/version.ts";
import { openAccount, systemClock } from "../../operations/account.ts";
import { planAccount } from "../../operations/core/plan.ts";
import { checkStore, readRecords } from "../../operations/records/open.ts";
import { doctorSections } from "../../render/report/doctor.ts";
import { sectionsText } from "../../render/terminal/blocks.ts";
import { jsonDocument } from "../../text/control-characters.ts";

/** `dimsync doctor`: checks everything that a plan needs. Sends GET only; exit 1 if a check fails. */
export async function runDoctor(context: Context): Promise<ExitCode> {
  const { io } = context;
  checkOutputs(context, ["human", "json"]);
  const project = await loadOneProject(context, { interruptible: true });
  const report = await withRun(context, ({ env, signal, onProgress }) =>
    diagnose(project, {
      env,
      versions: { dimsync: version, node: process.versions.node },
      now: () => systemClock.now().getTime(),
      planDiagnostics: async () => (await planAccount(project, {}, { env, signal, onProgress })).diagnostics,
      readRecords: () => readRecords(project.settings, { env }),
      checkStore: (state) => checkStore(project.settings, env, state),
      openAccount: (onCall) => openAccount(project, { readOnly: true, env, signal, onCall }),
    }),
  );
  // Reads that an interruption ended look like failed checks.
  io.interrupted.throwIfAborted();
  await deliverForms(context, { human: (options) => sectionsText(doctorSections(report), options), json: () => jsonDocument(report) });
  return report.exit.code;
}
