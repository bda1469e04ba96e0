import { describe, expect, it, onTestFinished } from "vitest";
import { DimsyncError } from "../../../src/core/base/model/errors.ts";
import { keptJson } from "../../../src/core/base/model/kept.ts";
import type { Intent, Settlement } from "../../../src/core/records/history.ts";
import type { BeginOptions, Records, RecordsRun, RecordsState } from "../../../src/core/records/records.ts";
import type { Facts } from "../../../src/core/records/remembered.ts";
import type { RecordsContent } from "../../../src/core/records/shared/store.ts";
import { printRecords } from "../../../src/core/records/text.ts";

/** An initialised, empty store. */
export interface StoreUnderTest {
  /**
   * Opens it as another process; shared stores from a new folder. The lease's time-to-live is long
   * enough for a slow test: at least 20 s.
   */
  readonly open: () => Promise<Records>;
}

export const intentOf = (address: string, more: Partial<Intent> = {}): Intent => ({
  runId: "run-1",
  address,
  kind: "Integration",
  method: "POST",
  path: "/v1/integrations",
  naturalKey: { "source.name": "orders-pg", __proto__: "x" },
  bodyDigest: "sha256:aa",
  at: "2026-01-01T00:00:00.000Z",
  ...more,
});

/** The tests for every store. `openStore` creates a new store for each test. */
export function recordsSuite(name: string, openStore: () => Promise<StoreUnderTest>): void {
  describe(`the ${name} store`, () => {
    describe("reading", () => readingTests(openStore));
    describe("the journal", () => journalTests(openStore));
    describe("bindings", () => bindingTests(openStore));
    describe("applied plans and lists", () => appliedTests(openStore));
    if (name !== "folder") it("has a history of every write with its run, newest first", () => historyTest(openStore));
    describe("content", () => contentTests(openStore));
    describe("the lease", () => leaseTests(openStore));
    describe("unlock and lock", () => unlockTests(openStore));
  });
}

type OpenStore = () => Promise<StoreUnderTest>;

function readingTests(openStore: OpenStore): void {
  it("is empty in a new store", async () => {
    const records = await opened(await openStore());
    const { bindings, open, created, unlocked } = await records.read();
    expect({ bindings: [...bindings], open, created: [...created], unlocked }).toEqual({
      ...{ bindings: [], open: [], created: [], unlocked: [] },
    });
    expect(await records.lease()).toBeUndefined();
    expect(await records.wasApplied("plan-1")).toBeUndefined();
  });

  it("needs no lease", async () => {
    const { store, run } = await started(openStore);
    await run.intend([intentOf("Integration/a")]);
    expect((await readOf(store)).open.map(({ address }) => address)).toEqual(["Integration/a"]);
  });

  it("does not change a state that was read before", async () => {
    const run = await begun(await opened(await openStore()));
    const before = run.state();
    await run.intend([intentOf("Integration/a")]);
    await run.bind("Integration/a", { id: "1" });
    expect([before.open.length, before.bindings.size]).toEqual([0, 0]);
    expect([run.state().open.length, run.state().bindings.size]).toEqual([1, 1]);
  });

  it("shows no write of a run without changes", async () => {
    const store = await openStore();
    const { version: _, ...before } = await readOf(store);
    const run = await begun(await opened(store));
    await run.release();
    expect(await readOf(store)).toMatchObject(before);
    expect(await (await opened(store)).lease()).toBeUndefined();
  });
}

