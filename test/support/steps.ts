// Steps of a plan or a result in the form in which tests name them, and the steps of documents that tests make.

import { eachChange, firstChange, notKeptValues } from "../../src/core/base/model/changes.ts";
import { defined } from "../../src/core/base/model/json/json.ts";
import {
  type Blocked,
  type Change,
  type Deferred,
  endedSteps,
  type Manual,
  type NotKept,
  outcomeOf,
  type Plan,
  type Step,
  type StepEnd,
  stepsOf,
  type Unverifiable,
  type Why,
  whyOf,
} from "../../src/core/base/model/plan.ts";
import { blockedStep, byHandStep, notKeptStep, unseenStep, waitingStep } from "../../src/core/plan/unsent.ts";

type Document = Pick<Plan, "steps">;

export { readySteps } from "../../src/core/base/model/plan.ts";

/** What a result says of one step that apply sent, or could not send. */
export interface Ending extends Omit<Step, "outcome">, Partial<Why> {
  readonly outcome: StepEnd;
}

/** How the steps of a result ended; what is blocked or waits has that as its outcome. */
export const outcomes = (result: Document): readonly Ending[] =>
  endedSteps(result).map((step) => ({ ...step, ...step.why, outcome: outcomeOf(step) ?? "done" }));

export const byHandSteps = (of: Document): readonly (Manual & Pick<Step, "id"> & Pick<Change, "attribution">)[] =>
  stepsOf(of, "byHand").map((step) => {
    const { id, address, liveId, liveName, manifests, obligation } = step;
    const { path, before: actual, after: expected, origin, attribution } = firstChange(step);
    const { message: instruction, command } = whyOf(step);
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

export const waitingSteps = (of: Document): readonly Deferred[] =>
  stepsOf(of, "waits").map(({ address, verb, waitsFor = [], liveId, why, changes }) => ({
    ...{ verb: verb === "none" ? "create" : verb, address, waitsFor, desired: firstChange({ changes }).after ?? null },
    ...defined({ liveId, why: why?.message }),
  }));

export const heldSteps = (of: Document): readonly Step[] => stepsOf(of, "held");

export const unseenSteps = (of: Document): readonly Unverifiable[] =>
  stepsOf(of, "unseen").map(({ address, changes, why }) => ({
    address,
    paths: Array.from(eachChange({ changes }), ({ path }) => path),
    reason: why?.message ?? "",
  }));

export const notKeptSteps: (of: Document) => readonly NotKept[] = notKeptValues;

interface Unsent {
  readonly byHand?: readonly (Manual & Partial<Pick<Step, "id"> & Pick<Change, "attribution">>)[];
  readonly blocked?: readonly Blocked[];
  readonly waiting?: readonly Deferred[];
  readonly held?: readonly Omit<Step, "id" | "standing" | "requests">[];
  readonly notKept?: readonly NotKept[];
  readonly unseen?: readonly Unverifiable[];
}

const risks = { protects: "protects", exposes: "exposes", neutral: "neutral" } as const;

/** The steps of a document, in the order of the document. */
export const stepsFrom = ({
  byHand: manual = [],
  blocked: no = [],
  waiting: later = [],
  held: kept = [],
  ...of
}: Unsent): readonly Step[] =>
  [
    ...manual.map(({ id, attribution, ...one }) => {
      const step = byHandStep(one);
      const changes = step.changes.map((change) => ({ ...change, ...defined({ attribution }) }));
      return { ...step, changes, ...defined({ id }) };
    }),
    ...no.map(blockedStep),
    ...later.map(waitingStep),
    ...kept.map((one) => ({ ...one, standing: "held" as const, requests: [] })),
    ...(of.notKept ?? []).map((one) => notKeptStep(one, risks)),
    ...(of.unseen ?? []).map(unseenStep),
  ].map((step, index) => ({ id: `s${index + 101}`, ...step }));

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
    const standing = outcome === "blocked" ? "blocked" : outcome === "deferred" ? "waits" : "ready";
    const end = outcome === "blocked" || outcome === "deferred" ? {} : { outcome };
    return { id: `s${index + 1}`, verb: "none", changes: [], requests: [], ...step, standing, ...why, ...end };
  });

/** The document with other steps that are ready. */
export const withReady = <T extends Document>(of: T, ready: readonly Step[]): T => ({
  ...of,
  steps: [...ready, ...of.steps.filter(({ standing }) => standing !== "ready")],
});
