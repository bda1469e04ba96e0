import type { Action } from "../../model/plan.ts";
import type { ItemResult, Outcome, Result } from "../../model/result.ts";
import { visible } from "../../text/control-characters.ts";
import { countList } from "../../text/counts.ts";
import { andMore, grouped } from "../../text/lists.ts";
import { resolveChoices } from "../../text/shell.ts";
import { outcomeSigns } from "../../text/signs.ts";
import { code, type Entry, id, muted, name, type Section, type Tone, word } from "../blocks.ts";
import { mostAlone } from "./blocked.ts";

const doneWords: Readonly<Record<Action, string>> = { create: "created", update: "updated", relate: "related", bind: "id recorded" };

export const isDone = ({ outcome }: Pick<ItemResult, "outcome">): boolean => outcome === "done" || outcome === "recovered";

/** Whether the user did not confirm the plan. */
export const isDeclined = (items: readonly ItemResult[]): boolean => items.length > 0 && items.every(({ code: of }) => of === "E_DECLINED");

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

const outcomeTones: Readonly<Record<Outcome, Tone>> = {
  done: "good",
  recovered: "good",
  failed: "bad",
  unknown: "bad",
  skipped: "quiet",
  blocked: "bad",
  deferred: "info",
  "not-converged": "bad",
};

/** A result with many items counts those that were done in the same way or blocked for the same reason. */
export function outcomesSection(items: readonly ItemResult[], verbose: boolean): Section {
  const all = isDeclined(items) ? [] : reportOutcomes(items, verbose);
  const entry = ({ item, text, commands, count, names }: ReportOutcome): Entry => {
    const { address, outcome, liveId = "", code: of = "", message } = item;
    const tone = outcomeTones[outcome];
    return {
      sign: outcomeSigns[outcome],
      tone,
      head: [[name(count === "" ? address : count)], [word(text, tone)], [count === "" ? id(liveId) : muted(names)], [code(of, tone)]],
      notes: message === undefined ? [] : [[message]],
      ...(count === "" ? { changes: { of: item, title: `Changes of ${address}`, isKey: outcome === "not-converged" } } : {}),
      commands,
    };
  };
  return {
    id: "outcomes",
    title: "Outcomes",
    count: all.length,
    part: "result",
    isPlain: true,
    heads: ["Object", "Outcome", "Id", "Why"],
    entries: all.map(entry),
  };
}

/** One outcome, or many items that were done in the same way or blocked for the same reason. */
interface ReportOutcome {
  readonly item: ItemResult;
  /** "created", "failed" */
  readonly text: string;
  /** Commands to choose from as the next step. */
  readonly commands: readonly string[];
  /** "120 SchemaConfig", "7 objects" of several kinds; "" for a single item. */
  readonly count: string;
  /** "Tag/a, Tag/b, Tag/c and 117 more"; "" for a single item. */
  readonly names: string;
}

// If there are this many items or more, finished ones are counted. Items that are blocked for one reason always are.
const countedFrom = 30;

function reportOutcomes(items: readonly ItemResult[], verbose: boolean): readonly ReportOutcome[] {
  const isLong = !verbose && items.length >= countedFrom;
  const blockedFor = blockedCounts(items);
  const keyed = items.map((item, index) => ({
    item,
    key: (isLong || (!verbose && !isDone(item)) ? sharedKey(item, blockedFor) : undefined) ?? String(index),
  }));
  return grouped(keyed, ({ key }) => key).map((group): ReportOutcome => {
    const [{ item }, second] = group;
    const names = andMore(group.map((one) => visible(one.item.address)));
    const kind = group.every((one) => one.item.kind === item.kind) ? item.kind : "objects";
    return {
      item,
      text: outcomeText(item),
      commands: nextCommands(item),
      ...(second === undefined ? { count: "", names: "" } : { count: `${group.length} ${kind}`, names }),
    };
  });
}

/** The same for items that one line can count together: of one kind, or of several if many are blocked for one reason. */
function sharedKey(item: ItemResult, blockedFor: ReadonlyMap<string, number>): string | undefined {
  const { kind, outcome } = item;
  if (isDone(item)) return `${kind} ${outcomeText(item)}`;
  if (outcome !== "blocked") return undefined;
  const reason = reasonOf(item);
  return (blockedFor.get(reason) ?? 0) > mostAlone ? reason : `${kind} ${reason}`;
}

const reasonOf = ({ code, message }: ItemResult): string => JSON.stringify([code, message]);

function blockedCounts(items: readonly ItemResult[]): ReadonlyMap<string, number> {
  const blocked = items.filter(({ outcome }) => outcome === "blocked");
  return new Map(grouped(blocked, reasonOf).map((group) => [reasonOf(group[0]), group.length]));
}

/** The commands to choose from as the next step; none if the message says what to do. */
function nextCommands({ outcome, command }: ItemResult): readonly string[] {
  if (command === undefined) return [];
  return outcome === "unknown" ? resolveChoices(command) : [command];
}
