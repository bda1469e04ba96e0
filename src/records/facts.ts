import type { Binding, Bindings } from "../model/address.ts";
import { type Address, parseAddress } from "../model/address.ts";
import type { SeenColumns } from "../model/columns.ts";
import { own, sameJson } from "../model/json/json.ts";
import type { LogEntry } from "./files/append-log.ts";
import { settleIn } from "./history.ts";
import { type Intent, type JournalLine, type Settlement, toLogEntry } from "./journal-line.ts";
import type { AppliedPlan, RecordsState } from "./records.ts";
import { nothingRemembered } from "./remembered.ts";
import type { Content } from "./shared/store.ts";
import type { AppliedCommit, ListLengths } from "./stored-values.ts";

/** One change that a run makes to the records. */
export type Fact =
  | { readonly type: "intend"; readonly entryId: string; readonly intent: Intent }
  | { readonly type: "settle"; readonly entryId: string; readonly settlement: Settlement; readonly at: string }
  | { readonly type: "bind"; readonly address: Address; readonly binding: Binding }
  | { readonly type: "unbind"; readonly address: Address }
  | { readonly type: "applied"; readonly plan: AppliedPlan }
  | { readonly type: "lists"; readonly seen: ListLengths }
  | { readonly type: "columns"; readonly seen: SeenColumns }
  | { readonly type: "commit"; readonly applied: AppliedCommit };

export const emptyState: RecordsState = {
  version: "",
  bindings: new Map(),
  open: [],
  created: new Map(),
  longestSeen: {},
  unlocked: [],
  ...nothingRemembered,
};

/** The state with the facts, in order. */
export function withFacts(state: RecordsState, facts: readonly Fact[]): RecordsState {
  if (facts.length === 0) return state;
  const open = new Map(state.open.map((intent) => [intent.entryId, intent]));
  const created = new Map(state.created);
  const bindings = new Map(state.bindings);
  const forgotten = new Set(state.forgotten);
  let { longestSeen, columnsSeen, appliedCommit } = state;
  for (const fact of facts) {
    if (fact.type === "intend") open.set(fact.entryId, { entryId: fact.entryId, ...fact.intent });
    else if (fact.type === "settle") settleIn({ open, created, forgotten }, fact.entryId, fact.settlement);
    else if (fact.type === "bind") bindings.set(fact.address, fact.binding);
    else if (fact.type === "unbind") bindings.delete(fact.address);
    else if (fact.type === "lists") longestSeen = longer(longestSeen, fact.seen);
    else if (fact.type === "columns") columnsSeen = fact.seen;
    else if (fact.type === "commit") appliedCommit = fact.applied;
  }
  const ofForgotten = forgotten.size === 0 ? {} : { forgotten: [...forgotten] };
  return {
    ...state,
    open: [...open.values()],
    created,
    ...ofForgotten,
    bindings,
    longestSeen,
    ...(columnsSeen === undefined ? {} : { columnsSeen }),
    ...(appliedCommit === undefined ? {} : { appliedCommit }),
  };
}

/** The facts that make these records of empty ones, except for the lease and unlocked runs. */
export function factsOf({ state, applied }: Pick<Content, "state" | "applied">): readonly Fact[] {
  const at = new Date().toISOString();
  const intentOf = (address: Address, more: Partial<Intent>): Intent => ({
    ...{ runId: "restore", address, kind: parseAddress(address)?.kind ?? "", method: "POST", path: "", bodyDigest: "", at },
    ...more,
  });
  const settle = (entryId: string, settlement: Settlement): Fact => ({ type: "settle", entryId, settlement, at });
  return [
    ...state.open.flatMap(({ entryId, answeredId: id, ...intent }): readonly Fact[] => [
      { type: "intend", entryId, intent },
      ...(id === undefined ? [] : [settle(entryId, { outcome: "answered", id })]),
    ]),
    ...[...state.created].flatMap(([address, { entryId, id, naturalKey }]): readonly Fact[] => [
      { type: "intend", entryId, intent: intentOf(address, naturalKey === undefined ? {} : { naturalKey }) },
      settle(entryId, { outcome: "created", id }),
    ]),
    ...(state.forgotten ?? []).flatMap((id): readonly Fact[] => [
      { type: "intend", entryId: `forgotten-${id}`, intent: intentOf(`Forgotten/${id}`, {}) },
      settle(`forgotten-${id}`, { outcome: "created", id }),
      settle(`forgotten-${id}`, { outcome: "forgotten" }),
    ]),
    ...[...state.bindings].map(([address, binding]): Fact => ({ type: "bind", address, binding })),
    ...[...applied.values()].map((plan): Fact => ({ type: "applied", plan })),
    { type: "lists", seen: state.longestSeen },
    ...(state.columnsSeen === undefined ? [] : [{ type: "columns", seen: state.columnsSeen } as const]),
    ...(state.appliedCommit === undefined ? [] : [{ type: "commit", applied: state.appliedCommit } as const]),
  ];
}

