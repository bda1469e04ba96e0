import { readFileSync } from "node:fs";
import { controllerMetrics } from "../../src/features/controller/page/metrics.ts";
import { account, now } from "../features/controller/page/world.ts";

/** What the controller answers to a request for its metrics: each of them is in it. */
export const metrics = controllerMetrics(
  {
    accounts: [account({ labels: {} })],
    queue: { due: 0, running: 0, overdue: 0 },
    workers: [{ id: "w", isStuck: false, checks: [{ account: "prod", since: now.toISOString(), seconds: 1 }] }],
    receivers: [{ source: "data", name: "chat", type: "json", lastTriedAt: null, failure: null }],
    counters: ["runs", "notifications"].map((name) => ({ name, label: "x", value: 1 })),
  },
  now,
);

/** The queries of the Grafana dashboard in examples/. */
export const queries = [
  ...readFileSync("examples/controller/grafana-dashboard.json", "utf8").matchAll(/"expr": ("(?:[^"\\]|\\.)*")/gu),
].map(([, expr = ""]): string => JSON.parse(expr));
