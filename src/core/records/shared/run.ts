import { randomUUID } from "node:crypto";
import { DimsyncError } from "../../base/model/errors.ts";
import { shellWord } from "../../base/text/shell.ts";
import { type Fact, otherWithId } from "../facts.ts";
import { reasonOf } from "../files/atomic.ts";
import { type Instant, refuseStale } from "../lease.ts";
import type { AppliedPlan, RecordsRun, RecordsState } from "../records.ts";
import { connectionLost, duplicateBinding, noLease, planApplied } from "../store-errors.ts";
import type { LocalJournal } from "./local-journal.ts";
import type { SharedStore, Version } from "./store.ts";

/** Brings the facts of one run into a shared store. */
export interface StoreWriter {
  /** The stored state, with the queued facts. */
  readonly state: () => RecordsState;
  readonly applied: (planId: string) => AppliedPlan | undefined;
  readonly holds: () => boolean;
  /** When the last write that was stored began. */
  readonly lastStored: () => Instant | undefined;
  /** Aborted when nothing more may be sent: the lease is lost, or a write failed that a caller waited for. */
  readonly lost: AbortSignal;
  /** Facts of this run that are not stored. */
  readonly unstored: () => readonly Fact[];
  /** Queues a fact for the next write. */
  readonly add: (fact: Fact) => void;
  /** Writes the facts, what is queued and, before the first write, the lease. Throws as `RecordsRun.take` does. */
  readonly store: (facts: readonly Fact[]) => Promise<void>;
  /** Writes what is queued, or only renews the lease; false if that failed. For holders of the lease. */
  readonly write: () => Promise<boolean>;
  /** The last write, without the lease. Throws E_RECORDS_REFUSED, E_RECORDS_UNCLEAR, E_RECORDS_CHANGED, E_LOCKED. */
  readonly end: () => Promise<void>;
}

type RunStore = Pick<SharedStore<Version>, "target" | "place" | "clock" | "ttlMs" | "gatherMs" | "waveSize" | "isReachable">;

interface RunOptions {
  readonly runId: string;
  readonly local: LocalJournal;
  /** The sentence about a lease that is taken over. */
  readonly notice: string | undefined;
}

/** Starts the writes that nobody waits for: heartbeats, and facts that were gathered long enough. */
interface WriteTimer {
  readonly write: () => Promise<void>;
  /** A fact waits for the next write. */
  readonly queued: () => void;
  /** Everything that was queued is stored. */
  readonly stored: () => void;
  readonly stop: () => void;
}

function startWriteTimer({ ttlMs, gatherMs, clock }: RunStore, writer: StoreWriter): WriteTimer {
  const nowMs = (): number => clock.now().monotonicMs;
  let queuedSince: number | undefined;
  let cancel = (): void => undefined;
  let retryAt = 0;
  let isStopped = false;

  const arm = (): void => {
    cancel();
    if (isStopped || !writer.holds()) return;
    const heartbeat = (writer.lastStored()?.monotonicMs ?? 0) + ttlMs / 3;
    const due = Math.max(Math.min(heartbeat, (queuedSince ?? Number.POSITIVE_INFINITY) + gatherMs), retryAt);
    // The release of the run waits for facts that wait for the next write.
    cancel = clock.after(Math.max(0, due - nowMs()), () => void write());
  };
  const write = async (): Promise<void> => {
    queuedSince = undefined;
    const isStored = await writer.write();
    if (!isStored) retryAt = nowMs() + Math.max(1_000, ttlMs / 15);
    arm();
  };
  return {
    write,
    queued() {
      queuedSince ??= nowMs();
      arm();
    },
    stored() {
      queuedSince = undefined;
      arm();
    },
    stop() {
      isStopped = true;
      cancel();
    },
  };
}

