import type { Origin, Plan } from "../../model/plan.ts";
import { counted } from "../../text/counts.ts";
import type { Traced } from "./attribution.ts";

/** What to do about drift: a sentence, and the commands to run in turn. */
export interface NextStep {
  readonly text: string;
  readonly commands: readonly string[];
}

/** None for a plan, and none without differences. */
export function nextSteps({ kind, items, manual }: Plan): readonly NextStep[] {
  if (kind === "Plan") return [];
  const changes = items
    .filter(({ action }) => action !== "bind")
    .flatMap((item): readonly Traced[] => (item.changes.length === 0 ? [{}] : item.changes));
  const origins = [...changes, ...manual].map(({ origin }): Origin => origin ?? "unknown");
  const count = (origin: Origin): number => origins.filter((one) => one === origin).length;
  const [config, conflicts] = [count("config"), count("conflict")];
  return [
    ...(changes.length === 0
      ? []
      : [
          {
            text: "To restore what the manifests declare, save a plan, review it and apply it:",
            commands: ["dimsync drift --resolve revert", "dimsync apply revert.plan.json"],
          },
        ]),
    ...(origins.length === config
      ? []
      : [
          {
            text: "To keep what the account has, edit the manifests to match it, and commit them:",
            commands: ["dimsync drift --resolve accept"],
          },
        ]),
    ...(conflicts === 0
      ? []
      : [
          {
            text: `${counted(conflicts, "conflict")}: the manifests and the account both changed. Decide, and edit the manifest.`,
            commands: [],
          },
        ]),
    ...(config === 0
      ? []
      : [
          {
            text: `${counted(config, "difference")} ${config === 1 ? "comes" : "come"} from the manifests: apply after the merge.`,
            commands: [],
          },
        ]),
    ...(manual.length === 0 ? [] : [{ text: `${counted(manual.length, "manual step")}: see the checklist.`, commands: [] }]),
  ];
}
