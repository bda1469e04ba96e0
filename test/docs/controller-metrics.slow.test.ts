import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { program } from "../support/programs.mjs";
import { fileNeeds } from "../support/programs.ts";
import { writeProject } from "../support/project-folder.ts";
import { metrics, queries } from "./controller-metrics.ts";

fileNeeds("promtool");

/** promtool of Prometheus: its output, and whether it found nothing wrong. */
const promtool = (args: readonly string[], input?: string) => {
  const { status, stdout, stderr } = spawnSync(program("promtool"), args, { input, encoding: "utf8" });
  return { status, text: `${stdout}${stderr}` };
};

test("promtool finds nothing wrong with the metrics", () => {
  expect(promtool(["check", "metrics"], metrics)).toEqual({ status: 0, text: "" });
});

test("promtool accepts the queries of the dashboard", () => {
  const rules = queries.map((expr, index) => ({ record: `query:${index}`, expr: expr.replaceAll("$__rate_interval", "5m") }));
  const folder = writeProject({ "rules.yaml": stringify({ groups: [{ name: "dashboard", rules }] }) });
  expect(promtool(["check", "rules", `${folder}/rules.yaml`]).text).toContain(`SUCCESS: ${queries.length} rules found`);
});

test("promtool accepts the alert rules, and they fire when they should", () => {
  expect(promtool(["check", "rules", "examples/controller/prometheus-rules.yaml"])).toMatchObject({ status: 0 });
  expect(promtool(["test", "rules", "test/docs/prometheus-rules.test.yaml"]).text).toContain("SUCCESS");
});
