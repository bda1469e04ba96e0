// Every store keeps what the suite says, and a run without the lease, or whose write has no known outcome, sends nothing.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { BeginOptions } from "../../../../src/core/records/records.ts";
import { tempFolder } from "../child.ts";
import { intentOf, recordsSuite } from "../suite.ts";
import { type Fault, memoryStore } from "./memory-store.ts";

recordsSuite("memory", async () => memoryStore());

type Store = ReturnType<typeof memoryStore>;

async function begin(store: Store, { folder, ...options }: Partial<BeginOptions> & { readonly folder?: string } = {}) {
  const run = await (await store.open(folder)).begin({ runId: "run-1", waitMs: 0, ...options });
  onTestFinished(() => run.release().catch(() => undefined));
  return run;
}

describe("a lease", () => {
  test("is waited for by a run that loses its first write, which then plans again", async () => {
    const store = memoryStore();
    const late = await begin(store, { runId: "run-2", waitMs: 600_000 });
    const first = await begin(store);
    await first.intend([intentOf("Asset/a")]);
    const taking = late.intend([intentOf("Asset/b")]).catch((error: unknown) => error);
    await first.release();
    expect(await taking).toMatchObject({ code: "E_RECORDS_CHANGED" });
    await late.intend([intentOf("Asset/b")]);
    expect(late.state().open.map(({ address }) => address)).toContain("Asset/a");
    late.fence();
  });

  test("is taken over at once if the job of its holder has ended, and the holder sends nothing more", async () => {
    const store = memoryStore();
    const first = await begin(store, { runUrl: "https://example.com/jobs/1" });
    await first.take();
    await expect(begin(store, { hasEnded: async () => false })).rejects.toMatchObject({ code: "E_LOCKED", exit: 6 });
    const asked: (string | undefined)[] = [];
    const hasEnded: BeginOptions["hasEnded"] = async ({ runUrl }) => asked.push(runUrl) > 0;
    const second = await begin(store, { runId: "run-2", hasEnded });
    expect([asked, second.notice]).toEqual([["https://example.com/jobs/1"], expect.stringContaining("belongs to a job that has ended")]);
    // The machine of the first run may only have lost its connection.
    const unlocked = [{ runId: "run-1", graceMs: 30_000 }];
    expect(second.state().unlocked).toMatchObject(unlocked);
    await second.take();
    expect((await (await store.open()).read()).unlocked).toMatchObject(unlocked);
    await expect(first.intend([intentOf("Asset/b")])).rejects.toMatchObject({ code: "E_LOCKED" });
    expect(() => first.fence()).toThrow(expect.objectContaining({ code: "E_LOCKED" }));
  });

  test("of a person is never taken over", async () => {
    const store = memoryStore();
    await (await store.open()).lock({ runId: "person", reason: "moving" });
    await expect(begin(store, { hasEnded: async () => true })).rejects.toMatchObject({ code: "E_LOCKED" });
  });

  test("is renewed by heartbeats, and without them free after its time, when its run sends nothing more", async () => {
    const store = memoryStore();
    const first = await begin(store);
    await first.take();
    // The write ends one turn after it is stored.
    await new Promise(setImmediate);
    store.clock.advance(20_000);
    await expect.poll(() => store.subjects().length).toBe(2);
    store.fail("unclear");
    const second = await begin(store, { runId: "run-2", waitMs: 200_000, onWait: () => store.clock.advance(10_000) });
    expect(second.notice).toContain("has not renewed it for 60 s");
    expect(() => first.fence()).toThrow(expect.objectContaining({ code: "E_RECORDS_UNCLEAR" }));
    store.fail(undefined);
    await second.take();
  });
});

test.each<[what: Exclude<Fault, undefined>, code: string, exit: number]>([
  ["refused", "E_RECORDS_REFUSED", 4],
  ["unclear", "E_RECORDS_UNCLEAR", 4],
  // The next write records that nothing was sent.
  ["unclear, but stored", "E_RECORDS_UNCLEAR", 4],
  ["gone", "E_RECORDS_GONE", 1],
])("if a write is %s, nothing is sent, and it leaves no open create and no lease", async (what, code, exit) => {
  const store = memoryStore();
  const run = await begin(store);
  store.fail(what);
  await expect(run.intend([intentOf("Asset/a")])).rejects.toMatchObject({ code, exit });
  expect(() => run.fence()).toThrow(expect.objectContaining({ code }));
  expect(run.lost.aborted).toBe(true);
  store.fail(undefined);
  await run.release().catch(() => undefined);
  const records = await store.open();
  expect([(await records.read()).open, await records.lease()]).toEqual([[], undefined]);
});

