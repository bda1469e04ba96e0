import { changeCount, firstChange } from "../../model/changes.ts";
import { type Origin, type Plan, readySteps, stepsOf } from "../../model/plan.ts";
import { counted } from "../../text/counts.ts";
import type { Entry, Section } from "../blocks.ts";

/** What to do about drift: a sentence, and the commands to run in order. `isResolved`: without the commands. */
export const nextSection = (plan: Plan, isResolved: boolean): Section => ({
  id: "next",
  title: "What to do next",
  count: 0,
  part: "decision",
  isPlain: true,
  entries: plan.kind === "Plan" ? [] : nextSteps(plan).filter(({ commands }) => !isResolved || commands === undefined),
});

function nextSteps(plan: Plan): readonly Entry[] {
  const items = readySteps(plan);
  const manual = stepsOf(plan, "byHand");
  const different = items.filter(({ verb }) => verb !== "bind");
  const all = different.reduce((sum, item) => sum + Math.max(1, changeCount(item)), manual.length);
  const count = (origin: Origin): number =>
    different.reduce((sum, item) => sum + changeCount(item, (one) => one.origin === origin), 0) +
    manual.filter((step) => firstChange(step).origin === origin).length;
  const [config, conflicts] = [count("config"), count("conflict")];
  // What the account lacks cannot be written into a manifest.
  const missing = different.filter(({ verb }) => verb === "create" || verb === "relate").length;
  return [
    ...(different.length === 0 ? [] : [revert]),
    ...(all === config || missing === different.length + manual.length ? [] : [accept]),
    ...(missing === 0 ? [] : [note(missingText(missing))]),
    ...(conflicts === 0 ? [] : [note(conflictText(conflicts))]),
    ...(config === 0
      ? []
      : [note(`${counted(config, "difference")} ${config === 1 ? "comes" : "come"} from the manifests: apply after the merge.`)]),
    ...(manual.length === 0 ? [] : [note(`${counted(manual.length, "manual step")}: see Manual steps.`)]),
  ];
}

const revert: Entry = {
  head: [["To restore what the manifests declare, save a plan, review it and apply it:"]],
  commands: ["dimsync drift --resolve revert", "dimsync apply revert.plan.json"],
};

const accept: Entry = {
  head: [["To keep what the account has, edit the manifests to match it, and commit them:"]],
  commands: ["dimsync drift --resolve accept"],
};

const note = (text: string): Entry => ({ head: [[text]] });

function missingText(count: number): string {
  const them = count === 1 ? "it" : "them";
  return `Missing in the account: ${count}. Apply adds ${them}. To keep the account as it is, remove ${them} from the manifests.`;
}

const conflictText = (count: number): string =>
  `${counted(count, "conflict")}: the manifests and the account both changed. Decide which value is right, and edit the manifest.`;
