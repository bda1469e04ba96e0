// A lock whose owner is gone does not hold others up.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newOwner, takeFileLock } from "../../../../src/core/records/files/file-lock.ts";
import { tempFolder } from "../child.ts";

const hourAgo = (): string => new Date(Date.now() - 3_600_000).toISOString();

test.each([
  ["a process of this machine that runs", {}, false, true],
  ["a process of this machine that runs, where its silence counts", {}, true, false],
  ["a process that has ended", { pid: 2 ** 30 }, false, false],
  ["a process of another machine", { host: "elsewhere" }, false, false],
])("a lock without a heartbeat for an hour, of %s", async (_, owner, expiresWhileRunning, isHeld) => {
  const file = join(await tempFolder(), "lock.json");
  await writeFile(file, `${JSON.stringify({ ...newOwner(), ...owner, heartbeat: hourAgo() })}\n`);
  const lock = await takeFileLock(file, { waitMs: 0, ttlMs: 60_000, expiresWhileRunning });
  expect("heldBy" in lock).toBe(isHeld);
});
