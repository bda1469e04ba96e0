import { makePlan, type PlanInput } from "../../src/engine/plan.ts";
import { type DiffResult, emptyDiff } from "../../src/kinds/kind.ts";
import type { DraftItem, Plan } from "../../src/model/plan.ts";

/** An item as a kind returns it. `more` replaces its other members. */
export const draft = (address: string, action: DraftItem["action"], more: Partial<DraftItem> = {}): DraftItem => ({
  address,
  kind: address.slice(0, address.indexOf("/")),
  action,
  changes: [],
  requests: [],
  observed: {},
  ...more,
});

/** A plan with these differences. `more` replaces the other input. */
export function planOf(found: Partial<DiffResult>, more: Partial<PlanInput> = {}): Plan {
  return makePlan({
    ...{ kind: "Plan", planId: "p", createdAt: "2026-06-01T12:00:00Z", version: "0", target: "t", account: "a", manifestDigest: () => "" },
    found: [{ ...emptyDiff, ...found }],
    ...{ problems: [], complete: true, equal: 0, unmanaged: { integrations: [], tags: [] }, readCalls: {}, policy: [] },
    inScope: () => true,
    whyNotCreate: () => undefined,
    guards: () => [],
    locate: ({ file }) => ({ file }),
    ...more,
  });
}