function journalTests(openStore: OpenStore): void {
  it("has the intents in the shared store when intend resolves, in order", async () => {
    const { store, run } = await started(openStore);
    const wave = ["Integration/a", "Asset/b", "Tag/pii#Integration/a"].map((address) => intentOf(address));
    const ids = await run.intend(wave);
    expect(new Set(ids).size).toBe(3);
    const expected = wave.map((intent, index) => ({ entryId: ids[index], ...intent }));
    expect((await readOf(store)).open).toEqual(expected);
    expect(run.state().open).toEqual(expected);
  });

  const outcomes: Readonly<Record<string, readonly [settlements: readonly Settlement[], open: boolean, created?: string]>> = {
    created: [[{ outcome: "created", id: "8f1c" }], false, "8f1c"],
    failed: [[{ outcome: "failed" }], false],
    recovered: [[{ outcome: "recovered", id: "8f1c" }], false, "8f1c"],
    unknown: [[{ outcome: "unknown" }], true],
    answered: [[{ outcome: "answered", id: "8f1c" }], true],
    "answered, then created": [
      [
        { outcome: "answered", id: "8f1c" },
        { outcome: "created", id: "8f1c" },
      ],
      false,
      "8f1c",
    ],
    "unknown, then not-created": [[{ outcome: "unknown" }, { outcome: "not-created", by: "resolve" }], false],
  };
  for (const [outcome, [settlements, open, created]] of Object.entries(outcomes))
    it(`${open ? "keeps" : "closes"} an intent that is ${outcome}`, async () => {
      const { store, run } = await started(openStore);
      const [entryId = ""] = await run.intend([intentOf("Integration/a")]);
      for (const settlement of settlements) await run.settle(entryId, settlement);
      const expected = open ? ["Integration/a"] : [];
      expect(run.state().open.map(({ address }) => address)).toEqual(expected);
      await run.release();
      const read = await readOf(store);
      expect(read.open.map(({ address }) => address)).toEqual(expected);
      for (const state of [run.state(), read]) expect(state.created.get("Integration/a")?.id).toBe(created);
    });

  it("keeps the id of the service's response", async () => {
    const { store, run } = await started(openStore);
    const [entryId = ""] = await run.intend([intentOf("Asset/a", { record: { sent: { "/name": "sha256:1" }, secretVersion: 2 } })]);
    await run.settle(entryId, { outcome: "answered", id: "d-1" });
    await run.settle(entryId, { outcome: "unknown" });
    await run.release();
    expect((await readOf(store)).open).toMatchObject([
      { entryId, answeredId: "d-1", record: { sent: { "/name": "sha256:1" }, secretVersion: 2 } },
    ]);
  });

  it("keeps created objects until they are forgotten", async () => {
    const { store, run: first } = await started(openStore);
    const [entryId = ""] = await first.intend([intentOf("Asset/a")]);
    await first.settle(entryId, { outcome: "created", id: "d-1" });
    await first.release();
    const second = await begun(await opened(store), { runId: "run-2" });
    const { naturalKey } = intentOf("Asset/a");
    expect([...second.state().created]).toEqual([["Asset/a", { entryId, id: "d-1", naturalKey }]]);
    await second.settle(entryId, { outcome: "forgotten", by: "unbind" });
    await second.release();
    const read = await readOf(store);
    expect([read.created.size, read.forgotten]).toEqual([0, ["d-1"]]);
  });

  it("lets a later run settle open entries of an earlier one", async () => {
    const { store, run: first } = await started(openStore);
    const [entryId = ""] = await first.intend([intentOf("Integration/a")]);
    await first.release();
    const second = await begun(await opened(store), { runId: "run-2" });
    expect(second.state().open).toMatchObject([{ entryId, runId: "run-1" }]);
    await second.settle(entryId, { outcome: "not-created", by: "resolve" });
    await second.release();
    expect((await readOf(store)).open).toEqual([]);
  });

  it("stores no unknown members", async () => {
    const { store, run } = await started(openStore);
    // A caller's object may have more members than its type.
    const [entryId = ""] = await run.intend([{ ...intentOf("Integration/a"), body: "canary" } as Intent]);
    await run.settle(entryId, { outcome: "unknown", answer: "canary" } as Settlement);
    await run.release();
    const { open } = await readOf(store);
    expect(open).toHaveLength(1);
    expect(JSON.stringify(open)).not.toContain("canary");
  });
}

