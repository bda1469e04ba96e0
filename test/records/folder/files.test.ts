import { once } from "node:events";
import { appendFile, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DimsyncError } from "../../../src/model/errors.ts";
import type { Intent, Settlement } from "../../../src/records/journal-line.ts";
import fc from "../../support/fast-check.ts";
import { runs } from "../../support/sample.ts";
import { compileProgram, start, tempFolder } from "../child.ts";
import { intentOf } from "../suite.ts";
import { beginIn, programWithRecords, recordsIn } from "./store.ts";

const intent = (address: string, more: Partial<Intent> = {}): Intent => intentOf(address, { runId: "r1", ...more });

const journalFile = (folder: string): string => join(folder, ".dimsync", "journal.ndjson");
const openAddresses = async (folder: string, target = "prod"): Promise<readonly string[]> =>
  (await recordsIn(folder, target).read()).open.map((entry) => entry.address);

/** Begins creates in a run that then ends. */
async function intended(folder: string, ...addresses: readonly string[]): Promise<void> {
  const run = await beginIn(folder);
  await run.intend(addresses.map((address) => intent(address)));
  await run.release();
}

describe("a run", () => {
  it("creates no file before its first write, and then a folder that git ignores", async () => {
    const folder = await tempFolder();
    const run = await beginIn(folder);
    expect(run.state().open).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
    await run.intend([intent("Integration/a")]);
    expect(await readFile(join(folder, ".dimsync", ".gitignore"), "utf8")).toBe("*\n");
    expect((await readdir(join(folder, ".dimsync"))).sort()).toEqual([".gitignore", "journal.ndjson", "lock-prod.json"]);
  });

  it("leaves no lock and no response behind", async () => {
    const folder = await tempFolder();
    const run = await beginIn(folder);
    const [entryId = ""] = await run.intend([intent("Asset/a")]);
    await run.settle(entryId, { outcome: "created", id: "d-1" });
    await run.bind("Asset/a", { id: "d-1" });
    await run.release();
    expect((await readdir(join(folder, ".dimsync"))).sort()).toEqual([".gitignore", "journal.ndjson", "responses-prod"]);
    expect(await readdir(join(folder, ".dimsync", "responses-prod"))).toEqual([]);
  });

  it("without changes writes nothing", async () => {
    const folder = await tempFolder();
    await (await beginIn(folder)).release();
    expect(await readdir(folder)).toEqual([]);
  });

  it("keeps the creates of each target apart", async () => {
    const folder = await tempFolder();
    await intended(folder, "Integration/a");
    expect([await openAddresses(folder), await openAddresses(folder, "dev")]).toEqual([["Integration/a"], []]);
  });
});

it("writes only known members", async () => {
  const folder = await tempFolder();
  const run = await beginIn(folder);
  const [entryId = ""] = await run.intend([{ ...intent("Integration/a"), body: "canary" } as Intent]);
  await run.settle(entryId, { outcome: "created", id: "8f1c", answer: "canary" } as Settlement);
  await run.release();
  expect(await readFile(journalFile(folder), "utf8")).not.toContain("canary");
});

