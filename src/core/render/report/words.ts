import { type Change, type Plan, stepsOf } from "../../base/model/plan.ts";
import type { Severity } from "../../base/model/problem.ts";
import type { Tone } from "../blocks.ts";
import type { Document } from "../document.ts";

/**
 * The words of a kind of document. A plan shows what apply will do, a drift report how the account
 * is now.
 */
export interface Words {
  readonly kind: Document["kind"];
  /** "Plan", the beginning of the title. */
  readonly title: string;
  /** Between the title and the target. */
  readonly preposition: "for" | "on" | "of";
  /** The command that made the document. */
  readonly command: string;
  /** Document for a value that is not known. */
  readonly unknown: string;
  readonly unset: string;
  readonly change: string;
  /** Whether what the manifests did not change may be asked for by a base that was never applied, unless an event shows who changed it. */
  readonly isReview?: boolean;
  /** What it is the plan of, if it is not a pull request. */
  readonly reviews?: Plan["reviews"];
  /** The highlighted risk, and the other one. */
  readonly risks: readonly [string, string];
}

const plan: Words = {
  kind: "Plan",
  title: "Plan",
  preposition: "for",
  command: "dimsync plan",
  unknown: "(unknown)",
  unset: "(set by the service)",
  change: "change",
  risks: ["exposes", "protects"],
};

const words: Readonly<Record<Document["kind"], Words>> = {
  Plan: plan,
  DriftReport: {
    ...plan,
    kind: "DriftReport",
    title: "Drift",
    command: "dimsync drift",
    unset: "(not set)",
    change: "difference",
    risks: ["exposed", "stricter"],
  },
  Result: { ...plan, kind: "Result", title: "Apply", preposition: "on", command: "dimsync apply" },
  Validation: { ...plan, kind: "Validation", title: "Validation", command: "dimsync validate" },
};

const standingWords = { blocked: "blocked", held: "held", byHand: "by hand", notKept: "not kept" } as const;

/** "2 by hand", "1 waits", "2 wait". */
export function standingCount(of: Pick<Plan, "steps">, standing: keyof typeof standingWords | "waits"): readonly [number, string] {
  const { length: count } = stepsOf(of, standing);
  return [count, standing === "waits" ? waitText(count) : standingWords[standing]];
}

export const waitText = (count: number): string => (count === 1 ? "waits" : "wait");

export const wordsOf = (kind: Document["kind"]): Words => words[kind];

/** Whether data becomes, or is, less protected: what a reader must not miss. */
export const isAlarm = ({ risk }: Pick<Change, "risk">): boolean => risk === "exposes" || risk === "exposed";

export const severityTones: Readonly<Record<Severity, Tone>> = { error: "bad", warning: "warn", info: "info" };

/** "this pull request" */
export const reviewed = ({ reviews }: { readonly reviews?: Plan["reviews"] | undefined }): string => `this ${reviews ?? "pull request"}`;
