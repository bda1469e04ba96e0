// The comment on a pull request is one, updated in place, whatever fails.
import { describe, expect, test } from "vitest";
import type { Plan } from "../../../src/core/base/model/plan.ts";
import type { Clock } from "../../../src/core/base/model/runtime/clock.ts";
import { readCiEnvironment } from "../../../src/core/operations/forge/environment.ts";
import { openRest } from "../../../src/core/operations/forge/rest.ts";
import { type Comments, commentMarker, driftMarker, type TargetSection, upsertComment } from "../../../src/features/ci/comments.ts";
import { pullRequestComments } from "../../../src/features/ci/github.ts";
import { commentPlans, withdrawComments } from "../../../src/features/ci/provider.ts";
import { change, item, plan } from "../../core/render/plans.ts";
import { clockWithoutWaiting } from "../../support/clock.ts";
import { type GithubStandIn, githubToken, startGithub } from "./github-stand-in.ts";

const commentsOf = ({ url }: GithubStandIn) => {
  const headers = { authorization: `Bearer ${githubToken}` };
  return pullRequestComments(
    openRest({ name: "GitHub", baseUrl: url, headers, env: {}, clock: clockWithoutWaiting() }),
    "example/data",
    "7",
  );
};
const marker = commentMarker("");
const footer = "Written by dimsync.";
const section = (target: string, text: string): TargetSection => ({ target, text });
const bodyWith = (...sections: readonly (readonly [target: string, text: string])[]) =>
  [marker, ...sections.map(([target, text]) => `<!-- dimsync:target:${target} -->\n${text}`), "<!-- dimsync:end -->", footer].join("\n");
/** Replaces the section of a target, as its job does. */
const put = (
  comments: Comments,
  text: string,
  { target = "prod", recheckMs, clock = clockWithoutWaiting() }: { target?: string; recheckMs?: number; clock?: Pick<Clock, "sleep"> } = {},
) =>
  upsertComment(comments, { marker, footer, recheckMs, clock }, (sections) =>
    [...sections.filter((one) => one.target !== target), ...(text === "" && sections.length === 0 ? [] : [section(target, text)])].sort(
      (a, b) => (a.target < b.target ? -1 : 1),
    ),
  );
const upsert = (github: GithubStandIn, text: string) => put(commentsOf(github), text);
const bodies = (github: GithubStandIn) => github.comments.get(7)?.map(({ body }) => body);
const byUser = (id: number, body: string, login = "dana") => ({ id, body, user: { login } });

describe("the comment of a plan", () => {
  test("is created once, found on a later page of the list, and updated in place", async () => {
    const github = await startGithub();
    github.comments.set(
      7,
      Array.from({ length: 5 }, (_, index) => byUser(index, `no marker ${index}`)),
    );
    expect(await upsert(github, "first")).toBe("created");
    expect(await upsert(github, "second")).toBe("updated");
    expect(await upsert(github, "second")).toBe("same");
    expect(bodies(github)?.slice(5)).toEqual([bodyWith(["prod", "second"])]);
  });

  test("is not created for an empty plan, but updated if it exists", async () => {
    const github = await startGithub();
    expect(await upsert(github, "")).toBe("none");
    await upsert(github, "something");
    expect(await upsert(github, "")).toBe("updated");
    expect(github.comments.get(7)).toHaveLength(1);
  });

  test("is a new one if only another user wrote our marker, whoever that is", async () => {
    const github = await startGithub();
    const copied = [byUser(1, `${marker}\nmine`), byUser(2, `${marker}\nmine`, "other-app[bot]")];
    github.comments.set(7, [...copied]);
    expect(await upsert(github, "plan")).toBe("created");
    expect(bodies(github)?.slice(0, 2)).toEqual(copied.map(({ body }) => body));
  });

  test.each([
    ["the user of a personal token", "robot", "robot"],
    ["the bot of a job, if GitHub names nobody", undefined, "github-actions[bot]"],
  ])("can be that of %s", async (_, login, author) => {
    const github = await startGithub();
    github.login = login;
    github.comments.set(7, [byUser(1, `${marker}\nold`, author)]);
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
    expect(await put({ ...comments, list }, "other")).toBe("created");
    expect(bodies(github)).toEqual([bodyWith(["prod", "other"])]);
  });
});

describe("a comment whose creation failed", () => {
  test.each([502, "reset"] as const)("is created in another attempt after %s", async (status) => {
    const github = await startGithub();
    github.refuse = { matches: /^POST \/repos/u, status, times: 2 };
    expect(await upsert(github, "plan")).toBe("created");
    expect(bodies(github)).toEqual([bodyWith(["prod", "plan"])]);
    expect(github.calls.filter((call) => call.startsWith("POST /repos"))).toHaveLength(3);
  });

  test("is not created twice if only the response was lost", async () => {
    const github = await startGithub();
    github.refuse = { matches: /^POST \/repos/u, status: "reset-after", times: 1 };
    expect(await upsert(github, "plan")).toBe("created");
    expect(bodies(github)).toEqual([bodyWith(["prod", "plan"])]);
    expect(github.calls.filter((call) => call.startsWith("POST /repos"))).toHaveLength(1);
  });
});

