import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runFmt } from "../../../src/features/fmt/command.ts";
import type { FmtFlags } from "../../../src/features/fmt/index.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { configText, writeProject } from "../../support/project-folder.ts";

const noFlags: FmtFlags = { target: [], var: [], varFile: [], only: [], exclude: [], allowPath: [], output: [], color: true };

async function fmt(folder: string, flags: Partial<FmtFlags>, ...paths: readonly string[]) {
  const { io, printed } = capturedIo({ cwd: folder });
  const all = { ...noFlags, ...flags };
  return { code: await runFmt({ io, flags: all, cwd: folder }, paths), ...printed() };
}

test("files that are not canonical are rewritten and named, and a second run changes nothing", async () => {
  const ragged = "kind: Integration\napiVersion:   dimsync/v1\nmetadata: {name: orders}\nspec: {match: {name: Orders}}\n";
  const folder = writeProject({
    "dimsync.yaml": configText("https://api.example.com"),
    "manifests/a.yaml": ragged,
    "manifests/b.yaml": "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec: { name: PII }\n",
  });
  const read = (path: string): string => readFileSync(join(folder, path), "utf8");
  const checked = await fmt(folder, { check: true });
  expect([checked.code, read("manifests/a.yaml")]).toEqual([2, ragged]);
  expect(checked.stdout).toContain("manifests/a.yaml\n");
  expect(await fmt(folder, {})).toMatchObject({ code: 0, stdout: checked.stdout });
  expect(read("manifests/a.yaml")).toBe(
    "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders }\nspec: { match: { name: Orders } }\n",
  );
  expect(await fmt(folder, { check: true })).toEqual({ code: 0, stdout: "", stderr: "" });
});

test("line ends stay as a checkout on Windows has them; of mixed ones, the first decides", async () => {
  const canonical = "apiVersion: dimsync/v1\r\nkind: Tag\r\nmetadata: { name: pii }\r\nspec: { name: PII }\r\n";
  const folder = writeProject({
    "dimsync.yaml": configText("https://api.example.com").replaceAll("\n", "\r\n"),
    "manifests/a.yaml": canonical,
    "manifests/b.yaml": "kind: Tag\r\napiVersion: dimsync/v1\nmetadata: { name: pii }\nspec: { name: PII }\n",
  });
  expect((await fmt(folder, {})).stdout).not.toContain("a.yaml");
  expect(readFileSync(join(folder, "manifests/b.yaml"), "utf8")).toBe(canonical);
  expect(await fmt(folder, { check: true })).toMatchObject({ code: 0 });
});

test("after a signal no other file is written, and the one in progress is complete", async () => {
  const ragged = "kind: Tag\napiVersion: dimsync/v1\nmetadata: { name: pii }\nspec: { name: PII }\n";
  const folder = writeProject({ "dimsync.yaml": configText("https://api.example.com"), "a.yaml": ragged, "b.yaml": ragged });
  const interruption = new AbortController();
  const { io } = capturedIo({ cwd: folder, interrupted: interruption.signal, stdout: () => interruption.abort() });
  await expect(runFmt({ io, flags: noFlags, cwd: folder }, ["a.yaml", "b.yaml"])).rejects.toThrow("aborted");
  const isChanged = (path: string): boolean => readFileSync(join(folder, path), "utf8") !== ragged;
  expect([isChanged("a.yaml"), isChanged("b.yaml"), readdirSync(folder).length]).toEqual([true, false, 3]);
});

test("a path that does not exist is an error", async () => {
  const folder = writeProject({ "dimsync.yaml": configText("https://api.example.com") });
  for (const check of [true, false])
    expect(await fmt(folder, { check }, "nowhere.yaml")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("nowhere.yaml does not exist"),
    });
});

test("a file with a syntax error is reported and left unchanged, and the others are rewritten", async () => {
  const folder = writeProject({
    "dimsync.yaml": configText("https://api.example.com"),
    "manifests/a.yaml": "a: [1\n",
    "manifests/b.yaml": "kind:   Tag\n",
  });
  const { code, stdout, stderr } = await fmt(folder, {}, "manifests");
  expect([code, stdout]).toEqual([1, "manifests/b.yaml\n"]);
  expect(stderr).toContain("manifests/a.yaml:1:4: ");
  expect(readFileSync(join(folder, "manifests/a.yaml"), "utf8")).toBe("a: [1\n");
  expect(existsSync(join(folder, "manifests/b.yaml"))).toBe(true);
});
