import { once } from "node:events";
import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { acquireLock } from "../../../src/records/folder/lock.ts";
import { newOwner } from "../../../src/records/folder/lock-owner.ts";
import { compileProgram, start, tempFolder } from "../child.ts";

const now = { runId: "r2", waitMs: 0 };

async function folderWithLock(content: string | object): Promise<string> {
  const folder = await tempFolder();
  await mkdir(join(folder, ".dimsync"));
  await writeFile(join(folder, ".dimsync", "lock-prod.json"), typeof content === "string" ? content : JSON.stringify(content));
  return folder;
}

const locks = async (folder: string): Promise<readonly string[]> =>
  (await readdir(join(folder, ".dimsync"))).filter((name) => name !== ".gitignore");

it("contains its holder, and is removed on release", async () => {
  const folder = await tempFolder();
  const lock = await acquireLock(folder, "prod", { ...now, runId: "r1" });
  expect(JSON.parse(await readFile(lock.file, "utf8"))).toMatchObject({ pid: process.pid, host: hostname(), runId: "r1" });
  expect(lock.notice).toBeUndefined();
  await lock.release();
  await lock.release();
  expect(await locks(folder)).toEqual([]);
});

it("refuses a second holder with exit 6, and names process, host, run and time", async () => {
  const folder = await tempFolder();
  const lock = await acquireLock(folder, "prod", { ...now, runId: "r1" });
  const { startedAt } = JSON.parse(await readFile(lock.file, "utf8")) as { readonly startedAt: string };
  await expect(acquireLock(folder, "prod", now)).rejects.toMatchObject({
    code: "E_LOCKED",
    exit: 6,
    message: expect.stringContaining(`the run r1 (process ${process.pid} on ${hostname()}, since ${startedAt})`),
  });
  const other = await acquireLock(folder, "dev", now);
  await other.release();
  await lock.release();
});

it("gets a lock that is released while it waits", async () => {
  const folder = await tempFolder();
  const first = await acquireLock(folder, "prod", now);
  const second = acquireLock(folder, "prod", { runId: "r3", waitMs: 15_000 });
  await sleep(150);
  await first.release();
  const lock = await second;
  expect(lock.notice).toBeUndefined();
  await lock.release();
});

it("stops waiting with the reason of an aborted signal", async () => {
  const folder = await tempFolder();
  const first = await acquireLock(folder, "prod", now);
  const controller = new AbortController();
  const second = acquireLock(folder, "prod", { runId: "r3", waitMs: 600_000, signal: controller.signal });
  const reason = new Error("interrupted");
  setTimeout(() => controller.abort(reason), 20);
  await expect(second).rejects.toBe(reason);
  await first.release();
});