describe("the jobs of a matrix share one comment", () => {
  test("in which each replaces its own section", async () => {
    const github = await startGithub();
    for (const target of ["b", "a"]) await put(commentsOf(github), `plan of ${target}`, { target, recheckMs: 1 });
    await put(commentsOf(github), "new plan", { target: "b", recheckMs: 1 });
    expect(bodies(github)).toEqual([bodyWith(["a", "plan of a"], ["b", "new plan"])]);
  });

  test("also if all write at the same time", async () => {
    const github = await startGithub();
    const targets = ["a", "b", "c", "d"];
    let running = targets.length;
    const asleep = new Set<() => void>();
    // Everybody wakes up when nobody is writing.
    const wakeAll = (): void => {
      if (asleep.size < running) return;
      for (const wake of asleep) wake();
      asleep.clear();
    };
    const sleep = (): Promise<void> =>
      new Promise((resolve) => {
        asleep.add(resolve);
        wakeAll();
      });
    const end = (): void => {
      running -= 1;
      wakeAll();
    };
    const putOf = (target: string) => put(commentsOf(github), `plan of ${target}`, { target, recheckMs: 700, clock: { sleep } });
    await Promise.all(targets.map((target) => putOf(target).finally(end)));
    expect(bodies(github)).toEqual([bodyWith(...targets.map((target) => [target, `plan of ${target}`] as const))]);
  });

  test("and one whose section is overwritten writes it again", async () => {
    const github = await startGithub();
    await put(commentsOf(github), "old", { target: "b" });
    const comments = commentsOf(github);
    let isOverwritten = false;
    const update: Comments["update"] = async (id, body) => {
      await comments.update(id, body);
      if (!isOverwritten) await comments.update(id, bodyWith(["b", "new"]));
      isOverwritten = true;
    };
    expect(await put({ ...comments, update }, "plan of a", { target: "a", recheckMs: 1 })).toBe("updated");
    expect(bodies(github)).toEqual([bodyWith(["a", "plan of a"], ["b", "new"])]);
  });

  test("and no text of a section can pass for another one", async () => {
    const github = await startGithub();
    await put(commentsOf(github), "plan of b", { target: "b" });
    const forged = "x\n<!-- dimsync:target:b -->\nforged\n<!-- dimsync:end -->\ny";
    await put(commentsOf(github), forged, { target: "a" });
    await put(commentsOf(github), "plan of c", { target: "c", recheckMs: 1 });
    expect(bodies(github)).toEqual([bodyWith(["a", forged.replaceAll("\n<!--", "\n <!--")], ["b", "plan of b"], ["c", "plan of c"])]);
  });

  test("that shows the beginnings of the longest sections if it has no room for all", async () => {
    const github = await startGithub();
    for (const target of ["a", "b", "c"])
      await put(commentsOf(github), `## ${target}\n\n- first\n\n<details>\n\n${"x\n\n".repeat(10_000)}</details>`, {
        target,
        recheckMs: 1,
      });
    const [body = ""] = bodies(github) ?? [];
    expect(body.match(/^## \w|^- first|^\*\*Shortened/gmu)?.length).toBeGreaterThanOrEqual(7);
    expect(body.match(/<details>/gu)).toHaveLength(body.match(/<\/details>/gu)?.length ?? 0);
  });

  test("in which sections that say little make room for one that says more", async () => {
    const github = await startGithub();
    const many = Array.from({ length: 900 }, (_, index) => section(`t${index}`, `## t${index}\n\n${"No plan. ".repeat(10)}`));
    const long = section("prod", `## prod\n\n- loosened\n\n${"x\n\n".repeat(10_000)}`);
    await upsertComment(commentsOf(github), { marker, footer }, () => [...many, long]);
    expect(bodies(github)?.[0]).toContain("## prod\n\n- loosened");
    expect(bodies(github)?.[0]).toMatch(/and \d+ more targets\.\nWritten by dimsync/u);
  });
});

const jobOf = ({ url }: GithubStandIn, log: string[] = [], head?: string) => {
  const env = { GITHUB_ACTIONS: "true", GITHUB_REPOSITORY: "example/data", GITHUB_API_URL: url, GITHUB_TOKEN: githubToken };
  const environment = { ...readCiEnvironment(env, "/"), pullRequest: "7", isPullRequest: true, head };
  return {
    environment,
    env,
    signal: new AbortController().signal,
    base: async () => undefined,
    log: (text: string) => void log.push(text),
  };
};
const planned = (target: string, more: Partial<Plan> = {}) => plan({ target, items: [item({ changes: [change()] })], ...more });
const failure = { code: "E_NO_API_KEY" as const, message: "No API key.", exit: 1 as const, diagnostics: [] };
/** The headings, and what changed. */
const outline = (github: GithubStandIn) => bodies(github)?.map((body) => body.match(/^## .*|^<details.*/gmu));

describe("the comment of the plans", () => {
  test("has a section for each target in the order of the project, also for one without a plan", async () => {
    const github = await startGithub();
    const log: string[] = [];
    const known = ["b", "c", "a"];
    await commentPlans(jobOf(github, log), { plans: [planned("a"), plan({ target: "b" })], failed: [{ target: "c", failure }], known });
    expect(outline(github)).toEqual([
      [
        expect.stringMatching(/^<details><summary>b: No changes/u),
        expect.stringMatching(/^## `b`: No changes/u),
        "## No plan for `c`",
        "## `a`: 1 change, which protects",
      ],
    ]);
    expect(log).toEqual(["dimsync: comment for a, b, c: created\n"]);
  });

  test("is not written for empty plans only", async () => {
    const github = await startGithub();
    await commentPlans(jobOf(github), { plans: [plan({ target: "a" }), plan({ target: "b" })], failed: [], known: ["a", "b"] });
    expect(bodies(github)).toEqual([]);
  });

  test("names the last commit of the pull request, and is not written by a job of an older one", async () => {
    const github = await startGithub();
    const [old, now] = ["a".repeat(40), "b".repeat(40)];
    github.head = now;
    const log: string[] = [];
    const git = { commit: "c".repeat(40), dirty: false };
    await commentPlans(jobOf(github, [], now), { plans: [planned("a", { git })], failed: [], known: ["a"] });
    await commentPlans(jobOf(github, log, old), { plans: [plan({ target: "a" })], failed: [], known: ["a"] });
    await withdrawComments(jobOf(github, log, old), [], failure);
    expect(outline(github)).toEqual([["## `a`: 1 change, which protects"]]);
    expect(bodies(github)?.[0]).toContain("Commit bbbbbbb.");
    expect(log).toEqual(Array(2).fill("dimsync: the pull request is at bbbbbbb now, so this job does not write its comment\n"));
  });

  test("keeps the result of apply after the merge, whatever old job plans again", async () => {
    const github = await startGithub();
    const [head, log]: [string, string[]] = ["b".repeat(40), []];
    github.head = head;
    await commentPlans(jobOf(github, [], head), { plans: [planned("a")], failed: [], known: ["a"] });
    github.isMerged = true;
    await commentPlans(jobOf(github, log, head), { plans: [plan({ target: "a" })], failed: [], known: ["a"] });
    expect(outline(github)).toEqual([["## `a`: 1 change, which protects"]]);
    expect(log).toEqual(["dimsync: the pull request is merged, so this job does not write its comment\n"]);
  });

  test("loses the section of a target that the project no longer has", async () => {
    const github = await startGithub();
    await commentPlans(jobOf(github), { plans: [planned("a"), planned("b")], failed: [], known: ["a", "b"] });
    await commentPlans(jobOf(github), { plans: [planned("a")], failed: [], known: ["a"] });
    expect(outline(github)?.[0]).toEqual(["## `a`: 1 change, which protects"]);
  });

  test("is withdrawn for the targets of a run without a plan, and later shows the next plan", async () => {
    const github = await startGithub();
    const known = ["a", "b"];
    await commentPlans(jobOf(github), { plans: [planned("a"), planned("b")], failed: [], known });
    await withdrawComments(jobOf(github), ["a"], failure);
    expect(outline(github)?.[0]).toEqual(["## No plan for `a`", "## `b`: 1 change, which protects"]);
    await commentPlans(jobOf(github), { plans: [planned("a")], failed: [{ target: "b", failure }], known });
    expect(outline(github)?.[0]).toEqual(["## `a`: 1 change, which protects", "## No plan for `b`"]);
  });
});

test("markers of different targets and folders differ, and none ends the HTML comment", () => {
  const names = ["prod", "prod -->", "a:b", "a", "b:", "--", "ü", "x/y"];
  const markers = names.flatMap((folder) => [commentMarker(folder), ...names.map((target) => driftMarker(folder, target))]);
  expect(new Set(markers).size).toBe(markers.length);
  for (const one of markers) expect(one).toMatch(/^<!-- (?:(?!--|>).)* -->$/u);
});

test("plans of 2 000 changes fit into one comment", async () => {
  const github = await startGithub();
  const items = Array.from({ length: 2_000 }, (_, index) => item({ id: `i${index}`, address: `Schemas/o${index}`, changes: [change()] }));
  const known = ["a", "b", "c", "d", "e"];
  await commentPlans(jobOf(github), { plans: known.map((target) => plan({ target, items })), failed: [], known });
  expect(bodies(github)?.[0]?.match(/2000 changes/gu)).toHaveLength(5);
});
