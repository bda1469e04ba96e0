import { join } from "node:path";
import { expect, it } from "vitest";
import { writeCommit } from "../../../src/records/git/commit.ts";
import { gitEnv } from "../../support/git/env.ts";
import { git } from "../../support/git/remote.ts";
import { writeProject } from "../../support/project-folder.ts";

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
  const repository = { place: { folder, gitDir, env: gitEnv }, objectFormat };
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
