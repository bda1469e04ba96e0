import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { accountStates } from "../../src/features/controller/views/status.ts";
import { document } from "../features/controller/page/openapi.ts";
import { metrics, queries } from "./controller-metrics.ts";

const page = readFileSync("docs/controller-page.md", "utf8");

/** The first cells of the rows of a table, given a word of its head. */
const firstCells = (head: string): readonly string[] => {
  const [, rows = ""] = new RegExp(`^\\| ${head} \\|.*\\n\\|[-|]+\\|\\n((?:\\|.*\\n)+)`, "mu").exec(page) ?? [];
  return [...rows.matchAll(/^\| `([^`]+)`/gmu)].map(([, cell = ""]) => cell);
};

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

test("the Grafana dashboard uses metrics that exist", () => {
  expect(queries.length).toBeGreaterThan(15);
  const names = queries.flatMap((expr) => expr.match(/dimsync_\w+/gu) ?? []).map((name) => name.replace(/_bucket$/u, ""));
  expect(names.filter((name) => !emitted.has(name))).toEqual([]);
});
