// init creates the records in the remote, once.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../../support/command.ts";
import { gitEnv } from "../../support/git/env.ts";
import { gitRemote } from "../../support/git/remote.ts";

const config = (folder: string): string => readFileSync(join(folder, "dimsync.yaml"), "utf8");

test("init creates the records in the remote, once, and names them in dimsync.yaml", async () => {
  const remote = gitRemote();
  const folder = remote.clone();
  const first = await runCommand(["init"], folder, gitEnv);
  expect([first.code, first.stderr]).toEqual([0, expect.stringContaining("dimsync.yaml now names the git store")]);
  expect(first.stderr).not.toContain("records migrate");
  const tip = remote.tip("refs/dimsync/prod");
  expect(tip).toBeDefined();
  expect(config(folder)).toMatch(/ {4}records:\n {6}git: \{ ref: refs\/dimsync\/prod, id: "?[0-9a-f]{32}/u);
  // Again changes nothing, and a clone that starts over uses the same records.
  expect((await runCommand(["init"], folder, gitEnv)).code).toBe(0);
  const other = remote.clone();
  expect((await runCommand(["init"], other, gitEnv)).code).toBe(0);
  expect([config(other), remote.tip("refs/dimsync/prod")]).toEqual([config(folder), tip]);
  // Another project of the repository has other records of a target with the same name.
  expect((await runCommand(["init", "deploy/eu"], folder, gitEnv)).code).toBe(0);
  expect(config(join(folder, "deploy/eu"))).toContain("ref: refs/dimsync/deploy-eu-prod,");
  expect([remote.tip("refs/dimsync/deploy-eu-prod"), remote.tip("refs/dimsync/prod")]).toEqual([expect.any(String), tip]);
});

test.each([
  ["https://gitlab.example.com/data/sync.git", ["dimsync.gitlab-ci.yml"]],
  ["git@github.com:example/sync.git", [".github"]],
])("init writes the jobs of the remote %s", async (url, written) => {
  const folder = gitRemote().clone();
  execFileSync("git", ["remote", "set-url", "origin", url], { cwd: folder });
  expect((await runCommand(["init", "--no-records"], folder, gitEnv)).code).toBe(0);
  expect([".github", "dimsync.gitlab-ci.yml"].filter((name) => existsSync(join(folder, name)))).toEqual(written);
});

test("init --no-records pushes nothing", async () => {
  const remote = gitRemote();
  const { code, stderr } = await runCommand(["init", "--no-records"], remote.clone(), gitEnv);
  expect([code, stderr]).toEqual([0, expect.stringContaining("dimsync records migrate --to git -t prod")]);
  expect(remote.tip("refs/dimsync/prod")).toBeUndefined();
});

test("init ends with 0 if the remote cannot be written, and says why and what to do", async () => {
  const remote = gitRemote();
  const folder = remote.clone();
  rmSync(remote.bare, { recursive: true });
  writeFileSync(remote.bare, "");
  const { code, stderr } = await runCommand(["init"], folder, gitEnv);
  expect([code, stderr]).toEqual([0, expect.stringContaining("E_RECORDS_READ")]);
  expect(stderr).toContain("dimsync records migrate --to git -t prod");
  expect(config(folder)).not.toContain("records");
});
