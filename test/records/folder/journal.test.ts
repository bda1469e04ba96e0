import { once } from "node:events";
import { appendFile, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DimsyncError } from "../../../src/model/errors.ts";
import { openJournal } from "../../../src/records/folder/journal.ts";
import type { Intent, Settlement } from "../../../src/records/journal-line.ts";
import fc from "../../support/fast-check.ts";
import { runs } from "../../support/sample.ts";
import { compileProgram, start, tempFolder } from "../child.ts";
import { intentOf } from "../suite.ts";

const intent = (address: string, more: Partial<Intent> = {}): Intent => intentOf(address, { runId: "r1", ...more });

const journalFile = (folder: string): string => join(folder, ".dimsync", "journal.ndjson");
const openAddresses = async (folder: string, target = "prod"): Promise<readonly string[]> =>
  (await openJournal(folder, target)).open().map((entry) => entry.address);

it("creates no file before the first intent, and then a folder that git ignores", async () => {
  const folder = await tempFolder();
  const journal = await openJournal(folder, "prod");
  expect(journal.open()).toEqual([]);
  expect(await readdir(folder)).toEqual([]);
  await journal.intend(intent("Integration/a"));
  expect(await readFile(join(folder, ".dimsync", ".gitignore"), "utf8")).toBe("*\n");
  expect((await readdir(join(folder, ".dimsync"))).sort()).toEqual([".gitignore", "journal.ndjson"]);
});

it("has the intent on disk when intend resolves, so that a later run finds it", async () => {
  const folder = await tempFolder();
  const entryId = await (await openJournal(folder, "prod")).intend(intent("Integration/a"));
  expect((await openJournal(folder, "prod")).open()).toEqual([{ entryId, ...intent("Integration/a") }]);
  expect(await openAddresses(folder, "dev")).toEqual([]);
});

it("writes only known members", async () => {
  const folder = await tempFolder();
  const journal = await openJournal(folder, "prod");
  const entryId = await journal.intend({ ...intent("Integration/a"), body: "canary" } as Intent);
  await journal.settle(entryId, { outcome: "created", id: "8f1c", answer: "canary" } as Settlement);
  expect(await readFile(journalFile(folder), "utf8")).not.toContain("canary");
});

describe("an intent", () => {
  const cases: Readonly<Record<string, readonly [settlements: readonly Settlement[], open: boolean]>> = {
    "without an outcome is open": [[], true],
    "that was created is not": [[{ outcome: "created", id: "8f1c" }], false],
    "that failed is not": [[{ outcome: "failed" }], false],
    "that was recovered is not": [[{ outcome: "recovered", id: "8f1c" }], false],
    "with an unknown outcome is open": [[{ outcome: "unknown" }], true],
    "with a response is open until its id is recorded": [[{ outcome: "answered", id: "8f1c" }], true],
    "with a response and a binding is not": [
      [
        { outcome: "answered", id: "8f1c" },
        { outcome: "created", id: "8f1c" },
      ],
      false,
    ],
    "with an unknown outcome that a user resolved is not": [[{ outcome: "unknown" }, { outcome: "not-created", by: "resolve" }], false],
  };
  for (const [name, [settlements, open]] of Object.entries(cases)) {
    it(name, async () => {
      const folder = await tempFolder();
      const journal = await openJournal(folder, "prod");
      const entryId = await journal.intend(intent("Integration/a"));
      for (const settlement of settlements) await journal.settle(entryId, settlement);
      const expected = open ? ["Integration/a"] : [];
      expect(journal.open().map((entry) => entry.address)).toEqual(expected);
      expect(await openAddresses(folder)).toEqual(expected);
    });
  }
});

it("keeps the id of a response and the digests of the request, so that a later run can bind it", async () => {
  const folder = await tempFolder();
  const journal = await openJournal(folder, "prod");
  const record = { sent: { "/name": "3aa8f05b2256" }, secretVersion: 2 };
  const entryId = await journal.intend(intent("Asset/a", { record }));
  await journal.settle(entryId, { outcome: "answered", id: "d-1" });
  await journal.settle(entryId, { outcome: "unknown" });
  for (const { open } of [journal, await openJournal(folder, "prod")]) expect(open()).toMatchObject([{ answeredId: "d-1", record }]);
});

