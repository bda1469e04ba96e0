import { kindOf } from "../../base/model/address.ts";
import {
  type Action,
  endedSteps,
  isDeclined,
  outcomeOf,
  type Result,
  type Step,
  type StepEnd,
  type Why,
  whyOf,
} from "../../base/model/plan.ts";
import { visible } from "../../base/text/control-characters.ts";
import { countList } from "../../base/text/counts.ts";
import { andMore, grouped } from "../../base/text/lists.ts";
import { resolveChoices } from "../../base/text/shell.ts";
import { outcomeSigns } from "../../base/text/signs.ts";
import { code, type Entry, id, muted, name, type Tone, word } from "../blocks.ts";
import { mostAlone } from "./blocked.ts";
import { standingCount, waitText } from "./words.ts";

const doneWords: Readonly<Record<Action, string>> = {
  create: "created",
  update: "updated",
  relate: "related",
  unrelate: "detached",
  bind: "id recorded",
};

export const isDone = ({ outcome }: Pick<Step, "outcome">): boolean => outcome === "done" || outcome === "recovered";

const endOf = (step: Step): StepEnd => outcomeOf(step) ?? "done";

const outcomeWord = (outcome: StepEnd): string => (outcome === "not-converged" ? "not converged" : outcome);

/** "created", "recovered: created", "failed", … */
function outcomeText(step: Step): string {
  const outcome = endOf(step);
  const done = step.verb === "none" ? "done" : doneWords[step.verb];
  if (outcome === "done") return done;
  return outcome === "recovered" ? `recovered: ${done}` : outcomeWord(outcome);
}

const outcomeOrder: readonly StepEnd[] = ["done", "recovered", "failed", "not-converged", "unknown", "blocked", "waits", "skipped"];

/** "3 done, 1 failed, 2 held". */
export function outcomesText(result: Pick<Result, "steps">): string {
  const items = endedSteps(result);
  const counts = outcomeOrder.map((outcome) => {
    const { length: count } = items.filter((item) => endOf(item) === outcome);
    return [count, outcome === "waits" ? waitText(count) : outcomeWord(outcome)] as const;
  });
  return countList([...counts, standingCount(result, "held")]);
}

const outcomeTones: Readonly<Record<StepEnd, Tone>> = {
  done: "good",
  recovered: "good",
  failed: "bad",
  unknown: "bad",
  skipped: "quiet",
  blocked: "bad",
  waits: "info",
  "not-converged": "bad",
};

// If there are this many items or more, finished ones are counted. Items that are blocked for one reason always are.
const countedFrom = 30;

/** Steps that ended in the same way: many that are done, or blocked for the same reason. `verbose`: none are counted together. */
export function outcomeGroups(steps: readonly Step[], verbose: boolean): readonly (readonly [Step, ...Step[]])[] {
  const isLong = steps.length >= countedFrom;
  const blockedFor = blockedCounts(steps);
  const keys = new Map(
    steps.map((step, index) => [step, (!verbose && (isLong || !isDone(step)) ? sharedKey(step, blockedFor) : undefined) ?? String(index)]),
  );
  return isDeclined({ steps }) ? [] : grouped(steps, (step) => keys.get(step) ?? "");
}

/** One outcome, or several counted: "120 SchemaConfig", "7 objects" of several kinds. */
export function outcomeEntry(all: readonly [Step, ...Step[]]): Entry {
  const [step] = all;
  const { address, standing, liveId = "", why } = step;
  const { code: of = "" } = whyOf(step);
  const [kind, outcome] = [kindOf(address), endOf(step)];
  const tone = outcomeTones[outcome];
  const isAlone = all.length === 1;
  const count = `${all.length} ${all.every((one) => kindOf(one.address) === kind) ? kind : "objects"}`;
  const names = all.map((one) => visible(one.address));
  return {
    sign: outcomeSigns[outcome],
    tone,
    head: [
      [name(isAlone ? address : count)],
      [word(outcomeText(step), tone)],
      [isAlone ? id(liveId) : muted(andMore(names, "object"))],
      [code(of, tone)],
    ],
    notes: why === undefined ? [] : [[why.message]],
    ...(isAlone && standing !== "waits"
      ? { changes: { of: step, title: `Changes of ${address}`, isKey: outcome === "not-converged" } }
      : {}),
    commands: choices(why),
  };
}

/** The same for items that one line can count together: of one kind, or of several if many are blocked for one reason. */
function sharedKey(item: Step, blockedFor: ReadonlyMap<string, number>): string | undefined {
  const [kind, outcome] = [kindOf(item.address), endOf(item)];
  if (isDone(item)) return `${kind} ${outcomeText(item)}`;
  if (!countedOutcomes.has(outcome)) return undefined;
  const reason = reasonOf(item);
  return (blockedFor.get(reason) ?? 0) > mostAlone ? reason : `${kind} ${reason}`;
}

/** Outcomes whose message says everything. */
const countedOutcomes: ReadonlySet<StepEnd> = new Set(["blocked", "failed", "skipped"]);

const reasonOf = (step: Step): string => JSON.stringify([endOf(step), step.why?.code, step.why?.message]);

function blockedCounts(items: readonly Step[]): ReadonlyMap<string, number> {
  const blocked = items.filter((item) => countedOutcomes.has(endOf(item)));
  return new Map(grouped(blocked, reasonOf).map((group) => [reasonOf(group[0]), group.length]));
}

/** The commands to choose from as the next step; none if the message says what to do. */
export function choices({ code, command }: Partial<Why> = {}): readonly string[] {
  if (command === undefined) return [];
  return code === "E_UNKNOWN_OUTCOME" ? resolveChoices(command) : [command];
}
