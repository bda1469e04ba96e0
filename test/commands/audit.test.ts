import { afterEach, beforeEach, expect, test } from "vitest";
import { runAudit } from "../../src/commands/inspect/audit.ts";
import type { AuditFlags } from "../../src/commands/shared/flags.ts";
import { type AccountProject, openAccountProject } from "../support/account-project.ts";

let project: AccountProject;
beforeEach(async () => {
  project = await openAccountProject();
});
afterEach(() => project.close());

test.each([
  ["that ends before it begins", { since: "2026-05-01", until: "2026-01-01" }],
  ["that begins tomorrow", { since: "2999-01-01" }],
])("audit refuses a window %s", async (_, flags) => {
  const { code, err } = await project.run<AuditFlags>(runAudit, flags);
  expect([code, err]).toEqual([1, expect.stringContaining("E_USAGE: No time lies between --since")]);
});
