// Whatever becomes of a push, no id is lost and nothing is sent without a record.
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pLimit from "p-limit";
import { describe, expect, it } from "vitest";
import { DimsyncError } from "../../../../src/core/base/model/errors.ts";
import { initGitRecords } from "../../../../src/core/records/git/init.ts";
import type { Intent } from "../../../../src/core/records/history.ts";
import { type LeaseClock, systemClock } from "../../../../src/core/records/lease.ts";
import { gitEnv } from "../../../support/git/env.ts";
import type { GitFault, GitHttp } from "../../../support/git/http.ts";
import { git, gitRemote } from "../../../support/git/remote.ts";
import { sampleOf, sampleSeed } from "../../../support/sample.ts";
import { testClock } from "../clock.ts";
import { intentOf } from "../suite.ts";
import { begun, diskStore, type HttpStore, httpStore, ref } from "./git-store.ts";

/** The Nth push from now on has this fault; the others are executed. */
function faultAt(http: GitHttp, nth: number, fault: GitFault): void {
  let pushes = 0;
  http.setFault(({ service, isListing }) => {
    if (service !== "receive-pack" || isListing) return undefined;
    pushes += 1;
    return pushes === nth ? fault : undefined;
  });
}

/**
 * A run with every kind of write: lease and intents, another wave, an id at once, a heartbeat, and
 * the end.
 */
async function protocol({ open }: HttpStore): Promise<void> {
  // No heartbeat, and patience that ends after some attempts: real time does not count.
  const run = await begun(open({ ttlMs: 300_000, clock: testClock() }));
  await run.markApplied("plan-1");
  const [a = "", b = ""] = await run.intend([intentOf("Integration/a"), intentOf("Asset/b", { kind: "Asset" })]);
  await run.settle(a, { outcome: "answered", id: "1" });
  await run.bind("Integration/a", { id: "1" });
  await run.settle(a, { outcome: "created", id: "1" });
  await run.settle(b, { outcome: "answered", id: "2" });
  const [c = ""] = await run.intend([intentOf("Integration/c")]);
  run.fence();
  await run.bind("Asset/b", { id: "2" });
  await run.settle(b, { outcome: "created", id: "2" });
  run.flush();
  await run.settle(c, { outcome: "unknown" });
  await run.release();
}

const pushesOfProtocol = 4;

async function expectProtocolStored({ open, http }: HttpStore): Promise<void> {
  await http.settled();
  http.setFault(() => undefined);
  const records = open();
  const { bindings, open: unknown, created } = await records.read();
  expect([...bindings]).toEqual([
    ["Asset/b", { id: "2" }],
    ["Integration/a", { id: "1" }],
  ]);
  expect(unknown.map(({ address }) => address)).toEqual(["Integration/c"]);
  expect([...created.keys()].sort()).toEqual(["Asset/b", "Integration/a"]);
  expect(await records.lease()).toBeUndefined();
  expect(await records.wasApplied("plan-1")).toMatchObject({ runId: "run-1" });
}

it("writes with the expected number of pushes", async () => {
  const store = await httpStore();
  const before = store.http.counts().pushes;
  await protocol(store);
  await expectProtocolStored(store);
  expect(store.http.counts().pushes - before).toBe(pushesOfProtocol);
});

describe("at each push", () => {
  const faults: Readonly<Record<string, GitFault>> = {
    "a lost response": "lost",
    "a push that is stored after its client gave up": "late",
    "a push that a proxy sends twice": "twice",
    "a reset connection": "reset",
    "a response of status 429": 429,
    "a response of status 503": 503,
  };
  async function survives({ fault, nth }: { readonly fault: GitFault; readonly nth: number }): Promise<void> {
    const store = await httpStore();
    faultAt(store.http, nth, fault);
    try {
      await protocol(store);
      await expectProtocolStored(store);
    } catch (error) {
      throw new Error(`at push ${nth}, DIMSYNC_TESTS_SEED=${sampleSeed}`, { cause: error });
    }
  }
  const cases = Object.entries(faults).flatMap(([name, fault]) =>
    Array.from({ length: pushesOfProtocol }, (_, index) => ({ name, fault, nth: index + 1 })),
  );
  const sample = sampleOf(cases, { name: "faults of pushes", kindOf: ({ name }) => name });
  for (const name of Object.keys(faults))
    it(`survives ${name}`, async () => {
      const each = sample.filter((one) => one.name === name).map(survives);
      await Promise.all(each);
    });
});

