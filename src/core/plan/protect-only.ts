import type { Address } from "../base/model/address.ts";
import { eachChange } from "../base/model/changes.ts";
import { sameJson } from "../base/model/json/json.ts";
import { atPointer } from "../base/model/json/pointer.ts";
import {
  type Change,
  type ChangeGroup,
  type DraftFacts,
  type DraftItem,
  type DraftStep,
  isDraftItem,
  stepsOf,
} from "../base/model/plan.ts";
import type { PlannedRequest } from "../base/model/service.ts";
import type { DiffResult } from "../kinds/index.ts";

// `--protect-only` sends a change only if it protects. Everything else is held: reported, not sent.

/** The difference with the steps that may be sent, and those that are held. */
export const holdOthers = (found: DiffResult): DiffResult => ({
  ...found,
  steps: found.steps.flatMap((step) => (isDraftItem(step) ? split(step) : step)),
});

/**
 * An item whose every change protects is sent, and so is a `bind`, which sends nothing. Of an update
 * with other changes, the requests are sent that contain none of them: a kind puts protecting
 * changes into requests of their own, which repeat the live values of everything else.
 */
function split(item: DraftItem): readonly DraftStep[] {
  if (item.verb === "bind") return [item];
  const protecting = item.changes.filter(protects);
  const others = item.changes.filter((entry) => !protects(entry));
  if (protecting.length === 0) return [heldStep(item)];
  if (others.length === 0) return [item];
  const requests = item.requests.filter((request) => every(others, (change) => !contains(request, change)));
  const isComplete = every(protecting, (change) => requests.some((request) => contains(request, change)));
  if (item.verb !== "update" || !isComplete) return [heldStep(item)];
  // Only what exposes waits for what it requires, and a binding records that the whole object was sent.
  const { exposedColumns: _, basis: __, requires: ___, binding: ____, ...rest } = item;
  return [{ ...rest, changes: protecting, requests }, heldStep({ ...item, changes: others })];
}

const heldStep = (item: DraftItem): DraftStep => ({ ...item, standing: "held" });

const protects = ({ risk }: DraftFacts): boolean => risk === "protects";

function every(changes: readonly ChangeGroup<DraftFacts>[], test: (change: Change<DraftFacts>) => boolean): boolean {
  for (const change of eachChange({ changes })) if (!test(change)) return false;
  return true;
}

/** Whether the body sets the value. A body that repeats the live value has another one there. */
const contains = ({ body }: PlannedRequest, { path, after }: Change<DraftFacts>): boolean =>
  after === undefined || sameJson(atPointer(body, path), after);

/** The steps, of which those are held that wait for a held one. */
export function holdWaiting(steps: readonly DraftStep[]): readonly DraftStep[] {
  const held = new Set<Address>(stepsOf({ steps }, "held").map(({ address }) => address));
  const waitsForHeld = ({ standing, waitsFor = [], liveId }: DraftStep): boolean =>
    standing === "waits" && liveId === undefined && waitsFor.some((address) => held.has(address));
  for (let before = -1; before !== held.size; ) {
    before = held.size;
    for (const step of steps) if (waitsForHeld(step)) held.add(step.address);
  }
  return steps.map((step) => (waitsForHeld(step) ? heldBack(step) : step));
}

const heldBack = ({ address, verb, waitsFor = [] }: DraftStep): DraftStep => ({
  ...{ address, verb, standing: "held", waitsFor, changes: [], requests: [] },
});
