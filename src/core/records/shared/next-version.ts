import { visible } from "../../base/text/control-characters.ts";
import { counted } from "../../base/text/counts.ts";
import { admissible, type Fact, withFacts } from "../facts.ts";
import type { Instant } from "../lease.ts";
import { holderText, thisHolder } from "../process-identity.ts";
import type { Lease, RecordsState, UnlockedRun } from "../records.ts";
import type { Facts } from "../remembered.ts";
import type { Next, RecordsContent, SharedStore, Version } from "./store.ts";

export interface WriterOptions<V extends Version> {
  /** What this run read last: its first write must be made on it. */
  readonly tip: V;
  /** Facts of earlier runs on this machine. They alone do not cause a write. */
  readonly kept: readonly Fact[];
  readonly token: string;
  readonly runId: string;
  readonly runUrl: string | undefined;
  /** The run whose lease is taken over before it expires. */
  readonly ended: UnlockedRun | undefined;
  /** Waits for the lease that another run took first. Throws as `Records.begin` does. */
  readonly whenFree: (newest: V) => Promise<{ readonly tip: V; readonly ended: UnlockedRun | undefined }>;
}

/** Facts that a caller waits for: if they can't be stored, they are given up. */
interface Request {
  readonly facts: readonly Fact[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export interface Attempt<V> {
  readonly tip: V;
  readonly parent: V;
  readonly begun: Instant;
}

/** A run that brings its facts into the store. */
export interface Work<V extends Version> extends Omit<WriterOptions<V>, "ended"> {
  ended: UnlockedRun | undefined;
  readonly store: SharedStore<V>;
  readonly lost: AbortController;
  /** The newest version that was seen. */
  stored: V;
  /** The state that the caller's plan is based on. */
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

type Held = Pick<Work<Version>, "stored" | "token" | "hasHeld">;

/** Whether the newest version has the lease of this run. */
export const holds = ({ stored, token }: Held): boolean => stored.content.lease?.token === token;

export const hasLostLease = (work: Held): boolean => work.hasHeld && !holds(work);

/** Prepares the next version: with the queued facts, and the lease. */
export async function nextAttempt<V extends Version>(work: Work<V>): Promise<Attempt<V>> {
  const { store, stored, moving, runId, runUrl } = work;
  const begun = store.clock.now();
  const facts = admissible(stored.content, [...moving.queue, ...moving.requests.flatMap((request) => request.facts)], hasLostLease(work));
  const lease = leaseAfter(work);
  const subject = work.isEnding ? "End the run" : holds(work) ? "Renew the lease" : "Take the lease";
  const unlocked = takesOver(work, lease) ? work.ended : undefined;
  const draft = {
    facts: begins(work, lease) ? facts : facts.filter(({ type }) => type !== "applied"),
    runId,
    runUrl,
    subject,
    ...(lease === undefined ? {} : { lease }),
    ...(unlocked === undefined ? {} : { unlocked }),
  };
  return { tip: await store.prepare(stored, nextOf(stored.content, draft)), parent: stored, begun };
}

/** The changes of the next version. */
interface Draft {
  readonly facts: readonly Fact[];
  /** The lease afterwards; absent: as it is. */
  readonly lease?: Lease | "free";
  /** A run whose lease is ended. */
  readonly unlocked?: UnlockedRun;
  readonly runId: string;
  readonly runUrl: string | undefined;
  /** Describes the change, if the facts do not. */
  readonly subject: string;
}

/** The content with the changes of the draft. */
export function nextOf(before: RecordsContent, { facts, lease = before.lease, unlocked, runId, runUrl, subject }: Draft): Next {
  const state = withFacts(before.state, facts);
  const plans = facts.flatMap((fact) => (fact.type === "applied" ? [[fact.plan.planId, fact.plan] as const] : []));
  const content = {
    epoch: typeof lease === "object" ? lease.epoch : before.epoch,
    lease: lease === "free" ? undefined : lease,
    state: unlocked === undefined ? state : { ...state, unlocked: [...state.unlocked, unlocked] },
    applied: new Map([...before.applied, ...plans]),
  };
  return { content, runId, runUrl, subject: subjectOf(facts, subject), changes: describeFacts(facts, before.state) };
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
    token,
    runId,
    runUrl,
    since: new Date(store.clock.now().wallMs).toISOString(),
    ttlMs: store.ttlMs,
    epoch: stored.content.epoch + 1,
    reason: undefined,
    until: undefined,
    holder: holderText(thisHolder()),
    process: thisHolder(),
  };
}

/** One line per fact. `before`: the state before them, which has the addresses of the entries that they settle. */
function describeFacts(facts: readonly Fact[], before: RecordsState): readonly string[] {
  const intents = facts.filter(({ type }) => type === "intend");
  const addresses = new Map(withFacts(before, intents).open.map(({ entryId, address }) => [entryId, address]));
  return facts.map((fact) => visible(lineOf(fact, addresses)));
}

/** A summary of the facts, for the first line. */
function subjectOf(facts: readonly Fact[], other: string): string {
  const intents = facts.filter(({ type }) => type === "intend").length;
  if (intents > 0) return `Begin ${intents === 1 ? "1 create" : `${intents} creates`}`;
  const settled = facts.filter(({ type }) => type === "settle").length;
  if (settled > 0) return `Record ${settled === 1 ? "1 outcome" : `${settled} outcomes`}`;
  const bound = facts.filter(({ type }) => type === "bind" || type === "unbind").length;
  return bound > 0 ? `Change ${bound === 1 ? "1 binding" : `${bound} bindings`}` : other;
}

function lineOf(fact: Fact, addresses: ReadonlyMap<string, string>): string {
  switch (fact.type) {
    case "intend":
      return `create ${fact.intent.address} (${fact.entryId})`;
    case "settle": {
      const { outcome, id, by } = fact.settlement;
      const what = addresses.get(fact.entryId) ?? fact.entryId;
      return `${outcome} ${what}${id === undefined ? "" : ` as ${id}`}${by === undefined ? "" : ` by ${by}`}`;
    }
    case "bind":
      return `bind ${fact.address}=${fact.binding.id}`;
    case "unbind":
      return `unbind ${fact.address}`;
    case "applied":
      return `apply the saved plan ${fact.plan.planId}`;
    case "remember":
      return memoryText(fact.facts);
  }
}

/** "applied commit 3af9…, what is kept of 3 integrations" */
function memoryText({ kept, commit, givenUp, ...byAddress }: Facts): string {
  if (givenUp !== undefined) return `give up ${givenUp.what}: ${givenUp.reason}`;
  const parts = [
    commit === undefined ? "" : `applied commit ${commit.commit}`,
    kept === undefined ? "" : `what is kept of ${counted(kept.integrations.flatMap(({ ids }) => Object.keys(ids)).length, "integration")}`,
    ...Object.entries(byAddress).flatMap(([name, values]) => {
      const addresses = [...(values?.keys() ?? [])];
      return addresses.length === 0 ? [] : `${name === "notKept" ? "not kept" : name} of ${addresses.join(", ")}`;
    }),
  ];
  return parts.filter((part) => part !== "").join(", ");
}
