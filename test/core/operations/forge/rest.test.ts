// A call to the forge is repeated only if that is safe, and fails with the reason.
import { describe, expect, test } from "vitest";
import { openRest, type RestOptions } from "../../../../src/core/operations/forge/rest.ts";
import { type GithubStandIn, githubToken, startGithub } from "../../../features/ci/github-stand-in.ts";
import { clockWithoutWaiting } from "../../../support/clock.ts";

const headers = { authorization: `Bearer ${githubToken}` };
const restOf = ({ url }: Pick<GithubStandIn, "url">, options: Partial<RestOptions> = {}) =>
  openRest({ name: "GitHub", baseUrl: url, headers, env: {}, clock: clockWithoutWaiting(), ...options });
const path = "/repos/example/data/issues/7/comments";
const body = { body: "text" };

describe("repeated calls", () => {
  test("a read after 502, and after a reset within the response", async () => {
    const github = await startGithub();
    for (const status of [502, "reset"] as const) {
      github.refuse = { matches: /^GET/u, status, times: 2 };
      expect(await restOf(github).list(path)).toEqual([]);
    }
    github.refuse = { matches: /^GET/u, status: "reset", times: 9 };
    await expect(restOf(github).list(path)).rejects.toMatchObject({ code: "E_FORGE" });
  });

  test("a POST only if the caller can look up whether it was carried out", async () => {
    const github = await startGithub();
    github.refuse = { matches: /^POST/u, status: 502, times: 1 };
    await expect(restOf(github).call("POST", path, { body })).rejects.toMatchObject({ code: "E_FORGE" });
    expect(github.calls).toEqual([`POST ${path}`]);
    github.refuse = { matches: /^POST/u, status: 502, times: 1 };
    expect(await restOf(github).call("POST", path, { body, isCreated: async () => false })).toMatchObject(body);
  });

  test("any call that GitHub refuses because there were too many", async () => {
    const github = await startGithub();
    const message = "You have exceeded a secondary rate limit.";
    github.refuse = { matches: /^POST/u, status: 403, times: 1, message };
    expect(await restOf(github).call("POST", path, { body })).toMatchObject(body);
    github.refuse = { matches: /^POST/u, status: 403, times: 9, message };
    await expect(restOf(github).call("POST", path, { body })).rejects.toMatchObject({ code: "E_FORGE" });
  });
});

describe("what fails", () => {
  test("a token without the permission: the message has GitHub's reason, and not the token", async () => {
    const github = await startGithub();
    github.refuse = { matches: /^POST/u, status: 403, times: 1 };
    const error = await restOf(github)
      .call("POST", path, { body })
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "E_FORGE_FORBIDDEN" });
    expect(String(error)).toContain("Resource not accessible by integration");
    expect(String(error)).not.toContain(githubToken);
  });

  test("an interruption ends a call and a pause at once", async () => {
    const github = await startGithub();
    github.refuse = { matches: /^GET/u, status: 502, times: 9 };
    const during = new AbortController();
    const clock = { now: () => new Date(), sleep: async () => during.abort() };
    for (const signal of [AbortSignal.abort(), during.signal])
      await expect(restOf(github, { signal, clock }).call("GET", "/x")).rejects.toMatchObject({
        code: "E_INTERRUPTED",
        exit: 130,
      });
  });

  test("a server that cannot be reached", async () => {
    await expect(restOf({ url: "http://127.0.0.1:1" }).call("GET", "/x")).rejects.toMatchObject({
      code: "E_FORGE",
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });
});
