// A tree is clean only if the files of the project are those of the commit.
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { gitState, type ProjectFiles } from "../../../../src/core/base/git/state.ts";
import { leftOutProblems } from "../../../../src/core/plan/left-out.ts";
import { commitAll, git } from "../../../support/git/remote.ts";
import { writeProject } from "../../../support/project-folder.ts";

const newFolder = (): string => writeProject({});

function write(folder: string, file: string, text = "changed\n"): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

/** A repository with a project in deploy/ that consists of dimsync.yaml and the .yaml files in manifests/. */
function repository() {
  const top = newFolder();
  git(top, "init", "--quiet");
  for (const file of ["deploy/dimsync.yaml", "deploy/manifests/a.yaml", "deploy/notes.md"]) write(top, file, `${file}\n`);
  commitAll(top, "first");
  const folder = join(top, "deploy");
  const manifests = join(folder, "manifests");
  const state = (files: readonly string[] = []) => {
    const project: ProjectFiles = {
      files: ["dimsync.yaml", "dimsync.bindings.yaml", "manifests/a.yaml", ...files].map((file) => join(folder, file)),
      covers: (path) => path.startsWith(manifests) && path.endsWith(".yaml"),
    };
    return gitState(folder, project);
  };
  return { top, folder, state, head: git(top, "rev-parse", "HEAD").trim() };
}

type Change = (folder: string, top: string) => void;

describe("the tree is dirty after", () => {
  const rows: Readonly<Record<string, { readonly change: Change; readonly files?: readonly string[]; readonly names: readonly string[] }>> =
    {
      "a change of the config": { change: (folder) => write(folder, "dimsync.yaml"), names: ["dimsync.yaml"] },
      "a change that is staged": {
        change: (folder) => {
          write(folder, "dimsync.yaml");
          git(folder, "add", "dimsync.yaml");
        },
        names: ["dimsync.yaml"],
      },
      "a new bindings file": { change: (folder) => write(folder, "dimsync.bindings.yaml"), names: ["dimsync.bindings.yaml"] },
      "a new manifest": {
        change: (folder) => write(folder, "manifests/# b ü.yaml"),
        files: ["manifests/# b ü.yaml"],
        names: ["manifests/# b ü.yaml"],
      },
      "a manifest in a new folder": {
        change: (folder) => write(folder, "manifests/new/b.yaml"),
        files: ["manifests/new/b.yaml"],
        names: ["manifests/new/b.yaml"],
      },
      "a manifest that is deleted": { change: (folder) => rmSync(join(folder, "manifests/a.yaml")), names: ["manifests/a.yaml"] },
      "a manifest that is renamed": {
        change: (folder) => {
          renameSync(join(folder, "manifests/a.yaml"), join(folder, "manifests/b.yaml"));
          git(folder, "add", "--all");
        },
        files: ["manifests/b.yaml"],
        names: ["manifests/a.yaml", "manifests/b.yaml"],
      },
      "a change of a file outside the project's folder that a link leads to": {
        change: (folder, top) => {
          write(top, "shared/b.yaml");
          symlinkSync("../../shared/b.yaml", join(folder, "manifests/b.yaml"));
          git(folder, "add", "manifests/b.yaml");
          git(folder, "commit", "--quiet", "--message", "link");
        },
        files: ["manifests/b.yaml"],
        names: ["manifests/b.yaml"],
      },
      "a change that the index says not to look for": {
        change: (folder) => {
          git(folder, "update-index", "--assume-unchanged", "manifests/a.yaml");
          write(folder, "manifests/a.yaml");
        },
        names: ["manifests/a.yaml"],
      },
      "a change that a filter of the checkout would hide": {
        change: (folder, top) => {
          git(top, "config", "filter.same.clean", "echo deploy/manifests/a.yaml");
          write(top, ".gitattributes", "*.yaml filter=same\n");
          write(folder, "manifests/a.yaml");
        },
        names: ["manifests/a.yaml"],
      },
      "a commit that attributes write in another encoding": {
        change: (folder, top) => {
          write(top, ".gitattributes", "deploy/manifests/*.yaml working-tree-encoding=UTF-16LE\n");
          writeFileSync(join(folder, "manifests/a.yaml"), "a: 1\n", "utf16le");
          commitAll(top, "encoding");
        },
        names: ["manifests/a.yaml"],
      },
      "a link that leads to another file than in the commit": {
        change: (folder) => {
          write(folder, "other.yaml", "other\n");
          symlinkSync("a.yaml", join(folder, "manifests/b.yaml"));
          commitAll(folder, "link");
          rmSync(join(folder, "manifests/b.yaml"));
          symlinkSync("../other.yaml", join(folder, "manifests/b.yaml"));
        },
        files: ["manifests/b.yaml"],
        names: ["manifests/b.yaml"],
      },
    };
  for (const [what, { change, files, names }] of Object.entries(rows))
    test(what, async () => {
      const { top, folder, state } = repository();
      change(folder, top);
      const { untracked: _, ...found } = (await state(files)) ?? {};
      expect(found).toEqual({ commit: git(top, "rev-parse", "HEAD").trim(), dirty: true, changedFiles: names });
    });
});

