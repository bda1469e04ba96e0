import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitState } from "../../src/manifests/git.ts";

const identity = ["-c", "user.name=Dana", "-c", "user.email=dana@example.com"];
const git = (folder: string, ...args: readonly string[]) => execFileSync("git", ["-C", folder, ...identity, ...args], { encoding: "utf8" });

function repository(): string {
  const folder = mkdtempSync(join(tmpdir(), "dimsync-git-"));
  git(folder, "init", "--quiet");
  return folder;
}

function commit(folder: string): string {
  writeFileSync(join(folder, "a"), "a");
  git(folder, "add", "a");
  git(folder, "commit", "--quiet", "--message", "a");
  return git(folder, "rev-parse", "HEAD").trim();
}

test("a clean tree has its commit", async () => {
  const folder = repository();
  expect(await gitState(folder)).toBeUndefined();
  const head = commit(folder);
  expect(await gitState(folder)).toEqual({ commit: head, dirty: false });
});

test.each([
  ["a file that git doesn't know", "b"],
  ["a file whose name looks like a header", "# b"],
  ["a changed file", "a"],
])("%s makes it dirty, seen from any folder of the repository", async (_sentence, name) => {
  const folder = repository();
  const head = commit(folder);
  writeFileSync(join(folder, name), "other");
  mkdirSync(join(folder, "c"));
  expect(await gitState(join(folder, "c"))).toEqual({ commit: head, dirty: true });
});

test("nothing is known outside a repository", async () => {
  expect(await gitState(mkdtempSync(join(tmpdir(), "dimsync-git-")))).toBeUndefined();
});
