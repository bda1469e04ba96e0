import { DimsyncError } from "../../base/model/errors.ts";
import { admissible, type Fact, planWouldDiffer, withFacts } from "../facts.ts";
import { heldLease } from "../lease.ts";
import type { RecordsState, UnlockedRun } from "../records.ts";
import { leaseHeld, leaseLost, planApplied, recordsChanged, recordsGone, recordsRefused, recordsUnclear } from "../store-errors.ts";
import { type Attempt, hasLostLease, holds, nextAttempt, type Work, type WriterOptions } from "./next-version.ts";
import type { StoreWriter } from "./run.ts";
import type { SharedStore, Version } from "./store.ts";

// Only one version is written at a time. If another run writes first, the version is made again on the
// newest one, provided that this run still holds the lease or has not begun; a run that lost its lease
// only adds what concerns its own calls. A write that was given up may still be stored later, as long as its parent
// is the newest version; the next write of this run has the same parent, so only one of them can be.

const nothing: Work<Version>["moving"] = { queue: [], requests: [] };

export function openWriter<V extends Version>(store: SharedStore<V>, options: WriterOptions<V>): StoreWriter {
  const work: Work<V> = {
    ...options,
    store,
    lost: new AbortController(),
    stored: options.tip,
    planned: options.tip.content.state,
    queue: options.kept,
    requests: [],
    moving: nothing,
    uncertain: undefined,
    lastStored: undefined,
    hasHeld: false,
    isEnding: false,
  };
  const writes = writesOf(work);
  return {
    state: stateWithQueue(work),
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
        void writes.start();
      }),
    write: async () => (await writes.start()) === undefined,
    async end() {
      await writes.current();
      work.isEnding = true;
      const isCancelling = await settleUncertain(work);
      if (!isCancelling && !hasToWrite(work)) return;
      const error = await writes.start();
      // What a run remembers is only missed. So is a write that cancels another one.
      if (error !== undefined && hasToWrite({ ...work, queue: work.queue.filter(({ type }) => type !== "remember") })) throw error;
    },
  };
}

interface Writes {
  /** Writes what is queued, after the write in progress if there is one. Resolves with the error of the last one. */
  readonly start: () => Promise<DimsyncError | undefined>;
  /** The write in progress. */
  readonly current: () => Promise<DimsyncError | undefined> | undefined;
}

function writesOf<V extends Version>(work: Work<V>): Writes {
  let writing: Promise<DimsyncError | undefined> | undefined;
  let isWanted = false;
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
  return {
    start() {
      isWanted = true;
      writing ??= rounds();
      return writing;
    },
    current: () => writing,
  };
}

/** The stored state with the queued facts, made again only if one of them has changed. */
function stateWithQueue<V extends Version>(work: Work<V>): () => RecordsState {
  let made: { readonly of: readonly unknown[]; readonly state: RecordsState } | undefined;
  return () => {
    const of = [work.stored, work.moving.queue, work.queue, work.ended];
    if (made === undefined || made.of.some((part, index) => part !== of[index]))
      made = { of, state: withEnded(withFacts(work.stored.content.state, [...work.moving.queue, ...work.queue]), work.ended) };
    return made.state;
  };
}

/** The state in which the run that is taken over counts as ended already: what it sent may still be on its way. */
function withEnded(state: RecordsState, ended: UnlockedRun | undefined): RecordsState {
  if (ended === undefined || state.unlocked.some(({ runId }) => runId === ended.runId)) return state;
  return { ...state, unlocked: [...state.unlocked, ended] };
}

/** Whether the next version would change anything that matters. */
function hasToWrite<V extends Version>(work: Work<V>): boolean {
  if (work.requests.length > 0 || holds(work)) return true;
  if (!work.isEnding && !hasLostLease(work)) return true;
  return admissible(work.stored.content, reasonsToWrite(work), hasLostLease(work)).length > 0;
}

/** What a run without the lease still has to record. A saved plan that was not begun is not marked. */
const reasonsToWrite = ({ queue, kept }: Pick<Work<Version>, "queue" | "kept">): readonly Fact[] =>
  queue.filter((fact) => fact.type !== "applied" && !kept.includes(fact));

/** Writes one version; false if another one was written first, so that it must be made again. */
async function writeOnce<V extends Version>(work: Work<V>): Promise<boolean> {
  if (work.lost.signal.aborted) giveUp(work, work.lost.signal.reason);
  work.moving = { queue: work.queue, requests: work.requests };
  [work.queue, work.requests] = [[], []];
  try {
    const attempt = await nextAttempt(work);
    const landing = await work.store.swap(attempt.tip, attempt.parent);
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

async function afterStoring<V extends Version>(work: Work<V>, attempt: Attempt<V>, newest: string): Promise<void> {
  const { requests } = work.moving;
  work.uncertain = undefined;
  work.stored = attempt.tip;
  work.lastStored = attempt.begun;
  work.hasHeld ||= holds(work);
  work.moving = nothing;
  if (newest !== attempt.tip.version) {
    work.stored = await work.store.read("write", attempt.tip);
    if (hasLostLease(work) && !work.isEnding) stop(work, leaseLost(work.store, work.stored.content.lease));
  }
  for (const { resolve } of requests) resolve();
}

/** Another version was written first. Reads it, and throws if this run cannot continue with it. */
async function afterLoss<V extends Version>(work: Work<V>, isMissing: boolean): Promise<void> {
  if (isMissing) throw recordsGone(work.store, "they no longer exist");
  work.stored = await work.store.read("write", work.stored);
  if (holds(work)) {
    // From a write that was given up.
    work.hasHeld = true;
    return;
  }
  if (work.hasHeld) {
    stop(work, leaseLost(work.store, work.stored.content.lease));
    return;
  }
  const held = heldLease(work.stored);
  if (held !== undefined) {
    if (work.isEnding) throw leaseHeld(work.store, held);
    const { tip, ended } = await work.whenFree(work.stored);
    [work.stored, work.ended] = [tip, ended];
  }
  const { state, applied } = work.stored.content;
  for (const fact of work.moving.queue) {
    const before = fact.type === "applied" ? applied.get(fact.plan.planId) : undefined;
    if (before !== undefined) throw planApplied(before.runId, before.at);
  }
  // The other run may have changed the account without a trace in the records.
  const differs = held !== undefined || planWouldDiffer(work.planned, state);
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
  const intents = requests.flatMap(({ facts }) => facts.filter((fact) => fact.type === "intend"));
  const settled = intents.map(({ entryId }): Fact => ({ type: "settle", entryId, settlement: { outcome: "not-created" } }));
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
  work.stored = await store.read("write", work.stored);
  work.hasHeld ||= holds(work);
  return false;
}
