import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Pushed, pushFile } from "../../../src/features/ci/push-file.ts";
import { gitEnv as env } from "../../support/git/env.ts";
import { git, repositoryIn } from "../../support/git/remote.ts";
import { writeProject } from "../../support/project-folder.ts";

const author = { name: "Bot", email: "bot@example.com" };

/** A bare remote whose branch main has `ids.yaml` and `other.yaml`, and two clones of depth 1. */
function twoJobs(ids = "a: 1\n"): { readonly remote: string; readonly one: string; readonly two: string } {
  const root = writeProject({ "first/ids.yaml": ids, "first/other.yaml": "x\n" });
  const [first, remote, one, two] = ["first", "remote.git", "one", "two"].map((name) => join(root, name)) as [
    string,
    string,
    string,
    string,
  ];
  repositoryIn(first, remote);
  for (const clone of [one, two]) git(root, "clone", "--quiet", "--depth=1", `file://${remote}`, clone);
  return { remote, one, two };
}

const push = (folder: string, branch: { readonly name: string | undefined } = { name: "main" }): Promise<Pushed> =>
  pushFile({ folder, file: join(folder, "ids.yaml"), remote: "origin", branch: branch.name, message: "record ids", author, env });
const show = (remote: string, path: string): string => git(remote, "show", `main:${path}`);

test("an unchanged file is not committed", async () => {
  const { remote, one } = twoJobs();
  writeFileSync(join(one, "other.yaml"), "changed\n");
  expect(await push(one)).toEqual({ outcome: "unchanged" });
  expect(git(remote, "rev-list", "--count", "main")).toBe("1");
});

test("only the file is committed, by the given author", async () => {
  const { remote, one } = twoJobs();
  writeFileSync(join(one, "ids.yaml"), "a: 2\n");
  writeFileSync(join(one, "other.yaml"), "changed\n");
  git(one, "add", "other.yaml");
  expect(await push(one)).toEqual({ outcome: "pushed" });
  expect([show(remote, "ids.yaml"), show(remote, "other.yaml")]).toEqual(["a: 2", "x"]);
  expect(git(remote, "log", "-1", "--format=%an %ae %s", "main")).toBe("Bot bot@example.com record ids");
});

test("a new file is committed", async () => {
  const { remote, one } = twoJobs();
  writeFileSync(join(one, "new.yaml"), "b: 1\n");
  expect(await pushFile({ folder: one, file: join(one, "new.yaml"), remote: "origin", branch: "main", message: "m", author, env })).toEqual(
    {
      outcome: "pushed",
    },
  );
  expect(show(remote, "new.yaml")).toBe("b: 1");
});

test("a new file that git ignores is refused, also in a project that is a folder of the repository", async () => {
  const { one } = twoJobs();
  mkdirSync(join(one, "eu"));
  writeFileSync(join(one, ".gitignore"), "/eu/ids.yaml\n");
  writeFileSync(join(one, "eu/ids.yaml"), "b: 1\n");
  expect(await push(join(one, "eu"))).toMatchObject({ outcome: "refused", reason: expect.stringContaining(".gitignore") });
});

test("the commit is put on top of newer commits of the branch, also in a shallow clone", async () => {
  const { remote, one, two } = twoJobs();
  writeFileSync(join(two, "other.yaml"), "theirs\n");
  git(two, "commit", "--quiet", "--all", "--message", "theirs");
  git(two, "push", "--quiet", "origin", "main");
  writeFileSync(join(one, "ids.yaml"), "a: 2\n");
  expect(await push(one)).toEqual({ outcome: "pushed" });
  expect([show(remote, "ids.yaml"), show(remote, "other.yaml")]).toEqual(["a: 2", "theirs"]);
});

