// A full disk leaves the old file.
import { spawnSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { compileProgram, tempFolder } from "../child.ts";

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
