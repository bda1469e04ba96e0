import { defined } from "./json/json.ts";
import { fromPointer, type Pointer } from "./json/pointer.ts";
import { addAll, getOrAdd } from "./maps.ts";
import { eachNode, levelOf, type NodePath, newNodes, nodePointer } from "./nodes.ts";
import {
  type Attribution,
  type Change,
  type ChangeFacts,
  type ChangeGroup,
  type DraftFacts,
  type DraftStep,
  type NodeChanges,
  type NotKept,
  type PathChange,
  type Plan,
  type Step,
  stepsOf,
} from "./plan.ts";
import { tableTexts } from "./schema-tree.ts";

// A plan of a fleet can have millions of changes by a few rules. Its items list them as people read them: one entry for all
// nodes of an integration that change in the same way, for the same reason.

type AnyFacts = ChangeFacts | DraftFacts;

interface WithChanges<F extends AnyFacts> {
  readonly changes?: readonly ChangeGroup<F>[];
}

export const isOfNodes = <F extends AnyFacts>(changes: ChangeGroup<F>): changes is NodeChanges<F> => "nodes" in changes;

/** The single changes of an item, of the result of one, or of a held one: entry by entry. */
export function* eachChange<F extends AnyFacts = ChangeFacts>({ changes = [] }: WithChanges<F>): Generator<Change<F>> {
  for (const entry of changes) {
    if ("path" in entry) yield single(entry);
    else {
      const { count: _, nodes, field, ...facts } = entry;
      // The members of the entry that are not facts are left out above.
      for (const path of eachNode(nodes)) yield { path: nodePointer(path, field), field, ...(facts as unknown as F) };
    }
  }
}

function single<F extends AnyFacts>(entry: PathChange<F>): Change<F> {
  const { path, ...facts } = entry;
  // The same.
  return { path, field: fromPointer(path).at(-1) ?? "", ...(facts as unknown as F) };
}

/** The only value of a step by hand, or of one that is not kept. Such a step has one. */
export function firstChange<F extends AnyFacts = ChangeFacts>({ changes }: WithChanges<F>): Change<F> {
  for (const change of eachChange({ changes: changes ?? [] })) return change;
  return { path: "", field: "", risk: "neutral" } as unknown as Change<F>; // the facts of a change without values
}

/** The values that a document says are not kept, as the records have them. */
export const notKeptValues = ({ steps }: { readonly steps: readonly (Step | DraftStep)[] }): readonly NotKept[] =>
  stepsOf({ steps }, "notKept").map((step) => {
    const { path, before: live = null, after: wanted = null } = firstChange<AnyFacts>(step);
    return { address: step.address, path, wanted, live, ...defined({ since: step.since }) };
  });

/** How many single changes an entry stands for. */
export const sizeOf = <F extends AnyFacts>(entry: ChangeGroup<F>): number => (isOfNodes(entry) ? entry.count : 1);

/** How many changes there are, or how many whose facts pass the test. */
export const changeCount = <F extends AnyFacts>({ changes = [] }: WithChanges<F>, test: (facts: F) => boolean = () => true): number =>
  changes.reduce((sum, entry) => sum + (test(entry) ? sizeOf(entry) : 0), 0);

/** The number of tables that get another sync mode or cursor, so that the service can read them again as a whole. */
export function resyncedTables<F extends AnyFacts>({ changes = [] }: WithChanges<F>): number {
  const texts = changes.filter((entry) => isOfNodes(entry)).filter(({ field }) => tableTexts.some((text) => text === field));
  return new Set(texts.flatMap(({ nodes }) => [...eachNode(nodes)].map((path) => nodePointer(path)))).size;
}

/** Whether someone changed the account, so that a plan would undo it. Only a base shows that. */
export const isOutside = ({ origin }: Pick<ChangeFacts, "origin">): boolean => origin === "drift" || origin === "conflict";

/** Who made the changes and the differences of steps by hand, as far as it is known. */
export function* eachAttribution({ steps }: Pick<Plan, "steps">): Generator<Attribution> {
  for (const { attribution } of [...steps, ...steps.flatMap(({ changes }) => changes)]) if (attribution !== undefined) yield attribution;
}

