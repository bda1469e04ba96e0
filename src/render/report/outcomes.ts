import type { Action } from "../../model/plan.ts";
import type { ItemResult, Outcome, Result } from "../../model/result.ts";
import { visible } from "../../text/control-characters.ts";
import { countList } from "../../text/counts.ts";
import { andMore } from "../../text/lists.ts";
import { shellWord } from "../../text/shell.ts";
import { grouped } from "./changes/grouped.ts";

const doneWords: Readonly<Record<Action, string>> = { create: "created", update: "updated", relate: "related", bind: "id recorded" };

export const isDone = ({ outcome }: Pick<ItemResult, "outcome">): boolean => outcome === "done" || outcome === "recovered";

const outcomeWord = (outcome: Outcome): string => (outcome === "not-converged" ? "not converged" : outcome);

/** "created", "recovered: created", "failed", … */
function outcomeText({ outcome, action }: Pick<ItemResult, "outcome" | "action">): string {
  const done = action === undefined ? "done" : doneWords[action];
  if (outcome === "done") return done;
  return outcome === "recovered" ? `recovered: ${done}` : outcomeWord(outcome);
}

const outcomeOrder: readonly Outcome[] = ["done", "recovered", "failed", "not-converged", "unknown", "blocked", "deferred", "skipped"];

/** "3 done, 1 failed, 2 held". */
export function outcomesText({ items, held = [] }: Pick<Result, "items" | "held">): string {
  const counts = outcomeOrder.map((outcome) => [items.filter((item) => item.outcome === outcome).length, outcomeWord(outcome)] as const);
  return countList([...counts, [held.length, "held"]]);
}

/** One outcome, or many items that were done in the same way or blocked for the same reason. */
export interface ReportOutcome {
  readonly item: ItemResult;
  /** "created", "failed" */
  readonly text: string;
  readonly isDone: boolean;
  /** Commands to choose from as the next step. */
  readonly commands: readonly string[];
  /** "120 SchemaConfig"; "" for a single item. */
  readonly count: string;
  /** "Tag/a, Tag/b, Tag/c and 117 more"; "" for a single item. */
  readonly names: string;
}

// If there are this many items or more, finished ones are counted. Items that are blocked for one reason always are.
const countedFrom = 30;

export function reportOutcomes(items: readonly ItemResult[], verbose: boolean): readonly ReportOutcome[] {
  const isLong = !verbose && items.length >= countedFrom;
  const keyed = items.map((item, index) => ({
    item,
    key: (isLong || (!verbose && !isDone(item)) ? sharedKey(item) : undefined) ?? String(index),
  }));
  return grouped(keyed, ({ key }) => key).map((group): ReportOutcome => {
    const [{ item }, second] = group;
    const names = andMore(group.map((one) => visible(one.item.address)));
    return {
      item,
      text: outcomeText(item),
      isDone: isDone(item),
      commands: nextCommands(item),
      ...(second === undefined ? { count: "", names: "" } : { count: `${group.length} ${item.kind}`, names }),
    };
  });
}

/** The same for items that one line can count together. */
function sharedKey(item: ItemResult): string | undefined {
  const { kind, outcome, code, message } = item;
  if (isDone(item)) return `${kind} ${outcomeText(item)}`;
  return outcome === "blocked" ? JSON.stringify([kind, outcome, code, message]) : undefined;
}

/** The commands to choose from as the next step; none if the message says what to do. */
function nextCommands({ outcome, address }: ItemResult): readonly string[] {
  if (outcome !== "unknown") return [];
  return ["--created=ID", "--not-created"].map((flag) => `dimsync resolve ${shellWord(visible(address))} ${flag}`);
}