describe("a created object in the journal", () => {
  const cases: Readonly<Record<string, readonly [settlements: readonly Settlement[], id: string | undefined]>> = {
    "is found by address": [[{ outcome: "created", id: "d-1" }], "d-1"],
    "is found if it was recovered": [[{ outcome: "unknown" }, { outcome: "recovered", id: "d-1" }], "d-1"],
    "is not found if it was forgotten": [
      [
        { outcome: "created", id: "d-1" },
        { outcome: "forgotten", by: "unbind" },
      ],
      undefined,
    ],
    "is not found if there is only a response": [[{ outcome: "answered", id: "d-1" }], undefined],
    "is not found if it was not created": [[{ outcome: "not-created" }], undefined],
  };
  for (const [name, [settlements, id]] of Object.entries(cases))
    it(name, async () => {
      const folder = await tempFolder();
      const journal = await openJournal(folder, "prod");
      const entryId = await journal.intend(intent("Asset/a"));
      for (const settlement of settlements) await journal.settle(entryId, settlement);
      for (const { created } of [journal, await openJournal(folder, "prod")]) expect(created().get("Asset/a")?.id).toBe(id);
      expect((await openJournal(folder, "dev")).created().size).toBe(0);
    });
});

it("reads the lines of earlier builds, which had a member more", async () => {
  const folder = await tempFolder();
  await mkdir(join(folder, ".dimsync"));
  const line = { type: "intend", entryId: "x", target: "prod", ...intent("Asset/a"), idsSeenBefore: [] };
  await writeFile(journalFile(folder), `${JSON.stringify(line)}\n`);
  expect((await openJournal(folder, "prod")).open()).toEqual([{ entryId: "x", ...intent("Asset/a") }]);
});

it("moves an incomplete last line away and begins the next on a new line", async () => {
  const folder = await tempFolder();
  await (await openJournal(folder, "prod")).intend(intent("Integration/a"));
  await appendFile(journalFile(folder), '{"type":"intend","entryId":"x","targ');
  expect(await openAddresses(folder)).toEqual(["Integration/a"]);
  await (await openJournal(folder, "prod")).intend(intent("Integration/b"));
  expect(await openAddresses(folder)).toEqual(["Integration/a", "Integration/b"]);
  expect(await readFile(`${journalFile(folder)}.torn`, "utf8")).toBe('{"type":"intend","entryId":"x","targ\n');
});

it("reads a complete last line without a line feed, as an editor may leave it", async () => {
  const folder = await tempFolder();
  await (await openJournal(folder, "prod")).intend(intent("Integration/a"));
  await writeFile(journalFile(folder), (await readFile(journalFile(folder), "utf8")).trimEnd());
  expect(await openAddresses(folder)).toEqual(["Integration/a"]);
  await (await openJournal(folder, "prod")).intend(intent("Integration/b"));
  expect(await openAddresses(folder)).toEqual(["Integration/a", "Integration/b"]);
});

describe("refuses, with the line, and does not write to, a journal with", () => {
  const cases: Readonly<Record<string, string>> = {
    "garbage in the middle": '\n{"type":"intend","entryId":"x","targ\n',
    "a number in the middle": "\n17\n",
    "bytes that are not text": "\n\u0000\u0000\n",
    "an entry of an unknown type": '\n{"type":"later","entryId":"x"}\n',
    "an intent without its path": `\n${JSON.stringify({ type: "intend", entryId: "x", target: "dev", ...intent("Asset/a"), path: undefined })}\n`,
    "an unknown outcome": '\n{"type":"settle","entryId":"x","outcome":"maybe"}\n',
  };
  for (const [name, middle] of Object.entries(cases)) {
    it(name, async () => {
      const folder = await tempFolder();
      const journal = await openJournal(folder, "prod");
      await journal.intend(intent("Integration/a"));
      await appendFile(journalFile(folder), middle);
      await journal.intend(intent("Integration/b"));
      await expect(openJournal(folder, "prod")).rejects.toMatchObject({
        code: "E_JOURNAL",
        exit: 1,
        message: expect.stringContaining("journal.ndjson:3 "),
      });
    });
  }

  it("a folder instead of the file", async () => {
    const folder = await tempFolder();
    await mkdir(journalFile(folder), { recursive: true });
    await expect(openJournal(folder, "prod")).rejects.toMatchObject({ code: "E_JOURNAL" });
  });
});

