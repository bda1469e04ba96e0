import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take more than 12 s, without `test/` and `.slow.test.ts`, longest first. */
const longest = [
  "controller/alerts/outbox-processes",
  "controller/controller-work",
  "records/git/hammer",
  "faults/matrix",
  "records/git/push-outcomes",
  "records/postgres/suite",
  "faults/controller",
  "faults/processes",
  "controller/page/server-browser",
  "records/git/apply",
  "library/bundled",
  "security/bounds",
  "records/postgres/faults",
  "ci/ci-rehearsal",
  "commands/adopt/catalog",
  "security/code",
  "ci/gitlab-template",
  "records/git/transports",
  "cli/memory",
  "cli/completion",
  "faults/controller-database",
  "controller/work/queue",
  "security/service",
  "records/git/suite",
  "kinds/new-kind",
  "faults/canary",
];

/**
 * Starts the longest files first, so that no worker is left with one of them at the end, and the fast ones last: they fill the
 * gaps. Without its cache, as in CI, vitest starts large files first.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const slow = sorted.filter(({ moduleId }) => moduleId.endsWith(".slow.test.ts"));
    const long = slow.filter((file) => rankOf(file) < longest.length).sort((a, b) => rankOf(a) - rankOf(b));
    return [...new Set([...long, ...slow, ...sorted])];
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.slow.test.ts`));
  return rank < 0 ? longest.length : rank;
}
