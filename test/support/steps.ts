// Steps of a plan or a result in the form in which tests name them, and the steps of documents that tests make.

import { eachChange, firstChange, notKeptValues } from "../../src/core/base/model/changes.ts";
import { blockedStep, byHandStep, notKeptStep, unseenSteps as unseenDrafts, waitingStep } from "../../src/core/base/model/draft-steps.ts";
import { defined } from "../../src/core/base/model/json/json.ts";
import {
  type Change,
  type DraftItem,
  type DraftStep,
  draftItems,
  endedSteps,
  type NotKept,
  outcomeOf,
  type Plan,
  type Step,
  type StepEnd,
  stepsOf,
  type Why,
} from "../../src/core/base/model/plan.ts";

type Document = Pick<Plan, "steps">;

export type ByHand = Omit<Parameters<typeof byHandStep>[0], "origin"> & Partial<Pick<Change, "origin">>;
type Blocked = Parameters<typeof blockedStep>[0];
export type Waiting = Parameters<typeof waitingStep>[0];

export interface Unseen {
  readonly address: string;
  readonly paths: readonly string[];
  readonly reason: string;
}

export { readySteps } from "../../src/core/base/model/plan.ts";

/** What a result says of one step that apply sent, or could not send. */
export interface Ending extends Omit<Step, "outcome">, Partial<Why> {
  readonly outcome: StepEnd;
}

/** How the steps of a result ended; what is blocked or waits has that as its outcome. */
export const outcomes = (result: Document): readonly Ending[] =>
  endedSteps(result).map((step) => ({ ...step, ...step.why, outcome: outcomeOf(step) ?? "done" }));

export const byHandSteps = (of: Document): readonly (ByHand & Pick<Step, "id"> & Pick<Change, "attribution">)[] =>
  stepsOf(of, "byHand").map((step) => {
    const { id, address, liveId, liveName, manifests, obligation } = step;
    const { path, before: actual, after: expected, origin, attribution } = firstChange(step);
    const { message: instruction, command } = step.why ?? { message: "", command: undefined };
    return {
      id,
      address,
      path,
      instruction,
      ...defined({ liveId, liveName, manifests, obligation, actual, expected, command, origin, attribution }),
    };
  });

export const blockedSteps = (of: Document): readonly (Omit<Blocked, "code"> & { readonly code: string })[] =>
  stepsOf(of, "blocked").map(({ address, why = { message: "" } }) => ({ address, code: "", ...why }));

export const waitingSteps = (of: Document): readonly Waiting[] =>
  stepsOf(of, "waits").map(({ address, verb, waitsFor = [], liveId, why, changes }) => ({
    ...{ verb: verb === "none" ? "create" : verb, address, waitsFor, desired: firstChange({ changes }).after ?? null },
    ...defined({ liveId, why: why?.message }),
  }));

export const heldSteps = (of: Document): readonly Step[] => stepsOf(of, "held");

export const unseenSteps = (of: Document): readonly Unseen[] =>
  stepsOf(of, "unseen").map(({ address, changes, why }) => ({
    address,
    paths: Array.from(eachChange({ changes }), ({ path }) => path),
    reason: why?.message ?? "",
  }));

export const notKeptSteps: (of: Document) => readonly NotKept[] = notKeptValues;

interface Unsent {
  readonly byHand?: readonly (ByHand & Partial<Pick<Step, "id"> & Pick<Change, "attribution">>)[];
  readonly blocked?: readonly Blocked[];
  readonly waiting?: readonly Waiting[];
  readonly held?: readonly Omit<Step, "id" | "standing" | "requests">[];
  readonly notKept?: readonly NotKept[];
  readonly unseen?: readonly Unseen[];
}

