import type { Context } from "../../cli/context.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadOneProject } from "../../cli/project.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import { jsonDocument } from "../../core/base/text/control-characters.ts";
import { counted } from "../../core/base/text/counts.ts";
import type { Entry, Section, Tone } from "../../core/render/index.ts";
import { untitled, word } from "../../core/render/index.ts";
import { sectionsText } from "../../core/render/terminal/index.ts";
import { type DoctorReport, diagnose } from "./doctor.ts";

/** `dimsync doctor`: checks everything that a plan needs. Sends GET only; exit 1 if a check fails. */
export async function runDoctor(context: Context): Promise<ExitCode> {
  checkOutputs(context, ["human", "json"]);
  const project = await loadOneProject(context, { interruptible: true });
  const report = await withRun(context, (run) => diagnose(project, run));
  // Reads that an interruption ended look like failed checks.
  context.io.interrupted.throwIfAborted();
  await deliverForms(context, { human: (options) => sectionsText(doctorSections(report), options), json: () => jsonDocument(report) });
  return report.exit.code;
}

const tones: Readonly<Record<DoctorReport["checks"][number]["state"], Tone>> = { ok: "good", warn: "warn", fail: "bad" };

/** Each check with what to do, then whether a plan can be made. */
export function doctorSections({ checks }: Pick<DoctorReport, "checks">): readonly Section[] {
  const entries = checks.flatMap(({ check, state, found, advice }): readonly Entry[] => [
    { head: [[word(state, tones[state])], [check], [found]] },
    ...(advice === undefined ? [] : [{ head: [[], [], [advice]] }]),
  ]);
  const count = (wanted: string): number => checks.filter(({ state }) => state === wanted).length;
  const summary = count("fail") === 0 ? "Ready to plan." : "Fix the failed checks first.";
  const counts = `${count("ok")} ok, ${counted(count("warn"), "warning")}, ${count("fail")} failed.`;
  return [untitled("checks", entries), untitled("summary", [{ head: [[`${summary} ${counts}`]] }])];
}
