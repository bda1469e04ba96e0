import {
  applyEnvironment,
  applyPermissions,
  applyTriggers,
  checkoutHistory,
  checkoutTip,
  downloadPlan,
  installSteps,
  keepResponses,
  runDimsync,
  uploadPlan,
} from "./steps.ts";

const ofMatrix = `\${{ matrix.target }}`;

/** The workflow that applies after a merge. `targets`: a YAML list. */
export const applyWorkflow = (version: string, targets: string): string => `# Makes the account match the manifests after each merge.
name: dimsync apply
${applyTriggers}${applyPermissions(0)}
jobs:
  apply:
    if: github.ref == 'refs/heads/BRANCH'
    strategy:
      fail-fast: false
      matrix:
        target: ${targets}
    runs-on: ubuntu-latest
    timeout-minutes: 60
    # The environment has the secrets of the target, and optionally required reviewers.
    environment: \${{ matrix.target }}
${oneAtATime(ofMatrix)}
    steps:
${checkoutTip("The branch as it is now, so that re-running an old job does not revert anything.")}${installSteps(version)}      - id: run
        ${runDimsync("apply")}${applyEnvironment(ofMatrix)}${keepResponses(ofMatrix)}`;

/** The workflow in which each apply waits for an approval of its plan: two jobs for each target. */
export function approvedApplyWorkflow(version: string, targets: readonly string[]): string {
  const jobs = targets.map((target, index) => {
    const id = target.replaceAll(/[^A-Za-z0-9_-]/gu, "-");
    const isTaken = targets.slice(0, index).some((other) => other.replaceAll(/[^A-Za-z0-9_-]/gu, "-") === id);
    const name = isTaken ? `${id}-${index}` : id;
    return planJob(version, target, name) + approvedJob(version, target, name);
  });
  return `# Makes the account match the manifests after each merge, once a reviewer has approved the plan: exactly
# the plan that was reviewed is applied. Add required reviewers to the environment of each target.
name: dimsync apply
${applyTriggers}permissions:
  contents: read
jobs:
${jobs.join("")}`;
}

const planJob = (version: string, target: string, name: string): string => `  plan-${name}:
    if: github.ref == 'refs/heads/BRANCH'
    runs-on: ubuntu-latest
    timeout-minutes: 30
    outputs:
      has_changes: \${{ steps.run.outputs.has_changes }}
      artifact_id: \${{ steps.upload.outputs.artifact-id }}
      sha256: \${{ steps.sum.outputs.sha256 }}
    steps:
${checkoutHistory}${installSteps(version)}      # --fail-on: what is blocked does not stop the rest. Apply reports it with exit code 4.
      - id: run
        ${runDimsync('plan --fail-on "" --out "$RUNNER_TEMP/plan.json"')}        env:
          DIMSYNC_TARGET: ${JSON.stringify(target)}
          DIMSYNC_API_KEY: \${{ secrets.DIMSYNC_READ_KEY }}
          # Optional: signs the plan.
          DIMSYNC_DIGEST_KEY: \${{ secrets.DIMSYNC_DIGEST_KEY }}
          GITHUB_TOKEN: \${{ github.token }}
${uploadPlan(name)}`;

const approvedJob = (version: string, target: string, name: string): string => `  apply-${name}:
    needs: plan-${name}
    if: needs.plan-${name}.outputs.has_changes == 'true'
    runs-on: ubuntu-latest
    timeout-minutes: 60
    # The environment has the secrets of the target and its required reviewers.
    environment: ${JSON.stringify(target)}
${applyPermissions(4)}
    # No concurrency group: a run that waits for an approval would be cancelled by a newer one, or keep it
    # waiting. The lease of the records lets one apply run at a time.
    steps:
${checkoutTip("The branch as it is now: a plan of older manifests is refused.")}${installSteps(version)}${downloadPlan(`plan-${name}`)}      - id: run
        ${runDimsync('apply "$RUNNER_TEMP/reviewed/plan.json" --lock-timeout=10m')}${applyEnvironment(JSON.stringify(target))}${keepResponses(name)}`;

const oneAtATime = (
  target: string,
): string => `    # Only one apply of a target at a time, and never cancelled: a create whose response is lost cannot
    # be repeated safely.
    concurrency:
      group: dimsync-apply-${target}
      cancel-in-progress: false`;