it("reads the files of earlier versions, and the next write keeps what they contain", async () => {
  const folder = await tempFolder();
  await mkdir(join(folder, ".dimsync"));
  const write = (name: string, ...values: readonly object[]): Promise<void> =>
    writeFile(join(folder, ".dimsync", name), values.map((value) => `${JSON.stringify(value)}\n`).join(""));
  const begun = (entryId: string, address: string) => ({ type: "intend", entryId, target: "prod", ...intent(address), idsSeenBefore: [] });
  await write(
    "journal.ndjson",
    ...[begun("x", "Asset/a"), begun("y", "Asset/b")],
    ...[
      { type: "settle", entryId: "y", outcome: "answered", id: "d-2" },
      { type: "settle", entryId: "y", outcome: "created", id: "d-2" },
    ],
  );
  await write("applied.ndjson", { planId: "p1", runId: "r0", at: "2026-01-01T00:00:00.000Z" });
  await write("unlocked.ndjson", { target: "prod", runId: "r0", at: "2026-01-01T00:00:00.000Z", graceMs: 30_000 });
  await write("lists.json", { prod: { integrations: 7 } });
  await write("columns.json", { prod: { at: "2026-01-01T00:00:00.000Z", groups: [] } });
  const bindings =
    'apiVersion: dimsync/v1\nkind: Bindings\ntargets:\n  prod:\n    # by hand\n    Asset/b: { id: "d-2", sent: { "/name": "sha256:1" } }\n';
  await writeFile(join(folder, "dimsync.bindings.yaml"), bindings);
  const expected = {
    bindings: new Map([["Asset/b", { id: "d-2", sent: { "/name": "sha256:1" } }]]),
    open: [{ entryId: "x", ...intent("Asset/a") }],
    longestSeen: { integrations: 7 },
    columnsSeen: { at: "2026-01-01T00:00:00.000Z", groups: [] },
    unlocked: [{ runId: "r0", at: "2026-01-01T00:00:00.000Z", graceMs: 30_000 }],
  };
  expect(await recordsIn(folder).read()).toMatchObject(expected);
  const run = await beginIn(folder);
  await run.bind("Asset/c", { id: "d-3" });
  await run.release();
  expect(await recordsIn(folder).read()).toMatchObject({
    ...expected,
    bindings: new Map<string, object>([...expected.bindings, ["Asset/c", { id: "d-3" }]]),
  });
  expect(await recordsIn(folder).wasApplied("p1")).toMatchObject({ runId: "r0" });
  expect(await readFile(join(folder, "dimsync.bindings.yaml"), "utf8")).toBe(`${bindings}    Asset/c: { id: "d-3" }\n`);
});

describe("a journal", () => {
  it("whose last line is incomplete loses only that line, and the next one begins on a new line", async () => {
    const folder = await tempFolder();
    await intended(folder, "Integration/a");
    await appendFile(journalFile(folder), '{"type":"intend","entryId":"x","targ');
    expect(await openAddresses(folder)).toEqual(["Integration/a"]);
    await intended(folder, "Integration/b");
    expect(await openAddresses(folder)).toEqual(["Integration/a", "Integration/b"]);
    expect(await readFile(`${journalFile(folder)}.torn`, "utf8")).toBe('{"type":"intend","entryId":"x","targ\n');
  });

  it("whose last line has no line feed is complete, as an editor may leave it", async () => {
    const folder = await tempFolder();
    await intended(folder, "Integration/a");
    await writeFile(journalFile(folder), (await readFile(journalFile(folder), "utf8")).trimEnd());
    expect(await openAddresses(folder)).toEqual(["Integration/a"]);
    await intended(folder, "Integration/b");
    expect(await openAddresses(folder)).toEqual(["Integration/a", "Integration/b"]);
  });
});

describe("refuses, with the line, and does not write to, a journal with", () => {
  const cases: Readonly<Record<string, string>> = {
    "garbage in the middle": '{"type":"intend","entryId":"x","targ\n',
    "a number in the middle": "17\n",
    "bytes that are not text": "\u0000\u0000\n",
    "an entry of an unknown type": '{"type":"later","entryId":"x"}\n',
    "an intent without its path": `${JSON.stringify({ type: "intend", entryId: "x", target: "dev", ...intent("Asset/a"), path: undefined })}\n`,
    "an unknown outcome": '{"type":"settle","entryId":"x","outcome":"maybe"}\n',
  };
  for (const [name, middle] of Object.entries(cases)) {
    it(name, async () => {
      const folder = await tempFolder();
      await intended(folder, "Integration/a");
      const line = await readFile(journalFile(folder), "utf8");
      await writeFile(journalFile(folder), `${line}${middle}${line}`);
      const refusal = { code: "E_JOURNAL", exit: 1, message: expect.stringContaining("journal.ndjson:2 ") };
      await expect(recordsIn(folder).read()).rejects.toMatchObject(refusal);
      await expect(beginIn(folder)).rejects.toMatchObject(refusal);
      expect(await readFile(journalFile(folder), "utf8")).toBe(`${line}${middle}${line}`);
    });
  }

  it("a folder instead of the file", async () => {
    const folder = await tempFolder();
    await mkdir(journalFile(folder), { recursive: true });
    await expect(recordsIn(folder).read()).rejects.toMatchObject({ code: "E_JOURNAL" });
  });
});