function bindingTests(openStore: OpenStore): void {
  it("keeps bindings with digests and removes them", async () => {
    const { store, run } = await started(openStore);
    const warehouse = { id: "d-12", sent: { "/name": "sha256:1", "/connection/a~1b": "sha256:2" }, secretVersion: 4 };
    await run.bind("Asset/warehouse", warehouse);
    await run.bind("Integration/orders", { id: "007" });
    await run.bind("Integration/old", { id: "9" });
    await run.unbind("Integration/old");
    await run.unbind("Integration/none");
    const expected = [
      ["Asset/warehouse", warehouse],
      ["Integration/orders", { id: "007" }],
    ];
    expect([...run.state().bindings].sort()).toEqual(expected);
    await run.release();
    expect([...(await readOf(store)).bindings].sort()).toEqual(expected);
  });

  it("replaces a binding as a whole", async () => {
    const { store, run } = await started(openStore);
    await run.bind("Asset/a", { id: "1", secretVersion: 1 });
    await run.bind("Asset/a", { id: "2" });
    await run.release();
    expect([...(await readOf(store)).bindings]).toEqual([["Asset/a", { id: "2" }]]);
  });

  it("refuses the id of another address of the kind", async () => {
    const { store, run } = await started(openStore);
    await run.bind("Asset/a", { id: "1" });
    await expectError(run.bind("Asset/b", { id: "1" }), "E_DUPLICATE_BINDING", 1);
    await run.bind("Integration/b", { id: "1" });
    await run.release();
    expect([...(await readOf(store)).bindings.keys()].sort()).toEqual(["Asset/a", "Integration/b"]);
  });

  it("moves an id to another address in one write", async () => {
    const { store, run: first } = await started(openStore);
    await first.bind("Asset/old", { id: "1" });
    await first.release();
    const second = await begun(await opened(store), { runId: "run-2" });
    await second.take();
    await Promise.all([second.unbind("Asset/old"), second.bind("Asset/new", { id: "1" })]);
    await second.release();
    expect([...(await readOf(store)).bindings]).toEqual([["Asset/new", { id: "1" }]]);
  });

  it("writes many bindings that are set at once", async () => {
    const { store, run } = await started(openStore);
    const addresses = Array.from({ length: 50 }, (_, index) => `Integration/i${String(index).padStart(2, "0")}`);
    await Promise.all(addresses.map((address, index) => run.bind(address, { id: String(index) })));
    await run.release();
    expect([...(await readOf(store)).bindings.keys()].sort()).toEqual(addresses);
  });
}

