// Records in a folder are written before a request is sent, or nothing is sent.
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DimsyncError } from "../../../../src/core/base/model/errors.ts";
import { recordsFile } from "../../../../src/core/records/folder/index.ts";
import type { Intent } from "../../../../src/core/records/history.ts";
import fc from "../../../support/fast-check.ts";
import { runs } from "../../../support/sample.ts";
import { tempFolder } from "../child.ts";
import { intentOf } from "../suite.ts";
import { beginIn, openAddresses, recordsIn } from "./store.ts";

const intent = (address: string, more: Partial<Intent> = {}): Intent => intentOf(address, { runId: "r1", ...more });

const fileOf = (folder: string): string => recordsFile(folder, "prod");

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
    expect((await readdir(join(folder, ".dimsync"))).sort()).toEqual([".gitignore", "prod.records"]);
  });

  it("leaves no lock and no response behind", async () => {
    const folder = await tempFolder();
    const run = await beginIn(folder);
    const [entryId = ""] = await run.intend([intent("Asset/a")]);
    await run.settle(entryId, { outcome: "created", id: "d-1" });
    await run.bind("Asset/a", { id: "d-1" });
    await run.release();
    expect((await readdir(join(folder, ".dimsync"))).sort()).toEqual([".gitignore", "prod.records", "responses-prod"]);
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

describe("refuses, with the line, and does not write to, records with", () => {
  const cases: Readonly<Record<string, readonly [damage: (text: string) => string, why: string | RegExp]>> = {
    nothing: [() => "", /line 1 is not valid JSON/u],
    "half of their text": [(text) => text.slice(0, text.length / 2), /line \d is not valid JSON/u],
    "a line without its end": [(text) => text.replace("]\n[", "\n["), /line 1 is not valid JSON/u],
    "a line of another form": [(text) => `${text}17\n`, /is not a JSON list/u],
    "deep nesting": [(text) => `${text}${"[".repeat(20_000)}${"]".repeat(20_000)}\n`, /is nested more than 200 levels deep/u],
    "bytes that are not text": [(text) => `${text}\0\0\n`, /is not valid JSON/u],
    "a line of a later version": [(text) => `${text}["later","x"]\n`, /is "later", which this version of dimsync does not know/u],
    "another format": [(text) => text.replace('records",1', 'records",2'), /its format is 2/u],
    "another first line": [(text) => text.replace("dimsync", "terraform"), "it is not a text that dimsync wrote"],
    "a create without its path": [(text) => text.replace('"path"', '"x"'), ": nothing must be a string"],
    "an address that is none": [(text) => `${text}["created","lake",{"entryId":"1","id":"2"}]\n`, '"lake" is not an address'],
    "an id of two objects": [
      (text) => `${text}["bindings","Asset/a",{"id":"1"}]\n["bindings","Asset/b",{"id":"1"}]\n`,
      "Asset/b and Asset/a are both bound to the id 1",
    ],
    "a commit that is an option of git": [
      (text) => `${text}["appliedCommit",{"commit":"--upload-pack=x","manifestDigest":"","runId":"","at":""}]\n`,
      "the commit is not an id of a commit",
    ],
  };
  for (const [name, [damage, why]] of Object.entries(cases)) {
    it(name, async () => {
      const folder = await tempFolder();
      await intended(folder, "Integration/a");
      const text = damage(await readFile(fileOf(folder), "utf8"));
      await writeFile(fileOf(folder), text);
      const message = typeof why === "string" ? expect.stringContaining(why) : expect.stringMatching(why);
      const refusal = { code: "E_RECORDS_READ", exit: 1, message };
      await expect(recordsIn(folder).read()).rejects.toMatchObject(refusal);
      await expect(beginIn(folder)).rejects.toMatchObject(refusal);
      await expect(recordsIn(folder).read()).rejects.toMatchObject({ message: expect.stringContaining("prod.records") });
      expect(await readFile(fileOf(folder), "utf8")).toBe(text);
    });
  }

  it("a folder instead of the file", async () => {
    const folder = await tempFolder();
    await mkdir(fileOf(folder), { recursive: true });
    await expect(recordsIn(folder).read()).rejects.toMatchObject({ code: "E_RECORDS_READ" });
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

it("causes a DimsyncError or is read, however it is damaged", async () => {
  const folder = await tempFolder();
  const run = await beginIn(folder);
  const [entryId = ""] = await run.intend([intent("Integration/a")]);
  await run.settle(entryId, { outcome: "unknown" });
  await run.release();
  const good = await readFile(fileOf(folder));
  await fc.assert(
    fc.asyncProperty(fc.nat(good.length), fc.nat(40), fc.uint8Array({ maxLength: 10 }), async (at, length, insert) => {
      await writeFile(fileOf(folder), Buffer.concat([good.subarray(0, at), insert, good.subarray(at + length)]));
      const outcome: unknown = await recordsIn(folder)
        .read()
        .catch((error: unknown) => error);
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(DimsyncError);
      else expect(outcome).toHaveProperty("open");
    }),
    { numRuns: runs(80, 1_000) },
  );
});
