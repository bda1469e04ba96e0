import type { Address } from "../base/model/address.ts";
import { eachChange } from "../base/model/changes.ts";
import { notKeptStep, unseenSteps } from "../base/model/draft-steps.ts";
import { defined, sameJson } from "../base/model/json/json.ts";
import { atPointer, type Pointer } from "../base/model/json/pointer.ts";
import {
  type Change,
  type ChangeGroup,
  type DraftFacts,
  type DraftItem,
  type DraftStep,
  isDraftItem,
  type NotKept,
  stepsOf,
} from "../base/model/plan.ts";
import type { PlannedRequest } from "../base/model/service.ts";
import { differsInSpace } from "../base/text/values.ts";
import { type Account, type DiffResult, unshown } from "../kinds/index.ts";

// A declared value that differs from the live one is sent, except:
//
// | case                                                  | sent           | in the plan |
// |-------------------------------------------------------|----------------|-------------|
// | `ignore` in dimsync.yaml covers it                    | no             | nothing     |
// | the service keeps it with other white space           | no             | nothing     |
// | the service does not keep it, or says so beforehand   | if it protects | `notKept`   |
// | the service does not show it, and dimsync has sent it | no             | `unseen`    |
// | the service does not show it, and it does not protect | no             | `unseen`    |
// | `--protect-only`, and it does not protect             | no             | `held`      |
//
// Kinds ask for each value before they make requests, which then repeat the live value or do not have it. Only the last case is applied to
// steps: the plan shows what is held with the changes that would be sent. What is ignored is also removed from steps that send nothing.
// `unreviewed: disable` sets the desired value, so it is decided elsewhere (kinds/schema-config/evaluation.ts).

/** By address and path: values that the service did not keep when earlier runs sent them. */
export type NotKeptBefore = ReadonlyMap<Address, ReadonlyMap<Pointer, Required<Pick<NotKept, "wanted" | "live" | "since">>>>;

/** Decides all cases but the last. */
export function overlays(ignored: Account["ignored"], before: NotKeptBefore): Account["overlay"] {
  return (address) => {
    const ofObject = before.get(address);
    const notKept: NotKept[] = [];
    const sent: Pointer[] = [];
    const unsent: Pointer[] = [];
    return {
      decide({ path, wanted, live, risk, isFixed = false, wasSent = false }) {
        if (ignored(address, path)) return "leave";
        const protects = risk === "protects";
        const known = ofObject?.get(path);
        const isKnown = known !== undefined && sameJson([known.wanted, known.live], [wanted, live ?? null]);
        if (isFixed || isKnown) {
          const since = isFixed ? undefined : known?.since;
          if (isFixed || !differsInSpace(wanted, live)) notKept.push({ address, path, wanted, live: live ?? null, ...defined({ since }) });
          return protects ? "send" : "leave";
        }
        if (live !== undefined || (protects && !wasSent)) return "send";
        (protects ? sent : unsent).push(path);
        return protects ? "sent" : "leave";
      },
      steps: () => [
        ...unseenSteps(address, sent, `${unshown}, and dimsync has sent it`),
        ...unseenSteps(
          address,
          unsent,
          `${unshown}, and dimsync sends only values that protect if it does not know the live one. Set it in the service`,
        ),
        ...notKept.map(notKeptStep),
      ],
    };
  };
}

/** Of an account that is not identified yet. */
export const noOverlay = { ignored: () => false, overlay: overlays(() => false, new Map()) } as const;

/** Without what is ignored as a whole, and without ignored values of steps that send nothing. */
export const withoutIgnored = (found: DiffResult, { ignored }: Pick<Account, "ignored">): DiffResult => ({
  ...found,
  steps: found.steps.flatMap((step): readonly DraftStep[] => {
    const { address, standing, verb, changes } = step;
    if (ignored(address, "")) return [];
    if (standing === "ready" && (verb === "create" || verb === "update")) return [step];
    const left = changes.filter((entry) => !("path" in entry && ignored(address, entry.path)));
    return left.length === 0 && changes.length > 0 ? [] : [{ ...step, changes: left }];
  }),
  problems: found.problems.filter(({ address }) => address === undefined || !ignored(address, "")),
});

/** The last case: the difference with the steps that may be sent, and those that are held. */
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
  return steps.map((step) => (waitsForHeld(step) ? { ...step, standing: "held", changes: [], later: [] } : step));
}
