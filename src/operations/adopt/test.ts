import { readAssertions } from "../../assertions/parse.ts";
import { type TestReport, testReport } from "../../assertions/report.ts";
import { runAssertions } from "../../assertions/run.ts";
import type { Project } from "../../manifests/project.ts";
import { ProblemsError } from "../../model/errors.ts";
import { systemClock } from "../account.ts";
import { openReads } from "../open-reads.ts";
import { readRecords } from "../records/open.ts";
import type { RunEnvironment } from "../session.ts";

export interface TestFiles {
  /** Absolute paths of the test files. */
  readonly files: readonly string[];
  /** The folder to which the paths in the report are relative. */
  readonly cwd: string;
}

/** Checks tests on the manifests and the account, or the run's snapshot. Sends GET only. Throws ProblemsError and ServiceError. */
export async function testProject(project: Project, { files, cwd }: TestFiles, run: RunEnvironment): Promise<TestReport> {
  const assertions = files.flatMap((file) => readAssertions(cwd, file, project.labels?.defined ?? []));
  const errors = project.problems.filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new ProblemsError(errors, project.locate);
  const source = run.snapshotFile === undefined ? project : { snapshotFile: run.snapshotFile };
  const { reads, close } = await openReads(source, run);
  try {
    const today = systemClock.now().toISOString().slice(0, 10);
    const records = await readRecords(project.settings, run);
    const outcomes = await runAssertions(project, assertions, { reads, records, today, onProgress: run.onProgress });
    return testReport(project.settings.target, outcomes);
  } finally {
    await close();
  }
}