/** As `protocol`, with the errors of its writes; `sent`: what apply would have sent. */
async function protocolWithErrors(store: HttpStore, folder: string, clock: LeaseClock) {
  const run = await begun(store.open({ folder, ttlMs: 20_000, clock }));
  const errors: unknown[] = [];
  const sent: string[] = [];
  const remember = (error: unknown): readonly string[] => {
    errors.push(error);
    return [];
  };
  const send = async (wave: readonly Intent[]): Promise<readonly string[]> => {
    const ids = await run.intend(wave).catch(remember);
    try {
      run.fence();
      sent.push(...ids);
    } catch {
      for (const id of ids) await run.settle(id, { outcome: "not-created" });
    }
    return ids;
  };
  const [a, b] = await send([intentOf("Integration/a"), intentOf("Asset/b", { kind: "Asset" })]);
  if (a !== undefined && sent.includes(a)) {
    await run.settle(a, { outcome: "answered", id: "1" });
    await run.bind("Integration/a", { id: "1" });
    await run.settle(a, { outcome: "created", id: "1" });
  }
  const [c] = await send([intentOf("Integration/c")]);
  if (b !== undefined && sent.includes(b)) {
    await run.settle(b, { outcome: "answered", id: "2" });
    await run.bind("Asset/b", { id: "2" });
    await run.settle(b, { outcome: "created", id: "2" });
    await run.renew();
  }
  if (c !== undefined && sent.includes(c)) await run.settle(c, { outcome: "unknown" });
  await run.release().catch(remember);
  return { errors, sent };
}

describe("from each push of the protocol on", () => {
  const failures: Readonly<Record<string, { readonly code: string; readonly begin: (store: HttpStore) => GitFault | undefined }>> = {
    "answers with status 403": { code: "E_RECORDS_REFUSED", begin: () => 403 },
    "answers with status 503": { code: "E_RECORDS_UNCLEAR", begin: () => 503 },
    "does not answer": { code: "E_RECORDS_UNCLEAR", begin: () => "hang" },
    "has a hook that refuses": {
      code: "E_RECORDS_REFUSED",
      begin: ({ remote }) => {
        const hook = join(remote.bare, "hooks", "pre-receive");
        writeFileSync(hook, "#!/bin/sh\nexit 1\n");
        chmodSync(hook, 0o755);
        return undefined;
      },
    },
  };
  async function failsFrom(nth: number, { code, begin }: (typeof failures)[string]): Promise<number> {
    const store = await httpStore();
    const folder = store.remote.clone(store.http.url);
    let pushes = 0;
    store.http.setFault(({ service, isListing }) => {
      if (service !== "receive-pack") return undefined;
      if (!isListing) pushes += 1;
      // Listing comes before each push.
      return pushes >= nth || (isListing && pushes >= nth - 1) ? begin(store) : undefined;
    });
    // An attempt without a response takes real time.
    const { errors, sent } = await protocolWithErrors(store, folder, begin(store) === "hang" ? systemClock : testClock());
    const codes = errors.map((error) => (error instanceof DimsyncError ? `${error.code} ${error.exit}` : String(error)));
    expect(codes, `push ${nth}: ${errors.join("\n")}`).toContain(`${code} 4`);
    // On a busy machine, the last attempt of a push that is refused can run out of time.
    expect(codes.filter((one) => one !== `${code} 4` && one !== "E_RECORDS_UNCLEAR 4")).toEqual([]);
    store.http.setFault(() => undefined);
    rmSync(join(store.remote.bare, "hooks", "pre-receive"), { force: true });
    const { open, created } = await store.open().read();
    const stored = new Set([...open, ...created.values()].map(({ entryId }) => entryId));
    // Nothing is sent without a record, and no id is lost for the next run on this machine.
    expect(sent.filter((entryId) => !stored.has(entryId))).toEqual([]);
    const next = await store.open({ folder }).read();
    const known = new Set([...next.open.map(({ answeredId }) => answeredId), ...[...next.created.values()].map(({ id }) => id)]);
    if (sent.length > 0) expect([known.has("1"), known.has("2")]).toEqual([true, true]);
    if (nth === 1) expect(sent).toEqual([]);
    return sent.length;
  }
  it("a store that fails gets no request without a record, and no id is lost", async () => {
    const all = Object.values(failures).flatMap((failure) => [1, 2, 3].map((nth) => ({ nth, failure })));
    const cells = sampleOf(all, { name: "stores that fail", kindOf: ({ failure: { code, begin } }) => `${code} ${begin}`, most: () => 2 });
    // All at once would take longer than a push may take on a busy machine.
    const sent = await pLimit(4).map(cells, ({ nth, failure }) => failsFrom(nth, failure));
    console.info(`pushes that fail for good: ${cells.length} cases, ${sent.filter((count) => count > 0).length} after something was sent`);
    expect(sent.some((count) => count > 0)).toBe(true);
  });
});

