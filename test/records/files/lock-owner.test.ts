import { once } from "node:events";
import { mkdir, readdir, readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newOwner } from "../../../src/records/files/lock-owner.ts";
import { compileProgram, start, tempFolder } from "../child.ts";
import { beginIn, programWithRecords, recordsIn } from "../folder/store.ts";

const lockOf = (folder: string): string => join(folder, ".dimsync", "lock-prod.json");

async function folderWithLock(content: string | object): Promise<string> {
  const folder = await tempFolder();
  await mkdir(join(folder, ".dimsync"));
  await writeFile(lockOf(folder), typeof content === "string" ? content : JSON.stringify(content));
  return folder;
}

const holderIn = async (folder: string): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(lockOf(folder), "utf8")) as Record<string, unknown>;

const locks = async (folder: string): Promise<readonly string[]> =>
  (await readdir(join(folder, ".dimsync"))).filter((name) => name !== ".gitignore");

it("contains its holder, and is removed on release", async () => {
  const folder = await tempFolder();
  const run = await beginIn(folder);
  expect(run.notice).toBeUndefined();
  await run.take();
  expect(await holderIn(folder)).toMatchObject({ pid: process.pid, host: hostname(), runId: "r1" });
  await run.release();
  await run.release();
  expect(await locks(folder)).toEqual([]);
});

it("refuses a second holder with exit 6, and names process, host, run and time", async () => {
  const folder = await tempFolder();
  const run = await beginIn(folder);
  await run.take();
  const { startedAt } = await holderIn(folder);
  await expect(beginIn(folder, { runId: "r2" })).rejects.toMatchObject({
    code: "E_LOCKED",
    exit: 6,
    message: expect.stringContaining(`the run r1 (process ${process.pid} on ${hostname()}, since ${String(startedAt)})`),
  });
  await (await beginIn(folder, { runId: "r2", target: "dev" })).take();
});

describe("is taken over, with a notice, if it", () => {
  const old = new Date(Date.now() - 3_600_000).toISOString();
  const mine = newOwner({ runId: "r1" });
  const cases: Readonly<Record<string, readonly [owner: object, notice: RegExp]>> = {
    "is of a process that is gone": [
      { ...mine, pid: 2 ** 30 },
      /held by the run r1 \(process 1073741824 .*\), which has no process any more\. This run takes it over/u,
    ],
    "is of a pid that now belongs to a process that was started later": [{ ...mine, processStart: "1" }, /has no process any more/u],
    "is of another host and has no recent heartbeat": [
      { ...mine, host: "elsewhere", heartbeat: old },
      /has written no heartbeat for \d+ s/u,
    ],
    "is of a live process and has no recent heartbeat": [{ ...mine, heartbeat: old }, /no heartbeat/u],
  };
  for (const [name, [owner, notice]] of Object.entries(cases)) {
    it(name, async () => {
      const folder = await folderWithLock(owner);
      expect(await recordsIn(folder).lease()).toBeUndefined();
      const run = await beginIn(folder, { runId: "r2" });
      expect(run.notice).toMatch(notice);
      await run.take();
      expect(await locks(folder)).toEqual(["lock-prod.json"]);
      expect(await holderIn(folder)).toMatchObject({ runId: "r2" });
      // The holder cannot be sending any more: its creates can be resolved at once.
      expect(run.state().unlocked).toEqual([]);
      await run.release();
      expect(await locks(folder)).toEqual([]);
    });
  }

  it("can't be read and is old, but not if it is new", async () => {
    const folder = await folderWithLock("garbage");
    await expect(beginIn(folder)).rejects.toMatchObject({ code: "E_LOCKED", message: expect.stringContaining("the run unknown") });
    await utimes(lockOf(folder), 1, 1);
    const run = await beginIn(folder);
    expect(run.notice).toContain("the run unknown");
    await run.take();
  });

  it("is held although a process was killed within a write", async () => {
    const folder = await folderWithLock({ ...newOwner({ runId: "r1" }), pid: 2 ** 30 });
    const [writer, taker] = [newOwner({ runId: "" }), newOwner({ runId: "" })].map((owner) => ({ ...owner, pid: 2 ** 30 }));
    const file = join(folder, ".dimsync", "records.lock");
    await writeFile(file, JSON.stringify(writer));
    await writeFile(`${file}.${writer?.token}.guard`, JSON.stringify(taker));
    const run = await beginIn(folder);
    await run.take();
    await run.release();
    expect(await locks(folder)).toEqual([]);
  });
});

