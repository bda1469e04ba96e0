import type { DraftItem, Plan } from "../../../src/core/base/model/plan.ts";
import { type DiffResult, emptyDiff } from "../../../src/core/kinds/kind.ts";
import { type Findings, makePlan, type PlanRules } from "../../../src/core/plan/plan.ts";
import { fromLists, type Lists } from "../../support/steps.ts";

/** An item as a kind returns it. `more` replaces its other members. */
export const draft = (address: string, verb: DraftItem["verb"], more: Partial<DraftItem> = {}): DraftItem => ({
  address,
  kind: address.slice(0, address.indexOf("/")),
  verb,
  standing: "ready",
  changes: [],
  requests: [],
  ...more,
});

/** A plan with these differences. `more` replaces other findings and rules. */
export function planOf(found: Partial<Omit<DiffResult, "steps"> & Lists>, more: Partial<Findings & PlanRules> = {}): Plan {
  const tool = { name: "dimsync", version: "0" } as const;
  return makePlan(
    { kind: "Plan", planId: "p", createdAt: "2026-06-01T12:00:00Z", tool, target: "t", account: "a", manifestDigest: "" },
    {
      differences: [{ ...emptyDiff, ...fromLists(found) }],
      ...{ problems: [], findings: [], complete: true, equal: 0, unmanaged: { integrations: [], tags: [] }, readCalls: {} },
      ...more,
    },
    {
      inScope: () => true,
      whyNotSend: () => undefined,
      guards: () => ({ guards: [], problems: [] }),
      isStopped: false,
      locate: ({ file }) => ({ file }),
      ...more,
    },
  );
}