/** Collects changes of nodes. Those with the same facts (the same object), field and level become one entry, in the order of the first. */
export function newNodeChanges<F extends AnyFacts>(): {
  readonly add: (path: NodePath, field: string, facts: F) => void;
  readonly changes: () => readonly NodeChanges<F>[];
} {
  interface Growing {
    readonly level: number;
    readonly field: string;
    readonly facts: F;
    readonly nodes: ReturnType<typeof newNodes>;
  }
  const all: Growing[] = [];
  const byFacts = new Map<F, Growing[]>();
  return {
    add: (path, field, facts) => {
      const known = getOrAdd(byFacts, facts, () => []);
      let entry = known.find((one) => one.level === path.length && one.field === field);
      if (entry === undefined) {
        entry = { level: path.length, field, facts, nodes: newNodes() };
        known.push(entry);
        all.push(entry);
      }
      entry.nodes.add(path);
    },
    changes: () =>
      all.map(({ field, facts: { before, after, risk, ...others }, nodes }): NodeChanges<F> => {
        // These are the facts again, in the order of the document. The usual ones without `defined`, which takes three times as long.
        const entry =
          before === undefined || after === undefined
            ? { field, ...defined({ before, after }), risk, count: nodes.count(), nodes: nodes.nodes(), ...others }
            : { field, before, after, risk, count: nodes.count(), nodes: nodes.nodes(), ...others };
        return entry as unknown as NodeChanges<F>;
      }),
  };
}

/** The changes whose paths pass the test. */
export function changesWhere<F extends AnyFacts>(
  changes: readonly ChangeGroup<F>[],
  test: (path: Pointer) => boolean,
): readonly ChangeGroup<F>[] {
  return changes.flatMap((entry): readonly ChangeGroup<F>[] => {
    if ("path" in entry) return test(entry.path) ? [entry] : [];
    const { count: _, nodes, field, ...facts } = entry;
    const some = newNodeChanges<F>();
    // The members of the entry that are not facts are left out above.
    for (const path of eachNode(nodes)) if (test(nodePointer(path, field))) some.add(path, field, facts as unknown as F);
    return some.changes();
  });
}

type Trace = Pick<ChangeFacts, "origin" | "attribution" | "removed">;

/** The changes with more facts, by which entries are split. Thousands of changes share an attribution, which is then one object. */
export function withTraces<F extends AnyFacts>(
  changes: readonly ChangeGroup<F>[],
  traceOf: (change: Change<F>) => Trace,
): readonly ChangeGroup<F>[] {
  const all: ChangeGroup<F>[] = [];
  for (const entry of changes) {
    if ("path" in entry) {
      all.push({ ...entry, ...traceOf(single(entry)) });
      continue;
    }
    const { count: _, nodes, field, ...rest } = entry;
    // The members of the entry that are not facts are left out above.
    const facts = rest as unknown as F;
    const traced = newTraced(facts);
    const split = newNodeChanges<F>();
    for (const path of eachNode(nodes)) split.add(path, field, traced(traceOf({ path: nodePointer(path, field), field, ...facts })));
    addAll(all, split.changes());
  }
  return all;
}

/** The facts with a trace: one object for equal traces. */
function newTraced<F extends AnyFacts>(facts: F): (trace: Trace) => F {
  const byText = new Map<string, F>();
  const byOrigin = new Map<Trace["origin"], Map<Trace["attribution"], F>>();
  return (trace) => {
    if (trace.removed !== undefined) return getOrAdd(byText, JSON.stringify(trace), () => ({ ...facts, ...trace }));
    const ofOrigin = getOrAdd(byOrigin, trace.origin, () => new Map<Trace["attribution"], F>());
    return getOrAdd(ofOrigin, trace.attribution, () => getOrAdd(byText, JSON.stringify(trace), () => ({ ...facts, ...trace })));
  };
}

/** Entries of nodes whose facts are equal, in the same order, become one. Equal causes are one object. */
export function mergeEqual(changes: readonly ChangeGroup[]): readonly ChangeGroup[] {
  // With labels, each column can have a cause of its own, and 14,000 facts as text took 2 % of a plan.
  if (new Set(changes.map(({ cause }) => cause)).size === changes.length) return changes;
  const byKey = new Map<string, NodeChanges[]>();
  const others: ChangeGroup[] = [];
  for (const entry of changes) {
    if (!isOfNodes(entry)) {
      others.push(entry);
      continue;
    }
    const { count: _, nodes, ...facts } = entry;
    getOrAdd(byKey, JSON.stringify([levelOf(nodes), facts]), () => []).push(entry);
  }
  if (byKey.size + others.length === changes.length) return changes;
  return [...byKey.values()].flatMap(merged).concat(others);
}

function merged(same: readonly NodeChanges[]): readonly ChangeGroup[] {
  const [first] = same;
  if (first === undefined || same.length === 1) return same;
  const { count: _, nodes: __, field, ...facts } = first;
  const all = newNodeChanges<ChangeFacts>();
  for (const { nodes } of same) for (const path of eachNode(nodes)) all.add(path, field, facts);
  return all.changes();
}
