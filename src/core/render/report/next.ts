import { changeCount, eachChange, firstChange } from "../../base/model/changes.ts";
import { openFindings } from "../../base/model/findings.ts";
import { type Origin, type Plan, type ReadyStep, readySteps, type Step, stepsOf } from "../../base/model/plan.ts";
import { counted } from "../../base/text/counts.ts";
import { shellWord } from "../../base/text/shell.ts";
import { type Entry, link } from "../blocks.ts";
import type { DriftLinks, RenderOptions } from "../document.ts";

/** What to do about drift: a sentence with links, and the commands to run in order. `isResolved`: without the commands. */
export function nextEntries(
  plan: Plan | undefined,
  { isResolved = false, links }: Pick<RenderOptions, "isResolved" | "links">,
): readonly Entry[] {
  if (plan?.kind !== "DriftReport") return [];
  return nextSteps(plan, links).filter(({ commands }) => !isResolved || commands === undefined);
}

function nextSteps(plan: Plan, links: DriftLinks | undefined): readonly Entry[] {
  const items = readySteps(plan);
  const byHand = stepsOf(plan, "byHand");
  const different = items.filter(({ verb }) => verb !== "bind");
  const all = different.reduce((sum, item) => sum + Math.max(1, changeCount(item)), byHand.length);
  const count = (origin: Origin): number =>
    different.reduce((sum, item) => sum + changeCount(item, (one) => one.origin === origin), 0) +
    byHand.filter((step) => firstChange(step).origin === origin).length;
  const [config, conflicts] = [count("config"), count("conflict")];
  // What the account lacks cannot be written into a manifest.
  const missing = different.filter(({ verb }) => verb === "create" || verb === "relate").length;
  return [
    ...(links === undefined ? (different.length === 0 ? [] : [revert]) : all === config ? [] : [revertBy(links)]),
    ...(all === config || !canAccept(plan, different, byHand) ? [] : [links === undefined ? accept : acceptBy(links, different)]),
    ...(missing === 0 ? [] : [note(missingText(missing))]),
    ...(conflicts === 0 ? [] : [note(conflictText(conflicts))]),
    ...(config === 0 ? [] : [links === undefined ? note(configText(config)) : applyBy(links, config)]),
    ...(byHand.length === 0 ? [] : [note(`${counted(byHand.length, "step")} by hand: see "By hand".`)]),
  ];
}

/** Whether `--resolve accept` can take any difference: not what is missing, what a policy of severity error forbids, and what someone must give up by name. */
function canAccept(plan: Plan, different: readonly ReadyStep[], byHand: readonly Step[]): boolean {
  if (byHand.some(({ obligation }) => obligation !== true)) return true;
  const forbidden = new Set(
    openFindings(plan).flatMap(({ severity, address, path }) => (severity === "error" ? [`${address} ${path}`] : [])),
  );
  return different.some((step) => {
    if (step.verb === "create" || step.verb === "relate") return false;
    for (const { path } of eachChange(step)) if (!forbidden.has(`${step.address} ${path}`)) return true;
    return changeCount(step) === 0;
  });
}

const acceptCommand = "dimsync drift --resolve accept";

const revert: Entry = {
  head: [["To restore what the manifests declare, save a plan, review it and apply it:"]],
  commands: ["dimsync drift --resolve revert", "dimsync apply revert.plan.json"],
};

const accept: Entry = {
  head: [["To keep what the account has, edit the manifests to match it, and commit them:"]],
  commands: [acceptCommand],
};

const revertBy = ({ apply }: DriftLinks): Entry => ({
  head: [["To restore what the manifests declare,", link(apply), ", which undoes every change that they do not have."]],
});

const configText = (count: number): string =>
  `${counted(count, "difference")} ${count === 1 ? "comes" : "come"} from the manifests: apply after the merge.`;

const applyBy = ({ apply }: DriftLinks, count: number): Entry => ({
  head: [
    [
      `${counted(count, "change")} of the manifests ${count === 1 ? "is" : "are"} merged and not applied yet. To apply now,`,
      link(apply),
      ".",
    ],
  ],
});

const mostCommands = 5;

/** A command for each object, because a reader may want to keep only one of the changes. */
function acceptBy(links: DriftLinks, different: readonly ReadyStep[]): Entry {
  const kept = different.filter((step) => step.verb === "update" && firstChange(step).origin !== "config");
  const addresses = [...new Set(kept.map(({ address }) => address))];
  const each = addresses.slice(0, mostCommands).map((address) => `${acceptCommand} --only ${shellWord(address)}`);
  return {
    head: [["To keep what the account has, merge", link(links.accept), "or edit the manifests:"]],
    commands: each.length === 0 ? [acceptCommand] : [...each, ...(addresses.length > mostCommands ? [acceptCommand] : [])],
  };
}

const note = (text: string): Entry => ({ head: [[text]] });

function missingText(count: number): string {
  const them = count === 1 ? "it" : "them";
  return `Missing in the account: ${count}. Apply adds ${them}. To keep the account as it is, remove ${them} from the manifests.`;
}

const conflictText = (count: number): string =>
  `${counted(count, "conflict")}: the manifests and the account both changed. Decide which value is right, and edit the manifest.`;
