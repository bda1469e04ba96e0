import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { writeAtomic } from "../../../../src/core/records/files/atomic.ts";
import { compileProgram, tempFolder } from "../child.ts";

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

// A file system of 16 KiB, if the system allows users to create one.
const canMount = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;

it.skipIf(!canMount)("keeps the old file if the disk is full in the middle of the new one", async () => {
  const folder = await tempFolder();
  await mkdir(join(folder, "small"));
  const program = await compileProgram(
    folder,
    `import { writeAtomic } from "./files/atomic.ts"; import { readFileSync, readdirSync, writeFileSync } from "node:fs";
     writeFileSync("a.json", "old");
     const outcome = await writeAtomic("a.json", "x".repeat(20_000)).then(() => "written", (error) => error.code);
     console.log(outcome, readFileSync("a.json", "utf8"), readdirSync(".").join());`,
  );
  const script = `mount -t tmpfs -o size=16k tmpfs "$1" && cd "$1" && exec "$2" "$3"`;
  const run = spawnSync("unshare", ["-rm", "sh", "-c", script, "sh", join(folder, "small"), process.execPath, program], {
    encoding: "utf8",
  });
  expect(run.stdout + run.stderr).toBe("ENOSPC old a.json\n");
});
