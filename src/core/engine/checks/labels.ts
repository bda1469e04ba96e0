import { labelCoverage } from "../../kinds/label-coverage.ts";
import { labelScopes, nameInAddresses } from "../../kinds/select.ts";
import type { LiveSchemas } from "../../model/live.ts";
import type { Problem } from "../../model/problem.ts";
import type { Steps } from "../../model/runtime/event-loop.ts";
import type { ObservedAccount } from "../observe.ts";
import type { LoadedProject } from "../session.ts";
import type { CheckedUnit } from "./policies.ts";

/** Checks on the trees that a run reads whether the labels of the project match something. */
export interface LabelCheck {
  readonly checkUnit: (unit: CheckedUnit) => Steps<void>;
  readonly checkTree: (liveId: string, live: LiveSchemas) => Steps<void>;
  /** Call it only if every read succeeded. */
  readonly problems: () => readonly Problem[];
}

/** Undefined without a Classification, and in a run that reads only a part of the account. */
export function checkLabels({ columnLabels }: LoadedProject, { account }: ObservedAccount, isWhole: boolean): LabelCheck | undefined {
  const scopes = labelScopes(account);
  if (columnLabels === undefined || scopes === undefined || !isWhole) return undefined;
  const coverage = labelCoverage(columnLabels);
  let trees = 0;
  const checkTree: LabelCheck["checkTree"] = (liveId, live) => {
    trees++;
    return coverage.add(scopes(liveId), live, nameInAddresses(liveId, account));
  };
  return {
    checkTree,
    *checkUnit({ kind, unit, live }) {
      if (kind.schemas !== undefined && unit.liveId !== undefined && live !== undefined)
        yield* checkTree(unit.liveId, kind.schemas.tree(live));
    },
    problems: () => (trees === 0 ? [] : coverage.problems()),
  };
}