/** A run over a writer: the lease is taken with the first write, and kept with heartbeats. */
export function runOver(store: RunStore, writer: StoreWriter, options: RunOptions): RecordsRun {
  const { runId, local, notice } = options;
  const timer = startWriteTimer(store, writer);
  let released: Promise<void> | undefined;
  const storeNow = async (facts: readonly Fact[]): Promise<void> => {
    await writer.store(facts);
    timer.stored();
  };
  return {
    runId,
    waveSize: store.waveSize,
    lost: writer.lost,
    state: writer.state,
    notice,
    take: () => (writer.holds() ? Promise.resolve(writer.lost.throwIfAborted()) : storeNow([])),
    async renew() {
      const last = writer.lastStored();
      if (writer.holds() && last !== undefined && store.clock.now().monotonicMs - last.monotonicMs > store.ttlMs / 3) await timer.write();
    },
    fence() {
      writer.lost.throwIfAborted();
      const last = writer.lastStored();
      if (released !== undefined || !writer.holds() || last === undefined) throw noLease(store);
      if (store.isReachable?.() === false) throw connectionLost(store);
      refuseStale(store, last);
    },
    async intend(intents) {
      const facts = intents.map((intent): Fact & { readonly entryId: string } => ({ type: "intend", entryId: randomUUID(), intent }));
      if (facts.length > 0) await storeNow(facts);
      return facts.map(({ entryId }) => entryId);
    },
    ...gathering(store, writer, timer, options),
    flush: () => void timer.write(),
    release() {
      timer.stop();
      released ??= writer.end().then(
        () => local.forget(),
        (error: unknown) => {
          throw error instanceof DimsyncError ? withIds(error, store.target, writer, local.file) : error;
        },
      );
      return released;
    },
  };
}

type Gathered = "markApplied" | "settle" | "bind" | "unbind" | "remember";

/** The facts that nobody waits for: they are gathered for the next write. */
function gathering(store: RunStore, writer: StoreWriter, timer: WriteTimer, { runId, local }: RunOptions): Pick<RecordsRun, Gathered> {
  const add = (fact: Fact): void => {
    writer.add(fact);
    timer.queued();
  };
  return {
    async markApplied(planId) {
      const before = writer.applied(planId);
      if (before !== undefined) throw planApplied(before.runId, before.at);
      writer.add({ type: "applied", plan: { planId, runId, at: new Date().toISOString() } });
    },
    async settle(entryId, settlement) {
      add({ type: "settle", entryId, settlement });
      await local.append(entryId, settlement).catch((error: unknown) => {
        throw notKept(local.file, settlement.id, error);
      });
    },
    async bind(address, binding) {
      const other = otherWithId(writer.state().bindings, address, binding.id);
      if (other !== undefined) throw duplicateBinding(address, other, binding.id, store.place);
      add({ type: "bind", address, binding });
    },
    async unbind(address) {
      if (writer.state().bindings.has(address)) add({ type: "unbind", address });
    },
    remember: (facts) => writer.add({ type: "remember", facts }),
  };
}

/** The error with the ids that did not reach the store, because nothing else may know them. */
function withIds(error: DimsyncError, target: string, writer: Pick<StoreWriter, "state" | "unstored">, file: string): DimsyncError {
  const addresses = new Map(writer.state().open.map(({ entryId, address }) => [entryId, address]));
  const unstored = writer.unstored();
  const ids = new Map(
    unstored.flatMap((fact): readonly (readonly [string, string])[] => {
      if (fact.type === "bind") return [[fact.address, fact.binding.id]];
      const [address, id] = fact.type === "settle" ? [addresses.get(fact.entryId), fact.settlement.id] : [];
      return address === undefined || id === undefined ? [] : [[address, id]];
    }),
  );
  if (ids.size === 0) return error;
  const pairs = [...ids].map(([address, id]) => `${address}=${id}`);
  const isKept = unstored.some((fact) => fact.type === "settle" && fact.settlement.id !== undefined);
  const next = isKept ? `The next run on this machine adds them from ${file}; on another machine, bind them:` : "Bind them:";
  const message = `${error.message} These ids are not stored: ${pairs.join(", ")}. ${next}`;
  const command = `dimsync bind ${pairs.map(shellWord).join(" ")} -t ${shellWord(target)}`;
  return new DimsyncError(error.code, message, { exit: error.exit, cause: error, command });
}

const notKept = (file: string, id: string | undefined, error: unknown): DimsyncError =>
  new DimsyncError(
    "E_JOURNAL_WRITE",
    `The local journal ${file} can't be written: ${reasonOf(error)}. If this run is killed now, the outcome of a create${id === undefined ? "" : ` (id ${id})`} is lost. Free disk space or make the folder writable.`,
    { exit: 4, cause: error },
  );
