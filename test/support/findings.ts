// Findings of documents that tests make.

import type { GuardFinding, GuardName } from "../../src/core/base/model/findings.ts";
import { defined } from "../../src/core/base/model/json/json.ts";

type Measure = GuardFinding["guard"] & Partial<Pick<GuardFinding, "message" | "address">>;

/** What a guard found, with its message and its measure. */
export const guard = (rule: GuardName, { message = "x", address, ...measure }: Measure = {}): GuardFinding => ({
  ...{ rule, severity: "error", message, guard: measure },
  ...defined({ address }),
});