describe("a folder that cannot be written", () => {
  /** Nobody can write there, not even root. */
  const unwritable = async (): Promise<string> => {
    const folder = await tempFolder();
    await symlink("/sys", join(folder, ".dimsync"));
    return folder;
  };

  it("can be read", async () => {
    const folder = await unwritable();
    await writeFile(
      join(folder, "dimsync.bindings.yaml"),
      'apiVersion: dimsync/v1\nkind: Bindings\ntargets: { prod: { Asset/a: { id: "1" } } }\n',
    );
    expect([...(await recordsIn(folder).read()).bindings]).toEqual([["Asset/a", { id: "1" }]]);
    expect(await recordsIn(folder).lease()).toBeUndefined();
  });

  it("refuses an intent, so that nothing is sent, and says what to do", async () => {
    const folder = await unwritable();
    const run = await beginIn(folder);
    await expect(run.intend([intent("Integration/a")])).rejects.toMatchObject({
      code: "E_RECORDS_REFUSED",
      exit: 4,
      message: expect.stringMatching(
        /\/\.dimsync\) cannot be written: .*\. dimsync creates nothing that it cannot record\. Make .* writable/u,
      ),
    });
    expect(run.state().open).toEqual([]);
    expect(() => run.fence()).toThrow(DimsyncError);
    await run.release();
  });

  it("refuses to take the lease, and a maintenance lock", async () => {
    const folder = await unwritable();
    const refusal = { code: "E_RECORDS_REFUSED", exit: 4 };
    await expect((await beginIn(folder)).take()).rejects.toMatchObject(refusal);
    await expect(recordsIn(folder).lock({ runId: "dana", reason: "moving" })).rejects.toMatchObject(refusal);
  });

  it("makes the end of a run print the ids that are not recorded", async () => {
    const folder = await tempFolder();
    await writeFile(join(folder, "config"), "");
    const run = await beginIn(folder);
    await run.take();
    await run.bind("Asset/a", { id: "d 1" });
    await run.bind("Integration/o", { id: "8f1c" });
    // Damaged by another program meanwhile: dimsync never replaces a file that it cannot read.
    await writeFile(join(folder, "dimsync.bindings.yaml"), "<<<<<<< HEAD\n");
    await expect(run.release()).rejects.toMatchObject({
      code: "E_RECORDS_REFUSED",
      exit: 4,
      message: expect.stringMatching(/merge conflict.*These ids are not stored: Asset\/a=d 1, Integration\/o=8f1c\. Bind them:$/su),
      command: "dimsync bind 'Asset/a=d 1' Integration/o=8f1c -t prod",
    });
    expect(await readFile(join(folder, "dimsync.bindings.yaml"), "utf8")).toBe("<<<<<<< HEAD\n");
  });
});

