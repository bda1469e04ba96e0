import { checkLoosened } from "../loosened/index.ts";
import type { Check, CheckInput } from "./check.ts";
import { checkCoverage } from "./coverage.ts";
import { checkKept } from "./kept.ts";
import { checkLabels } from "./labels.ts";
import { checkPolicies } from "./policies.ts";
import { checkReviewedColumns } from "./reviewed-columns.ts";
import { checkUnmanaged } from "./unmanaged.ts";
import { checkUnmatched } from "./unmatched.ts";

/** All checks, in the order in which they end: what one found is known to those after it. */
export function startChecks(input: CheckInput): readonly Check[] {
  const always = [checkUnmatched, checkPolicies, checkReviewedColumns, checkUnmanaged];
  const whole = [checkLoosened, checkLabels, checkCoverage, checkKept];
  return [...(input.account.isStopped ? [] : whole), ...always].map((start) => start(input));
}