describe("takes over, with a notice, a lock", () => {
  const old = new Date(Date.now() - 3_600_000).toISOString();
  const mine = newOwner({ runId: "r1" });
  const cases: Readonly<Record<string, readonly [owner: object, notice: RegExp]>> = {
    "whose process is gone": [{ ...mine, pid: 2 ** 30 }, /taken over from the run r1 \(process 1073741824 .*that process is gone\.$/u],
    "whose pid now belongs to a process that was started later": [{ ...mine, processStart: "1" }, /that process is gone/u],
    "of another host without a recent heartbeat": [{ ...mine, host: "elsewhere", heartbeat: old }, /no heartbeat for \d+ s/u],
    "of this process without a recent heartbeat": [{ ...mine, heartbeat: old }, /no heartbeat/u],
  };
  for (const [name, [owner, notice]] of Object.entries(cases)) {
    it(name, async () => {
      const folder = await folderWithLock(owner);
      const lock = await acquireLock(folder, "prod", now);
      expect(lock.notice).toMatch(notice);
      expect(await locks(folder)).toEqual(["lock-prod.json"]);
      await lock.release();
      expect(await locks(folder)).toEqual([]);
    });
  }

  it("that can't be read and is old, but not a new one", async () => {
    const folder = await folderWithLock("garbage");
    await expect(acquireLock(folder, "prod", now)).rejects.toMatchObject({
      code: "E_LOCKED",
      message: expect.stringContaining("another run"),
    });
    await utimes(join(folder, ".dimsync", "lock-prod.json"), 1, 1);
    const lock = await acquireLock(folder, "prod", now);
    expect(lock.notice).toContain("an unknown run");
    await lock.release();
  });

  it("if a process was killed while it took the lock over", async () => {
    const gone = { ...newOwner({ runId: "r1" }), pid: 2 ** 30 };
    const taker = { ...newOwner({ runId: "" }), pid: 2 ** 30 };
    const folder = await folderWithLock(gone);
    await writeFile(join(folder, ".dimsync", `lock-prod.json.${gone.token}.guard`), JSON.stringify(taker));
    const lock = await acquireLock(folder, "prod", now);
    expect(lock.notice).toContain("that process is gone");
    await lock.release();
    expect(await locks(folder)).toEqual([]);
  });
});

describe("does not take over a lock", () => {
  const mine = newOwner({ runId: "r1" });
  const cases: Readonly<Record<string, object>> = {
    "of another host with a recent heartbeat": { ...mine, host: "elsewhere", pid: 2 ** 30 },
    "of another container with the same host name, whose pids have no meaning here": { ...mine, pidSpace: "pid:[1]", pid: 2 ** 30 },
  };
  for (const [name, owner] of Object.entries(cases)) {
    it(name, async () => {
      await expect(acquireLock(await folderWithLock(owner), "prod", now)).rejects.toMatchObject({ code: "E_LOCKED" });
    });
  }
});

it("writes heartbeats", async () => {
  const folder = await tempFolder();
  const lock = await acquireLock(folder, "prod", { ...now, ttlMs: 400 });
  const beat = async (): Promise<string> => (JSON.parse(await readFile(lock.file, "utf8")) as { readonly heartbeat: string }).heartbeat;
  const first = await beat();
  await expect.poll(beat, { timeout: 15_000 }).not.toBe(first);
  await lock.release();
});

it("notifies the old holder after a takeover, which then does not remove the lock", async () => {
  const folder = await tempFolder();
  const first = await acquireLock(folder, "prod", { ...now, ttlMs: 200 });
  const other = { ...newOwner({ runId: "r9" }), heartbeat: new Date(Date.now() + 3_600_000).toISOString() };
  await writeFile(first.file, JSON.stringify(other));
  if (!first.lost.aborted) await once(first.lost, "abort");
  expect(first.lost.reason).toMatchObject({ code: "E_LOCKED", exit: 6 });
  await first.release();
  expect(JSON.parse(await readFile(first.file, "utf8"))).toMatchObject({ runId: "r9" });
});

it("accepts any text as a target's name", async () => {
  const folder = await tempFolder();
  const names = ["__proto__", "a/b", "..", "100%", "100%25", " x ", "ü", "a%2fb", "a.b", "%", "%25%"];
  const held = await Promise.all(names.map((name) => acquireLock(folder, name, now)));
  expect(new Set(held.map((lock) => lock.file)).size).toBe(names.length);
  expect((await locks(folder)).length).toBe(names.length);
  await Promise.all(held.map((lock) => lock.release()));
});

it("says what to do if the lock can't be written", async () => {
  const folder = await tempFolder();
  await writeFile(join(folder, ".dimsync"), "");
  await expect(acquireLock(folder, "prod", now)).rejects.toMatchObject({ code: "E_LOCK_FILE", exit: 1 });
});

it("exactly one of two processes takes over a stale lock, twenty times", async () => {
  const folder = await tempFolder();
  const program = await compileProgram(
    folder,
    `import { acquireLock } from "./folder/lock.ts";
     import { createInterface } from "node:readline";
     // One folder a line, so that both start each race at once, without the start of a process between.
     for await (const folder of createInterface({ input: process.stdin })) {
       const won = await acquireLock(folder, "prod", { runId: String(process.pid), waitMs: 0 }).then(() => "won", (error) => error.code);
       process.stdout.write(won + "\\n");
     }
     process.exit();`,
  );
  const racers = [start(program, []), start(program, [])];
  for (let race = 0; race < 20; race++) {
    const stale = await folderWithLock({ ...newOwner({ runId: "r0" }), pid: 2 ** 30 });
    const answers = racers.map(async ({ process: child }) => String((await once(child.stdout ?? child, "data"))[0]).trim());
    for (const { process: child } of racers) child.stdin?.write(`${stale}\n`);
    expect((await Promise.all(answers)).sort()).toEqual(["E_LOCKED", "won"]);
    const winner = JSON.parse(await readFile(join(stale, ".dimsync", "lock-prod.json"), "utf8")) as { readonly pid: number };
    expect(racers.map(({ process: child }) => child.pid)).toContain(winner.pid);
    expect(await locks(stale)).toEqual(["lock-prod.json"]);
  }
  for (const { process: child, ended } of racers) {
    child.stdin?.end();
    await ended;
  }
});

it("is free as soon as its process is killed", async () => {
  const folder = await tempFolder();
  const program = await compileProgram(
    folder,
    `import { acquireLock } from "./folder/lock.ts"; await acquireLock(process.argv[2], "prod", { runId: "r1", waitMs: 0 }); console.log("held"); setInterval(() => {}, 1000);`,
  );
  const { process: child } = start(program, [folder]);
  await once(child.stdout ?? child, "data");
  await expect(acquireLock(folder, "prod", now)).rejects.toMatchObject({ code: "E_LOCKED" });
  child.kill("SIGKILL");
  await once(child, "close");
  const lock = await acquireLock(folder, "prod", now);
  expect(lock.notice).toContain(`process ${child.pid}`);
  await lock.release();
});
