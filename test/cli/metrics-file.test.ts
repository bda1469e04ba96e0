import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeMetrics } from "../../src/cli/metrics-file.ts";
import { plan } from "../core/render/plans.ts";
import { writeProject } from "../support/project-folder.ts";

test("--metrics replaces the file and keeps the time of the last success", async () => {
  const folder = writeProject({});
  const file = join(folder, "dimsync.prom");
  await writeMetrics(file, [plan()]);
  const success = /^dimsync_last_success_timestamp_seconds\{.*$/mu.exec(readFileSync(file, "utf8"))?.[0];
  await writeMetrics(file, [plan({ complete: false, exit: { code: 1, reasons: ["incomplete"] } })]);
  expect(readFileSync(file, "utf8")).toContain(success);
  expect(readFileSync(file, "utf8")).toContain('dimsync_exit_code{command="plan",target="prod"} 1');
});
