// A file has the old text or the new one, never a part.
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { writeAtomic } from "../../../../src/core/records/files/atomic.ts";
import { tempFolder } from "../child.ts";

it("writes the whole text and leaves no temporary file", async () => {
  const folder = await tempFolder();
  await writeAtomic(join(folder, "a.json"), "x".repeat(300_000));
  expect((await readFile(join(folder, "a.json"), "utf8")).length).toBe(300_000);
  expect(await readdir(folder)).toEqual(["a.json"]);
});

it("keeps the mode of an existing file, and sets a given mode", async () => {
  const folder = await tempFolder();
  const file = join(folder, "a.json");
  await writeFile(file, "old");
  await chmod(file, 0o640);
  await writeAtomic(file, "new");
  expect((await stat(file)).mode & 0o777).toBe(0o640);
  await writeAtomic(file, "newer", { mode: 0o600 });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

it("writes through a symbolic link instead of replacing it", async () => {
  const folder = await tempFolder();
  await writeFile(join(folder, "real"), "old");
  await symlink(join(folder, "real"), join(folder, "link"));
  await writeAtomic(join(folder, "link"), "new");
  expect(await readFile(join(folder, "real"), "utf8")).toBe("new");
});

it("writes to a device instead of replacing it", async () => {
  await writeAtomic("/dev/null", "gone");
  expect((await stat("/dev/null")).isCharacterDevice()).toBe(true);
});

it.runIf(existsSync("/dev/shm"))("replaces a file in /dev/shm as it does on any disk", async () => {
  const folder = await mkdtemp("/dev/shm/dimsync-atomic-");
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "bindings.yaml");
  await writeAtomic(file, "old");
  await writeAtomic(file, "new");
  expect(await readFile(file, "utf8")).toBe("new");
});

it("writes the temporary file in tempFolder, so that the target's folder contains nothing else", async () => {
  const folder = await tempFolder();
  await expect(writeAtomic(join(folder, "a.json"), "x", { tempFolder: join(folder, "missing") })).rejects.toMatchObject({ code: "ENOENT" });
  await mkdir(join(folder, "temp"));
  await writeAtomic(join(folder, "a.json"), "x", { tempFolder: join(folder, "temp") });
  expect(await readdir(folder)).toEqual(["a.json", "temp"]);
  expect(await readdir(join(folder, "temp"))).toEqual([]);
});

it("rejects and removes its temporary file if the target can't be replaced", async () => {
  const folder = await tempFolder();
  await mkdir(join(folder, "a.json"));
  await expect(writeAtomic(join(folder, "a.json"), "x")).rejects.toMatchObject({ code: "EISDIR" });
  expect(await readdir(folder)).toEqual(["a.json"]);
});