it("rejects an intent that can't be written, so that nothing is sent", async () => {
  const folder = await tempFolder();
  const journal = await openJournal(folder, "prod");
  await writeFile(join(folder, ".dimsync"), "");
  await expect(journal.intend(intent("Integration/a"))).rejects.toMatchObject({
    code: "E_JOURNAL_WRITE",
    exit: 4,
    message: expect.stringContaining("Integration/a was not sent"),
  });
  expect(journal.open()).toEqual([]);
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
    await (await openJournal(folder, "prod")).intend(intent("Integration/a"));
    const lines = (await readFile(journalFile(folder), "utf8")).trimEnd().split("\n");
    expect(lines.length).toBe(1001);
    expect(lines[999]).toContain('"e2999"');
    expect(await openAddresses(folder)).toEqual(["Integration/a"]);
  });

  it("is not cut while an intent of any target is open", async () => {
    const folder = await tempFolder();
    await fill(folder, `${JSON.stringify({ type: "intend", entryId: "open", target: "dev", ...intent("Asset/open") })}\n`);
    const before = (await stat(journalFile(folder))).size;
    await (await openJournal(folder, "prod")).intend(intent("Integration/a"));
    expect((await stat(journalFile(folder))).size).toBeGreaterThan(before);
    expect(await openAddresses(folder, "dev")).toEqual(["Asset/open"]);
  });
});

const appender = `
  import { openJournal } from "./folder/journal.ts";
  const [folder, target, count, pad] = process.argv.slice(2);
  const journal = await openJournal(folder, target);
  const base = { runId: "r", kind: "Asset", method: "POST", path: "/v1/assets", bodyDigest: "x".repeat(Number(pad)), at: "now" };
  for (let i = 0; i < Number(count); i++) {
    const id = await journal.intend({ ...base, address: \`Asset/\${target}\${i}\` });
    process.stdout.write(\`\${i}\\n\`);
    if (i % 2 === 0) await journal.settle(id, { outcome: "created", id: String(i) });
  }`;

it("loses nothing if two processes append at the same time", async () => {
  const folder = await tempFolder();
  const program = await compileProgram(folder, appender);
  await Promise.all([start(program, [folder, "a", "20", "5000"]).ended, start(program, [folder, "b", "20", "5000"]).ended]);
  for (const target of ["a", "b"]) {
    expect(await openAddresses(folder, target)).toEqual(Array.from({ length: 10 }, (_, index) => `Asset/${target}${index * 2 + 1}`));
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
    expect(open.slice(0, odd.length - 1)).toEqual(odd.slice(0, -1).map((index) => `Asset/${target}${index}`));
    expect(open.filter((address) => odd.includes(Number(address.slice(`Asset/${target}`.length)))).length).toBe(odd.length);
  }
});

it("causes a DimsyncError or is read, however it is damaged", async () => {
  const folder = await tempFolder();
  const journal = await openJournal(folder, "prod");
  const entryId = await journal.intend(intent("Integration/a"));
  await journal.settle(entryId, { outcome: "unknown" });
  const good = await readFile(journalFile(folder));
  await fc.assert(
    fc.asyncProperty(fc.nat(good.length), fc.nat(40), fc.uint8Array({ maxLength: 10 }), async (at, length, insert) => {
      await writeFile(journalFile(folder), Buffer.concat([good.subarray(0, at), insert, good.subarray(at + length)]));
      const outcome: unknown = await openJournal(folder, "prod").catch((error: unknown) => error);
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(DimsyncError);
      else expect(outcome).toHaveProperty("open");
    }),
    { numRuns: runs(80, 1_000) },
  );
});
