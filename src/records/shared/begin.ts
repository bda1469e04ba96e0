import { setTimeout as sleep } from "node:timers/promises";
import { DimsyncError } from "../../model/errors.ts";
import { isHeld, newToken } from "../lease.ts";
import type { BeginOptions, Lease, RecordsRun } from "../records.ts";
import { describeLease, leaseHeld, type StorePlace } from "../store-errors.ts";
import { keptFacts } from "./kept-facts.ts";
import { openLocalJournal } from "./local-journal.ts";
import { runOver } from "./run.ts";
import type { SharedStore, Version } from "./store.ts";
import { openWriter } from "./writer.ts";

/** Waits until the lease is free or its holder is gone. Throws as `Records.begin` does. */
export async function beginRun<V extends Version>(store: SharedStore<V>, options: BeginOptions): Promise<RecordsRun> {
  const { runId, runUrl, signal } = options;
  const deadline = performance.now() + options.waitMs;
  let tip = await store.load("write");
  let unmovedSince = performance.now();
  let unmovedMs = 0;
  let abandoned: Lease | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const { lease } = tip.content;
    if (!isHeld(lease)) break;
    if (store.isAbandoned(tip, unmovedMs)) {
      abandoned = lease;
      break;
    }
    const left = deadline - performance.now();
    if (left <= 0) throw leaseHeld(store, lease);
    const pauseMs = Math.min(left, Math.max(250, Math.min(5_000, lease.ttlMs / 10)));
    await sleep(pauseMs, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted());
    const asked = performance.now();
    const now = await readAgain(store, tip, deadline);
    if (now === undefined) continue;
    if (now.version !== tip.version) unmovedSince = performance.now();
    unmovedMs = Math.max(0, asked - unmovedSince);
    tip = now;
  }
  const kept = await keptFacts(store, tip.content.state);
  const writer = openWriter(store, { tip, kept: kept.facts, token: newToken(), runId, runUrl });
  const local = openLocalJournal(store.folder, store.target, runId, kept.files);
  const notice = abandoned === undefined ? undefined : noticeOf(store, abandoned);
  return runOver(store, writer, { runId, local, notice });
}

/** Undefined if the store can't be read now, and there is time to try again. Throws as `Records.read` does. */
async function readAgain<V extends Version>(store: SharedStore<V>, known: V, deadline: number): Promise<V | undefined> {
  try {
    return await store.load("write", known);
  } catch (error) {
    if (!(error instanceof DimsyncError) || error.code !== "E_RECORDS_READ" || performance.now() >= deadline) throw error;
    return undefined;
  }
}

const noticeOf = ({ target }: StorePlace, lease: Lease): string =>
  `The lease of the target ${target} is held by ${describeLease(lease)}, which has not renewed it for ${Math.round(lease.ttlMs / 1000)} s. This run takes it over with its first write.`;
