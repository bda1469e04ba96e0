import type { Change, Plan } from "../../model/plan.ts";

/** How a plan and a drift report say the same thing: a plan looks at what apply will do, a report at how the account stands now. */
export interface Wording {
  readonly title: string;
  /** The command that made the document. */
  readonly command: string;
  readonly before: string;
  readonly after: string;
  /** The word for a risk; "" if neutral. */
  readonly risk: Readonly<Record<Change["risk"], string>>;
  /** The same after a number. */
  readonly risks: Readonly<Record<Exclude<Change["risk"], "neutral">, string>>;
  /** The risk that stands out. */
  readonly alarm: Change["risk"];
}

const risk = { protects: "protects", exposes: "exposes", exposed: "exposed", stricter: "stricter", neutral: "" } as const;
const risks = { protects: "protect", exposes: "expose", exposed: "exposed", stricter: "stricter" } as const;

const planWording: Wording = {
  title: "Plan",
  command: "dimsync plan",
  before: "Live",
  after: "After apply",
  risk,
  risks,
  alarm: "exposes",
};

const driftWording: Wording = {
  title: "Drift",
  command: "dimsync drift",
  before: "Live",
  after: "Declared",
  risk,
  risks,
  alarm: "exposed",
};

export const wordingOf = (plan: Plan): Wording => (plan.kind === "Plan" ? planWording : driftWording);

/** A result tells changes as its plan did. */
export const wordingOfResult: Wording = planWording;
