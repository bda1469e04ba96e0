import { DimsyncError } from "../../base/model/errors.ts";
import { heldLease, newToken } from "../lease.ts";
import { isGone } from "../process-identity.ts";
import type { BeginOptions, Lease, RecordsRun, UnlockedRun } from "../records.ts";
import { describeLease, leaseHeld, type StorePlace } from "../store-errors.ts";
import { keptFacts, openLocalJournal } from "./local-journal.ts";
import { runOver } from "./run.ts";
import type { SharedStore, Version } from "./store.ts";
import { openWriter } from "./writer.ts";

/** How often to check whether the holder's job has ended. */
const askAgainMs = 15_000;

/** Why the lease of another run may be taken over. */
interface Abandoned {
  readonly lease: Lease;
  /** A clause about the holder. */
  readonly why: string;
  /** Present if its time-to-live is not over: how long its process may still send requests. */
  readonly graceMs?: number;
}

/** Waits until the lease is free or its holder is gone. Throws as `Records.begin` does. */
export async function beginRun<V extends Version>(store: SharedStore<V>, options: BeginOptions): Promise<RecordsRun> {
  const { runId, runUrl } = options;
  const { tip, abandoned } = await whenFree(store, await store.read("write"), options);
  const kept = await keptFacts(store, tip.content.state);
  const writer = openWriter(store, {
    tip,
    kept: kept.facts,
    token: newToken(),
    runId,
    runUrl,
    ended: unlockedRun(store, abandoned),
    async whenFree(newest) {
      const free = await whenFree(store, newest, options).catch((error: unknown) => {
        const { lease } = newest.content;
        throw options.signal?.aborted === true && lease !== undefined ? leaseHeld(store, lease) : error;
      });
      return { tip: free.tip, ended: unlockedRun(store, free.abandoned) };
    },
  });
  const local = openLocalJournal(store.folder, store.target, runId, kept.files);
  const notice = abandoned === undefined ? undefined : noticeOf(store, abandoned);
  return runOver(store, writer, { runId, local, notice });
}

/** The newest version once its lease is free, or its holder is gone. Throws as `Records.begin` does. */
async function whenFree<V extends Version>(
  store: SharedStore<V>,
  newest: V,
  options: BeginOptions,
): Promise<{ readonly tip: V; readonly abandoned: Abandoned | undefined }> {
  const { signal } = options;
  const nowMs = (): number => store.clock.now().monotonicMs;
  const deadline = nowMs() + options.waitMs;
  let tip = newest;
  let unmovedSince = nowMs();
  let unmovedMs = 0;
  const early = earlyEnd(options, nowMs);
  for (;;) {
    signal?.throwIfAborted();
    const lease = heldLease(tip);
    if (lease === undefined) return { tip, abandoned: undefined };
    const seconds = Math.round(lease.ttlMs / 1000);
    const why = store.isAbandoned(tip, unmovedMs) ? `has not renewed it for ${seconds} s` : store.whyGone?.(tip);
    const abandoned = why === undefined ? await early(lease) : { lease, why };
    if (abandoned !== undefined) return { tip, abandoned };
    const left = deadline - nowMs();
    if (left <= 0) throw leaseHeld(store, lease);
    options.onWait?.();
    const pauseMs = Math.min(left, store.pollMs ?? Math.max(250, Math.min(5_000, lease.ttlMs / 10)));
    await store.clock.sleep(pauseMs, signal).catch(() => signal?.throwIfAborted());
    const asked = nowMs();
    const now = await readAgain(store, tip, deadline - nowMs());
    if (now === undefined) continue;
    if (now.version !== tip.version) unmovedSince = nowMs();
    unmovedMs = Math.max(0, asked - unmovedSince);
    tip = now;
  }
}

/** Finds out whether the run that holds a lease has ended without releasing it. */
function earlyEnd({ hasEnded }: BeginOptions, nowMs: () => number): (lease: Lease) => Promise<Abandoned | undefined> {
  let askedAt = Number.NEGATIVE_INFINITY;
  return async (lease) => {
    if (lease.reason !== undefined) return undefined;
    if (lease.process !== undefined && isGone(lease.process)) return { lease, why: "has no process any more", graceMs: 0 };
    if (hasEnded === undefined || nowMs() - askedAt < askAgainMs) return undefined;
    askedAt = nowMs();
    // Its machine may only have lost its connection: then it stops when it cannot renew the lease.
    return (await hasEnded(lease)) ? { lease, why: "belongs to a job that has ended", graceMs: lease.ttlMs / 2 } : undefined;
  };
}

function unlockedRun({ clock }: Pick<SharedStore<Version>, "clock">, abandoned: Abandoned | undefined): UnlockedRun | undefined {
  if (abandoned?.graceMs === undefined) return undefined;
  return { runId: abandoned.lease.runId, at: new Date(clock.now().wallMs).toISOString(), graceMs: abandoned.graceMs };
}

/** Undefined if the store can't be read now, and there is time to try again. Throws as `Records.read` does. */
async function readAgain<V extends Version>(store: SharedStore<V>, known: V, leftMs: number): Promise<V | undefined> {
  try {
    return await store.read("write", known);
  } catch (error) {
    if (!(error instanceof DimsyncError) || error.code !== "E_RECORDS_READ" || leftMs <= 0) throw error;
    return undefined;
  }
}

const noticeOf = ({ target }: StorePlace, { lease, why }: Abandoned): string =>
  `The lease of the target ${target} is held by ${describeLease(lease)}, which ${why}. This run takes it over with its first write.`;
