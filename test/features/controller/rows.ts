import type { AccountRow } from "../../../src/features/controller/accounts.ts";

/** The row of an account in sync. */
export const accountRow = (parts: Partial<AccountRow> = {}): AccountRow => ({
  ...{
    target: "prod",
    mode: "report",
    labels: {},
    everyMs: 900_000,
    version: 1,
    isDue: false,
    isStale: false,
    nextAt: "2026-03-01T09:15:00+00:00",
  },
  ...{
    checkedAt: "2026-03-01T09:00:00+00:00",
    readAt: "2026-03-01T09:01:00+00:00",
    durationMs: 900,
    commit: "4f2c1ab09d3e77aa",
    commitAt: "2026-03-01T08:00:00Z",
  },
  ...{ exposed: 0, differences: 0, byHand: 0, policy: 0, exposedSince: null, findings: [], repairs: [] },
  ...{ error: null, failures: 0, locked: null, notified: null },
  ...parts,
});
