import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take more than 15 s of processor time, without `test/` and `.slow.test.ts`, longest first. */
const longest = [
  "faults/matrix",
  "ci/ci-rehearsal",
  "faults/matrix-postgres",
  "cli/memory",
  "records/git/push-outcomes",
  "records/git/apply",
  "controller/controller-work",
  "controller/controller",
  "records/git/hammer",
  "ci/gitlab-template",
  "records/git/suite",
  "records/git/transports",
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