function appliedTests(openStore: OpenStore): void {
  it("applies a saved plan once", async () => {
    const { store, run: first } = await started(openStore);
    await first.markApplied("plan-1");
    await first.take();
    await first.release();
    expect(await (await opened(store)).wasApplied("plan-1")).toMatchObject({ planId: "plan-1", runId: "run-1" });
    expect(await (await opened(store)).wasApplied("plan-2")).toBeUndefined();
    const second = await begun(await opened(store), { runId: "run-2" });
    const again = async (): Promise<void> => {
      await second.markApplied("plan-1");
      await second.take();
    };
    await expectError(again(), "E_PLAN_APPLIED", 5);
    await second.release();
  });

  it("keeps the commit that was applied last, also of a run that writes nothing else", async () => {
    const store = await openStore();
    const commitOf = async () => (await readOf(store)).appliedCommit;
    expect(await commitOf()).toBeUndefined();
    const first = { commit: "a1".repeat(20), manifestDigest: "sha256:1", runId: "run-1", at: "2026-11-03T08:00:00.000Z" };
    // An older commit, after a rollback.
    const second = { ...first, commit: "b2".repeat(20), at: "2026-11-02T08:00:00.000Z" };
    for (const [applied, takes] of [
      [first, true],
      [second, false],
    ] as const) {
      const run = await begun(await opened(store));
      if (takes) await run.take();
      run.remember({ commit: applied });
      await run.release();
      expect(await commitOf()).toEqual(applied);
      expect(await (await opened(store)).lease()).toBeUndefined();
    }
  });

  it("remembers what runs have learned by address, and replaces it as a whole", async () => {
    const store = await openStore();
    const { commit: _commit, ...facts } = allFacts;
    const learned = { ...facts, givenUp: [facts.givenUp] };
    const first = await begun(await opened(store));
    first.remember(facts);
    expect(first.state()).toMatchObject(learned);
    await first.release();
    expect(await readOf(store)).toMatchObject(learned);
    const { version } = await readOf(store);
    const same = await begun(await opened(store));
    same.remember(facts);
    await same.release();
    expect((await readOf(store)).version).toBe(version);
    const other = await begun(await opened(store));
    const covered = new Map([["Tag/pii", new Map([["9a2b", "shop 4"]])]]);
    other.remember({ covered, notKept: new Map([["Schemas/orders", new Map()]]) });
    await other.release();
    expect(await readOf(store)).toMatchObject({
      ...learned,
      covered: new Map([...allFacts.covered, ...covered]),
      notKept: new Map(),
    });
  });

  it("ends without an error if another run has the lease and only a commit was to be noted", async () => {
    const store = await openStore();
    const records = await opened(store);
    const quiet = await begun(records);
    const other = await begun(await opened(store), { runId: "run-2" });
    await other.take();
    quiet.remember({ commit: { commit: "a1".repeat(20), manifestDigest: "sha256:1", runId: "run-1", at: "2026-11-03T08:00:00.000Z" } });
    await quiet.release();
    expect((await readOf(store)).appliedCommit).toBeUndefined();
  });
}

async function historyTest(openStore: OpenStore): Promise<void> {
  const { store, run } = await started(openStore);
  const [entryId = ""] = await run.intend([intentOf("Asset/a")]);
  await run.settle(entryId, { outcome: "created", id: "d-1" });
  await run.bind("Asset/a", { id: "d-1" });
  await run.release();
  const records = await opened(store);
  await records.lock({ runId: "person", reason: "moving" });
  const history = await records.history(2);
  expect(history.map(({ runId }) => runId)).toEqual(["person", "run-1"]);
  expect(history.filter(({ at }) => Number.isNaN(Date.parse(at)))).toEqual([]);
}

function contentTests(openStore: OpenStore): void {
  it("is replaced by the whole content of another store", async () => {
    const from = await opened(await openStore());
    const run = await begun(from);
    await run.markApplied("plan-1");
    const [lake = "", old = ""] = await run.intend([
      intentOf("Asset/lake", { naturalKey: { name: "lake", type: "s3" } }),
      intentOf("Asset/old"),
      intentOf("Integration/a", { record: { sent: { "/name": "sha256:1" }, secretVersion: 2 } }),
      intentOf("Tag/pii#8f1c"),
    ]);
    await run.settle(lake, { outcome: "created", id: "d-1" });
    await run.settle(old, { outcome: "created", id: "d-2" });
    await run.settle(old, { outcome: "forgotten", by: "unbind" });
    const { open } = run.state();
    await run.settle(open[0]?.entryId ?? "", { outcome: "answered", id: "8f1c" });
    await run.bind("Asset/lake", { id: "d-1", sent: { "/spec/name": "sha256:1" }, secretVersion: 3 });
    run.remember(allFacts);
    await run.release();
    const content = await from.content();
    expect(content.state.created.get("Asset/lake")?.naturalKey).toEqual({ name: "lake", type: "s3" });
    expect(content.state).toMatchObject({ forgotten: ["d-2"], open: [{ answeredId: "8f1c" }, {}] });

    const to = await opened(await openStore());
    expect(await to.replace(content, ({ state }) => state.created.size === 1)).toBe(false);
    expect((await to.content()).applied.size).toBe(0);
    expect(await to.replace(content, ({ state }) => state.created.size === 0)).toBe(true);
    const copy = await to.content();
    const factsIn = ({ state: { version: _, ...state }, applied }: RecordsContent) => ({ state, applied });
    expect(factsIn(copy)).toEqual(factsIn(content));
    expect(printRecords({ target: "prod", id: "" }, { ...copy, epoch: 0 })).toBe(
      printRecords({ target: "prod", id: "" }, { ...content, epoch: 0 }),
    );
  });

  it("is not replaced while a run holds the lease", async () => {
    const { store, run } = await started(openStore);
    await run.take();
    const records = await opened(store);
    await expectError(
      records.replace(await records.content(), () => true),
      "E_LOCKED",
      6,
    );
    await run.release();
  });
}

