import type { Binding, Bindings } from "../base/model/address.ts";
import { type Address, kindOf } from "../base/model/address.ts";
import { sameJson } from "../base/model/json/json.ts";
import { type History, type Intent, type Settlement, settleIn } from "./history.ts";
import type { AppliedPlan, RecordsState } from "./records.ts";
import { type Facts, noMemory, remembering } from "./remembered.ts";
import type { RecordsContent } from "./shared/store.ts";

/** One change that a run makes to the records. */
export type Fact =
  | { readonly type: "intend"; readonly entryId: string; readonly intent: Intent }
  | { readonly type: "settle"; readonly entryId: string; readonly settlement: Settlement }
  | { readonly type: "bind"; readonly address: Address; readonly binding: Binding }
  | { readonly type: "unbind"; readonly address: Address }
  | { readonly type: "applied"; readonly plan: AppliedPlan }
  | { readonly type: "remember"; readonly facts: Facts };

export const emptyState: RecordsState = {
  version: "",
  bindings: new Map(),
  open: [],
  created: new Map(),
  forgotten: [],
  unlocked: [],
  ...noMemory,
};

/** The records of a new store. */
export const emptyContent: RecordsContent = { epoch: 0, lease: undefined, state: emptyState, applied: new Map() };

/** A state to which facts are added: copying it for each fact would take long. */
interface StateDraft extends History {
  readonly bindings: Map<Address, Binding>;
  memory: RecordsState;
}

const draftOf = (state: RecordsState): StateDraft => ({
  open: new Map(state.open.map((intent) => [intent.entryId, intent])),
  created: new Map(state.created),
  bindings: new Map(state.bindings),
  forgotten: new Set(state.forgotten),
  memory: state,
});

function addFact(draft: StateDraft, fact: Fact): void {
  const { open, bindings } = draft;
  if (fact.type === "intend") open.set(fact.entryId, { entryId: fact.entryId, ...fact.intent });
  else if (fact.type === "settle") settleIn(draft, fact.entryId, fact.settlement);
  else if (fact.type === "bind") bindings.set(fact.address, fact.binding);
  else if (fact.type === "unbind") bindings.delete(fact.address);
  else if (fact.type === "remember") draft.memory = remembering(draft.memory, fact.facts);
}

/** The state with the facts, in order. */
export function withFacts(state: RecordsState, facts: readonly Fact[]): RecordsState {
  if (facts.length === 0) return state;
  const draft = draftOf(state);
  for (const fact of facts) addFact(draft, fact);
  const { open, created, forgotten, bindings, memory } = draft;
  return { ...memory, open: [...open.values()], created, forgotten: [...forgotten], bindings };
}

/** The bindings that differ, by address; undefined: removed. */
export function bindingChanges(before: Bindings, after: Bindings): ReadonlyMap<Address, Binding | undefined> {
  const changed = [...after].filter(([address, binding]) => !sameJson(before.get(address), binding));
  const removed = [...before.keys()].filter((address) => !after.has(address));
  return new Map([...changed, ...removed.map((address) => [address, undefined] as const)]);
}

/**
 * The facts that still change something. The others are already in the state: their write reached
 * the store although its response was lost, or another run or a user settled the same entry.
 */
function newFacts(state: RecordsState, applied: ReadonlyMap<string, AppliedPlan>, facts: readonly Fact[]): readonly Fact[] {
  const draft = draftOf(state);
  return facts.filter((fact) => {
    const isNew = changes(draft, applied, fact);
    if (isNew) addFact(draft, fact);
    return isNew;
  });
}

function changes({ open, created, bindings, memory }: StateDraft, applied: ReadonlyMap<string, AppliedPlan>, fact: Fact): boolean {
  switch (fact.type) {
    case "intend":
      return !open.has(fact.entryId);
    case "settle":
      return fact.settlement.outcome === "forgotten"
        ? [...created.values()].some(({ entryId }) => entryId === fact.entryId)
        : open.has(fact.entryId);
    case "bind":
      return !sameJson(bindings.get(fact.address), fact.binding);
    case "unbind":
      return bindings.has(fact.address);
    case "applied":
      return !applied.has(fact.plan.planId);
    case "remember":
      return remembering(memory, fact.facts) !== memory;
  }
}

/** The address of the same kind that has the id already, if any. */
export function otherWithId(bindings: Bindings, address: Address, id: string): Address | undefined {
  const kind = kindOf(address);
  for (const [other, binding] of bindings) if (other !== address && binding.id === id && kindOf(other) === kind) return other;
  return undefined;
}

/** Two addresses of a kind with the same id, if there are any. */
export function sharedId(bindings: Bindings): { readonly address: Address; readonly other: Address; readonly id: string } | undefined {
  const addressById = new Map<string, Address>();
  for (const [address, { id }] of bindings) {
    const key = `${kindOf(address)} ${id}`;
    const other = addressById.get(key);
    if (other !== undefined) return { address, other, id };
    addressById.set(key, address);
  }
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
export function admissible(
  content: Pick<RecordsContent, "state" | "applied">,
  facts: readonly Fact[],
  hasLostLease: boolean,
): readonly Fact[] {
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
