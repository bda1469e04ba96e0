import { describe, expect, test } from "vitest";
import { markerOf, planComment, upsertComment, withdrawPlans } from "../../src/ci/comments.ts";
import { pullRequestComments } from "../../src/ci/github.ts";
import { openRest } from "../../src/forge/rest.ts";
import { change, item, plan } from "../render/plans.ts";
import { type GithubStandIn, githubToken, startGithub } from "./github-stand-in.ts";

const commentsOf = ({ url }: GithubStandIn) => {
  const headers = { authorization: `Bearer ${githubToken}` };
  return pullRequestComments(openRest({ name: "GitHub", baseUrl: url, headers, env: {}, pauseMs: 1 }), "example/data", "7");
};
const marker = markerOf("plan", "", "prod");
const upsert = (github: GithubStandIn, text: string, isEmpty = false) => upsertComment(commentsOf(github), { marker, text, isEmpty });
const bodies = (github: GithubStandIn) => github.comments.get(7)?.map(({ body }) => body);
const byUser = (id: number, body: string, association: string) => ({
  id,
  body,
  user: { type: "User", id: 2 },
  author_association: association,
});

describe("the comment of a plan", () => {
  test("is created once, found on a later page of the list, and updated in place", async () => {
    const github = await startGithub();
    github.comments.set(
      7,
      Array.from({ length: 5 }, (_, index) => byUser(index, `no marker ${index}`, "NONE")),
    );
    expect(await upsert(github, "first")).toBe("created");
    expect(await upsert(github, "second")).toBe("updated");
    expect(await upsert(github, "second")).toBe("same");
    expect(bodies(github)?.slice(5)).toEqual([`${marker}\nsecond`]);
  });

  test("is not created for an empty plan, but updated if it exists", async () => {
    const github = await startGithub();
    expect(await upsert(github, "nothing", true)).toBe("none");
    await upsert(github, "something");
    expect(await upsert(github, "nothing", true)).toBe("updated");
    expect(github.comments.get(7)).toHaveLength(1);
  });

  test("is a new one if only someone from outside used our marker", async () => {
    const github = await startGithub();
    github.comments.set(7, [byUser(1, `${marker}\nmine`, "CONTRIBUTOR")]);
    expect(await upsert(github, "plan")).toBe("created");
    expect(bodies(github)?.[0]).toBe(`${marker}\nmine`);
  });

  test("can be that of a member, because the token can be a personal one", async () => {
    const github = await startGithub();
    github.comments.set(7, [byUser(1, `${marker}\nold`, "MEMBER")]);
    expect(await upsert(github, "plan")).toBe("updated");
  });

  test("is created again if it was deleted after the list was read", async () => {
    const github = await startGithub();
    await upsert(github, "plan");
    const comments = commentsOf(github);
    const list = async () => {
      const all = await comments.list();
      github.comments.set(7, []);
      return all;
    };
    expect(await upsertComment({ ...comments, list }, { marker, text: "other", isEmpty: false })).toBe("created");
    expect(bodies(github)).toEqual([`${marker}\nother`]);
  });
});

describe("a comment whose creation failed", () => {
  test.each([502, "reset"] as const)("is created in another attempt after %s", async (status) => {
    const github = await startGithub();
    github.refuse = { matches: /^POST/u, status, times: 2 };
    expect(await upsert(github, "plan")).toBe("created");
    expect(bodies(github)).toEqual([`${marker}\nplan`]);
    expect(github.calls.filter((call) => call.startsWith("POST"))).toHaveLength(3);
  });

  test("is not created twice if only the response was lost", async () => {
    const github = await startGithub();
    github.refuse = { matches: /^POST/u, status: "reset-after", times: 1 };
    expect(await upsert(github, "plan")).toBe("created");
    expect(bodies(github)).toEqual([`${marker}\nplan`]);
    expect(github.calls.filter((call) => call.startsWith("POST"))).toHaveLength(1);
  });
});

test("a run without a plan withdraws the plans of its targets only", async () => {
  const github = await startGithub();
  const other = markerOf("plan", "", "other");
  github.comments.set(7, [
    byUser(1, `${marker}\nold plan`, "MEMBER"),
    byUser(2, `${other}\nold plan`, "MEMBER"),
    byUser(3, `${marker}\nnot ours`, "NONE"),
  ]);
  await withdrawPlans(commentsOf(github), [marker], "footer");
  expect(bodies(github)).toEqual([expect.stringMatching(/^.*\n## No plan\n[\s\S]*footer$/u), `${other}\nold plan`, `${marker}\nnot ours`]);
});

test("markers of different targets and folders differ, and none ends the HTML comment", () => {
  const names = ["prod", "prod -->", "a:b", "a", "b:", "--", "ü", "x/y"];
  const markers = names.flatMap((folder) => names.map((target) => markerOf("plan", folder, target)));
  expect(new Set(markers).size).toBe(markers.length);
  for (const one of markers) expect(one).toMatch(/^<!-- (?:(?!--|>).)* -->$/u);
});

test("an empty plan is collapsed, and others are not", () => {
  expect(planComment(plan(), "footer")).toMatchObject({
    isEmpty: true,
    text: expect.stringMatching(/^<details><summary>Plan for prod: No changes\./u),
  });
  expect(planComment(plan({ items: [item({ changes: [change()] })] }), "footer").text).toMatch(/^## Plan for `prod`: 1 to update/u);
});

test("a plan of 10 000 changes fits into a comment", async () => {
  const github = await startGithub();
  const large = plan({
    items: Array.from({ length: 10_000 }, (_, index) => item({ id: `i${index}`, address: `Schemas/o${index}`, changes: [change()] })),
  });
  const { text } = planComment(large, "footer");
  expect(await upsert(github, text)).toBe("created");
  expect(text).toContain("10000 to update");
});