/** The steps of a document, in the order of the document. */
export const stepsFrom = ({ byHand = [], blocked: no = [], waiting: later = [], held: kept = [], ...of }: Unsent): readonly Step[] =>
  [
    ...byHand.map(({ id, attribution, ...one }) => {
      const step = byHandStep(one as Parameters<typeof byHandStep>[0]);
      const changes = step.changes.map((change) => ({ ...change, ...defined({ attribution }) }));
      return { ...step, changes, ...defined({ id }) };
    }),
    ...no.map(blockedStep),
    ...later.map(waitingStep),
    ...kept.map((one) => ({ ...one, standing: "held" as const, requests: [] })),
    ...(of.notKept ?? []).map(notKeptStep),
    ...(of.unseen ?? []).flatMap(({ address, paths, reason }) => unseenDrafts(address, paths, reason)),
  ].map((step, index) => ({ id: `s${index + 101}`, ...step }) as Step); // none of these has a cause

/** The document with other steps of these standings; the others stay. */
export const withSteps = <T extends Document>(of: T, unsent: Unsent): T => {
  const standings = { byHand: "byHand", blocked: "blocked", waiting: "waits", held: "held", notKept: "notKept", unseen: "unseen" } as const;
  const replaced = new Set<string>(Object.keys(unsent).map((name) => standings[name as keyof Unsent]));
  return { ...of, steps: [...of.steps.filter(({ standing }) => !replaced.has(standing)), ...stepsFrom(unsent)] };
};

export interface FlatEnding extends Partial<Omit<Ending, "outcome">> {
  readonly address: string;
  readonly outcome: Ending["outcome"];
}

/** The steps of a result from what it says of each. */
export const endedFrom = (all: readonly FlatEnding[]): readonly Step[] =>
  all.map(({ outcome, code, message, command, ...step }, index) => {
    const why = message === undefined && code === undefined ? {} : { why: { message: message ?? "", ...defined({ code, command }) } };
    const standing = outcome === "blocked" ? "blocked" : outcome === "waits" ? "waits" : "ready";
    const end = outcome === "blocked" || outcome === "waits" ? {} : { outcome };
    return { id: `s${index + 1}`, verb: "none", changes: [], requests: [], ...step, standing, ...why, ...end };
  });

/** The document with other steps that are ready. */
export const withReady = <T extends Document>(of: T, ready: readonly Step[]): T => ({
  ...of,
  steps: [...ready, ...of.steps.filter(({ standing }) => standing !== "ready")],
});

/** The steps of a difference in lists, in the form in which tests name them. */
export interface Lists {
  readonly items: readonly DraftItem[];
  readonly held: readonly DraftStep[];
  readonly byHand: readonly ByHand[];
  readonly blocked: readonly Blocked[];
  readonly waiting: readonly Waiting[];
  readonly unseen: readonly Unseen[];
  readonly notKept: readonly NotKept[];
}

export function inLists<T extends { readonly steps: readonly DraftStep[] }>(found: T): Omit<T, "steps"> & Lists {
  const { steps, ...rest } = found;
  const document = { steps: steps as readonly unknown[] as readonly Step[] }; // no test looks at the cause of such a step
  return {
    ...rest,
    items: draftItems({ steps }),
    held: stepsOf({ steps }, "held"),
    byHand: byHandSteps(document).map(({ id: _, ...one }) => one),
    blocked: blockedSteps(document) as readonly Blocked[],
    waiting: waitingSteps(document).map((one, index) => ({ ...one, ...defined({ later: stepsOf({ steps }, "waits")[index]?.later }) })),
    unseen: unseenSteps(document),
    notKept: notKeptSteps(document),
  };
}

/** A difference from what a test names in lists. */
export const fromLists = <T extends Partial<Lists>>({
  items = [],
  held = [],
  byHand = [],
  blocked = [],
  waiting = [],
  unseen = [],
  notKept = [],
  ...rest
}: T): { readonly steps: readonly DraftStep[] } & Omit<T, keyof Lists> => ({
  ...rest,
  steps: [
    ...items,
    ...held,
    ...byHand.map((one) => byHandStep(one as Parameters<typeof byHandStep>[0])),
    ...blocked.map(blockedStep),
    ...waiting.map(waitingStep),
    ...unseen.flatMap(({ address, paths, reason }) => unseenDrafts(address, paths, reason)),
    ...notKept.map(notKeptStep),
  ],
});
