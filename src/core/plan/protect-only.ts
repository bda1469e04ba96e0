import type { Address } from "../base/model/address.ts";
import { eachChange } from "../base/model/changes.ts";
import { sameJson } from "../base/model/json/json.ts";
import { atPointer } from "../base/model/json/pointer.ts";
import type { Change, ChangeGroup, Deferred, DraftFacts, DraftItem } from "../base/model/plan.ts";
import type { PlannedRequest } from "../base/model/service.ts";
import type { DiffResult } from "../kinds/index.ts";

// `--protect-only` sends a change only if it protects. Everything else is held: reported, not sent.

/** The difference with the items that may be sent, and in `held` those that may not. */
export function holdOthers(found: DiffResult): DiffResult {
  const parts = found.items.map(splitItem);
  return { ...found, items: parts.flatMap(({ sent }) => sent ?? []), held: parts.flatMap(({ held }) => held ?? []) };
}

interface Split {
  readonly sent?: DraftItem;
  readonly held?: DraftItem;
}

/**
 * An item whose every change protects is sent, and so is a `bind`, which sends nothing. Of an update
 * with other changes, the requests are sent that contain none of them: a kind puts protecting
 * changes into requests of their own, which repeat the live values of everything else.
 */
function splitItem(item: DraftItem): Split {
  if (item.verb === "bind") return { sent: item };
  const protecting = item.changes.filter(protects);
  const others = item.changes.filter((entry) => !protects(entry));
  if (protecting.length === 0) return { held: item };
  if (others.length === 0) return { sent: item };
  const requests = item.requests.filter((request) => every(others, (change) => !contains(request, change)));
  const isComplete = every(protecting, (change) => requests.some((request) => contains(request, change)));
  if (item.verb !== "update" || !isComplete) return { held: item };
  // Only what exposes waits for what it requires, and a binding records that the whole object was sent.
  const { exposedColumns: _, basis: __, requires: ___, binding: ____, ...rest } = item;
  return {
    sent: { ...rest, changes: protecting, requests },
    held: { ...item, changes: others },
  };
}

const protects = ({ risk }: DraftFacts): boolean => risk === "protects";

function every(changes: readonly ChangeGroup<DraftFacts>[], test: (change: Change<DraftFacts>) => boolean): boolean {
  for (const change of eachChange({ changes })) if (!test(change)) return false;
  return true;
}

/** Whether the body sets the value. A body that repeats the live value has another one there. */
const contains = ({ body }: PlannedRequest, { path, after }: Change<DraftFacts>): boolean =>
  after === undefined || sameJson(atPointer(body, path), after);

/** What still waits, and what never will in this run, because it waits for a held item. */
export function holdWaiting(
  all: readonly Deferred[],
  held: ReadonlySet<Address>,
): { readonly deferred: readonly Deferred[]; readonly held: readonly Deferred[] } {
  const heldBack = new Set(held);
  const waitsForHeld = ({ waitsFor, liveId }: Deferred): boolean =>
    liveId === undefined && waitsFor.some((address) => heldBack.has(address));
  for (let before = -1; before !== heldBack.size; ) {
    before = heldBack.size;
    for (const waiting of all) if (waitsForHeld(waiting)) heldBack.add(waiting.address);
  }
  return { deferred: all.filter((waiting) => !waitsForHeld(waiting)), held: all.filter(waitsForHeld) };
}
