import { join } from "node:path";
import { expect, it } from "vitest";
import { writeCommit } from "../../../../src/core/records/git/commit.ts";
import { gitEnv } from "../../../support/git/env.ts";
import { git } from "../../../support/git/remote.ts";
import { writeProject } from "../../../support/project-folder.ts";

// The sizes at which the header of an object in a pack becomes longer, and names that git orders in its own way.
const files = new Map([
  ["empty", ""],
  ["journal.txt", "before the folder"],
  ["journal/000001.ndjson", "ü\n".repeat(5)],
  ["journal/000002.ndjson", "x".repeat(16)],
  ["journal-", "x".repeat(15)],
  ["journal0", "x".repeat(2047)],
  ["länge", "x".repeat(2048)],
  ["large", "0123456789".repeat(40_000)],
]);

it.each(["sha1", "sha256"] as const)("writes a commit as git does, with %s objects", async (objectFormat) => {
  const folder = writeProject({});
  git(folder, "init", "--quiet", "--bare", "--template=", `--object-format=${objectFormat}`, "r.git");
  const gitDir = join(folder, "r.git");
  const repository = { folder, gitDir, env: gitEnv };
  const one = { files, before: undefined, parent: undefined, message: "one", key: "key" };
  const { id, tree } = await writeCommit(repository, one);
  const changed = new Map(tree.files).set("journal.txt", "changed");
  const next = await writeCommit(repository, { ...one, files: changed, before: tree, parent: id });

  git(gitDir, "update-ref", "refs/heads/main", next.id);
  expect(git(gitDir, "fsck", "--strict", "--full")).toBe("");
  const listed = git(gitDir, "-c", "core.quotePath=false", "ls-tree", "-r", "--format=%(objectname) %(path)", next.id).split("\n");
  expect(listed.sort()).toEqual([...next.tree.blobs].map(([path, blob]) => `${blob} ${path}`).sort());
  expect(listed.some((line) => line.endsWith(" seal"))).toBe(true);
  for (const [path, text] of changed) if (path !== "seal") expect(git(gitDir, "show", `${next.id}:${path}`)).toBe(text.trim());
  expect(git(gitDir, "rev-list", "main").split("\n")).toEqual([next.id, id]);
});

it.each([
  ["without a user", {}, "dimsync <dimsync@localhost>", "dimsync <dimsync@localhost>"],
  [
    "with an author",
    { GIT_AUTHOR_NAME: "Dana", GIT_AUTHOR_EMAIL: "dana@example.com" },
    "Dana <dana@example.com>",
    "Dana <dana@example.com>",
  ],
  ["with a committer", { GIT_AUTHOR_NAME: "Dana", GIT_COMMITTER_NAME: "CI" }, "Dana <dimsync@localhost>", "CI <dimsync@localhost>"],
  ["with characters that git leaves out", { GIT_AUTHOR_NAME: " D<a>n\na\nparent 0 " }, "Danaparent 0 <dimsync@localhost>", undefined],
  ["with an empty name", { GIT_AUTHOR_NAME: "" }, "dimsync <dimsync@localhost>", undefined],
])("the author and the committer %s", async (_, env, author, committer = author) => {
  const folder = writeProject({});
  git(folder, "init", "--quiet", "--bare", "--template=", "r.git");
  const gitDir = join(folder, "r.git");
  const repository = { folder, gitDir, env: { PATH: gitEnv["PATH"] ?? "", ...env } };
  const message = "Subject ü\n\n+ Asset/a\n\nRun: 1\nEpoch: 2\n";
  const before = Math.floor(Date.now() / 1000);
  const { id } = await writeCommit(repository, { files, before: undefined, parent: undefined, message, key: undefined });
  git(gitDir, "update-ref", "refs/heads/main", id);
  expect(git(gitDir, "fsck", "--strict", "--full")).toBe("");
  const shown = git(gitDir, "show", "--no-patch", "--format=%an <%ae>%n%cn <%ce>%n%at%n%B", id).split("\n");
  expect(shown.slice(0, 2)).toEqual([author, committer]);
  expect(Number(shown[2])).toBeGreaterThanOrEqual(before);
  expect(shown.slice(3).join("\n")).toBe(message.trim());
});
