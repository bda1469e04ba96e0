import { expect, test } from "vitest";
import { statusExit } from "../../../../src/features/controller/commands/status.ts";
import type { AccountSummary } from "../../../../src/features/controller/views/status.ts";
import { account, suspension } from "../page/world.ts";

const suspended = { state: "suspended", suspension } as const;

test.each<[string, readonly Partial<AccountSummary>[], number, readonly string[]]>([
  ["nothing is wrong", [{}], 0, []],
  ["an account is exposed", [{ state: "exposed", exposedColumns: 1 }], 2, ["exposed"]],
  ["a suspended account is exposed", [{}, { ...suspended, exposedColumns: 1 }], 2, ["exposed"]],
  ["a suspended account violates a policy", [{ ...suspended, policyViolations: 1 }], 3, ["policy", "exposed"]],
  [
    "a suspended account is stale, failing and drifted",
    [{ ...suspended, isStale: true, differences: 3, error: { code: "E", message: "" } }],
    0,
    [],
  ],
  ["an account fails", [{ state: "failing", error: { code: "E", message: "" } }], 1, ["failing"]],
])("the exit code of status if %s", (_, accounts, code, reasons) => {
  expect(statusExit(accounts.map((each) => account(each)))).toEqual({ code, reasons });
});