test("ids that could not be stored are named, kept on this machine and stored by its next run", async () => {
  const store = memoryStore();
  const folder = await tempFolder();
  const run = await begin(store, { folder });
  const [entryId = ""] = await run.intend([intentOf("Asset/a")]);
  await run.settle(entryId, { outcome: "answered", id: "d-1" });
  await run.bind("Asset/a", { id: "d-1" });
  store.fail("unclear");
  await expect(run.release()).rejects.toMatchObject({
    ...{ code: "E_RECORDS_UNCLEAR", exit: 4, command: "dimsync bind Asset/a=d-1 -t prod" },
    message: expect.stringMatching(/not stored: Asset\/a=d-1\. The next run on this machine adds them from \S+\.dimsync/u),
  });
  store.fail(undefined);
  expect((await (await store.open()).read()).open).toEqual([expect.not.objectContaining({ answeredId: "d-1" })]);
  store.clock.advance(120_000);
  const next = await begin(store, { folder, runId: "run-2", waitMs: 200_000 });
  expect(next.state().open).toMatchObject([{ entryId, answeredId: "d-1" }]);
  await next.take();
  await next.release();
  expect((await (await store.open()).read()).open).toMatchObject([{ entryId, answeredId: "d-1" }]);
});

test("an outcome that this machine cannot keep is said with its id", async () => {
  const folder = await tempFolder();
  const run = await begin(memoryStore(), { folder });
  const [entryId = ""] = await run.intend([intentOf("Asset/a")]);
  await writeFile(join(folder, ".dimsync"), "a file in place of the folder");
  await expect(run.settle(entryId, { outcome: "answered", id: "d-1" })).rejects.toMatchObject({
    ...{ code: "E_JOURNAL_WRITE", exit: 4 },
    message: expect.stringMatching(/^The local journal \S+ can't be written: .* the outcome of a create \(id d-1\) is lost\./u),
  });
});

const faults = ["refused", "unclear", "unclear, but stored"] as const;
describe.each(faults)("if every write is %s", (fault) => {
  test.each([1, 2, 3, 4])(
    "from the one with number %i on, no create is sent without a record, and the next run on the machine knows every id",
    async (nth) => {
      const store = memoryStore();
      const folder = await tempFolder();
      const run = await begin(store, { folder });
      store.fail(fault, nth);
      const [errors, sent]: [unknown[], Map<string, string>] = [[], new Map()];
      for (const wave of [["Integration/a", "Asset/b"], ["Integration/c"]]) {
        const ids = await run.intend(wave.map((address) => intentOf(address))).catch((error: unknown): readonly string[] => {
          errors.push(error);
          return [];
        });
        for (const [index, entryId] of ids.entries()) {
          const [address = "", id] = [wave[index], `id-${wave[index]}`];
          try {
            run.fence();
          } catch {
            await run.settle(entryId, { outcome: "not-created" });
            continue;
          }
          sent.set(entryId, id);
          await run.settle(entryId, { outcome: "answered", id });
          await run.bind(address, { id });
          run.flush();
        }
      }
      await run.release().catch((error: unknown) => errors.push(error));
      expect(errors).toContainEqual(
        expect.objectContaining({ exit: 4, code: fault === "refused" ? "E_RECORDS_REFUSED" : "E_RECORDS_UNCLEAR" }),
      );
      store.fail(undefined);
      const idsIn = async (at: string) =>
        new Map((await (await store.open(at)).read()).open.map(({ entryId, answeredId }) => [entryId, answeredId]));
      expect([...(await idsIn(await tempFolder())).keys()].sort()).toEqual([...sent.keys()].sort());
      expect(await idsIn(folder)).toEqual(sent);
      expect(sent.size > 0).toBe(nth > 1);
    },
  );
});
