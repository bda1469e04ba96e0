/**
 * The three uses as GitHub workflows, by file name below .github/workflows. They need nothing but the npm package of this version: no other
 * repository's action, no script. `version` is what they install.
 */
export const workflows = (version: string): Readonly<Record<"plan" | "apply" | "drift", string>> => ({
  plan: `# What a pull request would change in the account, as one comment that is kept up to date. Reads only.
# A pull request from a fork gets no secrets: its manifests are validated, and the summary is all that is written.
name: dimsync plan
on:
  pull_request:
    paths: ["dimsync*.yaml", "manifests/**", "connectors/**", "policies/**"]
permissions:
  contents: read
  pull-requests: write
concurrency:
  group: dimsync-plan-\${{ github.ref }}
  cancel-in-progress: true
jobs:
  plan:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v4
        with: { persist-credentials: false }
      - uses: actions/setup-node@v4
        with: { node-version: 22 }
      - id: run
        run: npx --yes dimsync@${version} ci plan
        env:
          # A key that may only read is enough. Secrets of connections are not needed.
          DIMSYNC_API_KEY: \${{ secrets.DIMSYNC_API_KEY }}
          GITHUB_TOKEN: \${{ github.token }}
`,
  apply: `# Makes the account equal the manifests after each merge, and commits the ids of what was created.
name: dimsync apply
on:
  push:
    branches: [main]
    paths: [dimsync.yaml, "manifests/**", "connectors/**", "policies/**"]
  workflow_dispatch:
permissions:
  contents: write
# One at a time, and never stopped half way: a create whose answer is lost can't be repeated safely.
concurrency:
  group: dimsync-apply
  cancel-in-progress: false
jobs:
  apply:
    runs-on: ubuntu-latest
    steps:
      # The branch as it is now, not as it was when this run was asked for: an old run that is repeated takes nothing back.
      - uses: actions/checkout@v4
        with: { ref: "\${{ github.ref }}" }
      - uses: actions/setup-node@v4
        with: { node-version: 22 }
      # The journal of creates: the next run settles what this one could not.
      - uses: actions/cache/restore@v4
        with:
          path: .dimsync
          key: dimsync-journal-\${{ github.run_id }}-\${{ github.run_attempt }}
          restore-keys: dimsync-journal-
      - id: run
        run: npx --yes dimsync@${version} ci apply
        env:
          DIMSYNC_API_KEY: \${{ secrets.DIMSYNC_API_KEY }}
          # The secrets that your manifests name with { $secret: { env: … } } go here as well.
      - if: always()
        uses: actions/cache/save@v4
        with:
          path: .dimsync
          key: dimsync-journal-\${{ github.run_id }}-\${{ github.run_attempt }}
      # Where the branch may not be pushed to: commit this file by hand.
      - if: always() && steps.run.outputs.bindings_file != ''
        uses: actions/upload-artifact@v4
        with:
          name: dimsync-bindings
          path: \${{ steps.run.outputs.bindings_file }}
`,
  drift: `# Where the account differs from the manifests, in one issue that is opened, updated and closed. Reads only.
name: dimsync drift
on:
  schedule:
    - cron: "17 5 * * *"
  workflow_dispatch:
permissions:
  contents: read
  issues: write
concurrency:
  group: dimsync-drift
  cancel-in-progress: false
jobs:
  drift:
    # The repository variable DIMSYNC_DRIFT=off pauses it.
    if: vars.DIMSYNC_DRIFT != 'off'
    runs-on: ubuntu-latest
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v4
        with: { fetch-depth: 0, persist-credentials: false }
      - uses: actions/setup-node@v4
        with: { node-version: 22 }
      - id: run
        run: npx --yes dimsync@${version} ci drift
        env:
          DIMSYNC_API_KEY: \${{ secrets.DIMSYNC_API_KEY }}
          GITHUB_TOKEN: \${{ github.token }}
`,
});
