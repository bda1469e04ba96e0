import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Project } from "../../../../src/core/manifests/project.ts";
import { watchedProject } from "../../../../src/features/controller/projects/watch.ts";
import { repositoryIn } from "../../../support/git/remote.ts";
import { writeProject } from "../../../support/project-folder.ts";
import { waiting } from "../../../support/waiting.ts";

const tag = (name: string, description: string): string =>
  `apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: ${name} }\nspec: { name: ${name}, description: ${description} }\n`;

function project({ isWatching = true } = {}) {
  const folder = writeProject({
    "dimsync.yaml":
      "apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets: { prod: { baseUrl: https://api.example.com } }\n",
    "manifests/pii.yaml": tag("pii", "one"),
    "manifests/empty/README.md": "",
  });
  const git = repositoryIn(folder);
  const watched = watchedProject({ cwd: folder, env: { PATH: process.env["PATH"] } });
  if (isWatching) onTestFinished(watched.watch(() => {}));
  const { signal } = new AbortController();
  return { folder, git, load: () => watched.load("prod", signal) };
}

const described = ({ resources }: Project): readonly unknown[] => resources.map(({ spec }) => Reflect.get(Object(spec), "description"));

/** Whether two loads share what was read from the files. */
const isSame = (a: Project, b: Project): boolean => a.resources === b.resources;

test("a watched project is loaded once, until one of its files changes", async () => {
  const { folder, load } = project();
  const first = await load();
  const kept = await load();
  expect([isSame(first, kept), described(kept)]).toEqual([true, ["one"]]);
  expect(kept.locate({ file: "manifests/pii.yaml", document: 0, pointer: "/spec/name" })).toMatchObject({ line: 4 });
  expect(kept.recordedGit?.state).toMatchObject({ dirty: false });
  writeFileSync(join(folder, "manifests/pii.yaml"), tag("pii", "two"));
  const changed = await load();
  expect([described(changed), changed.recordedGit?.state?.dirty]).toEqual([["two"], true]);
  // The event comes later than the change.
  await vi.waitFor(async () => expect(isSame(await load(), await load())).toBe(true), waiting);
});

test("added and removed files, and a commit, are noticed", async () => {
  const { folder, git, load } = project();
  await load();
  writeFileSync(join(folder, "manifests/new.yaml"), tag("new", "two"));
  expect(described(await load())).toEqual(["two", "one"]);
  rmSync(join(folder, "manifests/new.yaml"));
  expect(described(await load())).toEqual(["one"]);
  for (const place of ["manifests/empty", "manifests/sub/deep"]) {
    mkdirSync(join(folder, place), { recursive: true });
    writeFileSync(join(folder, place, "x.yaml"), tag("x", "three"));
    await vi.waitFor(async () => expect(described(await load())).toEqual(["one", "three"]), waiting);
    rmSync(join(folder, place, "x.yaml"));
    await vi.waitFor(async () => expect(described(await load())).toEqual(["one"]), waiting);
  }
  git("commit", "-qm", "two", "--allow-empty");
  expect((await load()).recordedGit?.state?.commit).toBe(git("rev-parse", "HEAD"));
});

test("what a run writes does not load the project again", async () => {
  const { folder, load } = project();
  mkdirSync(join(folder, ".dimsync"));
  await vi.waitFor(async () => expect(isSame(await load(), await load())).toBe(true), waiting);
  const first = await load();
  writeFileSync(join(folder, ".dimsync/journal.jsonl"), "{}\n");
  expect(isSame(first, await load())).toBe(true);
});

test("a project that nothing watches is loaded each time", async () => {
  const { load } = project({ isWatching: false });
  expect(isSame(await load(), await load())).toBe(false);
});
