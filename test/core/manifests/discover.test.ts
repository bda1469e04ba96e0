// The manifests of a project are found, whatever its folders are called, and no file outside it is.
import { chmodSync, symlinkSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { boundaryOf } from "../../../src/core/manifests/boundary.ts";
import { covering, type Discovered, discover } from "../../../src/core/manifests/discover.ts";
import { writeProject } from "../../support/project-folder.ts";
import { config, headings, load, loadIn, manifest, resource } from "./project-on-disk.ts";

const asset = (name: string, ...lines: readonly string[]) => manifest("Asset", name, "spec:", `  name: ${name}`, ...lines);
const names = (project: { readonly manifests: readonly { readonly name: string }[] }) => project.manifests.map(({ name }) => name);

describe("manifest files", () => {
  const files = {
    "dimsync.yaml": config("manifests: [.]"),
    "dimsync.bindings.yaml": "not: a manifest\n",
    "a.yaml": asset("a"),
    "deep/er/b.yml": asset("b"),
    "notes.txt": "no",
    ".hidden/c.yaml": asset("c"),
    "node_modules/d.yaml": asset("d"),
    "two.yaml": `# nothing\n---\n${asset("e")}---\n---\n${asset("f")}`,
    "empty.yaml": "",
    "comment.yaml": "# only this\n",
  };
  test("in a folder are its yaml and yml files, without dot folders, node_modules, the config and the bindings", async () => {
    const project = await load(files);
    expect(project.problems).toEqual([]);
    expect(names(project)).toEqual(["a", "b", "e", "f"]);
    expect(project.files).toEqual(["a.yaml", "comment.yaml", "deep/er/b.yml", "empty.yaml", "two.yaml"]);
    expect(resource(project, "Asset/f").place).toEqual({ file: "two.yaml", document: 2, pointer: "" });
    expect(project.locate({ ...resource(project, "Asset/f").place, pointer: "/spec/name" }).line).toBe(14);
  });
  const rows: Readonly<Record<string, { readonly manifests: string; readonly found: readonly string[] }>> = {
    "a file": { manifests: "[a.yaml]", found: ["a"] },
    "a file that is listed twice, and in a folder, counts once": { manifests: "[a.yaml, ./a.yaml, .]", found: ["a", "b", "e", "f"] },
    "a glob": { manifests: '["*.yaml"]', found: ["a", "e", "f"] },
    "a glob over folders": { manifests: '["deep/**/*.yml"]', found: ["b"] },
    "a glob with braces": { manifests: '["{a,two}.yaml"]', found: ["a", "e", "f"] },
    "a hidden folder, listed by name": { manifests: "[.hidden]", found: ["c"] },
  };
  test.each(Object.entries(rows))("%s", async (_name, { manifests, found }) => {
    const project = await load({ ...files, "dimsync.yaml": config(`manifests: ${manifests}`) });
    expect(project.problems).toEqual([]);
    expect(names(project)).toEqual(found);
  });
  test("paths on the command line replace them, relative to the working directory", async () => {
    const folder = writeProject({ ...files, "dimsync.yaml": config("manifests: [a.yaml]") });
    expect(names(await loadIn(join(folder, "deep"), { paths: ["er"] }))).toEqual(["b"]);
  });
  test("paths in the config are relative to it, whatever the working directory is", async () => {
    const folder = writeProject({ ...files, "dimsync.yaml": config("manifests: [a.yaml]") });
    const project = await loadIn(join(folder, "deep", "er"), {});
    expect(names(project)).toEqual(["a"]);
    expect(project.settings.folder).toBe(folder);
    expect(project.files).toEqual([join(folder, "a.yaml")]);
  });
  test.each([
    ["manifests: [shared]", 1],
    ["manifests: [.]", 1],
    ['manifests: ["shared/deep/*.yaml"]', 1],
    ['manifests: ["**/*.yaml"]', 1],
    ["manifests: [a.yaml, deep]", 0],
    ['manifests: ["*.yaml"]', 0],
  ])("a submodule is refused at the folder, checked out or not: %s", async (line, count) => {
    const gitmodules = '[submodule "s"]\n\tpath = "shared"\n\turl = ../shared\n';
    const project = await load({ ...files, ".gitmodules": gitmodules, "shared/deep/g.yaml": asset("g"), "dimsync.yaml": config(line) });
    expect(headings(project.diagnostics.filter(({ severity }) => severity === "error"))).toEqual(
      Array(count).fill("dimsync.yaml:3:13 E_SUBMODULE"),
    );
  });
  test("a folder whose name looks like a glob is matched literally", async () => {
    expect(names(await load({ "[a]/x.yaml": asset("x"), "dimsync.yaml": config('manifests: ["[a]"]') }))).toEqual(["x"]);
  });
});

test("folders that link to each other are read once, and links out of the project are not followed", async () => {
  const outside = writeProject({ "z.yaml": asset("z") });
  const folder = writeProject(
    Object.fromEntries(Array.from({ length: 14 }, (_, index) => [`m/d${index}/a${index}.yaml`, asset(`a${index}`)])),
  );
  for (let from = 0; from < 14; from++)
    for (let to = from + 1; to < 14; to++) symlinkSync(`../d${to}`, join(folder, "m", `d${from}`, `to${to}`));
  symlinkSync(outside, join(folder, "m", "outside"));
  const project = await loadIn(folder, { paths: ["m"] });
  expect(project.problems.map(({ code, severity }) => [code, severity])).toEqual([["W_LINK_SKIPPED", "warning"]]);
  expect(names(project)).toHaveLength(14);
});

test.each(["*a", "{a,aa}"])(
  "a glob of many %s, which takes years to match a name, is a problem, also for a file that is deleted",
  async (part) => {
    const pattern = `m/${part.repeat(40)}b`;
    const file = `m/${"a".repeat(80)}.yaml`;
    const folder = writeProject({ [file]: asset("a"), "m/b.yaml": asset("b") });
    const place = { file: "dimsync.yaml", document: 0, pointer: "/manifests/0" };
    const options = { cwd: folder, folder, boundary: boundaryOf(folder, { cwd: folder, env: {} }), except: [] };
    const { problems, paths } = await discover([{ pattern, place }], options);
    expect(problems.map(({ code, place: at, message }) => [code, at, message])).toEqual([
      ["E_WRONG_VALUE", place, expect.stringContaining(`took longer than 500 ms for the file ${file}`)],
    ]);
    expect(paths).toEqual([]);
    expect(covering([{ pattern }], folder)(join(folder, file))).toBe(true);
  },
);

describe("the number of folders that are read", () => {
  const counted = async (folder: string, signal?: AbortSignal): Promise<Discovered & { readonly reads: readonly string[] }> => {
    const reads: string[] = [];
    const readFolder = (path: string) => {
      reads.push(path);
      return readdir(path, { withFileTypes: true });
    };
    const options = { cwd: folder, folder, boundary: boundaryOf(folder, { cwd: folder, env: {} }), except: [], readFolder, signal };
    return { ...(await discover([{ pattern: "m" }], options)), reads };
  };
  const linked = (count: number): string => {
    const folder = writeProject(Object.fromEntries(Array.from({ length: count }, (_, i) => [`m/d${i}/a.yaml`, asset(`a${i}`)])));
    for (let from = 0; from < count; from++)
      for (let to = 0; to < count; to++) if (from !== to) symlinkSync(`../d${to}`, join(folder, "m", `d${from}`, `to${to}`));
    return folder;
  };

  test("grows with the number of folders, not with the links between them", async () => {
    for (const count of [4, 8, 16]) {
      const { paths, problems, reads } = await counted(linked(count));
      expect([paths.length, problems, reads.length]).toEqual([count, [], count + 1]);
    }
  });

  test("a file has its own path, even if a link in an earlier folder leads to it", async () => {
    const folder = writeProject({ "m/z/a.yaml": asset("a") });
    symlinkSync("z", join(folder, "m", "link"));
    expect((await counted(folder)).paths).toEqual([join(folder, "m/z/a.yaml")]);
  });

  test("an interruption ends the search before the next folders", async () => {
    const folder = writeProject(
      Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`m/${"d/".repeat(i % 20)}e${i}/a.yaml`, asset(`a${i}`)])),
    );
    const stop = new AbortController();
    const reads: string[] = [];
    const readFolder = (path: string) => {
      reads.push(path);
      stop.abort();
      return readdir(path, { withFileTypes: true });
    };
    const search = discover([{ pattern: "m" }], {
      ...{ cwd: folder, folder, boundary: boundaryOf(folder, { cwd: folder, env: {} }), except: [], readFolder, signal: stop.signal },
    });
    await expect(search).rejects.toThrow(/aborted/u);
    expect(reads).toHaveLength(1);
  });

  test("other work continues while folders are read", async () => {
    const folder = writeProject(Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`m/${"d/".repeat(i)}a.yaml`, asset(`a${i}`)])));
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    await counted(folder);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
  });
});

