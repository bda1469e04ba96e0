import type { Change } from "../../model/plan.ts";
import type { Severity } from "../../model/problem.ts";
import { counted } from "../../text/counts.ts";
import type { Tone } from "../blocks.ts";
import type { Document } from "../document.ts";
import type { Grouping } from "./changes/groups.ts";

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
  /** Heads of the columns with values. */
  readonly before: string;
  readonly after: string;
  /** Document for a value that is not known. */
  readonly unknown: string;
  readonly unset: string;
  readonly change: string;
  /** What changes are grouped by. */
  readonly by: "rule" | "value";
  /** The highlighted risk, and the other one. */
  readonly risks: readonly [string, string];
}

const plan: Words = {
  kind: "Plan",
  title: "Plan",
  preposition: "for",
  command: "dimsync plan",
  before: "Live",
  after: "After apply",
  unknown: "(unknown)",
  unset: "(set by the service)",
  change: "change",
  by: "rule",
  risks: ["exposes", "protects"],
};

const words: Readonly<Record<Document["kind"], Words>> = {
  Plan: plan,
  DriftReport: {
    ...plan,
    kind: "DriftReport",
    title: "Drift",
    command: "dimsync drift",
    after: "Desired",
    unset: "(not set)",
    change: "difference",
    risks: ["exposed", "stricter"],
  },
  Result: { ...plan, kind: "Result", title: "Apply", preposition: "on", command: "dimsync apply" },
  Validation: { ...plan, kind: "Validation", title: "Validation", command: "dimsync validate" },
};

export const wordsOf = (kind: Document["kind"]): Words => words[kind];

/** What the grouped form leaves out. A command follows. */
export const groupedText = (changes: number, grouping: Grouping, words: Words): string =>
  grouping === "equal"
    ? `Equal ${words.change}s are grouped. To see each one:`
    : changes === 0
      ? "The ids to record are counted. To see each one:"
      : `${counted(changes, words.change)} ${changes === 1 ? "is" : "are"} grouped by ${words.by}. To see each one:`;

/** "6 columns become readable (newly replicated or no longer hashed)" */
export const exposedText = (count: number): string =>
  `${count === 1 ? "1 column becomes" : `${count} columns become`} readable (newly replicated or no longer hashed)`;

/** "exposes"; "" for a neutral change. */
export const riskText = ({ risk }: Pick<Change, "risk">, { risks }: Words): string =>
  risk === "neutral" ? "" : risks[isAlarm({ risk }) ? 0 : 1];

/** "2 expose", as a count. */
export const riskCount = (count: number, risk: string): string => `${count} ${risk.replace(/s$/u, "")}`;

/** Whether data becomes, or is, less protected: what a reader must not miss. */
export const isAlarm = ({ risk }: Pick<Change, "risk">): boolean => risk === "exposes" || risk === "exposed";

export const severityTones: Readonly<Record<Severity, Tone>> = { error: "bad", warning: "warn", info: "info" };
