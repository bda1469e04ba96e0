import type { Change, Plan } from "../../model/plan.ts";
import { counted } from "../../text/counts.ts";
import type { Document } from "../document.ts";

/**
 * The words of a kind of document. A plan shows what apply will do, a drift report how the account
 * is now.
 */
export interface Words {
  readonly kind: Document["kind"];
  /** "Plan", the beginning of the title. */
  readonly title: string;
  /** The command that made the document. */
  readonly command: string;
  /** Heads of the columns with values. */
  readonly before: string;
  readonly after: string;
  /** Shown for a value that is not known. */
  readonly unknown: string;
  readonly unset: string;
  readonly change: string;
  /** The highlighted risk. */
  readonly alarm: Change["risk"];
}

const plan: Words = {
  kind: "Plan",
  title: "Plan",
  command: "dimsync plan",
  before: "Live",
  after: "After apply",
  unknown: "(unknown)",
  unset: "(set by the service)",
  change: "change",
  alarm: "exposes",
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
    alarm: "exposed",
  },
  Result: { ...plan, kind: "Result", title: "Apply", command: "dimsync apply" },
  Validation: { ...plan, kind: "Validation", title: "Validation", command: "dimsync validate" },
};

export const wordsOf = (kind: Document["kind"]): Words => words[kind];

/** What the grouped form leaves out. A command follows. */
export const groupedText = (changes: number, words: Words): string =>
  changes === 0
    ? "The ids to record are counted. To see each one:"
    : `${counted(changes, words.change)} ${changes === 1 ? "is" : "are"} grouped by rule. To see each one:`;

/** "exposes"; "" for a neutral change. */
export const riskText = (risk: Change["risk"]): string => (risk === "neutral" ? "" : risk);

/** Whether data becomes, or is, less protected: what a reader must not miss. */
export const isAlarm = ({ risk }: Pick<Change, "risk">): boolean => risk === "exposes" || risk === "exposed";

/** Risks in the order in which they are counted; the highlighted one first. */
export const risksOf = (kind: Plan["kind"]): readonly ["exposes" | "exposed", "protects" | "stricter"] =>
  kind === "Plan" ? ["exposes", "protects"] : ["exposed", "stricter"];

/** Titles of the parts of a report, the same in every format. */
export const partTitles = {
  guards: "Guards",
  policies: "Policy findings",
  existing: "Existing policy findings",
  fixed: "Policy findings that the plan fixes",
  problems: "Problems",
  manual: "Manual steps",
  done: "Manual steps done since the last report",
  blocked: "Blocked",
  deferred: "Deferred",
  held: "Held by --protect-only",
  unverifiable: "Unverifiable",
  unmanaged: "Not managed by any manifest",
  columns: "Columns to review",
  released: "No longer managed",
  outside: "Changed in the account",
  impact: "Who reads what changes",
} as const;
