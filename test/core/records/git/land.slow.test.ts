// A push is tried again only while there is time for a whole attempt.
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { land } from "../../../../src/core/records/git/land.ts";
import { openRepositories } from "../../../../src/core/records/git/repository.ts";
import { gitEnv } from "../../../support/git/env.ts";
import { git, gitRemote } from "../../../support/git/remote.ts";
import { testClock } from "../clock.ts";

const ref = "refs/dimsync/prod";

/** A remote that refuses every push, and a commit that could be pushed. */
async function refusing() {
  const remote = gitRemote();
  git(remote.bare, "update-ref", ref, "main");
  const hook = join(remote.bare, "hooks", "pre-receive");
  writeFileSync(hook, "#!/bin/sh\nexit 1\n");
  chmodSync(hook, 0o755);
  const { toWrite: repository } = await openRepositories({ folder: remote.clone(), remote: "origin", ref, env: gitEnv });
  expect(await repository.fetch()).toBe("fetched");
  const parent = remote.tip(ref) ?? "";
  const commit = git(repository.place.gitDir ?? "", "commit-tree", "-p", parent, "-m", "next", `${parent}^{tree}`);
  return { repository, commit, parent };
}

it.each([
  ["begins another attempt if there is time for one that takes twice as long", 19_000, 2],
  ["begins no attempt that could be cut short, so that a refused push is not unclear", 29_000, 1],
])("%s", async (_sentence, attemptMs, attempts) => {
  const { repository, commit, parent } = await refusing();
  const clock = testClock();
  const timeouts: number[] = [];
  const slow: typeof repository = {
    ...repository,
    async push(next, before, timeoutMs) {
      timeouts.push(timeoutMs);
      const report = await repository.push(next, before, timeoutMs);
      clock.advance(attemptMs);
      return report;
    },
  };
  expect(await land(slow, { commit, parent }, { timeLimitMs: 60_000, clock })).toMatchObject({ outcome: "refused" });
  expect(timeouts).toHaveLength(attempts);
});
