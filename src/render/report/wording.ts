import type { Plan, Risk } from "../../model/plan.ts";

/** How a plan and a drift report say the same thing: a plan looks at what apply will do, a report at how the account stands now. */
export interface Wording {
  readonly title: string;
  /** The command that made the document. */
  readonly command: string;
  readonly before: string;
  readonly after: string;
  /** A difference that apply would close by protecting means, seen from the report, that the account exposes more than declared. */
  readonly risk: Readonly<Record<Risk, string>>;
  /** The same after a number. */
  readonly risks: Readonly<Record<Exclude<Risk, "neutral">, string>>;
  /** The risk that stands out. */
  readonly alarm: Risk;
}

const planWording: Wording = {
  title: "Plan",
  command: "dimsync plan",
  before: "Live",
  after: "After apply",
  risk: { protects: "protects", exposes: "exposes", neutral: "" },
  risks: { protects: "protect", exposes: "expose" },
  alarm: "exposes",
};

const driftWording: Wording = {
  title: "Drift",
  command: "dimsync drift",
  before: "Live",
  after: "Declared",
  risk: { protects: "exposed", exposes: "stricter", neutral: "" },
  risks: { protects: "exposed", exposes: "stricter" },
  alarm: "protects",
};

export const wordingOf = (plan: Plan): Wording => (plan.kind === "Plan" ? planWording : driftWording);

/** A result tells changes as its plan did. */
export const wordingOfResult: Wording = planWording;
