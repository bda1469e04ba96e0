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
 * Starts the longest files first, so that no worker is left with one of them at the end, and the fast ones last: they fill the
 * gaps. Without its cache, as in CI, vitest starts large files first.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const slow = sorted.filter(({ project }) => project.name === "slow");
    const long = slow.filter((file) => rankOf(file) < longest.length).sort((a, b) => rankOf(a) - rankOf(b));
    // The files of a project stay together: its workers load the sources once.
    return [...new Set([...long, ...slow, ...sorted])];
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.slow.test.ts`));
  return rank < 0 ? longest.length : rank;
}