describe("the tree is clean after", () => {
  const rows: Readonly<Record<string, Change>> = {
    "no change": () => {},
    "a saved plan": (folder) => write(folder, "plan.json"),
    "a saved plan in a new folder": (folder) => write(folder, "plans/plan.json"),
    "a change of another file": (folder) => write(folder, "notes.md"),
    "a change outside the project": (_, top) => write(top, "dimsync.yaml"),
    "a change of line ends": (folder) => write(folder, "manifests/a.yaml", "deploy/manifests/a.yaml\r\n"),
    "a bindings file that git ignores": (folder, top) => {
      write(top, ".git/info/exclude", "dimsync.bindings.yaml\n");
      write(folder, "dimsync.bindings.yaml");
    },
  };
  for (const [what, change] of Object.entries(rows))
    test(what, async () => {
      const { top, folder, state, head } = repository();
      change(folder, top);
      const { ignored: _, ...found } = (await state()) ?? {};
      expect(found).toEqual({ commit: head, dirty: false });
    });
});

test("files of the project that are not in the commit are named, with the line that ignores them", async () => {
  const { top, folder, state } = repository();
  write(top, ".gitignore", "# local\n*.local.yaml\n!kept.local.yaml\n");
  const files = ["manifests/b.local.yaml", "manifests/kept.local.yaml", "manifests/new.yaml"];
  for (const file of [...files, "other.local.yaml"]) write(folder, file);
  const found = await state(files);
  expect(found).toMatchObject({
    untracked: ["manifests/kept.local.yaml", "manifests/new.yaml"],
    ignored: [{ file: "manifests/b.local.yaml", by: ".gitignore:2" }],
  });
});

test("a file that a sparse checkout leaves out is named, and the tree is not clean", async () => {
  const { top, folder, state, head } = repository();
  git(top, "sparse-checkout", "set", "--no-cone", "/*", "!/deploy/manifests/");
  expect(git(folder, "status", "--porcelain")).toBe("");
  expect(await state()).toEqual({ commit: head, dirty: true, leftOut: ["manifests/a.yaml"] });
  expect(leftOutProblems(await state(), folder)[0]?.command).toBe("git -C .. sparse-checkout add deploy/manifests");
});

test("a project that is reached through a link has the state of its repository", async () => {
  const { folder } = repository();
  write(folder, "dimsync.yaml");
  const link = join(newFolder(), "link");
  symlinkSync(folder, link);
  const files = [join(link, "dimsync.yaml")];
  expect(await gitState(link, { files, covers: () => false })).toMatchObject({ changedFiles: ["dimsync.yaml"] });
});

test("GIT_DIR, as a hook of git sets it, does not point to another repository", async () => {
  const { state, head } = repository();
  vi.stubEnv("GIT_DIR", join(repository().top, ".git"));
  expect(await state()).toEqual({ commit: head, dirty: false });
});

test.each([
  ["outside a repository", () => {}],
  ["before the first commit", (folder: string) => git(folder, "init", "--quiet")],
])("there is no state %s", async (_, prepare) => {
  const folder = newFolder();
  prepare(folder);
  expect(await gitState(folder, { files: [], covers: () => false })).toBeUndefined();
});
