import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take more than 15 s, without `test/` and `.slow.test.ts`, longest first; those that mostly wait take longest. */
const longest = [
  "controller/controller-work",
  "controller/alerts/outbox-processes",
  "records/git/push-outcomes",
  "faults/matrix",
  "commands/records/move-records",
  "records/git/apply",
  "records/git/transports",
  "ci/ci-rehearsal",
  "records/git/hammer",
  "records/postgres/faults",
  "controller/work/queue",
  "records/git/suite",
  "ci/gitlab-template",
  "controller/controller",
  "controller/page/server-browser",
  "faults/controller",
  "faults/processes",
];

/**
 * Starts the longest files first, so that no worker is left with one of them at the end. Without its
 * cache, as in CI, vitest starts large files first.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => rankOf(moduleId) < longest.length;
    const sorted = await super.sort(files);
    const others = sorted.filter((file) => !isLong(file));
    const long = sorted.filter(isLong).sort((a, b) => rankOf(a.moduleId) - rankOf(b.moduleId));
    // The files of a project stay together: its workers load the sources once.
    const firstSlow = others.findIndex(({ project }) => project.name === "slow");
    return others.toSpliced(firstSlow < 0 ? others.length : firstSlow, 0, ...long);
  }
}

function rankOf(moduleId: string): number {
  const rank = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.slow.test.ts`));
  return rank < 0 ? longest.length : rank;
}
