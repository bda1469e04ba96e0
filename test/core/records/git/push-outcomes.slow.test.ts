// Whatever becomes of a push, no id is lost and nothing is sent without a record.
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DimsyncError } from "../../../../src/core/base/model/errors.ts";
import { initGitRecords } from "../../../../src/core/records/git/index.ts";
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
