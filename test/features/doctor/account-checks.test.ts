import { expect, test } from "vitest";
import { clockCheck } from "../../../src/features/doctor/account-checks.ts";

test.each([
  [undefined, "ok"],
  [1_000_000, "ok"],
  [1_060_000, "warn"],
  [1_400_000, "fail"],
  [600_000, "fail"],
] as const)("a clock at 1000000 ms is compared with the service's at %s ms: %s", (serverMs, state) => {
  expect(clockCheck(serverMs, 1_000_000).state).toBe(state);
});
