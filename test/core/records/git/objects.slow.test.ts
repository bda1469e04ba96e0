// Commits of records are those that git would write.
import { join } from "node:path";
import { expect, it } from "vitest";
import { readCommit, sealOf, writeCommit } from "../../../../src/core/records/git/commit.ts";
import { gitEnv } from "../../../support/git/env.ts";
import { git } from "../../../support/git/remote.ts";
import { writeProject } from "../../../support/project-folder.ts";

const text = '["dimsync records",1,{}]\n["bindings","Asset/lände",{"id":"d-1"}]\n';

it.each([
  ["sha1", "key"],
  ["sha256", "key"],
  ["sha1", undefined],
] as const)("writes commits as git does, with %s objects and the key %s", async (objectFormat, key) => {
  const folder = writeProject({});
  git(folder, "init", "--quiet", "--bare", "--template=", `--object-format=${objectFormat}`, "r.git");
  const gitDir = join(folder, "r.git");
  const repository = { folder, gitDir, env: gitEnv };
  const texts = [text, text.repeat(40_000)];
  const ids: string[] = [];
  for (const [index, each] of texts.entries())
    ids.push(await writeCommit(repository, { text: each, parent: ids[index - 1], message: `write ${index}`, key }));
  const [first = "", second = ""] = ids;

  git(gitDir, "update-ref", "refs/heads/main", second);
  expect(git(gitDir, "fsck", "--strict", "--full")).toBe("");
  const files = key === undefined ? ["records"] : ["records", "seal"];
  for (const [index, id] of ids.entries()) {
    expect(git(gitDir, "ls-tree", "-r", "--format=%(objectmode) %(path)", id).split("\n")).toEqual(files.map((path) => `100644 ${path}`));
    const read = await readCommit(repository, id);
    const seal = key === undefined ? undefined : sealOf(ids[index - 1], texts[index] ?? "", key);
    expect(read).toEqual({ id, parent: ids[index - 1], subject: `write ${index}`, text: texts[index], seal });
  }
  expect(git(gitDir, "rev-list", "main").split("\n")).toEqual([second, first]);
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
  const id = await writeCommit(repository, { text, parent: undefined, message, key: undefined });
  git(gitDir, "update-ref", "refs/heads/main", id);
  expect(git(gitDir, "fsck", "--strict", "--full")).toBe("");
  const shown = git(gitDir, "show", "--no-patch", "--format=%an <%ae>%n%cn <%ce>%n%at%n%B", id).split("\n");
  expect(shown.slice(0, 2)).toEqual([author, committer]);
  expect(Number(shown[2])).toBeGreaterThanOrEqual(before);
  expect(shown.slice(3).join("\n")).toBe(message.trim());
});
