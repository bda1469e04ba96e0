import { visible } from "../../base/text/control-characters.ts";
import { withFacts } from "../facts.ts";
import { heldLease, newToken } from "../lease.ts";
import type { Lease, MaintenanceHold, Records, StoreName } from "../records.ts";
import { leaseHeld, movedTo, recordsGone, recordsMoved, recordsRefused, recordsUnclear } from "../store-errors.ts";
import { beginRun } from "./begin.ts";
import { keptFacts } from "./local-journal.ts";
import { nextOf } from "./next-version.ts";
import type { Next, RecordsContent, SharedStore, Version } from "./store.ts";

/** The records of one target in a store. */
export function recordsOf<V extends Version>(name: StoreName, store: SharedStore<V>): Records {
  let last: V | undefined;
  const load = async (): Promise<V> => {
    last = await store.read("read", last);
    return last;
  };
  const content = async (): Promise<RecordsContent> => {
    const found = (await load()).content;
    const to = movedTo(found.lease?.reason);
    if (to !== undefined) throw recordsMoved(store, to);
    return { ...found, state: withFacts(found.state, (await keptFacts(store, found.state)).facts) };
  };
  return {
    store: name,
    place: store.place,
    content,
    read: async () => (await content()).state,
    wasApplied: async (planId) => (last ?? (await load())).content.applied.get(planId),
    lease: async () => aliveLease(store, await load()),
    begin: (options) => beginRun(store, options),
    lock: (hold) => lock(store, hold),
    unlock: () => unlock(store),
    replace: (wanted, isReplaceable) => replace(store, wanted, isReplaceable),
    history: store.history,
    close: store.close,
  };
}

async function lock<V extends Version>(store: SharedStore<V>, { runId, reason, until }: MaintenanceHold): Promise<void> {
  const lease = {
    token: newToken(),
    runId,
    runUrl: undefined,
    since: new Date().toISOString(),
    ttlMs: store.ttlMs,
    reason,
    until: until?.toISOString(),
    holder: "",
  };
  await change(store, (newest) => {
    const held = aliveLease(store, newest);
    if (held !== undefined && held.runId !== runId) throw leaseHeld(store, held);
    const { content } = newest;
    const subject = "Lock the target";
    return nextOf(content, { facts: [], lease: { ...lease, epoch: content.epoch + 1 }, runId, runUrl: undefined, subject });
  });
}

const aliveLease = <V extends Version>(store: SharedStore<V>, version: V): Lease | undefined =>
  store.whyGone?.(version) === undefined ? heldLease(version) : undefined;

async function unlock<V extends Version>(store: SharedStore<V>): Promise<Lease | undefined> {
  let ended: Lease | undefined;
  await change(store, (newest) => {
    const { content } = newest;
    const { lease } = content;
    ended = heldLease(newest);
    if (lease === undefined) return undefined;
    const { runId, ttlMs, reason } = lease;
    const unlocked = reason === undefined ? { unlocked: { runId, at: new Date().toISOString(), graceMs: ttlMs / 2 } } : {};
    return nextOf(content, { facts: [], lease: "free", ...unlocked, runId, runUrl: undefined, subject: "Unlock the target" });
  });
  return ended;
}

async function replace<V extends Version>(
  store: SharedStore<V>,
  wanted: RecordsContent,
  isReplaceable: (found: RecordsContent) => boolean,
): Promise<boolean> {
  let isReplaced = false;
  await change(store, (newest) => {
    const held = aliveLease(store, newest);
    if (held !== undefined) throw leaseHeld(store, held);
    isReplaced = isReplaceable(newest.content);
    const content = { ...wanted, epoch: newest.content.epoch, lease: undefined };
    const changes = [...wanted.state.bindings].map(([address, { id }]) => visible(`bind ${address}=${id}`));
    return isReplaced ? { content, runId: "", runUrl: undefined, subject: "Replace the records", changes } : undefined;
  });
  return isReplaced;
}

/** Writes one version on top of the newest one. `make` returns undefined if there is nothing to change. */
async function change<V extends Version>(store: SharedStore<V>, make: (version: V) => Next | undefined): Promise<void> {
  for (let newest = await store.read("write"); ; newest = await store.read("write", newest)) {
    const wanted = make(newest);
    if (wanted === undefined) return;
    const written = await store.swap(await store.prepare(newest, wanted), newest);
    if (written.outcome === "stored") return;
    if (written.outcome !== "lost") throw (written.outcome === "refused" ? recordsRefused : recordsUnclear)(store, written.words);
    if (written.isGone) throw recordsGone(store, "they no longer exist");
  }
}
