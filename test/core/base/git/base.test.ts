// The base of a review is read as git stores it, from the branch of the remote.
import { existsSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { extractBase, leftAt, reviewBase } from "../../../../src/core/base/git/base.ts";
import { DimsyncError } from "../../../../src/core/base/model/errors.ts";
import { gitEnv } from "../../../support/git/env.ts";
import { commitAll, git as gitIn } from "../../../support/git/remote.ts";
import { writeProject } from "../../../support/project-folder.ts";

/** A repository with a bare remote, whose branch main has one commit with these files. */
function startRepository(files: Readonly<Record<string, string>>) {
  const root = writeProject(Object.fromEntries(Object.entries(files).map(([path, text]) => [`work/${path}`, text])));
  const [work, remote] = [join(root, "work"), join(root, "remote.git")];
  const git = (...args: readonly string[]): string => gitIn(work, ...args);
  git("init", "--quiet", "--bare", "--initial-branch=main", remote);
  git("init", "--quiet", "--initial-branch=main");
  git("remote", "add", "origin", remote);
  const commit = (changes: Readonly<Record<string, string>>): string => {
    for (const [path, text] of Object.entries(changes)) writeFileSync(join(work, path), text);
    commitAll(work);
    return git("rev-parse", "HEAD");
  };
  return { root, work, remote, git, commit };
}

async function extract(folder: string, commit: string) {
  const base = await extractBase(folder, commit, gitEnv);
  onTestFinished(base.release);
  return (path: string): string => readFileSync(join(base.folder, path), "utf8");
}

const codeOf = (error: unknown): string => (error instanceof DimsyncError ? error.code : String(error));

test("the files at a ref are read as git stores them, whatever attributes and filters the work tree has", async () => {
  const { work, git, commit } = startRepository({ "a.yaml": "kept: true\n", "deep/er/ü b.yaml": "1\n" });
  git("config", "core.symlinks", "true");
  symlinkSync("a.yaml", join(work, "link.yaml"));
  const base = commit({});
  git("config", "filter.empty.smudge", "printf ''");
  writeFileSync(join(work, ".gitattributes"), "*.yaml working-tree-encoding=UTF-16 filter=empty eol=crlf\n");
  writeFileSync(join(work, ".git/info/attributes"), "*.yaml filter=empty\n");
  const read = await extract(work, base);
  expect([read("a.yaml"), read("deep/er/ü b.yaml"), read("link.yaml")]).toEqual(["kept: true\n", "1\n", "kept: true\n"]);
  const tree = await extractBase(work, base, gitEnv);
  onTestFinished(tree.release);
  expect(readlinkSync(join(tree.folder, "link.yaml"))).toBe("a.yaml");
});

test("all who read a commit at one time get the same files, which are removed after the last of them", async () => {
  const { work, commit } = startRepository({ "a.yaml": "one\n" });
  const id = commit({});
  const [first, second] = await Promise.all([extractBase(work, id, gitEnv), extractBase(work, id, gitEnv)]);
  expect(second.top).toBe(first.top);
  await first.release();
  await first.release();
  expect(readFileSync(join(second.folder, "a.yaml"), "utf8")).toBe("one\n");
  await second.release();
  expect(existsSync(first.top)).toBe(false);
});

test("a file or commit that is missing, and what is not the id of a commit, make the base unreadable", async () => {
  const { work, git, commit } = startRepository({ "a.yaml": "one\n" });
  const base = commit({});
  const blob = git("rev-parse", "HEAD:a.yaml");
  commit({ "a.yaml": "two\n" });
  rmSync(join(work, ".git/objects", blob.slice(0, 2), blob.slice(2)));
  for (const commit of [base, "0".repeat(40), "HEAD", "--output=x"])
    expect(await extractBase(work, commit, gitEnv).catch(codeOf), commit).toBe("E_BASE_UNREADABLE");
});

test("a tag or a local branch with the name of a branch of the remote never stands for it", async () => {
  const { work, git, commit } = startRepository({ "a.yaml": "reviewed\n" });
  const main = commit({});
  git("push", "--quiet", "origin", "main");
  git("switch", "--quiet", "--create", "evil");
  const evil = commit({ "a.yaml": "evil\n" });
  git("tag", "origin/main");
  git("tag", "main");
  git("branch", "origin/main");
  git("branch", "--force", "main");
  expect(await reviewBase(work, "main", gitEnv)).toEqual({ tip: main, commit: main, head: evil });
  expect(await leftAt(work, "origin/main", gitEnv)).toBe(main);
});

test("the base is where the checkout left the branch: a branch that only lags behind is compared with what it knows", async () => {
  const { root, work, remote, git, commit } = startRepository({ "a.yaml": "1\n" });
  const first = commit({});
  git("push", "--quiet", "origin", "main");
  git("switch", "--quiet", "--create", "feature");
  const head = commit({ "b.yaml": "new\n" });
  git("switch", "--quiet", "main");
  const tip = commit({ "a.yaml": "2\n" });
  git("push", "--quiet", "origin", "main", "feature");
  git("switch", "--quiet", "--detach", "main");
  git("merge", "--quiet", "--no-edit", "feature");
  git("push", "--quiet", "origin", "HEAD:refs/pull/7/merge");
  git("switch", "--quiet", "feature");
  expect(await reviewBase(work, "main", gitEnv), "the head of the pull request").toEqual({ tip, commit: first, head });
  git("commit", "--quiet", "--allow-empty", "--message", `one\n\nparent ${tip}`);
  expect((await reviewBase(work, "main", gitEnv)).commit, "the message names another parent").toBe(first);
  for (const [ref, commitOf] of [
    ["refs/pull/7/merge", tip],
    ["refs/heads/feature", first],
  ] as const) {
    const shallow = join(root, ref.replaceAll("/", "-"));
    gitIn(root, "init", "--quiet", shallow);
    gitIn(shallow, "remote", "add", "origin", `file://${remote}`);
    gitIn(shallow, "fetch", "--quiet", "--depth=1", "origin", ref);
    gitIn(shallow, "switch", "--quiet", "--detach", "FETCH_HEAD");
    expect(await reviewBase(shallow, "main", gitEnv), `a shallow checkout of ${ref}`).toMatchObject({ tip, commit: commitOf });
  }
});

test("a branch that the remote does not have, or whose history cannot be fetched, makes the base unreadable", async () => {
  const { work, git, commit } = startRepository({ "a.yaml": "1\n" });
  commit({});
  for (const branch of ["main", "no-such", "-x"]) expect(await reviewBase(work, branch, gitEnv).catch(codeOf)).toBe("E_BASE_UNREADABLE");
  git("push", "--quiet", "origin", "main");
  git("fetch", "--quiet", "origin");
  commit({ "a.yaml": "1.1\n" });
  git("push", "--quiet", "origin", "main");
  for (const branch of ["main^", "main~1", "main@{1}", "main^{commit}", "main:", "a..main", "mai*", "main\n", "x\nrefs/heads/main"])
    expect(await reviewBase(work, branch, gitEnv).catch(codeOf), branch).toBe("E_BASE_UNREADABLE");
  git("switch", "--quiet", "--orphan", "other");
  commit({ "a.yaml": "2\n" });
  expect(await reviewBase(work, "main", gitEnv).catch(codeOf)).toBe("E_BASE_UNREADABLE");
});
