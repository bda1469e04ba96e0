import { openGitRecords } from "../../../src/records/git/index.ts";
import { initGitRecords } from "../../../src/records/git/init.ts";
import { gitEnv } from "../../support/git-env.ts";
import { gitRemote } from "../../support/git-remote.ts";
import { recordsSuite } from "../suite.ts";

const ref = "refs/dimsync/prod";

recordsSuite("git", async () => {
  const remote = gitRemote();
  const options = { target: "prod", remote: "origin", ref, ttlMs: 60_000, key: undefined, env: gitEnv };
  const id = await initGitRecords({ ...options, folder: remote.clone() });
  return { open: async () => openGitRecords({ ...options, id, folder: remote.clone() }) };
});
