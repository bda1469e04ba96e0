import { checkoutHistory, installSteps, runDimsync } from "./steps.ts";

/** The workflow for pull requests. `targets`: a YAML list. */
export const planWorkflow = (
  version: string,
  targets: string,
): string => `# Shows in a comment what a pull request would change in the account. Sends only GET requests.
# Pull requests from forks and from Dependabot have no secrets: dimsync only validates their manifests.
name: dimsync plan
on:
  # Without \`paths\`: dimsync knows which files the project reads, and ends at once if none of them changed. So the check
  # always reports, and can be a required one.
  pull_request: { branches: [BRANCH] }
  merge_group:
permissions:
  contents: read
  pull-requests: write
jobs:
  plan:
${jobHead("plan", targets, `-\${{ github.ref }}`)}
    steps:
${checkoutHistory}${planSteps(version)}`;

const planSteps = (version: string): string => `${installSteps(version)}      - id: run
        ${runDimsync("plan")}        env:
          DIMSYNC_TARGET: \${{ matrix.target }}
          # A key that can only read: whoever can push a branch can change this file too. Other secrets are not needed.
          DIMSYNC_API_KEY: \${{ secrets.DIMSYNC_READ_KEY }}
          GITHUB_TOKEN: \${{ github.token }}
`;

/** The workflow that runs every night. `targets`: a YAML list. */
export const driftWorkflow = (
  version: string,
  targets: string,
): string => `# Reports drift between the manifests and the account in an issue. Sends only GET requests.
name: dimsync drift
on:
  schedule:
    - cron: "17 5 * * *"
  workflow_dispatch:
permissions:
  contents: read
  issues: write
jobs:
  drift:
    # Set the repository variable DIMSYNC_DRIFT to "off" to pause it.
    if: vars.DIMSYNC_DRIFT != 'off'
${jobHead("drift", targets, "")}
    steps:
${checkoutHistory}${installSteps(version)}      - id: run
        ${runDimsync("drift")}        env:
          DIMSYNC_TARGET: \${{ matrix.target }}
          DIMSYNC_API_KEY: \${{ secrets.DIMSYNC_READ_KEY }}
          GITHUB_TOKEN: \${{ github.token }}
`;

const jobHead = (task: "plan" | "drift", targets: string, ref: string): string => `    strategy:
      fail-fast: false
      matrix:
        target: ${targets}
    runs-on: ubuntu-latest
    timeout-minutes: 30
    concurrency:
      group: dimsync-${task}-\${{ matrix.target }}${ref}
      cancel-in-progress: ${task === "plan"}`;