test("the search for dimsync.yaml stops at the root of the repository", async () => {
  const folder = writeProject({ "dimsync.yaml": config("manifests: [nope]"), "repo/.git/HEAD": "", "repo/sub/a.yaml": asset("a") });
  expect((await loadIn(join(folder, "repo", "sub"))).configFile).toBeUndefined();
});

describe("paths that can't be read", () => {
  test("a path that does not exist is reported at its line", async () => {
    const { diagnostics } = await load({ "dimsync.yaml": config("manifests:", "  - nope") });
    expect(headings(diagnostics)).toEqual(["dimsync.yaml:4:5 E_PATH_NOT_FOUND"]);
  });
  test("a path on the command line that does not exist", async () => {
    const { diagnostics } = await load({}, { paths: ["nope.yaml"] });
    expect(headings(diagnostics)).toEqual([" E_PATH_NOT_FOUND"]);
    expect(diagnostics[0]?.message).toContain("nope.yaml");
  });
  test("a glob that matches no file is a warning", async () => {
    const { diagnostics } = await load({ "a.yaml": asset("a"), "dimsync.yaml": config('manifests: [a.yaml, "x*.yaml"]') });
    expect(diagnostics.map(({ code, severity }) => [code, severity])).toEqual([["W_NO_MATCH", "warning"]]);
  });
  test("no manifests at all is a warning", async () => {
    const { diagnostics } = await load({ "m/note.txt": "", "dimsync.yaml": config("manifests: [m]") });
    expect(headings(diagnostics)).toEqual(["dimsync.yaml:3:13 W_NO_MANIFESTS"]);
    expect(diagnostics[0]?.severity).toBe("warning");
  });
  test("a folder that links to the folder above it", async () => {
    const folder = writeProject({ "m/a.yaml": asset("a") });
    symlinkSync("..", join(folder, "m", "up"));
    const { diagnostics, manifests } = await loadIn(folder, { paths: ["m"] });
    expect(diagnostics.map(({ code }) => code)).toEqual(["E_UNREADABLE"]);
    expect(manifests).toHaveLength(1);
  });
  test("a file that links to itself, and one that links to nothing", async () => {
    const folder = writeProject({ "m/a.yaml": asset("a") });
    symlinkSync("self.yaml", join(folder, "m", "self.yaml"));
    symlinkSync("gone", join(folder, "m", "to-nothing.yaml"));
    const { diagnostics } = await loadIn(folder, { paths: ["m"] });
    expect(diagnostics.map(({ code }) => code).sort()).toEqual(["E_PATH_NOT_FOUND", "E_UNREADABLE"]);
  });
  test("a file with a second link counts once", async () => {
    const folder = writeProject({ "m/a.yaml": asset("a"), "other/b.yaml": asset("b") });
    symlinkSync("../other", join(folder, "m", "other"));
    symlinkSync("a.yaml", join(folder, "m", "z.yaml"));
    const project = await loadIn(folder, { paths: ["m", "other"] });
    expect([names(project), project.problems]).toEqual([["a", "b"], []]);
  });
  test.skipIf(process.getuid?.() === 0)("a file without permission", async () => {
    const folder = writeProject({ "a.yaml": asset("a") });
    chmodSync(join(folder, "a.yaml"), 0);
    expect(headings((await loadIn(folder)).diagnostics)).toEqual(["a.yaml E_UNREADABLE"]);
  });
  const bytes: Readonly<Record<string, { readonly content: Uint8Array; readonly codes: readonly string[]; readonly loads: number }>> = {
    "bytes that are not UTF-8": { content: Buffer.from([0x61, 0x3a, 0x20, 0xff]), codes: ["E_UNREADABLE"], loads: 0 },
    "a pointer of Git LFS": {
      content: Buffer.from("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"),
      codes: ["E_UNREADABLE"],
      loads: 0,
    },
    "UTF-16": { content: Buffer.from(`\ufeff${asset("a")}`, "utf16le"), codes: ["E_UNREADABLE"], loads: 0 },
    "a byte order mark, which is only a warning": { content: Buffer.from(`\ufeff${asset("a")}`), codes: ["W_HIDDEN_CHARACTER"], loads: 1 },
    "carriage returns, which are allowed": { content: Buffer.from(asset("a").replaceAll("\n", "\r\n")), codes: [], loads: 1 },
  };
  test.each(Object.entries(bytes))("%s", async (_name, { content, codes, loads }) => {
    const { diagnostics, manifests } = await load({ "a.yaml": content });
    expect([diagnostics.map(({ code }) => code), manifests.length]).toEqual([codes, loads]);
  });
});

describe("a path that does not exist is covered", () => {
  const rows: readonly (readonly [pattern: string, path: string, isCovered: boolean])[] = [
    ["manifests", "manifests/a.yaml", true],
    ["manifests", "manifests/deep/a.YML", true],
    ["manifests", "manifests/notes.md", false],
    ["manifests", "manifests2/a.yaml", false],
    [".", "a.yaml", true],
    [".", ".hidden/a.yaml", false],
    [".", "deep/.hidden/a.yaml", false],
    [".", "node_modules/a.yaml", false],
    ["../shared", "../shared/a.yaml", true],
    ["one.yaml", "one.yaml", true],
    ["one.yaml", "two.yaml", false],
    ["manifests/*.yaml", "manifests/a.yaml", true],
    ["manifests/*.yaml", "manifests/deep/a.yaml", false],
    ["manifests/**/*.txt", "manifests/deep/a.txt", true],
  ];
  test.each(rows)("by %s: %s is %s", (pattern, path, isCovered) => {
    expect(covering([{ pattern }], "/project")(join("/project", path))).toBe(isCovered);
  });
});
