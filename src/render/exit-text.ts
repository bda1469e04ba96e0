import type { Exit, ExitCode } from "../model/exit.ts";
import type { Plan } from "../model/plan.ts";
import { visible } from "./visible.ts";

const exitMeanings: Readonly<Record<ExitCode, string>> = {
  0: "",
  1: "something is wrong, and has to be mended first",
  2: "there is something to do",
  3: "a guard or a policy refuses",
  4: "apply is incomplete",
  5: "the saved plan can't be used",
  6: "another run holds the lock",
  130: "interrupted",
};

/** "Exit 3 (guard): a guard or a policy refuses."; "" for 0. */
export function exitText(exit: Exit, kind?: Plan["kind"]): string {
  if (exit.code === 0) return "";
  const meanings: Partial<Record<ExitCode, string>> =
    kind === "DriftReport"
      ? { 2: "the account differs from the manifests", 3: "the account breaks a policy, or a guard refuses what would repair it" }
      : kind === "Plan"
        ? { 2: "there are changes" }
        : {};
  const reasons = exit.reasons.length === 0 ? "" : ` (${exit.reasons.map(visible).join(", ")})`;
  return `Exit ${exit.code}${reasons}: ${meanings[exit.code] ?? exitMeanings[exit.code]}.`;
}
