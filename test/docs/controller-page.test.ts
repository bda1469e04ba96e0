import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { controllerMetrics } from "../../src/features/controller/page/metrics.ts";
import { accountStates } from "../../src/features/controller/views/status.ts";
import { document } from "../features/controller/page/openapi.ts";
import { account, now } from "../features/controller/page/world.ts";
import { program } from "../support/programs.mjs";
import { needs } from "../support/programs.ts";
import { writeProject } from "../support/project-folder.ts";

const page = readFileSync("docs/controller-page.md", "utf8");

/** The first cells of the rows of a table, given a word of its head. */
const firstCells = (head: string): readonly string[] => {
  const [, rows = ""] = new RegExp(`^\\| ${head} \\|.*\\n\\|[-|]+\\|\\n((?:\\|.*\\n)+)`, "mu").exec(page) ?? [];
  return [...rows.matchAll(/^\| `([^`]+)`/gmu)].map(([, cell = ""]) => cell);
};

const metrics = controllerMetrics(
  {
    accounts: [account({ labels: {} })],
    queue: { due: 0, running: 0, overdue: 0 },
    workers: [{ id: "w", isStuck: false, checks: [{ account: "prod", since: now.toISOString(), seconds: 1 }] }],
    receivers: [{ source: "data", name: "chat", type: "json", lastTriedAt: null, failure: null }],
    counters: ["runs", "notifications"].map((name) => ({ name, label: "x", value: 1 })),
  },
  now,
);

/** Every metric, with its labels. */
const emitted = new Map(
  [...metrics.matchAll(/^(dimsync_\w+)(?:\{(.*)\})? /gmu)]
    // The first line of a histogram is that of a bucket.
    .filter(([line]) => !/^dimsync_\w+_(?:sum|count) /u.test(line))
    .map(([, name = "", labels = ""]) => [name.replace(/_bucket$/u, ""), [...labels.matchAll(/(\w+)="/gu)].map(([, label = ""]) => label)]),
);

test("the page of the controller lists every state", () => {
  expect(firstCells("state")).toEqual(accountStates.map((state) => state.replace("-", " ")));
});

test("it lists every address of the API", () => {
  expect(firstCells("address")).toEqual(Object.keys(document.paths));
});

test("it lists every metric with its label", () => {
  const listed = [...page.matchAll(/^\| `(dimsync_\w+)` \|([^|]*)\|/gmu)].map(([, name = "", labels = ""]) => [
    name,
    labels.match(/\w+/gu) ?? [],
  ]);
  expect(listed).toEqual([...emitted]);
});

test("the alert rules use metrics and labels that exist", () => {
  const rules: readonly { readonly alert: string; readonly expr: string; readonly annotations: { readonly summary: string } }[] = parse(
    readFileSync("examples/controller/prometheus-rules.yaml", "utf8"),
  ).groups.flatMap(({ rules: all }: { readonly rules: readonly unknown[] }) => all);
  expect(rules.map(({ alert }) => alert)).toEqual([
    "DataExposed",
    "AccountNotChecked",
    "AccountFails",
    "AccountDrifted",
    "NotificationsFail",
    "ControllerDown",
  ]);
  for (const { expr, annotations } of rules) {
    const names = expr.match(/dimsync_\w+/gu) ?? [];
    expect(names.filter((name) => !emitted.has(name))).toEqual([]);
    const labels = [...annotations.summary.matchAll(/\$labels\.(\w+)/gu)].map(([, label]) => label);
    for (const label of labels) expect(names.flatMap((name) => emitted.get(name))).toContain(label);
  }
});

const queries = [...readFileSync("examples/controller/grafana-dashboard.json", "utf8").matchAll(/"expr": ("(?:[^"\\]|\\.)*")/gu)].map(
  ([, expr = ""]): string => JSON.parse(expr),
);

test("the Grafana dashboard uses metrics that exist", () => {
  expect(queries.length).toBeGreaterThan(15);
  const names = queries.flatMap((expr) => expr.match(/dimsync_\w+/gu) ?? []).map((name) => name.replace(/_bucket$/u, ""));
  expect(names.filter((name) => !emitted.has(name))).toEqual([]);
});

/** promtool of Prometheus: its output, and whether it found nothing wrong. */
const promtool = (args: readonly string[], input?: string) => {
  const { status, stdout, stderr } = spawnSync(program("promtool"), args, { input, encoding: "utf8" });
  return { status, text: `${stdout}${stderr}` };
};

test("promtool finds nothing wrong with the metrics", needs("promtool"), () => {
  expect(promtool(["check", "metrics"], metrics)).toEqual({ status: 0, text: "" });
});

test("promtool accepts the queries of the dashboard", needs("promtool"), () => {
  const rules = queries.map((expr, index) => ({ record: `query:${index}`, expr: expr.replaceAll("$__rate_interval", "5m") }));
  const folder = writeProject({ "rules.yaml": stringify({ groups: [{ name: "dashboard", rules }] }) });
  expect(promtool(["check", "rules", `${folder}/rules.yaml`]).text).toContain(`SUCCESS: ${queries.length} rules found`);
});

test("promtool accepts the alert rules, and they fire when they should", needs("promtool"), () => {
  expect(promtool(["check", "rules", "examples/controller/prometheus-rules.yaml"])).toMatchObject({ status: 0 });
  expect(promtool(["test", "rules", "test/docs/prometheus-rules.test.yaml"]).text).toContain("SUCCESS");
});
