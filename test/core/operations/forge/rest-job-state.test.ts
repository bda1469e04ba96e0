// Whether a job has ended is asked from the forge, and unknown if it does not answer.
import { describe, expect, test } from "vitest";
import { readCiEnvironment } from "../../../../src/core/operations/forge/environment.ts";
import { hasJobEnded } from "../../../../src/core/operations/forge/rest.ts";
import { type Loopback, serve } from "../../../support/loopback.ts";

/** A server that has one answer for one path. */
async function serverWith(path: string, answer: unknown, status = 200): Promise<Loopback> {
  return await serve(({ url, headers }, response) => {
    const isAllowed = headers.authorization === "Bearer t" || headers["private-token"] === "t";
    const code = isAllowed ? (url === path ? status : 404) : 401;
    response.writeHead(code, { "content-type": "application/json" }).end(typeof answer === "string" ? answer : JSON.stringify(answer));
  });
}

const signal = new AbortController().signal;
const page = "https://github.com/example/data/actions/runs";

describe("GitHub", () => {
  const path = "/repos/example/data/actions/runs/7/attempts/1";
  const completed = { id: 7, run_attempt: 1, status: "completed" };
  const rows: Readonly<Record<string, readonly [ended: boolean, url: string, answer: unknown, status?: number, token?: string]>> = {
    "the attempt is completed": [true, `${page}/7/attempts/1`, completed],
    "the attempt is in progress": [false, `${page}/7/attempts/1`, { ...completed, status: "in_progress" }],
    "the answer is about a later attempt": [false, `${page}/7/attempts/1`, { ...completed, run_attempt: 2 }],
    "the answer is about another run": [false, `${page}/7/attempts/1`, { ...completed, id: 8 }],
    "the attempt is unknown": [false, `${page}/7`, completed],
    "the job is of another repository": [false, `${page.replace("data", "other")}/7/attempts/1`, completed],
    "the job is on another server": [false, `${page.replace("github.com", "github.example.com")}/7/attempts/1`, completed],
    "the response is not JSON": [false, `${page}/7/attempts/1`, "<html>"],
    "the permission is missing": [false, `${page}/7/attempts/1`, { message: "Resource not accessible by integration" }, 403],
    "there is no token": [false, `${page}/7/attempts/1`, completed, 200, ""],
    "the token is wrong": [false, `${page}/7/attempts/1`, completed, 200, "x"],
  };
  test.each(Object.entries(rows))("%s", async (_sentence, [ended, url, answer, status = 200, token = "t"]) => {
    const server = await serverWith(path, answer, status);
    const env = {
      GITHUB_ACTIONS: "true",
      GITHUB_API_URL: server.url,
      GITHUB_REPOSITORY: "example/data",
      GITHUB_RUN_ID: "9",
      GITHUB_TOKEN: token,
    };
    expect(await hasJobEnded(url, readCiEnvironment(env, "/"), { env, signal })).toBe(ended);
  });
});

describe("GitLab", () => {
  const jobs = "https://gitlab.example.com/group/data/-/jobs";
  const rows: Readonly<Record<string, readonly [ended: boolean, url: string, answer: unknown]>> = {
    "the job has failed": [true, `${jobs}/7`, { id: 7, status: "failed" }],
    "the job was cancelled": [true, `${jobs}/7`, { id: 7, status: "canceled" }],
    "the job is being cancelled": [false, `${jobs}/7`, { id: 7, status: "canceling" }],
    "the job is running": [false, `${jobs}/7`, { id: 7, status: "running" }],
    "the answer is about another job": [false, `${jobs}/7`, { id: 8, status: "failed" }],
    "the job is of another project": [false, `${jobs.replace("data", "other")}/7`, { id: 7, status: "failed" }],
  };
  test.each(Object.entries(rows))("%s", async (_sentence, [ended, url, answer]) => {
    const server = await serverWith("/projects/12/jobs/7", answer);
    const env = { GITLAB_CI: "true", CI_API_V4_URL: server.url, CI_PROJECT_ID: "12", CI_JOB_URL: `${jobs}/9`, GITLAB_TOKEN: "t" };
    expect(await hasJobEnded(url, readCiEnvironment(env, "/"), { env, signal })).toBe(ended);
  });
});

test("an unreachable server gives no state, and outside CI there is no request", async () => {
  const env = {
    GITHUB_ACTIONS: "true",
    GITHUB_API_URL: "http://127.0.0.1:1",
    GITHUB_REPOSITORY: "example/data",
    GITHUB_RUN_ID: "9",
    GITHUB_TOKEN: "t",
  };
  const signalOfTest = AbortSignal.timeout(200);
  expect(await hasJobEnded(`${page}/7/attempts/1`, readCiEnvironment(env, "/"), { env, signal: signalOfTest })).toBe(false);
  expect(await hasJobEnded(`${page}/7/attempts/1`, readCiEnvironment({}, "/"), { env: {}, signal })).toBe(false);
});