describe("a push that is never accepted", () => {
  async function refused(
    store: HttpStore,
    options: { readonly ttlMs: number; readonly clock: LeaseClock } = { ttlMs: 300_000, clock: testClock() },
  ): Promise<DimsyncError> {
    const before = store.remote.tip(ref);
    const run = await begun(store.open(options));
    const error = await run.intend([intentOf("Integration/a")]).catch((thrown: unknown) => thrown);
    expect(run.lost.aborted).toBe(true);
    expect(() => run.fence()).toThrow(DimsyncError);
    await run.release();
    expect(store.remote.tip(ref)).toBe(before);
    if (!(error instanceof DimsyncError)) throw new Error(`not a DimsyncError: ${String(error)}`);
    return error;
  }

  it("is refused with the message of a hook", async () => {
    const store = await httpStore();
    const hook = join(store.remote.bare, "hooks", "pre-receive");
    writeFileSync(hook, "#!/bin/sh\necho 'Records are closed on Sundays.' >&2\nexit 1\n");
    chmodSync(hook, 0o755);
    const error = await refused(store);
    expect([error.code, error.exit]).toEqual(["E_RECORDS_REFUSED", 4]);
    expect(error.message).toContain("pre-receive hook declined");
    expect(error.message).toContain("Records are closed on Sundays.");
  });

  it("is refused if the server hides the ref from writers", async () => {
    const store = await httpStore();
    git(store.remote.bare, "config", "receive.hideRefs", "refs/dimsync");
    const error = await refused(store);
    expect([error.code, error.exit]).toEqual(["E_RECORDS_REFUSED", 4]);
    expect(error.message).toContain("may hide the ref");
  });

  for (const [status, code, words] of [
    [401, "E_RECORDS_REFUSED", "could not read Username"],
    [403, "E_RECORDS_REFUSED", "403"],
    [429, "E_RECORDS_UNCLEAR", "429"],
    [503, "E_RECORDS_UNCLEAR", "503"],
  ] as const)
    it(`is ${code} after responses of status ${status}`, async () => {
      const store = await httpStore();
      store.http.setFault(({ service }) => (service === "receive-pack" ? status : undefined));
      const error = await refused(store);
      expect([error.code, error.exit]).toEqual([code, 4]);
      expect(error.message).toContain(words);
      // A server that denies access is not asked again.
      const pushes = store.http.requests.filter(({ service }) => service === "receive-pack");
      if (code === "E_RECORDS_REFUSED") expect(pushes).toHaveLength(1);
      else expect(pushes.length).toBeGreaterThan(1);
    });

  it("is unclear if the server does not respond within a limited time", async () => {
    const store = await httpStore();
    store.http.setFault(({ service }) => (service === "receive-pack" ? "hang" : undefined));
    // An attempt without a response takes real time.
    const error = await refused(store, { ttlMs: 6_000, clock: systemClock });
    expect([error.code, error.exit]).toEqual(["E_RECORDS_UNCLEAR", 4]);
    expect(error.message).toContain("no response within");
  });
});

it("prevents an unclear push from being stored later", async () => {
  const store = await httpStore();
  let late = 0;
  // Only the first push arrives, long after the timeout.
  store.http.setFault(({ service, isListing }) => {
    if (service !== "receive-pack") return undefined;
    if (isListing) return late === 0 ? undefined : 503;
    late += 1;
    return late === 1 ? "late" : 503;
  });
  const run = await begun(store.open({ ttlMs: 6_000 }));
  const waiting = run.intend([intentOf("Integration/a")]).catch((thrown: unknown) => thrown);
  const outcome = await waiting;
  // Stored late but within the time limit: then it counts.
  if (Array.isArray(outcome)) run.fence();
  store.http.setFault(() => undefined);
  await run.release();
  await store.http.settled();
  expect(await store.open().lease()).toBeUndefined();
  expect((await store.open().read()).open.map(({ address }) => address)).toEqual(Array.isArray(outcome) ? ["Integration/a"] : []);
});

it("uses empty records, and creates no new ones if there are others", async () => {
  const { remote, open, id } = await diskStore();
  const options = { target: "prod", remote: "origin", ref, ttlMs: 60_000, key: undefined, env: gitEnv };
  expect(await initGitRecords({ ...options, folder: remote.clone() })).toBe(id);
  await expect(initGitRecords({ ...options, key: "k", folder: remote.clone() })).rejects.toMatchObject({ code: "E_RECORDS_UNSEALED" });
  const run = await begun(open());
  await run.bind("Asset/a", { id: "d-1" });
  await run.release();
  const refused = await initGitRecords({ ...options, folder: remote.clone() }).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "E_RECORDS_EXIST", exit: 1, message: expect.stringContaining(`id: ${id}`) });
  await expect(initGitRecords({ ...options, ref: "refs/heads/main", folder: remote.clone() })).rejects.toMatchObject({
    code: "E_RECORDS_EXIST",
  });
});

it("reports a hook that refuses the ref when the records are created", async () => {
  const remote = gitRemote();
  const hook = join(remote.bare, "hooks", "update");
  writeFileSync(hook, "#!/bin/sh\ncase $1 in refs/heads/*) ;; *) echo 'only branches' >&2; exit 1;; esac\n");
  chmodSync(hook, 0o755);
  const options = { target: "prod", remote: "origin", ttlMs: 6_000, key: undefined, env: gitEnv };
  await expect(initGitRecords({ ...options, ref, folder: remote.clone() })).rejects.toMatchObject({ code: "E_RECORDS_REFUSED", exit: 4 });
  await initGitRecords({ ...options, ref: "refs/heads/dimsync/prod", folder: remote.clone() });
  expect(remote.tip("refs/heads/dimsync/prod")).toBeDefined();
});
