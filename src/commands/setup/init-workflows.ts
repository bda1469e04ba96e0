/** What the workflows depend on. */
export interface WorkflowOptions {
  /** The version of dimsync that they install. */
  readonly version: string;
  /** One job each. */
  readonly targets: readonly string[];
}

// A tag can be moved to other code, a commit cannot. Dependabot updates both commit and comment.
const checkout = "actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2";
const setupNode = "actions/setup-node@2028fbc5c25fe9cf00d9f06a71cc4710d4507903 # v6.0.0";
const cacheCommit = "9255dc7a253b0ccc959486e2bca901246202afeb # v5.0.1";
const uploadArtifact = "actions/upload-artifact@b7c566a772e6b6bfb58ed0dc250532a479d7789f # v6.0.0";

/**
 * The workflows for GitHub, by file name below .github/workflows. They need nothing but these actions
 * of GitHub and the npm package.
 */
export function workflows({ version, targets }: WorkflowOptions): Readonly<Record<"plan" | "apply" | "drift", string>> {
  const matrix = `[${targets.map((target) => JSON.stringify(target)).join(", ")}]`;
  return { plan: planWorkflow(version, matrix), apply: applyWorkflow(version, matrix), drift: driftWorkflow(version, matrix) };
}

const planWorkflow = (
  version: string,
  targets: string,
): string => `# Shows in a comment what a pull request would change in the account. Sends only GET requests.
# Pull requests from forks and from Dependabot have no secrets: dimsync only validates their manifests.
name: dimsync plan
on:
  # Without \`paths\`, so that the check always reports and can be a required one. The step "changes"
  # skips the plan instead.
  pull_request:
  merge_group:
permissions:
  contents: read
  pull-requests: write
jobs:
  plan:
    strategy:
      fail-fast: false
      matrix:
        target: ${targets}
    runs-on: ubuntu-latest
    timeout-minutes: 30
    concurrency:
      group: dimsync-plan-\${{ matrix.target }}-\${{ github.ref }}
      cancel-in-progress: true
    steps:
      - uses: ${checkout}
        with: { fetch-depth: 0, persist-credentials: false }
      - id: changes
        env:
          BASE: \${{ github.event.pull_request.base.sha || github.event.merge_group.base_sha }}
        # All files that the project reads. If git cannot compare, the plan runs.
        run: git diff --quiet "$BASE...HEAD" -- 'dimsync*.yaml' manifests connectors policies || echo found=true >> "$GITHUB_OUTPUT"
      - if: steps.changes.outputs.found == 'true'
        uses: ${setupNode}
        with: { node-version: 24 }
      - if: steps.changes.outputs.found == 'true'
        id: run
        run: npx --yes dimsync@${version} ci plan
        env:
          DIMSYNC_TARGET: \${{ matrix.target }}
          # A key that can only read, because code of the pull request runs here. Other secrets are not needed.
          DIMSYNC_API_KEY: \${{ secrets.DIMSYNC_READ_KEY }}
          GITHUB_TOKEN: \${{ github.token }}
`;

const applyWorkflow = (
  version: string,
  targets: string,
): string => `# Makes the account match the manifests after each merge, and pushes the ids of created objects.
name: dimsync apply
on:
  push:
    branches: [main]
    paths: ["dimsync*.yaml", "!dimsync.bindings.yaml", "manifests/**", "connectors/**", "policies/**"]
  workflow_dispatch:
permissions:
  contents: write
jobs:
  apply:
    if: github.ref == 'refs/heads/main'
    strategy:
      # One after the other, because each pushes to the branch.
      max-parallel: 1
      fail-fast: false
      matrix:
        target: ${targets}
    runs-on: ubuntu-latest
    # The environment has the secrets of the target, and optionally required reviewers.
    environment: \${{ matrix.target }}
    # Only one apply of a target at a time, and never cancelled: a create whose response is lost cannot
    # be repeated safely.
    concurrency:
      group: dimsync-apply-\${{ matrix.target }}
      cancel-in-progress: false
    steps:
      # The branch as it is now, so that re-running an old job does not revert anything.
      - uses: ${checkout}
        with: { ref: "\${{ github.ref }}" }
      - uses: ${setupNode}
        with: { node-version: 24 }
      # The journal of creates, so that this run can settle what an earlier one could not.
      - uses: actions/cache/restore@${cacheCommit}
        with:
          path: .dimsync
          key: dimsync-journal/\${{ matrix.target }}/\${{ github.run_id }}-\${{ github.run_attempt }}
          restore-keys: dimsync-journal/\${{ matrix.target }}/
      - id: run
        run: npx --yes dimsync@${version} ci apply
        env:
          DIMSYNC_TARGET: \${{ matrix.target }}
          DIMSYNC_API_KEY: \${{ secrets.DIMSYNC_API_KEY }}
          # Add the secrets that your manifests use with { $secret: { env: NAME } }.
      - if: always()
        uses: actions/cache/save@${cacheCommit}
        with:
          path: .dimsync
          key: dimsync-journal/\${{ matrix.target }}/\${{ github.run_id }}-\${{ github.run_attempt }}
      # If the branch cannot be pushed to, commit this file by hand.
      - if: always() && steps.run.outputs.bindings_file != ''
        uses: ${uploadArtifact}
        with:
          name: dimsync-bindings-\${{ matrix.target }}
          path: \${{ steps.run.outputs.bindings_file }}
`;

const driftWorkflow = (
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
    strategy:
      fail-fast: false
      matrix:
        target: ${targets}
    runs-on: ubuntu-latest
    timeout-minutes: 30
    concurrency:
      group: dimsync-drift-\${{ matrix.target }}
      cancel-in-progress: false
    steps:
      - uses: ${checkout}
        with: { fetch-depth: 0, persist-credentials: false }
      - uses: ${setupNode}
        with: { node-version: 24 }
      - id: run
        run: npx --yes dimsync@${version} ci drift
        env:
          DIMSYNC_TARGET: \${{ matrix.target }}
          DIMSYNC_API_KEY: \${{ secrets.DIMSYNC_READ_KEY }}
          GITHUB_TOKEN: \${{ github.token }}
`;