const commit = { commit: "a1".repeat(20), manifestDigest: "sha256:1", runId: "run-1", at: "2026-11-03T08:00:00.000Z" };

const kept = { as: "disabled", by: "SchemaConfig/shops", since: "2026-11-03T08:00:00.000Z" } as const;

const allFacts: Required<Facts> = {
  kept: keptJson(
    new Map([
      [
        "8f1c",
        {
          identity: ["Shop", "shop-pg", "postgres", "d-12"],
          schemas: new Map([
            [
              "__proto__",
              new Map([
                ["users", [{ ...kept, columns: ["email"], among: ["1.a", "2.b", "3.c"] }]],
                [undefined, [kept]],
              ]),
            ],
          ]),
        },
      ],
    ]),
  ),
  commit,
  givenUp: { what: "Schemas/orders public.users.email", reason: "dropped\nin the source", at: "2026-11-03T08:00:00.000Z" },
  covered: new Map([["SchemaConfig/shops", new Map([...["8f1c", "__proto__"].map((id) => [id, "shop 3"] as const)])]]),
  notKept: new Map([
    ["Schemas/orders", new Map([["/schemas/public", { wanted: true, live: null, since: "2026-11-03T08:00:00.000Z", times: 1 }]])],
  ]),
};

function leaseTests(openStore: OpenStore): void {
  it("refuses a second run while the first one holds the lease", async () => {
    const { store, run: first } = await started(openStore);
    await first.take();
    const error = await errorOf((await opened(store)).begin({ runId: "run-2", waitMs: 0 }));
    expect([error.code, error.exit]).toEqual(["E_LOCKED", 6]);
    expect(error.message).toContain("run-1");
    await first.release();
    const second = await begun(await opened(store), { runId: "run-2" });
    await second.take();
    await second.release();
  });

  it("returns the holder of the lease", async () => {
    const store = await openStore();
    const run = await begun(await opened(store), { runUrl: "https://ci.example.com/7" });
    await run.take();
    const lease = await (await opened(store)).lease();
    expect(lease).toMatchObject({ runId: "run-1", runUrl: "https://ci.example.com/7", reason: undefined });
    expect(Number.isNaN(Date.parse(lease?.since ?? ""))).toBe(false);
    await run.release();
    expect(await (await opened(store)).lease()).toBeUndefined();
  });

  it("waits for the run that holds the lease", async () => {
    const { store, run: first } = await started(openStore);
    await first.take();
    let waits: () => void = () => {};
    const begins = new Promise<void>((resolve) => {
      waits = resolve;
    });
    const waiting = begun(await opened(store), { runId: "run-2", waitMs: 15_000, onWait: () => waits() });
    await begins;
    await first.bind("Asset/a", { id: "1" });
    await first.release();
    const second = await waiting;
    await second.take();
    expect([...second.state().bindings.keys()]).toEqual(["Asset/a"]);
    await second.release();
  });

  it("stops waiting when the signal is aborted", async () => {
    const { store, run: first } = await started(openStore);
    await first.take();
    const stop = new AbortController();
    const waiting = (await opened(store)).begin({ runId: "run-2", waitMs: 60_000, signal: stop.signal });
    stop.abort(new Error("interrupted"));
    await expect(waiting).rejects.toThrow("interrupted");
    await first.release();
  });

  it("gives the lease to one of many runs that start at once", async () => {
    const store = await openStore();
    const attempts = Array.from({ length: 5 }, async (_, index): Promise<RecordsRun | undefined> => {
      try {
        const run = await (await opened(store)).begin({ runId: `run-${index}`, waitMs: 0 });
        await run.take();
        return run;
      } catch (error) {
        expect(error).toMatchObject({ code: "E_LOCKED", exit: 6 });
        return undefined;
      }
    });
    const holders = (await Promise.all(attempts)).filter((run) => run !== undefined);
    expect(holders).toHaveLength(1);
    for (const holder of holders) await holder.release();
  });

  it("allows a run to send only while it holds the lease", async () => {
    const run = await begun(await opened(await openStore()));
    await run.take();
    run.fence();
    await run.renew();
    run.fence();
    await run.release();
    expect(() => run.fence()).toThrow(DimsyncError);
  });
}

