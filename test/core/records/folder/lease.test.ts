// One run holds the lease of a folder, and one that lost it sends nothing more.
import { once } from "node:events";
import { readdir, symlink, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newOwner } from "../../../../src/core/records/files/file-lock.ts";
import { recordsFile } from "../../../../src/core/records/folder/index.ts";
import type { HolderProcess } from "../../../../src/core/records/process-identity.ts";
import { editRecords } from "../../../support/records.ts";
import { tempFolder } from "../child.ts";
import { beginIn, leasedFolder, leaseIn, recordsIn } from "./store.ts";

const filesIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(join(folder, ".dimsync"))).filter((name) => name !== ".gitignore");

it("names its holder, and is free on release", async () => {
  const folder = await tempFolder();
  const run = await beginIn(folder);
  expect(run.notice).toBeUndefined();
  await run.take();
  expect(leaseIn(folder)).toMatchObject({ process: { pid: process.pid, host: hostname() }, runId: "r1" });
  await run.release();
  await run.release();
  expect(leaseIn(folder)).toBeUndefined();
});

it("refuses a second holder with exit 6, and names process, host, run and time", async () => {
  const folder = await tempFolder();
  const run = await beginIn(folder);
  await run.take();
  await expect(beginIn(folder, { runId: "r2" })).rejects.toMatchObject({
    code: "E_LOCKED",
    exit: 6,
    message: expect.stringContaining(`the run r1 (process ${process.pid} on ${hostname()}, since ${leaseIn(folder)?.since})`),
  });
  await (await beginIn(folder, { runId: "r2", target: "dev" })).take();
});

describe("is taken over, with a notice, if it", () => {
  const hourMs = 3_600_000;
  const cases: Readonly<Record<string, readonly [process: Partial<HolderProcess>, silentMs: number, notice: RegExp]>> = {
    "is of a process that is gone": [
      { pid: 2 ** 30 },
      0,
      /held by the run r1 \(process 1073741824 .*\), which has no process any more\. This run takes it over/u,
    ],
    "is of a pid that now belongs to a process that was started later": [{ processStart: "1" }, 0, /has no process any more/u],
    "is of another host and has no recent heartbeat": [{ host: "elsewhere" }, hourMs, /has written no heartbeat for \d+ s/u],
    "is of a live process and has no recent heartbeat": [{}, hourMs, /no heartbeat/u],
  };
  for (const [name, [process, silentMs, notice]] of Object.entries(cases)) {
    it(name, async () => {
      const folder = await leasedFolder(process, silentMs);
      expect(await recordsIn(folder).lease()).toBeUndefined();
      const run = await beginIn(folder, { runId: "r2" });
      expect(run.notice).toMatch(notice);
      await run.take();
      expect(leaseIn(folder)).toMatchObject({ runId: "r2", epoch: 2 });
      // The holder cannot be sending any more: its creates can be resolved at once.
      expect(run.state().unlocked).toEqual([]);
      await run.release();
      expect(leaseIn(folder)).toBeUndefined();
    });
  }

  it("is held although a process was killed within a write", async () => {
    const folder = await leasedFolder({ pid: 2 ** 30 });
    const [writer, taker] = [newOwner(), newOwner()].map((owner) => ({ ...owner, pid: 2 ** 30 }));
    const file = join(folder, ".dimsync", "prod.records.lock");
    await writeFile(file, JSON.stringify(writer));
    await writeFile(`${file}.${writer?.token}.guard`, JSON.stringify(taker));
    const run = await beginIn(folder);
    await run.take();
    await run.release();
    expect(await filesIn(folder)).toEqual(["prod.records"]);
  });
});

describe("is not taken over if it is", () => {
  const cases: Readonly<Record<string, Partial<HolderProcess>>> = {
    "of another host with a recent heartbeat": { host: "elsewhere", bootId: "other", pid: 2 ** 30 },
    "of another container with the same host name, whose pids have no meaning here": { pidSpace: "pid:[1]", pid: 2 ** 30 },
  };
  for (const [name, process] of Object.entries(cases)) {
    it(name, async () => {
      const folder = await leasedFolder(process);
      await expect(beginIn(folder)).rejects.toMatchObject({ code: "E_LOCKED", command: "dimsync records unlock -t prod" });
      expect(await recordsIn(folder).unlock()).toMatchObject({ runId: "r1" });
      await (await beginIn(folder)).take();
      // That machine may still be running.
      expect((await recordsIn(folder).read()).unlocked).toMatchObject([{ runId: "r1", graceMs: 30_000 }]);
    });
  }
});

it("is renewed with each write, also with one that changes nothing", async () => {
  const folder = await tempFolder();
  const run = await beginIn(folder);
  await run.take();
  const before = leaseIn(folder);
  await utimes(recordsFile(folder, "prod"), 1, 1);
  expect(await recordsIn(folder).lease()).toBeUndefined();
  run.flush();
  await expect.poll(() => recordsIn(folder).lease()).toEqual(before);
});

it("that another run took over stops the old holder, which then does not end it", async () => {
  const folder = await tempFolder();
  const run = await beginIn(folder);
  await run.take();
  // The write ends one turn after it is stored.
  await new Promise(setImmediate);
  editRecords(folder, "prod", ({ lease }) => ({ lease: lease && { ...lease, token: "other", runId: "r9" } }));
  run.flush();
  if (!run.lost.aborted) await once(run.lost, "abort");
  expect(run.lost.reason).toMatchObject({ code: "E_LOCKED", exit: 6 });
  await run.release();
  expect(leaseIn(folder)).toMatchObject({ runId: "r9" });
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
  expect((await filesIn(folder)).length).toBe(names.length);
});
