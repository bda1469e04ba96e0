import { once } from "node:events";
import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { mergeRequestNotes } from "../../src/ci/gitlab.ts";
import { putNote } from "../../src/ci/notes.ts";
import { openRest } from "../../src/ci/rest.ts";
import { surroundingsOf } from "../../src/ci/surroundings.ts";

interface GitlabNote {
  readonly id: number;
  body: string;
  readonly author: { readonly id: number };
}

/** The notes of merge request 3 of project 12, for a token of user 5. */
async function startGitlab(notes: GitlabNote[]): Promise<string> {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const reply = (status: number, value: unknown): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    const path = new URL(request.url ?? "", "http://x").pathname;
    if (request.headers["private-token"] !== "t") return reply(401, { message: "401 Unauthorized" });
    if (path === "/api/v4/user") return reply(200, { id: 5 });
    const [, id] = /^\/api\/v4\/projects\/12\/merge_requests\/3\/notes(?:\/(\d+))?$/u.exec(path) ?? [undefined, "none"];
    if (request.method === "GET") return reply(200, notes);
    const { body } = JSON.parse(text) as { readonly body: string };
    const found = notes.find((note) => String(note.id) === id);
    if (request.method === "POST" && id === undefined) return reply(201, notes.push({ id: 100 + notes.length, body, author: { id: 5 } }));
    if (request.method !== "PUT" || found === undefined) return reply(404, { message: "404 Not found" });
    found.body = body;
    return reply(200, found);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}/api/v4` : "";
}

test("the note on a merge request is created, updated, and no other user's is touched", async () => {
  const notes: GitlabNote[] = [{ id: 1, body: "<!-- m -->\nsomebody else's", author: { id: 6 } }];
  const rest = openRest({ name: "GitLab", baseUrl: await startGitlab(notes), headers: { "private-token": "t" }, pauseMs: 1 });
  const put = (text: string) => putNote(mergeRequestNotes(rest, "12", "3"), { marker: "<!-- m -->", text, isEmpty: false });
  expect(await put("one")).toBe("created");
  expect(await put("two")).toBe("updated");
  expect(notes.map(({ body }) => body)).toEqual(["<!-- m -->\nsomebody else's", "<!-- m -->\ntwo"]);
});

const environment = {
  GITLAB_CI: "true",
  CI_PROJECT_ID: "12",
  CI_API_V4_URL: "https://gitlab.example.com/api/v4/",
  CI_MERGE_REQUEST_IID: "3",
  CI_MERGE_REQUEST_PROJECT_ID: "12",
  CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "12",
  CI_PROJECT_DIR: "/builds/data",
  CI_COMMIT_BRANCH: "",
};

test("a job of GitLab knows its merge request, and a fork's", () => {
  expect(surroundingsOf(environment, "/builds/data/deploy/eu")).toMatchObject({
    forge: "gitlab",
    request: "3",
    isFork: false,
    apiUrl: "https://gitlab.example.com/api/v4",
    folder: "deploy/eu",
    branch: undefined,
  });
  expect(surroundingsOf({ ...environment, CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "99" }, "/elsewhere")).toMatchObject({
    isFork: true,
    folder: "",
  });
});

test("outside of any CI nothing is written anywhere", () => {
  expect(surroundingsOf({ GITHUB_TOKEN: "x" }, "/x")).toMatchObject({ forge: "none", token: undefined, request: undefined });
});
