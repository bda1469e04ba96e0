// Records are pushed with the token of the job.
import { expect, onTestFinished, test } from "vitest";
import { initGitRecords, openGitRecords } from "../../../src/core/records/git/index.ts";
import { originCredentials } from "../../../src/features/ci/apply-job.ts";
import { gitEnv } from "../../support/git/env.ts";
import { gitHttp } from "../../support/git/http.ts";
import { gitRemote } from "../../support/git/remote.ts";

test("records are read from origin and pushed with the token of the job, as GitLab needs it", async () => {
  const remote = gitRemote();
  const http = await gitHttp(remote.bare);
  onTestFinished(() => http.close());
  const options = { target: "prod", remote: "origin", ref: "refs/dimsync/prod", ttlMs: 60_000, key: undefined };
  const id = await initGitRecords({ ...options, env: gitEnv, folder: remote.clone() });
  http.requireUser("oauth2:project-token");
  const env = { ...gitEnv, GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "user.name", GIT_CONFIG_VALUE_0: "x" };
  const withToken = (token: string) => originCredentials({ pushUrl: http.url, token }, env);

  const records = openGitRecords({ ...options, id, env: withToken("project-token"), folder: remote.clone() });
  const run = await records.begin({ runId: "run-1", waitMs: 0 });
  await run.bind("Asset/a", { id: "d-1" });
  await run.release();
  expect(http.counts().pushes).toBe(1);

  const refused = openGitRecords({ ...options, id, env: withToken("other"), folder: remote.clone() });
  expect((await refused.read()).bindings.size).toBe(1);
  await expect(refused.begin({ runId: "run-2", waitMs: 0 })).rejects.toMatchObject({ code: "E_RECORDS_READ" });
});
