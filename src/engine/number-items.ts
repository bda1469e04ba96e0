import { kinds } from "../kinds/index.ts";
import { type Address, byText, objectAddress } from "../model/address.ts";
import { locatedCause } from "../model/cause.ts";
import { merged, without } from "../model/json/lazy.ts";
import { sortedLeaves, withValues } from "../model/json/packed-leaves.ts";
import { addChanges, type Facts, packedChanges } from "../model/packed-item.ts";
import type { Cause, DraftCause, DraftChange, DraftItem, Item, Plan, ReportRisk, Risk } from "../model/plan.ts";
import type { Locate } from "../model/problem.ts";

// Columns that an update would protect are exposed in the account now, and vice versa.
const reportRisks: Readonly<Record<Risk, ReportRisk>> = { protects: "exposed", exposes: "stricter", neutral: "neutral" };

const actionOrder: readonly string[] = ["bind", "create", "update", "relate"];

interface ItemsInput {
  readonly kind: Plan["kind"];
  readonly locate: Locate;
}

/** The items of a plan with their ids, in an order that does not depend on that of the drafts. */
export function numbered(drafts: readonly DraftItem[], { kind, locate }: ItemsInput): readonly Item[] {
  const sorted = inOrder(drafts);
  const ids = idsByAddress(sorted);
  const located = locatedCauses(locate);
  return sorted.map(({ draft, manifest }, index) => {
    const id = `i${index + 1}`;
    // An object is bound before its other items.
    const bound = ids.bound.get(manifest);
    const needed = [...(draft.after ?? []).flatMap((address) => ids.all.get(address) ?? []), ...(bound === undefined ? [] : [bound])];
    const dependsOn = [...new Set(needed)].filter((dependency) => dependency !== id);
    const facts = ({ cause, risk, ...others }: Facts<DraftChange>): Facts => ({
      ...others,
      risk: kind === "DriftReport" ? reportRisks[risk] : risk,
      ...(cause === undefined ? {} : { cause: located(cause) }),
    });
    const packed = packedChanges(draft);
    if (packed !== undefined) {
      const item = merged({ id }, without(draft, ["after", "changes"]));
      return merged(addChanges(item, withValues(sortedLeaves(packed), facts)), { dependsOn });
    }
    const { after: _, changes, ...item } = draft;
    return {
      id,
      ...item,
      // Does not depend on the order of keys in manifests and responses.
      changes: [...changes].sort((a, b) => byText(a.path, b.path)).map(({ path, ...change }) => ({ path, ...facts(change) })),
      dependsOn,
    };
  });
}

interface Draft {
  readonly draft: DraftItem;
  /** The address of its manifest. */
  readonly manifest: Address;
}

function inOrder(drafts: readonly DraftItem[]): readonly Draft[] {
  const kindOrder = new Map(kinds.flatMap(({ name, itemKind = name }, index) => [[name, index] as const, [itemKind, index] as const]));
  return drafts
    .map((draft) => ({
      draft,
      manifest: objectAddress(draft.address),
      kind: kindOrder.get(draft.kind) ?? -1,
      action: actionOrder.indexOf(draft.action),
    }))
    .sort((a, b) => a.kind - b.kind || byText(a.manifest, b.manifest) || a.action - b.action || byText(a.draft.address, b.draft.address));
}

interface ItemIds {
  readonly all: ReadonlyMap<Address, readonly string[]>;
  /** The items that record the id of an object. */
  readonly bound: ReadonlyMap<Address, string>;
}

function idsByAddress(sorted: readonly Draft[]): ItemIds {
  const all = new Map<Address, string[]>();
  const bound = new Map<Address, string>();
  for (const [index, { draft }] of sorted.entries()) {
    const id = `i${index + 1}`;
    const ids = all.get(draft.address);
    if (ids === undefined) all.set(draft.address, [id]);
    else ids.push(id);
    if (draft.action === "bind" && !bound.has(draft.address)) bound.set(draft.address, id);
  }
  return { all, bound };
}

/** One rule causes many changes, so the line of each cause is looked up once. */
function locatedCauses(locate: Locate): (cause: DraftCause) => Cause {
  const known = new Map<DraftCause, Cause>();
  return (cause) => {
    const seen = known.get(cause);
    if (seen !== undefined) return seen;
    const located = locatedCause(cause, locate);
    known.set(cause, located);
    return located;
  };
}
