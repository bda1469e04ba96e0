export { causesOf } from "./causes.ts";
export { type CompiledPolicy, compilePolicy, type Exempt, isForAll, isValidOn, lastDay } from "./compile.ts";
export {
  type AskedPolicies,
  newPolicyEvaluator,
  type PolicyEvaluation,
  type PolicyEvaluator,
  type PolicyTarget,
  unchangedTarget,
} from "./evaluate.ts";
export { notEvaluatedProblems } from "./not-evaluated.ts";
export { literalProblems } from "./offline.ts";
export { expiredRules, policiesIn, policyProblems } from "./validate.ts";
export { policyQuestion, type Violated } from "./violations.ts";
