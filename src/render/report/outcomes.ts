import type { Action } from "../../model/plan.ts";
import type { ItemResult, Outcome } from "../../model/result.ts";
import { visible } from "../../text/control-characters.ts";
import { countList } from "../../text/counts.ts";
import { shellWord } from "../../text/shell.ts";

const doneWords: Readonly<Record<Action, string>> = { create: "created", update: "updated", relate: "related", bind: "id recorded" };

/** "created", "recovered: created", "failed", … */
export function outcomeWords(outcome: Outcome, action: Action | undefined): string {
  const done = action === undefined ? "done" : doneWords[action];
  if (outcome === "done") return done;
  if (outcome === "recovered") return `recovered: ${done}`;
  return outcome === "not-converged" ? "not converged" : outcome;
}

const outcomeOrder: readonly Outcome[] = ["done", "recovered", "failed", "not-converged", "unknown", "blocked", "deferred", "skipped"];

/** "3 done, 1 failed". */
export function outcomesText(items: readonly ItemResult[]): string {
  return countList(
    outcomeOrder.map((outcome) => [
      items.filter((item) => item.outcome === outcome).length,
      outcome === "not-converged" ? "not converged" : outcome,
    ]),
  );
}

/** The commands that lead on, one of them to be run, where the outcome alone tells which; none elsewhere, since the message does. */
export function nextSteps({ outcome, address }: ItemResult): readonly string[] {
  if (outcome !== "unknown") return [];
  return ["--created=ID", "--not-created"].map((flag) => `dimsync resolve ${shellWord(visible(address))} ${flag}`);
}
