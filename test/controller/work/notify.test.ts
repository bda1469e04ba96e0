import { expect, test } from "vitest";
import type { RunOutcome } from "../../../src/controller/work/check.ts";
import { eventOf } from "../../../src/controller/work/notify.ts";
import type { HistoryEntry } from "../../../src/drift/history.ts";

const entry = (fingerprint: string, exposed: number): HistoryEntry => ({
  ...{
    formatVersion: "1.0",
    kind: "DriftHistory",
    at: "2027-01-01T00:00:00Z",
    target: "prod",
    complete: true,
    exit: 2,
    manual: [],
    fingerprint,
  },
  counts: { differences: 1, exposed, manual: 0, blocked: 0, policy: 0, unmanaged: 0 },
  origins: { config: 0, drift: 1, conflict: 0, unknown: 0 },
});
const ended = (code: 0 | 1 | 2 | 3, error?: string): RunOutcome => ({
  exit: { code, reasons: [] },
  isThrottled: false,
  ...(error === undefined ? {} : { error: { code: error, message: "" } }),
});
const before = (outcome: string | null, failed = 0, notified: string | null = null) => ({ outcome, failed_runs: failed, notified });

test.each([
  ["the first check finds exposed data", before(null), ended(2), entry("a", 1), "exposed"],
  ["the same exposed data was posted", before("exposed", 0, "a"), ended(2), entry("a", 1), undefined],
  ["other data is exposed", before("exposed", 0, "a"), ended(2), entry("b", 2), "exposed"],
  ["a policy is violated", before("in-sync"), ended(3), entry("a", 0), "exposed"],
  ["another difference appears", before("in-sync"), ended(2), entry("a", 0), "drifted"],
  ["the account matches again", before("exposed", 0, "a"), ended(0), entry("z", 0), "resolved"],
  ["the account matches after a failure", before("in-sync", 2), ended(0), entry("z", 0), "resolved"],
  ["the account still matches", before("in-sync"), ended(0), entry("z", 0), undefined],
  ["the first check matches", before(null), ended(0), entry("z", 0), undefined],
  ["a check fails", before("in-sync"), ended(1, "E_TIMEOUT"), undefined, "failed"],
  ["it fails again", before("in-sync", 1), ended(1, "E_TIMEOUT"), undefined, undefined],
] as const)("the event if %s", (_sentence, was, outcome, found, event) => {
  expect(eventOf(was, outcome, found)).toBe(event);
});