function unlockTests(openStore: OpenStore): void {
  it("ends the lease of a run, which then sends nothing more but still records its own calls", async () => {
    const { store, run } = await started(openStore);
    const [entryId = ""] = await run.intend([intentOf("Asset/a")]);
    const other = await opened(store);
    expect(await other.unlock()).toMatchObject({ runId: "run-1" });
    expect(await other.unlock()).toBeUndefined();
    expect((await other.read()).unlocked).toMatchObject([{ runId: "run-1" }]);
    const lost = new Promise((resolve) => run.lost.addEventListener("abort", resolve, { once: true }));
    await run.settle(entryId, { outcome: "answered", id: "d-1" });
    run.flush();
    await lost;
    expect(run.lost.reason).toMatchObject({ code: "E_LOCKED", exit: 6 });
    expect(() => run.fence()).toThrow(DimsyncError);
    await run.release();
    expect((await other.read()).open).toMatchObject([{ entryId, answeredId: "d-1" }]);
  });

  it("locks the target for maintenance", async () => {
    const store = await openStore();
    const records = await opened(store);
    await records.lock({ runId: "person-1", reason: "moving the warehouse" });
    const error = await errorOf((await opened(store)).begin({ runId: "run-1", waitMs: 0 }));
    expect([error.code, error.exit]).toEqual(["E_LOCKED", 6]);
    expect(error.message).toContain("moving the warehouse");
    expect(await records.unlock()).toMatchObject({ reason: "moving the warehouse" });
    await (await begun(await opened(store))).release();
  });

  it("does not lock a target while a run holds the lease", async () => {
    const { store, run } = await started(openStore);
    await run.take();
    await expectError((await opened(store)).lock({ runId: "person-1", reason: "x" }), "E_LOCKED", 6);
    await run.release();
  });

  it("ends a maintenance lease at its time", async () => {
    const store = await openStore();
    await (await opened(store)).lock({ runId: "person-1", reason: "x", until: new Date(Date.now() - 1000) });
    const run = await begun(await opened(store));
    await run.take();
    await run.release();
  });
}

async function opened(store: StoreUnderTest): Promise<Records> {
  const records = await store.open();
  onTestFinished(() => records.close());
  return records;
}

async function begun(records: Records, options: Partial<BeginOptions> = {}): Promise<RecordsRun> {
  const run = await records.begin({ runId: "run-1", waitMs: 0, ...options });
  onTestFinished(() => run.release());
  return run;
}

/** A new store, and a run that has begun in it. */
async function started(openStore: OpenStore): Promise<{ readonly store: StoreUnderTest; readonly run: RecordsRun }> {
  const store = await openStore();
  return { store, run: await begun(await opened(store)) };
}

/** What another process reads. */
const readOf = async (store: StoreUnderTest): Promise<RecordsState> => (await opened(store)).read();

async function errorOf(work: Promise<unknown>): Promise<DimsyncError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof DimsyncError)) throw new Error(`expected a DimsyncError, got ${String(error)}`);
  return error;
}

async function expectError(work: Promise<unknown>, code: string, exit: number): Promise<void> {
  const error = await errorOf(work);
  expect([error.code, error.exit]).toEqual([code, exit]);
}