test("changes of two jobs at different places of the file are both kept", async () => {
  const { remote, one, two } = twoJobs(Array.from({ length: 9 }, (_, index) => `k${index}: 1\n`).join(""));
  for (const [job, line] of [
    [two, "k1"],
    [one, "k7"],
  ] as const) {
    const text = readFileSync(join(job, "ids.yaml"), "utf8");
    writeFileSync(join(job, "ids.yaml"), text.replace(`${line}: 1`, `${line}: 2`));
    expect(await push(job)).toEqual({ outcome: "pushed" });
  }
  expect(show(remote, "ids.yaml")).toMatch(/^k0: 1\nk1: 2\n(?:k\d: 1\n)+k7: 2\nk8: 1$/u);
});

test("no filter, hook, merge driver or monitor of the checkout runs, also to commit on top of newer commits", async () => {
  const { remote, one, two } = twoJobs();
  writeFileSync(join(two, "other.yaml"), "theirs\n");
  git(two, "commit", "--quiet", "--all", "--message", "theirs");
  git(two, "push", "--quiet", "origin", "main");
  const [program, heard] = [join(one, "../program.sh"), join(one, "../heard.txt")];
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${heard}\ncat\n`, { mode: 0o755 });
  for (const name of ["filter.x.clean", "filter.x.smudge", "filter.x.process", "merge.x.driver", "core.fsmonitor", "diff.x.textconv"])
    git(one, "config", name, program);
  writeFileSync(join(one, ".gitattributes"), "* filter=x merge=x diff=x\n");
  mkdirSync(join(one, ".git/hooks"), { recursive: true });
  for (const name of ["pre-commit", "pre-push", "post-commit", "pre-rebase", "reference-transaction", "post-index-change"])
    symlinkSync(program, join(one, ".git/hooks", name));
  writeFileSync(join(one, "ids.yaml"), "a: 2\n");
  expect(await push(one)).toEqual({ outcome: "pushed" });
  expect([show(remote, "ids.yaml"), show(remote, "other.yaml")]).toEqual(["a: 2", "theirs"]);
  expect(existsSync(heard) ? readFileSync(heard, "utf8") : "").toBe("");
});

test("a tag with the name of the branch is not mistaken for the branch", async () => {
  const { remote, one, two } = twoJobs();
  git(remote, "tag", "main", "main");
  writeFileSync(join(two, "other.yaml"), "theirs\n");
  git(two, "commit", "--quiet", "--all", "--message", "theirs");
  git(two, "push", "--quiet", "origin", "HEAD:refs/heads/main");
  writeFileSync(join(one, "ids.yaml"), "a: 2\n");
  expect(await push(one)).toEqual({ outcome: "pushed" });
  expect(git(remote, "show", "refs/heads/main:other.yaml")).toBe("theirs");
});

test("a conflict in the file is refused, and the file stays as this job wrote it", async () => {
  const { remote, one, two } = twoJobs();
  writeFileSync(join(two, "ids.yaml"), "a: 3\n");
  git(two, "commit", "--quiet", "--all", "--message", "theirs");
  git(two, "push", "--quiet", "origin", "main");
  writeFileSync(join(one, "ids.yaml"), "a: 2\n");
  expect(await push(one)).toMatchObject({ outcome: "refused", reason: expect.stringMatching(/./u) });
  expect(show(remote, "ids.yaml")).toBe("a: 3");
  expect([git(one, "show", "HEAD:ids.yaml"), git(one, "status", "--porcelain")]).toEqual(["a: 2", ""]);
});

test("without a branch, or if the remote refuses, the reason is returned without the password", async () => {
  const { one } = twoJobs();
  writeFileSync(join(one, "ids.yaml"), "a: 2\n");
  expect(await push(one, { name: undefined })).toEqual({ outcome: "refused", reason: "There is no branch to push to." });
  const { one: other } = twoJobs();
  writeFileSync(join(other, "ids.yaml"), "a: 2\n");
  git(other, "remote", "set-url", "origin", "http://user:hunter2@127.0.0.1:1/x.git");
  const refused = await push(other);
  expect(refused).toMatchObject({ outcome: "refused", reason: expect.stringContaining("127.0.0.1") });
  expect(JSON.stringify(refused)).not.toContain("hunter2");
});
