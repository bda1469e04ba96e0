import { applyWorkflow, approvedApplyWorkflow } from "./apply.ts";
import { driftWorkflow, planWorkflow } from "./read-only.ts";

/** The input of the workflows. */
export interface WorkflowOptions {
  /** The version of dimsync that they install. */
  readonly version: string;
  /** One job each. */
  readonly targets: readonly string[];
  /** Whether a reviewer approves each plan before exactly that plan is applied. */
  readonly approval?: boolean;
}

/**
 * The workflows for GitHub, by file name below .github/workflows. They need nothing but these actions
 * of GitHub and the npm package.
 */
export function workflows(options: WorkflowOptions): Readonly<Record<"plan" | "apply" | "drift", string>> {
  const { version, targets, approval = false } = options;
  const matrix = `[${targets.map((target) => JSON.stringify(target)).join(", ")}]`;
  return {
    plan: planWorkflow(version, matrix),
    apply: approval ? approvedApplyWorkflow(version, targets) : applyWorkflow(version, matrix),
    drift: driftWorkflow(version, matrix),
  };
}
