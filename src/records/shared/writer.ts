import { DimsyncError } from "../../model/errors.ts";
import { admissible, type Fact, planWouldDiffer, withFacts } from "../facts.ts";
import { type Instant, instant, isHeld } from "../lease.ts";
import { holderText, thisHolder } from "../process-identity.ts";
import type { Lease, RecordsState, UnlockedRun } from "../records.ts";
import { leaseHeld, leaseLost, planApplied, recordsChanged, recordsGone, recordsRefused, recordsUnclear } from "../store-errors.ts";
import type { Writer } from "./run.ts";
import type { SharedStore, Version } from "./store.ts";

// One version at a time is written. A version that is lost to another one is made again on the newest
// one, if this run still holds the lease or has not begun; a run that lost its lease only adds what
// concerns its own calls. A write that was given up may still be stored later, as long as its parent
// is the newest version; the next write of this run has the same parent, so only one of them can be.

export interface WriterOptions<V extends Version> {
  /** What this run read last: its first write has to be on it. */
  readonly tip: V;
  /** Facts of earlier runs on this machine. They alone do not cause a write. */
  readonly kept: readonly Fact[];
  readonly token: string;
  readonly runId: string;
  readonly runUrl: string | undefined;
  /** The run whose lease is taken over before its time-to-live is over. */
  readonly ended?: UnlockedRun | undefined;
}

