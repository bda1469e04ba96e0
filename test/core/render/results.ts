import { type Result, stepsOf } from "../../../src/core/base/model/plan.ts";
import { endedFrom } from "../../support/steps.ts";
import { fullPlan } from "./full-plan.ts";
import { change } from "./plans.ts";

const outcomes = endedFrom([
  { id: "s1", address: "Asset/warehouse", verb: "update", outcome: "done", liveId: "d-12", changes: [change()] },
  { id: "s2", address: "Integration/billing", verb: "create", outcome: "recovered", liveId: "b-77" },
  {
    id: "s3",
    address: "Integration/shop",
    verb: "create",
    outcome: "unknown",
    code: "E_UNKNOWN_OUTCOME",
    message:
      "The connection was reset after the request was sent, and no new integration appeared within 30 seconds. It may still have been created.",
    command: "dimsync resolve Integration/shop --created=ID",
  },
  {
    id: "s4",
    address: "Schemas/orders",
    verb: "update",
    outcome: "not-converged",
    liveId: "8f1c",
    code: "E_NOT_CONVERGED",
    message: "The service accepted the request, but one column still has its old value.",
    changes: [change()],
  },
  {
    id: "s5",
    address: "Tag/pii",
    verb: "update",
    outcome: "failed",
    liveId: "t-3",
    code: "E_SERVICE_STATUS",
    message: "PUT /v1/tags/t-3 was answered with 403. The key may not edit tags.",
  },
  { id: "s6", address: "Tag/pii#8f1c", verb: "relate", outcome: "skipped", message: "It needs Tag/pii, which failed." },
  {
    address: "Schemas/billing",
    outcome: "waits",
    message: "The schema of Integration/billing does not exist yet.",
  },
  { address: "Asset/lake", outcome: "blocked", code: "E_UNBOUND", message: "The manifest has no live id." },
]);

export const fullResult: Result = {
  formatVersion: "3.0",
  kind: "Result",
  runId: "r-01jz",
  planId: "p-01jz",
  startedAt: "2026-03-01T09:05:00.000Z",
  finishedAt: "2026-03-01T09:06:00.000Z",
  tool: { name: "dimsync", version: "0.1.0" },
  target: "prod",
  account: "https://api.example.com",
  steps: [...outcomes, ...stepsOf(fullPlan, "byHand").slice(0, 1)],
  findings: fullPlan.findings.filter((_, index) => index !== 1 && index !== 3),
  calls: { sent: { PATCH: 2, POST: 2, PUT: 1 } },
  bindings: { "Asset/warehouse": "d-12", "Integration/billing": "b-77", "Integration/orders": "8f1c", "Tag/pii": "t-3" },
  exit: { code: 4, reasons: ["failed", "unknown"] },
};

export const doneResult: Result = {
  ...fullResult,
  steps: outcomes.slice(0, 2),
  findings: [],
  calls: { sent: { PATCH: 1, POST: 1 } },
  exit: { code: 0, reasons: [] },
};
