import { locatedCause } from "../../base/model/cause.ts";
import { type NodePath, nodePointer } from "../../base/model/nodes.ts";
import type { Cause, Change, DraftCause, DraftFacts, Plan } from "../../base/model/plan.ts";
import type { Locate } from "../../base/model/problem.ts";
import type { Field } from "../../base/model/schema-tree.ts";
import type { PolicyTarget } from "./evaluate.ts";

interface CauseInput {
  /** The value that manifests set for a field, and where. */
  readonly decisionOf: (field: {
    readonly path: NodePath;
    readonly key: Field;
  }) => { readonly value: boolean; readonly cause: DraftCause } | undefined;
  readonly changes: readonly Change<DraftFacts>[];
  readonly kindOfPlan: Plan["kind"];
  readonly locate: Locate;
}

/** Which line of a manifest findings name: a plan's findings those of the planned state, a drift report's those of the live state. */
export function causesOf({ decisionOf, changes, kindOfPlan, locate }: CauseInput): Pick<PolicyTarget, "causeOf" | "fixedBy"> {
  const changeAt = new Map(changes.map((change) => [change.path, change]));
  const located = (cause: DraftCause | undefined): Cause | undefined => (cause === undefined ? undefined : locatedCause(cause, locate));
  /** The change of a node, or of one above it, that sets `enabled` to a value. */
  const switchedTo = (path: NodePath, value: boolean) =>
    nodesUp(path)
      .map((node) => changeAt.get(nodePointer(node, "enabled")))
      .find((change) => change?.after === value)?.cause;
  const decidedAs = (path: NodePath, key: Field, value: boolean) => {
    const decision = decisionOf({ path, key });
    return decision?.value === value ? decision.cause : undefined;
  };
  return {
    causeOf: (path, key, value) => {
      const change = changeAt.get(nodePointer(path, key));
      // In a drift report, the account was changed there, not by a manifest.
      if (kindOfPlan === "DriftReport") return change === undefined ? located(decidedAs(path, key, value)) : undefined;
      if (change !== undefined) return located(change.cause);
      // A manifest keeps the value, or it enables the node, which is then replicated with the value that it has.
      return located(decidedAs(path, key, value) ?? switchedTo(path, true));
    },
    fixedBy: (path, key) => located(changeAt.get(nodePointer(path, key))?.cause ?? switchedTo(path, false)),
  };
}

/** The node and those above it, the deepest first. */
function nodesUp([schema, table, column]: NodePath): readonly NodePath[] {
  return [
    ...(table === undefined || column === undefined ? [] : [[schema, table, column] as const]),
    ...(table === undefined ? [] : [[schema, table] as const]),
    [schema],
  ];
}