/** Facts that a caller waits for: if they can't be stored, they are given up. */
interface Request {
  readonly facts: readonly Fact[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Attempt<V> {
  readonly tip: V;
  readonly parent: V;
  readonly begun: Instant;
}

interface Work<V extends Version> extends WriterOptions<V> {
  readonly store: SharedStore<V>;
  readonly lost: AbortController;
  /** The newest version that was seen. */
  stored: V;
  /** What the caller has planned with. */
  planned: RecordsState;
  queue: readonly Fact[];
  requests: readonly Request[];
  /** Taken from the queue and the requests for the version that is being written. */
  moving: { readonly queue: readonly Fact[]; readonly requests: readonly Request[] };
  /** A write that was given up and may still be stored. */
  uncertain: (Attempt<V> & { readonly isUnclear: boolean }) | undefined;
  lastStored: Instant | undefined;
  hasHeld: boolean;
  isEnding: boolean;
}

const nothing: Work<Version>["moving"] = { queue: [], requests: [] };

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: short functions over one state
export function openWriter<V extends Version>(store: SharedStore<V>, options: WriterOptions<V>): Writer {
  const work: Work<V> = {
    ...{ ...options, store, lost: new AbortController(), stored: options.tip, planned: options.tip.content.state },
    ...{ queue: options.kept, requests: [], moving: nothing, uncertain: undefined, lastStored: undefined, hasHeld: false, isEnding: false },
  };
  let writing: Promise<DimsyncError | undefined> | undefined;
  let isWanted = false;
  let view: { readonly of: readonly unknown[]; readonly state: RecordsState } | undefined;

  const rounds = async (): Promise<DimsyncError | undefined> => {
    try {
      for (let isStored = false; !isStored || work.requests.length > 0 || (isWanted && work.queue.length > 0); ) {
        isWanted = false;
        if (!hasToWrite(work)) return undefined;
        isStored = await writeOnce(work);
      }
      return undefined;
    } catch (error) {
      return failed(work, error);
    } finally {
      // Here, not when the promise has settled: a request in between would not be written.
      writing = undefined;
    }
  };
  const write = (): Promise<DimsyncError | undefined> => {
    isWanted = true;
    writing ??= rounds();
    return writing;
  };
  return {
    state() {
      const of = [work.stored, work.moving.queue, work.queue];
      if (view === undefined || view.of.some((part, index) => part !== of[index]))
        view = { of, state: withFacts(work.stored.content.state, [...work.moving.queue, ...work.queue]) };
      return view.state;
    },
    holds: () => holds(work),
    applied: (planId) => work.stored.content.applied.get(planId),
    lastStored: () => work.lastStored,
    lost: work.lost.signal,
    unstored: () => [...work.moving.queue, ...work.queue].filter((fact) => !work.kept.includes(fact)),
    add(fact) {
      work.queue = [...work.queue, fact];
    },
    store: (facts) =>
      new Promise((resolve, reject) => {
        if (work.lost.signal.aborted) return reject(work.lost.signal.reason);
        work.requests = [...work.requests, { facts, resolve, reject }];
        void write();
      }),
    write: async () => (await write()) === undefined,
    async end() {
      await writing;
      work.isEnding = true;
      const isCancelling = await settleUncertain(work);
      if (!isCancelling && !hasToWrite(work)) return;
      const error = await write();
      // A write that only cancels another one has nothing to record.
      if (error !== undefined && hasToWrite(work)) throw error;
    },
  };
}

type Held = Pick<Work<Version>, "stored" | "token" | "hasHeld">;

const holds = ({ stored, token }: Held): boolean => stored.content.lease?.token === token;

const hasLostLease = (work: Held): boolean => work.hasHeld && !holds(work);

/** Whether the next version would change anything that matters. */
function hasToWrite<V extends Version>(work: Work<V>): boolean {
  if (work.requests.length > 0 || holds(work)) return true;
  if (!work.isEnding && !hasLostLease(work)) return true;
  return admissible(work.stored.content, reasonsToWrite(work), hasLostLease(work)).length > 0;
}

/** What a run without the lease still has to record. A saved plan that was not begun is not marked. */
const reasonsToWrite = ({ queue, kept }: Pick<Work<Version>, "queue" | "kept">): readonly Fact[] =>
  queue.filter((fact) => (fact.type === "settle" || fact.type === "bind" || fact.type === "unbind") && !kept.includes(fact));

/** Writes one version; false if it was lost to another one and has to be made again. */
async function writeOnce<V extends Version>(work: Work<V>): Promise<boolean> {
  if (work.lost.signal.aborted) giveUp(work, work.lost.signal.reason);
  work.moving = { queue: work.queue, requests: work.requests };
  [work.queue, work.requests] = [[], []];
  try {
    const attempt = await nextAttempt(work);
    const landing = await work.store.write(attempt.tip, attempt.parent);
    if (landing.outcome === "lost") {
      await afterLoss(work, landing.isGone);
      return false;
    }
    if (landing.outcome !== "stored") {
      const isUnclear = landing.outcome === "unclear";
      work.uncertain = { ...attempt, isUnclear };
      throw (isUnclear ? recordsUnclear : recordsRefused)(work.store, landing.words);
    }
    await afterStoring(work, attempt, landing.newest);
    return true;
  } finally {
    // What was not stored waits for the next write.
    work.queue = [...work.moving.queue, ...work.queue];
    work.requests = [...work.moving.requests, ...work.requests];
    work.moving = nothing;
  }
}

async function nextAttempt<V extends Version>(work: Work<V>): Promise<Attempt<V>> {
  const { store, stored, moving, runId, runUrl } = work;
  const begun = instant();
  const facts = admissible(stored.content, [...moving.queue, ...moving.requests.flatMap((request) => request.facts)], hasLostLease(work));
  const lease = leaseAfter(work);
  const subject = work.isEnding ? "End the run" : holds(work) ? "Renew the lease" : "Take the lease";
  const unlocked = takesOver(work, lease) ? work.ended : undefined;
  const tip = await store.prepare(stored, {
    facts: begins(work, lease) ? facts : facts.filter(({ type }) => type !== "applied" && type !== "lists"),
    ...{ runId, runUrl, subject },
    ...(lease === undefined ? {} : { lease }),
    ...(unlocked === undefined ? {} : { unlocked }),
  });
  return { tip, parent: stored, begun };
}

const begins = (work: Held, lease: Lease | "free" | undefined): boolean => lease !== undefined || holds(work);

/** Whether the next version replaces a run that has ended by this one. */
const takesOver = ({ stored, ended }: Pick<Work<Version>, "stored" | "ended">, lease: Lease | "free" | undefined): boolean =>
  typeof lease === "object" && ended !== undefined && stored.content.lease?.runId === ended.runId;

/** The lease of the next version; undefined: as it is. */
function leaseAfter<V extends Version>(work: Work<V>): Lease | "free" | undefined {
  if (work.isEnding) return holds(work) ? "free" : undefined;
  if (holds(work) || hasLostLease(work)) return undefined;
  const { token, runId, runUrl, store, stored } = work;
  return {
    ...{ token, runId, runUrl, since: new Date().toISOString(), ttlMs: store.ttlMs, epoch: stored.content.epoch + 1 },
    ...{ reason: undefined, until: undefined, holder: holderText(thisHolder()), process: thisHolder() },
  };
}

async function afterStoring<V extends Version>(work: Work<V>, attempt: Attempt<V>, newest: string): Promise<void> {
  const { requests } = work.moving;
  work.uncertain = undefined;
  work.stored = attempt.tip;
  work.lastStored = attempt.begun;
  work.hasHeld ||= holds(work);
  work.moving = nothing;
  if (newest !== attempt.tip.version) {
    work.stored = await work.store.load("write", attempt.tip);
    if (hasLostLease(work) && !work.isEnding) stop(work, leaseLost(work.store, work.stored.content.lease));
  }
  for (const { resolve } of requests) resolve();
}

/** Another version was written first. Reads it, and throws if this run cannot continue with it. */
async function afterLoss<V extends Version>(work: Work<V>, isMissing: boolean): Promise<void> {
  if (isMissing) throw recordsGone(work.store, "they do not exist any more");
  work.stored = await work.store.load("write", work.stored);
  const { lease, state, applied } = work.stored.content;
  if (holds(work)) {
    // From a write that was given up.
    work.hasHeld = true;
    return;
  }
  if (work.hasHeld) {
    stop(work, leaseLost(work.store, lease));
    return;
  }
  if (isHeld(lease)) throw leaseHeld(work.store, lease);
  for (const fact of work.moving.queue) {
    const before = fact.type === "applied" ? applied.get(fact.plan.planId) : undefined;
    if (before !== undefined) throw planApplied(before.runId, before.at);
  }
  const differs = planWouldDiffer(work.planned, state);
  work.planned = state;
  if (differs) throw recordsChanged(work.store);
}

/** Ends the waiting of those whose facts could not be stored. Returns the error. */
function failed<V extends Version>(work: Work<V>, error: unknown): DimsyncError {
  if (!(error instanceof DimsyncError)) {
    giveUp(work, error);
    throw error;
  }
  // Records that changed can be planned with again. A heartbeat is tried again.
  const isFinal = error.code === "E_RECORDS_GONE" || (work.requests.length > 0 && error.code !== "E_RECORDS_CHANGED");
  giveUp(work, error);
  if (isFinal) stop(work, error);
  return error;
}

/**
 * The requests were not sent to the service. If their write is stored after all, that must be
 * recorded.
 */
function giveUp<V extends Version>(work: Work<V>, error: unknown): void {
  const { requests } = work;
  work.requests = [];
  const at = new Date().toISOString();
  const intents = requests.flatMap(({ facts }) => facts.filter((fact) => fact.type === "intend"));
  const settled = intents.map(({ entryId }): Fact => ({ type: "settle", entryId, settlement: { outcome: "not-created" }, at }));
  work.queue = [...work.queue, ...settled];
  for (const { reject } of requests) reject(error);
}

function stop<V extends Version>(work: Work<V>, error: DimsyncError): void {
  if (!work.lost.signal.aborted) work.lost.abort(error);
}

/** Finds out at the end whether a write that was given up is stored; true if it is worth writing another one in its place. */
async function settleUncertain<V extends Version>(work: Work<V>): Promise<boolean> {
  const { uncertain, store } = work;
  if (uncertain === undefined) return false;
  const seen = await store.outcomeOf(uncertain.tip, uncertain.parent);
  if (typeof seen !== "object") return uncertain.isUnclear;
  work.stored = await store.load("write", work.stored);
  work.hasHeld ||= holds(work);
  return false;
}
