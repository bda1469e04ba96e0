import { join, resolve } from "node:path";
import { readAssertions } from "../../assertions/parse.ts";
import { testJunit, testReport, testText } from "../../assertions/report.ts";
import { runAssertions } from "../../assertions/run.ts";
import { ProblemsError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import { systemClock } from "../../operations/account.ts";
import { readRecords } from "../../operations/records.ts";
import type { Context } from "../shared/context.ts";
import type { TestFlags } from "../shared/flags.ts";
import { checkOutputs, deliverForms } from "../shared/output.ts";
import { showProgress } from "../shared/progress.ts";
import { loadOneProject } from "../shared/project.ts";
import { openReads } from "./open-reads.ts";

const defaultFile = "dimsync.tests.yaml";

/** `dimsync test [FILE…]`: checks tests on the manifests and the account or a snapshot. Sends GET only; exit 1 if a test fails. */
export async function runTest(context: Context<TestFlags>, files: readonly string[]): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  checkOutputs(context, ["human", "json", "junit"]);
  const project = await loadOneProject(context, { account: flags.snapshot === undefined });
  const { folder, target } = project.settings;
  const paths = files.length > 0 ? files.map((file) => resolve(cwd, file)) : [join(folder, defaultFile)];
  const assertions = paths.flatMap((path) => readAssertions(cwd, path));
  const errors = project.problems.filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new ProblemsError(errors, project.locate);
  const progress = showProgress(context);
  const snapshot = flags.snapshot === undefined ? undefined : resolve(cwd, flags.snapshot);
  const { reads, close } = await openReads(project, snapshot, { env: io.env, signal: io.interrupted });
  try {
    const today = systemClock.now().toISOString().slice(0, 10);
    const records = await readRecords(project.settings, { env: io.env });
    const outcomes = await runAssertions(project, assertions, { reads, records, today, onProgress: progress.onProgress });
    const report = testReport(target, outcomes);
    progress.end();
    await deliverForms(context, {
      human: () => testText(report),
      json: () => `${JSON.stringify(report, undefined, 2)}\n`,
      junit: (options) => testJunit(report, options),
    });
    return report.exit.code;
  } finally {
    progress.end();
    await close();
  }
}
