import { changeCount } from "../../../src/core/base/model/changes.ts";
import type { Change, PathChange, Plan, PlanCounts, ReadyStep } from "../../../src/core/base/model/plan.ts";
import { grouped } from "../../support/changes.ts";

const nothing: PlanCounts = {
  create: 0,
  update: 0,
  relate: 0,
  bind: 0,
  equal: 37,
};

const reportRisks = { protects: "exposed", exposes: "stricter" } as const;

/** The items of a drift report, with its own words for risks. */
const reported = <T extends Pick<ReadyStep, "changes">>(items: readonly T[]): readonly T[] =>
  items.map((each) => ({
    ...each,
    changes: each.changes.map(({ origin = "unknown", ...one }) => ({
      ...one,
      risk: one.risk === "protects" || one.risk === "exposes" ? reportRisks[one.risk] : one.risk,
      origin,
    })),
  }));

/** An empty plan, with some members replaced; without a summary, it is counted. */
export function plan({ items: given = [], ...members }: Partial<Plan> & { readonly items?: readonly ReadyStep[] } = {}): Plan {
  const isReport = members.kind === "DriftReport";
  const { steps: unsent = [] } = members;
  const items = isReport ? reported(given) : given;
  const of = (verb: ReadyStep["verb"]) => items.filter((item) => item.verb === verb).length;
  const risk = (wanted: Change["risk"]) => items.reduce((sum, one) => sum + changeCount(one, (facts) => facts.risk === wanted), 0);
  const planned: Record<string, number> = {};
  for (const { method } of items.flatMap(({ requests }) => requests)) planned[method] = (planned[method] ?? 0) + 1;
  return {
    formatVersion: "3.0",
    kind: "Plan",
    planId: "p-01jz",
    createdAt: "2026-03-01T09:00:00.000Z",
    tool: { name: "dimsync", version: "0.1.0" },
    target: "prod",
    account: "https://api.example.com",
    git: { commit: "4f2c1ab09d3e77aa10b2c3d4e5f60718293a4b5c", dirty: false },
    manifestDigest: "sha256:00",
    complete: true,
    executable: true,
    calls: { read: { GET: 41 }, planned, later: {} },
    unmanaged: { integrations: [], tags: [], columns: 0 },
    findings: [],
    counts: {
      ...nothing,
      create: of("create"),
      update: of("update"),
      relate: of("relate"),
      bind: of("bind"),
      ...(isReport ? { exposed: risk("exposed"), stricter: risk("stricter") } : { protects: risk("protects"), exposes: risk("exposes") }),
    },
    exit: { code: 0, reasons: [] },
    ...members,
    steps: [...items, ...(isReport ? reported(unsent) : unsent)],
  };
}

/** An update of one schema configuration, with some members replaced. Changes of schemas are grouped. */
export function item({ changes = [], ...members }: Partial<ReadyStep> = {}): ReadyStep {
  return {
    id: "s1",
    address: "Schemas/orders",
    verb: "update",
    standing: "ready",
    liveId: "8f1c",
    liveName: "Orders",
    changes: grouped(changes),
    requests: [{ method: "PATCH", path: "/v1/integrations/8f1c/schemas", body: { schemas: {} } }],
    dependsOn: [],
    ...members,
  };
}

/** A column that a rule hashes, with some members replaced. */
export function change(members: Partial<PathChange> = {}): PathChange {
  return {
    path: "/schemas/public/tables/users/columns/email/hashed",
    before: false,
    after: true,
    risk: "protects",
    cause: { rule: "pii-email", reason: "GDPR register 12", file: "manifests/pii.yaml", line: 9 },
    ...members,
  };
}
