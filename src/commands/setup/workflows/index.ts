import { applyWorkflow, approvedApplyWorkflow } from "./apply.ts";
import { driftWorkflow, planWorkflow } from "./read-only.ts";

/** The input of the workflows. */
export interface WorkflowOptions {
  /** The version of dimsync that they install. */
  readonly version: string;
  /** One job each. */
  readonly targets: readonly string[];
  /** That may get an API key. */
  readonly hosts?: readonly string[];
  /** Whether a reviewer approves each plan before exactly that plan is applied. */
  readonly approval?: boolean;
}

/**
 * The workflows for GitHub, by file name below .github/workflows. They need nothing but these actions
 * of GitHub and the npm package.
 */
export function workflows(options: WorkflowOptions): Readonly<Record<"plan" | "apply" | "drift", string>> {
  const { version, targets, hosts = [], approval = false } = options;
  const matrix = `[${targets.map((target) => JSON.stringify(target)).join(", ")}]`;
  const limited = (text: string): string => text.replace(/^jobs:$/mu, () => `${hostsText(hosts)}jobs:`);
  return {
    plan: limited(planWorkflow(version, matrix)),
    apply: limited(approval ? approvedApplyWorkflow(version, targets) : applyWorkflow(version, matrix)),
    drift: limited(driftWorkflow(version, matrix)),
  };
}

const hostsText = (hosts: readonly string[]): string =>
  hosts.length === 0
    ? ""
    : `env:
  # The hosts that may get an API key, whatever dimsync.yaml says.
  DIMSYNC_ALLOWED_HOSTS: ${JSON.stringify(hosts.join(","))}
`;
