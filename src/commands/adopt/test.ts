import { join, resolve } from "node:path";
import { testJunit } from "../../assertions/report.ts";
import type { ExitCode } from "../../model/exit.ts";
import { testProject } from "../../operations/adopt/test.ts";
import { testsText } from "../../render/terminal/tests.ts";
import { jsonDocument } from "../../text/control-characters.ts";
import type { Context } from "../shared/context.ts";
import type { TestFlags } from "../shared/flags.ts";
import { checkOutputs, deliverForms } from "../shared/output.ts";
import { showProgress } from "../shared/progress.ts";
import { loadOneProject } from "../shared/project.ts";

const defaultFile = "dimsync.tests.yaml";

/** `dimsync test [FILE…]`: checks tests on the manifests and the account or a snapshot. Sends GET only; exit 1 if a test fails. */
export async function runTest(context: Context<TestFlags>, files: readonly string[]): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  checkOutputs(context, ["human", "json", "junit"]);
  const project = await loadOneProject(context, { account: flags.snapshot === undefined });
  const paths = files.length > 0 ? files.map((file) => resolve(cwd, file)) : [join(project.settings.folder, defaultFile)];
  const progress = showProgress(context);
  const snapshotFile = flags.snapshot === undefined ? undefined : resolve(cwd, flags.snapshot);
  const run = { env: io.env, signal: io.interrupted, onProgress: progress.onProgress, snapshotFile };
  try {
    const report = await testProject(project, { files: paths, cwd }, run);
    progress.end();
    await deliverForms(context, {
      human: (options) => testsText(report.tests, options),
      json: () => jsonDocument(report),
      junit: (options) => testJunit(report, options),
    });
    return report.exit.code;
  } finally {
    progress.end();
  }
}