/** The lines of the journal for these facts. */
export const journalEntries = (facts: readonly Fact[], target: string): readonly LogEntry[] =>
  facts.flatMap((fact): readonly LogEntry[] => {
    if (fact.type === "intend") return [toLogEntry({ ...fact, target }, fact.intent.at)];
    return fact.type === "settle" ? [toLogEntry(fact, fact.at)] : [];
  });

/** The fact of a line that was read. */
export const toFact = (line: JournalLine): Fact =>
  line.type === "intend" ? { type: "intend", entryId: line.entryId, intent: line.intent } : { ...line, at: "" };

/** The bindings that the facts change, by address; undefined: removed. */
export function bindingChanges(facts: readonly Fact[]): ReadonlyMap<Address, Binding | undefined> {
  const changes = new Map<Address, Binding | undefined>();
  for (const fact of facts) {
    if (fact.type === "bind") changes.set(fact.address, fact.binding);
    if (fact.type === "unbind") changes.set(fact.address, undefined);
  }
  return changes;
}

/** The larger of each pair of lengths, names sorted. */
export function longer(known: ListLengths, seen: ListLengths): ListLengths {
  const names = [...new Set([...Object.keys(known), ...Object.keys(seen)])].sort();
  return Object.fromEntries(names.map((name) => [name, Math.max(own(known, name) ?? 0, own(seen, name) ?? 0)]));
}

/**
 * The facts that still change something. The others are already in the state: their write reached
 * the store although its response was lost, or another run or a user settled the same entry.
 */
export function newFacts(state: RecordsState, applied: ReadonlyMap<string, AppliedPlan>, facts: readonly Fact[]): readonly Fact[] {
  const kept: Fact[] = [];
  let current = state;
  for (const fact of facts) {
    if (!changes(current, applied, fact)) continue;
    kept.push(fact);
    current = withFacts(current, [fact]);
  }
  return kept;
}

function changes(state: RecordsState, applied: ReadonlyMap<string, AppliedPlan>, fact: Fact): boolean {
  switch (fact.type) {
    case "intend":
      return state.open.every(({ entryId }) => entryId !== fact.entryId);
    case "settle":
      return fact.settlement.outcome === "forgotten"
        ? [...state.created.values()].some(({ entryId }) => entryId === fact.entryId)
        : state.open.some(({ entryId }) => entryId === fact.entryId);
    case "bind":
      return !sameJson(state.bindings.get(fact.address), fact.binding);
    case "unbind":
      return state.bindings.has(fact.address);
    case "applied":
      return !applied.has(fact.plan.planId);
    case "lists":
      return !sameJson(longer(state.longestSeen, fact.seen), state.longestSeen);
    case "columns":
      return isNewerRecording(state.columnsSeen, fact.seen);
    case "commit":
      return !sameJson(state.appliedCommit, fact.applied);
  }
}

/** Whether the columns differ from those that a run recorded last. An older plan does not replace them. */
export const isNewerRecording = (known: SeenColumns | undefined, seen: SeenColumns): boolean =>
  known === undefined || (seen.at > known.at && !sameJson(known.groups, seen.groups));

/** The address of the same kind that has the id already, if any. */
export function otherWithId(bindings: Bindings, address: Address, id: string): Address | undefined {
  const kind = parseAddress(address)?.kind;
  for (const [other, binding] of bindings) if (other !== address && binding.id === id && parseAddress(other)?.kind === kind) return other;
  return undefined;
}

/** Whether two states differ in the input of a plan: bindings and the journal. */
export function planWouldDiffer(before: RecordsState, after: RecordsState): boolean {
  const essence = ({ bindings, open, created }: RecordsState) => ({
    bindings: Object.fromEntries([...bindings].sort()),
    open,
    created: Object.fromEntries([...created].sort()),
  });
  return !sameJson(essence(before), essence(after));
}

/**
 * The facts that may be added to the records. `hasLostLease`: this run has lost its lease and may only
 * add facts about its own calls, and never replaces what others recorded since.
 */
export function admissible(content: Pick<Content, "state" | "applied">, facts: readonly Fact[], hasLostLease: boolean): readonly Fact[] {
  const { state, applied } = content;
  // With the facts before: the id of a renamed manifest moves from one address to another.
  const bindings = new Map(state.bindings);
  const allowed = facts.filter((fact) => {
    if (fact.type === "bind") {
      const isFree = otherWithId(bindings, fact.address, fact.binding.id) === undefined;
      const isAllowed = isFree && (!hasLostLease || !bindings.has(fact.address));
      if (isAllowed) bindings.set(fact.address, fact.binding);
      return isAllowed;
    }
    if (fact.type === "unbind" && !hasLostLease) bindings.delete(fact.address);
    return !hasLostLease || fact.type === "settle";
  });
  return newFacts(state, applied, allowed);
}
