// audit refuses a time range that it cannot read.
import { afterEach, beforeEach, expect, test } from "vitest";
import { runAudit } from "../../../src/features/audit/command.ts";
import type { AuditFlags } from "../../../src/features/audit/index.ts";
import { type AccountProject, openAccountProject } from "../../support/accounts/project.ts";

let project: AccountProject;
beforeEach(async () => {
  project = await openAccountProject();
});
afterEach(() => project.close());

test.each([
  ["that ends before it starts", { since: "2026-05-01", until: "2026-01-01" }],
  ["that starts in the future", { since: "2999-01-01" }],
])("audit refuses a time range %s", async (_, flags) => {
  const { code, err } = await project.run<AuditFlags>(runAudit, flags);
  expect([code, err]).toEqual([1, expect.stringContaining("E_USAGE: --since must be before --until")]);
});
