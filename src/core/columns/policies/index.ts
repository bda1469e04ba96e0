export { type CompiledPolicy, compilePolicy, type Exempt, isForAll, isValidOn, lastDay } from "./compile.ts";
export {
  type AskedPolicies,
  causesOf,
  newPolicyEvaluator,
  type PolicyEvaluation,
  type PolicyEvaluator,
  type PolicyTarget,
  unchangedTarget,
} from "./evaluate.ts";
export { expiredRules, literalProblems, notEvaluatedProblems, policiesIn, policyProblems } from "./validate.ts";
export { policyQuestion, type Violated } from "./violations.ts";
