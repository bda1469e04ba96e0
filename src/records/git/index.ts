import { withFacts } from "../facts.ts";
import { isHeld, newToken } from "../lease.ts";
import type { Lease, MaintenanceHold, Records } from "../records.ts";
import { leaseHeld, recordsGone, recordsRefused, recordsUnclear } from "../store-errors.ts";
import { commitOn, type Draft } from "./batch.ts";
import { beginRun, keptFacts } from "./begin.ts";
import { land } from "./land.ts";
import { type GitStore, type GitStoreOptions, loadTip, openStore, type Tip } from "./store.ts";

export type { GitStoreOptions } from "./store.ts";

/** The records of one target in a ref of the project's remote. */
export function openGitRecords(options: GitStoreOptions): Records {
  const store = openStore(options);
  let last: Tip | undefined;
  const load = async (): Promise<Tip> => {
    last = await loadTip(store, false, last);
    return last;
  };
  return {
    store: "git",
    place: store.place,
    async read() {
      const { state } = (await load()).content;
      return withFacts(state, (await keptFacts(store, state)).facts);
    },
    wasApplied: async (planId) => (last ?? (await load())).content.applied.get(planId),
    lease: async () => {
      const { lease } = (await load()).content;
      return isHeld(lease) ? lease : undefined;
    },
    begin: (begin) => beginRun(store, begin),
    lock: (hold) => lock(store, hold),
    unlock: () => unlock(store),
    close: async () => undefined,
  };
}

async function lock(store: GitStore, { runId, reason, until }: MaintenanceHold): Promise<void> {
  const lease = {
    ...{ token: newToken(), runId, runUrl: undefined, since: new Date().toISOString(), ttlMs: store.ttlMs },
    ...{ reason, until: until?.toISOString(), holder: "" },
  };
  await change(store, ({ content }) => {
    if (isHeld(content.lease)) throw leaseHeld(store, content.lease);
    return { facts: [], lease: { ...lease, epoch: content.epoch + 1 }, runId, runUrl: undefined, subject: "Lock the target" };
  });
}

async function unlock(store: GitStore): Promise<Lease | undefined> {
  let ended: Lease | undefined;
  await change(store, ({ content: { lease } }) => {
    ended = isHeld(lease) ? lease : undefined;
    if (lease === undefined) return undefined;
    const { runId, ttlMs, reason } = lease;
    const unlocked = reason === undefined ? { unlocked: { runId, at: new Date().toISOString(), graceMs: ttlMs / 2 } } : {};
    return { facts: [], lease: "free", ...unlocked, runId, runUrl: undefined, subject: "Unlock the target" };
  });
  return ended;
}

/** Writes one commit on whatever is there. `draft` returns undefined if there is nothing to change. */
async function change(store: GitStore, draft: (tip: Tip) => Draft | undefined): Promise<void> {
  const repository = await store.repository(true);
  for (let tip = await loadTip(store, true); ; tip = await loadTip(store, true, tip)) {
    const wanted = draft(tip);
    if (wanted === undefined) return;
    const next = await commitOn(store, repository, tip, wanted);
    const landing = await land(repository, { commit: next.commit, parent: tip.commit }, store.patienceMs);
    if (landing.outcome === "stored") return;
    if (landing.outcome !== "lost") throw (landing.outcome === "refused" ? recordsRefused : recordsUnclear)(store, landing.words);
    if (landing.tip === undefined) throw recordsGone(store, "the ref does not exist any more");
  }
}
