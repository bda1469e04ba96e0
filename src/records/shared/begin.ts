import { setTimeout as sleep } from "node:timers/promises";
import { isHeld, newToken } from "../lease.ts";
import { openLocalJournal } from "../local-journal.ts";
import type { BeginOptions, Lease, RecordsRun } from "../records.ts";
import { describeLease, leaseHeld, type StorePlace } from "../store-errors.ts";
import { keptFacts } from "./kept-facts.ts";
import { runOver } from "./run.ts";
import type { SharedStore, Version } from "./store.ts";
import { openWriter } from "./writer.ts";

/** Waits until the lease is free or its holder is gone. Throws as `Records.begin` does. */
export async function beginRun<V extends Version>(store: SharedStore<V>, options: BeginOptions): Promise<RecordsRun> {
  const { runId, runUrl, signal } = options;
  const deadline = performance.now() + options.waitMs;
  let tip = await store.load("write");
  let unmovedSince = performance.now();
  let abandoned: Lease | undefined;
  for (let isFirst = true; isHeld(tip.content.lease); isFirst = false) {
    signal?.throwIfAborted();
    const asked = performance.now();
    if (!isFirst) {
      const now = await store.load("write", tip);
      if (now.version !== tip.version) unmovedSince = performance.now();
      tip = now;
    }
    const { lease } = tip.content;
    if (!isHeld(lease)) break;
    if (store.isAbandoned(tip, asked - unmovedSince)) {
      abandoned = lease;
      break;
    }
    const left = deadline - performance.now();
    if (left <= 0) throw leaseHeld(store, lease);
    const pauseMs = Math.min(left, Math.max(250, Math.min(5_000, lease.ttlMs / 20)));
    await sleep(pauseMs, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted());
  }
  const kept = await keptFacts(store, tip.content.state);
  const writer = openWriter(store, { tip, kept: kept.facts, token: newToken(), runId, runUrl });
  const local = openLocalJournal(store.folder, store.target, runId, kept.files);
  const notice = abandoned === undefined ? undefined : noticeOf(store, abandoned);
  return runOver(store, writer, { runId, local, notice });
}

const noticeOf = ({ target }: StorePlace, lease: Lease): string =>
  `The lease of the target ${target} was taken over from ${describeLease(lease)}: it did not renew the lease for ${Math.round(lease.ttlMs / 1000)} s.`;
