import { type Address, byText, objectAddress } from "../base/model/address.ts";
import { isOfNodes, mergeEqual } from "../base/model/changes.ts";
import { getOrAdd } from "../base/model/maps.ts";
import {
  type Cause,
  type ChangeGroup,
  type DraftCause,
  type DraftFacts,
  type DraftItem,
  type DraftStep,
  locatedCause,
  type Plan,
  type ReadyStep,
  type ReportRisk,
  type Risk,
  type Step,
} from "../base/model/plan.ts";
import type { Locate } from "../base/model/problem.ts";
import { itemKindOf, kinds } from "../kinds/index.ts";

// Columns that an update would protect are exposed in the account now, and vice versa.
const reportRisks: Readonly<Record<Risk, ReportRisk>> = { protects: "exposed", exposes: "stricter", neutral: "neutral" };
const planRisks: Readonly<Record<Risk, Risk>> = { protects: "protects", exposes: "exposes", neutral: "neutral" };

/** How the document names each risk. */
const risksOf = (kind: Plan["kind"]): Readonly<Record<Risk, Risk | ReportRisk>> => (kind === "DriftReport" ? reportRisks : planRisks);

const actionOrder: readonly string[] = ["bind", "create", "update", "relate", "unrelate"];

interface ItemsInput {
  readonly kind: Plan["kind"];
  readonly locate: Locate;
}

/** The items of a plan with their ids, in an order that does not depend on that of the drafts. */
export function numbered(drafts: readonly DraftItem[], input: ItemsInput): readonly ReadyStep[] {
  const sorted = inOrder(drafts);
  const ids = idsByAddress(sorted);
  const planned = plannedSteps(input);
  return sorted.map(({ draft, manifest }, index) => {
    const id = `s${index + 1}`;
    // An object is bound before its other items.
    const bound = ids.bound.get(manifest);
    const needed = [
      ...(draft.after ?? []).flatMap((address) => ids.existence.get(address) ?? []),
      ...(draft.requires ?? []).flatMap((address) => ids.all.get(address) ?? []),
      ...(bound === undefined ? [] : [bound]),
    ];
    const dependsOn = [...new Set(needed)].filter((dependency) => dependency !== id);
    // An item is ready, and its verb is not "none".
    return { id, ...planned(draft), dependsOn } as ReadyStep;
  });
}

/** The steps that are held, in the order of items. */
export const heldInOrder = (drafts: readonly DraftStep[]): readonly DraftStep[] => inOrder(drafts).map(({ draft }) => draft);

/** Makes steps of a document from drafts. Equal lists of changes become one list. */
export function plannedSteps({ kind, locate }: ItemsInput): (draft: DraftStep) => Omit<Step, "id"> {
  const located = locatedCauses(locate);
  const known = new Map<DraftStep["changes"], Step["changes"]>();
  const planned = (entry: ChangeGroup<DraftFacts>): ChangeGroup => {
    const { risk, cause } = entry;
    const facts = { risk: risksOf(kind)[risk], ...(cause === undefined ? {} : { cause: located(cause) }) };
    // The cause of the draft is replaced, if there is one.
    return { ...entry, ...facts } as ChangeGroup;
  };
  return ({ after: _, requires: __, kind: ___, later: ____, changes, ...step }) => ({
    ...step,
    changes: getOrAdd(known, changes, () => inOrderOfPaths(changes.map(planned))),
  });
}

/** Does not depend on the order of keys in manifests and responses. A kind returns the changes of nodes in the order of their names. */
function inOrderOfPaths(changes: readonly ChangeGroup[]): readonly ChangeGroup[] {
  const pathOf = (entry: ChangeGroup): string => (isOfNodes(entry) ? "" : entry.path);
  return [...mergeEqual(changes)].sort((a, b) => byText(pathOf(a), pathOf(b)));
}

interface Draft {
  readonly draft: DraftStep;
  /** The address of its manifest. */
  readonly manifest: Address;
}

function inOrder(drafts: readonly DraftStep[]): readonly Draft[] {
  const kindOrder = new Map(kinds.flatMap((kind, index) => [kind.name, itemKindOf(kind)].map((name) => [name, index] as const)));
  return (
    drafts
      .map((draft) => ({
        draft,
        manifest: objectAddress(draft.address),
        kind: kindOrder.get(draft.kind ?? "") ?? -1,
        verb: actionOrder.indexOf(draft.verb),
      }))
      // What must come after items of another kind is last: an item is executed after those before it that it depends on.
      .sort(
        (a, b) =>
          Number(isLast(a)) - Number(isLast(b)) ||
          a.kind - b.kind ||
          byText(a.manifest, b.manifest) ||
          a.verb - b.verb ||
          byText(a.draft.address, b.draft.address),
      )
  );
}

const isLast = ({ draft }: Draft): boolean => draft.requires !== undefined;

interface ItemIds {
  readonly all: ReadonlyMap<Address, readonly string[]>;
  /** Without updates. */
  readonly existence: ReadonlyMap<Address, readonly string[]>;
  /** The items that record the id of an object. */
  readonly bound: ReadonlyMap<Address, string>;
}

function idsByAddress(sorted: readonly Draft[]): ItemIds {
  const all = new Map<Address, string[]>();
  const existence = new Map<Address, string[]>();
  const bound = new Map<Address, string>();
  for (const [index, { draft }] of sorted.entries()) {
    const id = `s${index + 1}`;
    getOrAdd(all, draft.address, () => []).push(id);
    if (draft.verb !== "update") getOrAdd(existence, draft.address, () => []).push(id);
    if (draft.verb === "bind" && !bound.has(draft.address)) bound.set(draft.address, id);
  }
  return { all, existence, bound };
}

/** One rule causes many changes, so the line of each cause is looked up once. Equal causes become one object. */
function locatedCauses(locate: Locate): (cause: DraftCause) => Cause {
  const known = new Map<DraftCause, Cause>();
  const byText = new Map<string, Cause>();
  return (draft) =>
    getOrAdd(known, draft, () => {
      const cause = locatedCause(draft, locate);
      return getOrAdd(byText, JSON.stringify(cause), () => cause);
    });
}
