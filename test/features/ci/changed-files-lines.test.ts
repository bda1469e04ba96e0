// The lines that a pull request touches are known, whatever its files are called.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { changedLines } from "../../../src/features/ci/changed-files.ts";
import { gitEnv } from "../../support/git/env.ts";
import { repositoryIn } from "../../support/git/remote.ts";
import { writeProject } from "../../support/project-folder.ts";

const names = { plain: "deploy/manifests/a.yaml", odd: 'deploy/a "b" ü.yaml', hidden: "deploy/hidden.yaml", other: "deploy/same.yaml" };

test("a line is touched if the pull request adds or changes it, whatever its file is called and its attributes say", async () => {
  const lines = (count: number, changed = 0): string =>
    Array.from({ length: count }, (_, index) => (index + 1 === changed ? "++ b/x\n" : `line ${index + 1}\n`)).join("");
  const root = writeProject(Object.fromEntries(Object.values(names).map((name) => [name, lines(9)])));
  const git = repositoryIn(root);
  const base = git("rev-parse", "HEAD");
  mkdirSync(join(root, "deploy/new"));
  writeFileSync(join(root, "deploy/new/c.yaml"), lines(2));
  writeFileSync(join(root, ".gitattributes"), "*.yaml -diff\n");
  for (const name of [names.plain, names.odd, names.hidden]) writeFileSync(join(root, name), lines(9, 3));
  git("add", "--all");
  git("commit", "--quiet", "--message", "second");
  const cwd = join(root, "deploy");
  const files = ["manifests/a.yaml", 'a "b" ü.yaml', join(root, "deploy/hidden.yaml"), "same.yaml", "new/c.yaml", "/elsewhere.yaml"];
  const touches = await changedLines({ folder: cwd, env: gitEnv }, base, files);
  const rows = files.map((file) => [touches?.(file, undefined), touches?.(file, 2), touches?.(file, 3), touches?.(file, 4)]);
  const changed = [true, false, true, false];
  expect(rows).toEqual([changed, changed, changed, Array(4).fill(false), [true, true, false, false], Array(4).fill(false)]);
  expect(await changedLines({ folder: cwd, env: gitEnv }, "0".repeat(40), files), "no such commit").toBeUndefined();
});
