// Findings of documents that tests make.

import type { GuardFinding, GuardName } from "../../src/core/base/model/findings.ts";
import { defined } from "../../src/core/base/model/json/json.ts";
import type { Plan } from "../../src/core/base/model/plan.ts";
import { type Diagnostic, diagnosticsIn } from "../../src/core/base/model/problem.ts";
import type { Code } from "../../src/core/base/model/titles.ts";

type Measure = GuardFinding["guard"] & Partial<Pick<GuardFinding, "message" | "address">>;

/** What a guard found, with its message and its measure. */
export const guard = (rule: GuardName, { message = "x", address, ...measure }: Measure = {}): GuardFinding => ({
  ...{ rule, severity: "error", message, guard: measure },
  ...defined({ address }),
});

/** A problem of a document, with its rule as the code that it is. */
export interface Coded extends Omit<Diagnostic, "rule"> {
  readonly code: Code;
}

export const coded = ({ rule, ...problem }: Diagnostic): Coded => ({ code: rule, ...problem });

export const diagnosticsOf = (document: Pick<Plan, "findings">): readonly Coded[] => diagnosticsIn(document).map(coded);

export const fromCoded = ({ code, ...problem }: Coded): Diagnostic => ({ rule: code, ...problem });
