import { describe, expect, test } from "vitest";
import { markerOf, planComment, putNote } from "../../src/ci/comments.ts";
import { pullRequestNotes } from "../../src/ci/github.ts";
import { openRest, type Rest } from "../../src/ci/rest.ts";
import { change, item, plan } from "../render/plans.ts";
import { type ForgeStandIn, standInToken, startForge } from "./forge-stand-in.ts";

const restOf = ({ url }: ForgeStandIn, token = standInToken): Rest =>
  openRest({ name: "GitHub", baseUrl: url, headers: { authorization: `Bearer ${token}` }, pauseMs: 1 });
const marker = markerOf("plan", "", "prod");
const put = (forge: ForgeStandIn, text: string, isEmpty = false) =>
  putNote(pullRequestNotes(restOf(forge), "example/data", 7), { marker, text, isEmpty });
const others = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: index,
    body: `no marker ${index}`,
    user: { type: "User", id: 2 },
    author_association: "NONE",
  }));

test("the comment is created once, found behind further pages, and updated in place", async () => {
  const forge = await startForge();
  forge.comments.set(7, others(5));
  expect(await put(forge, "first")).toBe("created");
  expect(await put(forge, "second")).toBe("updated");
  expect(await put(forge, "second")).toBe("same");
  expect(
    forge.comments
      .get(7)
      ?.map(({ body }) => body)
      .slice(5),
  ).toEqual([`${marker}\nsecond`]);
});

test("an empty plan makes no comment, and empties the one that is there", async () => {
  const forge = await startForge();
  expect(await put(forge, "nothing", true)).toBe("none");
  await put(forge, "something");
  expect(await put(forge, "nothing", true)).toBe("updated");
  expect(forge.comments.get(7)).toHaveLength(1);
});

test("a stranger's comment with our marker is left alone", async () => {
  const forge = await startForge();
  forge.comments.set(7, [{ id: 1, body: `${marker}\nmine`, user: { type: "User", id: 2 }, author_association: "CONTRIBUTOR" }]);
  expect(await put(forge, "plan")).toBe("created");
  expect(forge.comments.get(7)?.[0]?.body).toBe(`${marker}\nmine`);
});

test("a member's comment is ours: the token may be a person's", async () => {
  const forge = await startForge();
  forge.comments.set(7, [{ id: 1, body: `${marker}\nold`, user: { type: "User", id: 2 }, author_association: "MEMBER" }]);
  expect(await put(forge, "plan")).toBe("updated");
});

describe("failures", () => {
  test("a read that fails is tried again", async () => {
    const forge = await startForge();
    forge.refuse = { matches: /^GET/u, status: 502, times: 2 };
    expect(await put(forge, "plan")).toBe("created");
  });

  test("a comment that may have been made is not made again", async () => {
    const forge = await startForge();
    forge.refuse = { matches: /^POST/u, status: 502, times: 1 };
    await expect(put(forge, "plan")).rejects.toMatchObject({ code: "E_FORGE" });
    expect(forge.calls.filter((call) => call.startsWith("POST"))).toHaveLength(1);
  });

  test("a token that may not write is said by name, without the token", async () => {
    const forge = await startForge();
    forge.refuse = { matches: /^POST/u, status: 403, times: 1 };
    const error = await put(forge, "plan").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "E_FORGE_FORBIDDEN" });
    expect(String(error)).toContain("Resource not accessible by integration");
    expect(String(error)).not.toContain(standInToken);
  });

  test("an answer that breaks off is read again", async () => {
    const forge = await startForge();
    forge.refuse = { matches: /^GET/u, status: "broken off", times: 1 };
    expect(await put(forge, "plan")).toBe("created");
    forge.refuse = { matches: /^PATCH/u, status: "broken off", times: 9 };
    await expect(put(forge, "other")).rejects.toMatchObject({ code: "E_FORGE" });
  });

  test("too many requests are no missing permission, and tried again", async () => {
    const forge = await startForge();
    forge.refuse = { matches: /^GET/u, status: 403, times: 1, message: "You have exceeded a secondary rate limit." };
    expect(await put(forge, "plan")).toBe("created");
    forge.refuse = { matches: /^GET/u, status: 403, times: 9, message: "API rate limit exceeded for installation." };
    await expect(put(forge, "plan")).rejects.toMatchObject({ code: "E_FORGE" });
  });

  test("a comment that was deleted meanwhile is made anew", async () => {
    const forge = await startForge();
    await put(forge, "plan");
    const notes = pullRequestNotes(restOf(forge), "example/data", 7);
    const list = async () => {
      const all = await notes.list();
      forge.comments.set(7, []);
      return all;
    };
    expect(await putNote({ ...notes, list }, { marker, text: "other", isEmpty: false })).toBe("created");
    expect(forge.comments.get(7)).toMatchObject([{ body: `${marker}\nother` }]);
  });

  test("an interruption ends a call and a pause at once, and is no mistake in dimsync", async () => {
    const forge = await startForge();
    forge.refuse = { matches: /^GET/u, status: 502, times: 9 };
    for (const signal of [AbortSignal.abort(), AbortSignal.timeout(50)]) {
      const rest = openRest({
        name: "GitHub",
        baseUrl: forge.url,
        headers: { authorization: `Bearer ${standInToken}` },
        signal,
        pauseMs: 60_000,
      });
      await expect(rest.call("GET", "/x")).rejects.toMatchObject({ code: "E_INTERRUPTED", exit: 130 });
    }
  });

  test("nobody there", async () => {
    const rest = openRest({ name: "GitHub", baseUrl: "http://127.0.0.1:1", headers: {}, pauseMs: 1 });
    await expect(rest.call("GET", "/x")).rejects.toMatchObject({ code: "E_FORGE" });
  });
});

test("markers of different targets and folders differ, whatever their names, and none ends the comment of HTML", () => {
  const names = ["prod", "prod -->", "a:b", "a", "b:", "--", "ü", "x/y"];
  const markers = names.flatMap((folder) => names.map((target) => markerOf("plan", folder, target)));
  expect(new Set(markers).size).toBe(markers.length);
  for (const one of markers) expect(one).toMatch(/^<!-- (?:(?!--|>).)* -->$/u);
});

test("an empty plan is folded away, another is not", () => {
  expect(planComment(plan(), "footer")).toMatchObject({
    isEmpty: true,
    text: expect.stringMatching(/^<details><summary>Plan for prod: No changes\./u),
  });
  expect(planComment(plan({ items: [item({ changes: [change()] })] }), "footer").text).toMatch(/^## Plan for `prod`: 1 to update/u);
});

test("a plan of 10 000 changes fits into a comment", async () => {
  const forge = await startForge();
  const large = plan({
    items: Array.from({ length: 10_000 }, (_, index) =>
      item({ id: `i${index}`, address: `SchemaConfig/s${index}@o${index}`, changes: [change()] }),
    ),
  });
  const { text } = planComment(large, "footer");
  expect(await put(forge, text)).toBe("created");
  expect(text).toContain("10000 to update");
});