describe("is not taken over if it is", () => {
  const mine = newOwner({ runId: "r1" });
  const cases: Readonly<Record<string, object>> = {
    "of another host with a recent heartbeat": { ...mine, host: "elsewhere", pid: 2 ** 30 },
    "of another container with the same host name, whose pids have no meaning here": { ...mine, pidSpace: "pid:[1]", pid: 2 ** 30 },
  };
  for (const [name, owner] of Object.entries(cases)) {
    it(name, async () => {
      const folder = await folderWithLock(owner);
      await expect(beginIn(folder)).rejects.toMatchObject({ code: "E_LOCKED", command: "dimsync records unlock -t prod" });
      expect(await recordsIn(folder).unlock()).toMatchObject({ runId: "r1" });
      await (await beginIn(folder)).take();
      // That machine may still be running.
      expect((await recordsIn(folder).read()).unlocked).toMatchObject([{ runId: "r1", graceMs: 30_000 }]);
    });
  }
});

it("has a heartbeat", async () => {
  const folder = await tempFolder();
  const run = await beginIn(folder);
  await run.take();
  const first = await holderIn(folder);
  await expect
    .poll(async () => {
      run.flush();
      return (await holderIn(folder))["heartbeat"];
    })
    .not.toBe(first["heartbeat"]);
  expect(await holderIn(folder)).toMatchObject({ token: first["token"], startedAt: first["startedAt"] });
});

it("that another run took over stops the old holder, which then does not remove it", async () => {
  const folder = await tempFolder();
  const run = await beginIn(folder);
  await run.take();
  await writeFile(lockOf(folder), JSON.stringify(newOwner({ runId: "r9" })));
  run.flush();
  if (!run.lost.aborted) await once(run.lost, "abort");
  expect(run.lost.reason).toMatchObject({ code: "E_LOCKED", exit: 6 });
  await run.release();
  expect(await holderIn(folder)).toMatchObject({ runId: "r9" });
});

it("is the same through a symbolic link to the project", async () => {
  const folder = await tempFolder();
  const link = join(await tempFolder(), "link");
  await symlink(folder, link);
  const run = await beginIn(link);
  await run.take();
  await run.bind("Asset/a", { id: "1" });
  await expect(beginIn(folder, { runId: "r2" })).rejects.toMatchObject({ code: "E_LOCKED" });
  await run.release();
  expect([...(await recordsIn(folder).read()).bindings.keys()]).toEqual(["Asset/a"]);
});

it("has a file of its own for any text as a target's name", async () => {
  const folder = await tempFolder();
  const names = ["__proto__", "a/b", "..", "100%", "100%25", " x ", "ü", "a%2fb", "a.b", "%", "%25%"];
  const held = await Promise.all(names.map((target) => beginIn(folder, { target })));
  await Promise.all(held.map((run) => run.take()));
  expect((await locks(folder)).length).toBe(names.length);
});

it("is taken over by exactly one of two processes, twenty times", async () => {
  const folder = await tempFolder();
  const program = await compileProgram(
    folder,
    `${programWithRecords}
     import { createInterface } from "node:readline";
     // One folder a line, so that both start each race at once, without the start of a process between.
     for await (const folder of createInterface({ input: process.stdin })) {
       const race = async () => (await records(folder, "prod").begin({ runId: String(process.pid), waitMs: 0 })).take();
       process.stdout.write((await race().then(() => "won", (error) => error.code)) + "\\n");
     }
     process.exit();`,
  );
  const racers = [start(program, []), start(program, [])];
  for (let race = 0; race < 20; race++) {
    const stale = await folderWithLock({ ...newOwner({ runId: "r0" }), pid: 2 ** 30 });
    const answers = racers.map(async ({ process: child }) => String((await once(child.stdout ?? child, "data"))[0]).trim());
    for (const { process: child } of racers) child.stdin?.write(`${stale}\n`);
    expect((await Promise.all(answers)).sort()).toEqual(["E_LOCKED", "won"]);
    expect(racers.map(({ process: child }) => child.pid)).toContain((await holderIn(stale))["pid"]);
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
    `${programWithRecords}
     await (await records(process.argv[2], "prod").begin({ runId: "r1", waitMs: 0 })).take();
     console.log("held");
     setInterval(() => {}, 1000);`,
  );
  const { process: child } = start(program, [folder]);
  await once(child.stdout ?? child, "data");
  await expect(beginIn(folder)).rejects.toMatchObject({ code: "E_LOCKED" });
  child.kill("SIGKILL");
  await once(child, "close");
  const run = await beginIn(folder);
  expect(run.notice).toContain(`process ${child.pid}`);
  await run.take();
});