it("keeps a response that could not be stored, and the next run records it", async () => {
  const folder = await tempFolder();
  const run = await beginIn(folder);
  const [entryId = ""] = await run.intend([intent("Asset/a")]);
  await writeFile(join(folder, "dimsync.bindings.yaml"), "{");
  await run.settle(entryId, { outcome: "created", id: "d-1" });
  await run.bind("Asset/a", { id: "d-1" });
  await expect(run.release()).rejects.toMatchObject({
    exit: 4,
    message: expect.stringMatching(/Asset\/a=d-1\. The next run on this machine adds them from .*responses-prod/u),
  });
  await writeFile(join(folder, "dimsync.bindings.yaml"), "apiVersion: dimsync/v1\nkind: Bindings\n");
  expect((await recordsIn(folder).read()).open).toMatchObject([{ entryId, answeredId: "d-1" }]);
});

describe("a journal of more than 1 MiB", () => {
  const fill = async (folder: string, last: string): Promise<void> => {
    await mkdir(join(folder, ".dimsync"));
    const lines: string[] = [];
    for (let index = 0; index < 3000; index++) {
      lines.push(
        JSON.stringify({ type: "intend", entryId: `e${index}`, target: "dev", ...intent("Asset/a", { bodyDigest: "x".repeat(300) }) }),
      );
      lines.push(JSON.stringify({ type: "settle", entryId: `e${index}`, outcome: "failed" }));
    }
    await writeFile(journalFile(folder), `${lines.join("\n")}\n${last}`);
  };

  it("is cut to its last 1,000 lines by the next intent", async () => {
    const folder = await tempFolder();
    await fill(folder, "");
    await intended(folder, "Integration/a");
    const lines = (await readFile(journalFile(folder), "utf8")).trimEnd().split("\n");
    expect(lines.length).toBe(1001);
    expect(lines[999]).toContain('"e2999"');
    expect(await openAddresses(folder)).toEqual(["Integration/a"]);
  });

  it("is not cut while an intent of any target is open", async () => {
    const folder = await tempFolder();
    await fill(folder, `${JSON.stringify({ type: "intend", entryId: "open", target: "dev", ...intent("Asset/open") })}\n`);
    const before = (await stat(journalFile(folder))).size;
    await intended(folder, "Integration/a");
    expect((await stat(journalFile(folder))).size).toBeGreaterThan(before);
    expect(await openAddresses(folder, "dev")).toEqual(["Asset/open"]);
  });
});

const appender = `${programWithRecords}
  const [folder, target, count, pad] = process.argv.slice(2);
  const run = await records(folder, target).begin({ runId: "r", waitMs: 0 });
  const base = { runId: "r", kind: "Asset", method: "POST", path: "/v1/assets", bodyDigest: "x".repeat(Number(pad)), at: "now" };
  for (let i = 0; i < Number(count); i++) {
    const [id] = await run.intend([{ ...base, address: \`Asset/\${target}\${i}\` }]);
    process.stdout.write(\`\${i}\\n\`);
    if (i % 2 === 0) await run.settle(id, { outcome: "created", id: \`\${target}\${i}\` });
    await run.bind(\`Asset/\${target}\${i}\`, { id: \`\${target}\${i}\` });
  }
  await run.release();`;

it("loses nothing if runs of two targets write at the same time", async () => {
  const folder = await tempFolder();
  const program = await compileProgram(folder, appender);
  await Promise.all([start(program, [folder, "a", "12", "5000"]).ended, start(program, [folder, "b", "12", "5000"]).ended]);
  for (const target of ["a", "b"]) {
    expect(await openAddresses(folder, target)).toEqual(Array.from({ length: 6 }, (_, index) => `Asset/${target}${index * 2 + 1}`));
    expect((await recordsIn(folder, target).read()).bindings.size).toBe(12);
  }
});

const rounds = runs(3, 12);

