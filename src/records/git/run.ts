import { randomUUID } from "node:crypto";
import { DimsyncError } from "../../model/errors.ts";
import { duplicateBinding } from "../bindings-text.ts";
import { type Fact, otherWithId } from "../facts.ts";
import { reasonOf } from "../fs-errors.ts";
import { refuseStale } from "../lease.ts";
import type { LocalJournal } from "../local-journal.ts";
import type { RecordsRun } from "../records.ts";
import { noLease, planApplied } from "../store-errors.ts";
import type { GitStore } from "./store.ts";
import type { Writer } from "./writer.ts";

/** How long an outcome waits for the next write, so that several travel together. */
const gatherMs = 5_000;

export interface RunOptions {
  readonly runId: string;
  readonly local: LocalJournal;
  /** The sentence about a lease that is taken over. */
  readonly notice: string | undefined;
}

/** A run over a writer: the lease is taken with the first write, and kept with heartbeats. */
export function runOver(store: GitStore, writer: Writer, { runId, local, notice }: RunOptions): RecordsRun {
  let queuedSince: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let retryAt = 0;
  let released: Promise<void> | undefined;

  const arm = (): void => {
    clearTimeout(timer);
    if (released !== undefined || !writer.holds()) return;
    const heartbeat = (writer.lastStored()?.monotonicMs ?? 0) + store.ttlMs / 3;
    const due = Math.max(Math.min(heartbeat, (queuedSince ?? Number.POSITIVE_INFINITY) + gatherMs), retryAt);
    timer = setTimeout(() => void write(), Math.max(0, due - performance.now()));
    // What is waiting for the next write is waited for by whoever releases the run.
    timer.unref();
  };
  const write = async (): Promise<void> => {
    queuedSince = undefined;
    const isStored = await writer.write();
    if (!isStored) retryAt = performance.now() + Math.max(1_000, store.ttlMs / 15);
    arm();
  };
  const add = (fact: Fact): void => {
    writer.add(fact);
    queuedSince ??= performance.now();
    arm();
  };
  const storeNow = async (facts: readonly Fact[]): Promise<void> => {
    await writer.store(facts);
    queuedSince = undefined;
    arm();
  };
  return {
    runId,
    waveSize: 16,
    lost: writer.lost,
    state: writer.state,
    notice: () => (writer.holds() ? notice : undefined),
    async markApplied(planId) {
      const before = writer.applied(planId);
      if (before !== undefined) throw planApplied(before.runId, before.at);
      writer.add({ type: "applied", plan: { planId, runId, at: new Date().toISOString() } });
    },
    take: () => (writer.holds() ? Promise.resolve(writer.lost.throwIfAborted()) : storeNow([])),
    async renew() {
      const last = writer.lastStored();
      if (writer.holds() && last !== undefined && performance.now() - last.monotonicMs > store.ttlMs / 3) await write();
    },
    fence() {
      writer.lost.throwIfAborted();
      const last = writer.lastStored();
      if (released !== undefined || !writer.holds() || last === undefined) throw noLease(store);
      refuseStale(store, store.ttlMs, last);
    },
    async intend(intents) {
      const facts = intents.map((intent): Fact & { readonly entryId: string } => ({ type: "intend", entryId: randomUUID(), intent }));
      if (facts.length > 0) await storeNow(facts);
      return facts.map(({ entryId }) => entryId);
    },
    async settle(entryId, settlement) {
      add({ type: "settle", entryId, settlement, at: new Date().toISOString() });
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
    rememberLists: (seen) => writer.add({ type: "lists", seen }),
    flush: () => void write(),
    release() {
      clearTimeout(timer);
      released ??= writer.end().then(() => local.forget());
      return released;
    },
  };
}

const notKept = (file: string, id: string | undefined, error: unknown): DimsyncError =>
  new DimsyncError(
    "E_JOURNAL_WRITE",
    `The local journal ${file} can't be written: ${reasonOf(error)}. If this run is killed now, the outcome of a create${id === undefined ? "" : ` (id ${id})`} is lost. Free disk space or make the folder writable.`,
    { exit: 4, cause: error },
  );
