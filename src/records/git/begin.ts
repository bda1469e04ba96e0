import { setTimeout as sleep } from "node:timers/promises";
import type { Fact } from "../facts.ts";
import { isHeld, newToken } from "../lease.ts";
import { openLocalJournal, readLocalJournal } from "../local-journal.ts";
import type { BeginOptions, Lease, RecordsRun, RecordsState } from "../records.ts";
import { describeLease, leaseHeld, recordsUnreadable } from "../store-errors.ts";
import { runOver } from "./run.ts";
import { type GitStore, loadTip } from "./store.ts";
import { openWriter } from "./writer.ts";

/**
 * Waits until the lease is free or its holder is silent: nobody has moved the ref for one
 * time-to-live of the lease, by this machine's monotonic clock. Throws as `Records.begin` does.
 */
export async function beginRun(store: GitStore, options: BeginOptions): Promise<RecordsRun> {
  const { runId, runUrl, signal } = options;
  const deadline = performance.now() + options.waitMs;
  let tip = await loadTip(store, true);
  let unmovedSince = performance.now();
  let silent: Lease | undefined;
  for (let isFirst = true; isHeld(tip.content.lease); isFirst = false) {
    signal?.throwIfAborted();
    const asked = performance.now();
    if (!isFirst) {
      const now = await loadTip(store, true, tip);
      if (now.commit !== tip.commit) unmovedSince = performance.now();
      tip = now;
    }
    const { lease } = tip.content;
    if (!isHeld(lease)) break;
    if (lease.reason === undefined && asked - unmovedSince >= lease.ttlMs) {
      silent = lease;
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
  return runOver(store, writer, { runId, local, notice: silent === undefined ? undefined : noticeOf(store, silent) });
}

/**
 * What earlier runs on this machine learned and could not store. An id is added as the service's
 * response to an intent that is still open, and the next plan binds it.
 */
export async function keptFacts(
  store: GitStore,
  state: RecordsState,
): Promise<{ readonly facts: readonly Fact[]; readonly files: readonly string[] }> {
  const { files, responses } = await readLocalJournal(store.folder, store.target).catch((error: unknown) => {
    throw recordsUnreadable(store, `the responses that this machine keeps in .dimsync: ${String(error)}`, error);
  });
  const open = new Set(state.open.map(({ entryId }) => entryId));
  const at = new Date().toISOString();
  const facts = responses
    .filter(({ entryId }) => open.has(entryId))
    .map(({ entryId, settlement }): Fact => {
      const { id } = settlement;
      return { type: "settle", entryId, settlement: id === undefined ? settlement : { outcome: "answered", id }, at };
    });
  return { facts, files };
}

const noticeOf = ({ target }: GitStore, lease: Lease): string =>
  `The lease of the target ${target} was taken over from ${describeLease(lease)}: the records did not change for ${Math.round(lease.ttlMs / 1000)} s.`;