it("is readable after kill -9 at any moment, and contains every acknowledged intent", async () => {
  const folder = await tempFolder();
  const program = await compileProgram(folder, appender);
  for (let round = 0; round < rounds; round++) {
    const target = `t${round}`;
    const { process: child, ended } = start(program, [folder, target, "100000", "200000"]);
    let seen = "";
    child.stdout?.on("data", (chunk: string) => {
      seen += chunk;
      // At a different moment of the next append in each round.
      if (seen.split("\n").length > 3) setTimeout(() => child.kill("SIGKILL"), round);
    });
    await once(child, "close");
    const acknowledged = (await ended).trimEnd().split("\n").length;
    const open = await openAddresses(folder, target);
    const odd = Array.from({ length: acknowledged }, (_, index) => index).filter((index) => index % 2 === 1);
    expect(open.filter((address) => odd.includes(Number(address.slice(`Asset/${target}`.length))))).toEqual(
      odd.map((index) => `Asset/${target}${index}`),
    );
  }
});

it("causes a DimsyncError or is read, however it is damaged", async () => {
  const folder = await tempFolder();
  const run = await beginIn(folder);
  const [entryId = ""] = await run.intend([intent("Integration/a")]);
  await run.settle(entryId, { outcome: "unknown" });
  await run.release();
  const good = await readFile(journalFile(folder));
  await fc.assert(
    fc.asyncProperty(fc.nat(good.length), fc.nat(40), fc.uint8Array({ maxLength: 10 }), async (at, length, insert) => {
      await writeFile(journalFile(folder), Buffer.concat([good.subarray(0, at), insert, good.subarray(at + length)]));
      const outcome: unknown = await recordsIn(folder)
        .read()
        .catch((error: unknown) => error);
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(DimsyncError);
      else expect(outcome).toHaveProperty("open");
    }),
    { numRuns: runs(80, 1_000) },
  );
});

describe("the record of applied plans", () => {
  const appliedFile = (folder: string): string => join(folder, ".dimsync", "applied.ndjson");

  async function applied(folder: string, planId: string, runId: string): Promise<void> {
    const run = await beginIn(folder, { runId });
    await run.markApplied(planId);
    await run.take();
    await run.release();
  }

  it("lets only one of several processes apply a plan", async () => {
    const folder = await tempFolder();
    const program = await compileProgram(
      folder,
      `${programWithRecords}
       const run = await records(process.argv[2], process.argv[3]).begin({ runId: "r", waitMs: 20_000 });
       const mark = async () => { await run.markApplied("p1"); await run.take(); };
       await mark().then(() => console.log("ok"), (error) => console.log(error.code));
       await run.release();`,
    );
    // Of several targets too: the leases do not help then.
    const outcomes = await Promise.all(["prod", "prod", "dev"].map((target) => start(program, [folder, target]).ended));
    expect(outcomes.filter((text) => text === "ok\n")).toHaveLength(1);
    expect(outcomes.filter((text) => text !== "ok\n").every((text) => /^E_(?:PLAN_APPLIED|RECORDS_CHANGED)\n$/u.test(text))).toBe(true);
  });

  it("moves an incomplete last mark away, since its run wrote nothing yet", async () => {
    const folder = await tempFolder();
    await applied(folder, "p1", "r1");
    await appendFile(appliedFile(folder), '{"planId":"p2","ru');
    expect(await recordsIn(folder).wasApplied("p2")).toBeUndefined();
    await applied(folder, "p2", "r2");
    expect(await recordsIn(folder).wasApplied("p2")).toMatchObject({ runId: "r2" });
    expect(await recordsIn(folder).wasApplied("p1")).toMatchObject({ runId: "r1" });
    expect(await recordsIn(folder).wasApplied("__proto__")).toBeUndefined();
  });

  it("must be readable", async () => {
    for (const line of ["garbage\n", '{"plan":1}\n']) {
      const folder = await tempFolder();
      await mkdir(join(folder, ".dimsync"));
      await writeFile(appliedFile(folder), line);
      const refusal = { code: "E_APPLIED_FILE", exit: 5, message: expect.stringContaining("line 1") };
      await expect(recordsIn(folder).wasApplied("p1")).rejects.toMatchObject(refusal);
      await expect(beginIn(folder)).rejects.toMatchObject(refusal);
    }
  });
});
