/** The three uses as GitHub workflows, by file name below .github/workflows. They are this project's own .github/workflows, told apart by their names. */
export const workflows: Readonly<Record<"plan" | "apply" | "drift", string>> = {
  plan: `# What a pull request would change in the account. Reads only.
name: dimsync plan
on:
  pull_request:
    paths: [dimsync.yaml, dimsync.bindings.yaml, "manifests/**"]
permissions:
  contents: read
concurrency:
  group: dimsync-plan-\${{ github.ref }}
  cancel-in-progress: true
jobs:
  plan:
    # Secrets aren't there for pull requests from forks.
    if: github.event.pull_request.head.repo.full_name == github.repository
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 22 }
      - run: npm install --global dimsync@0.1
      - run: dimsync validate
      - run: dimsync plan -o human -o markdown=plan.md
        env:
          DIMSYNC_API_KEY: \${{ secrets.DIMSYNC_API_KEY }}
      - if: \${{ !cancelled() && hashFiles('plan.md') != '' }}
        run: cat plan.md >> "$GITHUB_STEP_SUMMARY"
`,
  apply: `# Makes the account equal the manifests after each merge, and commits the ids of what was created.
name: dimsync apply
on:
  push:
    branches: [main]
    paths: [dimsync.yaml, "manifests/**"]
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
      - uses: actions/checkout@v4
        with: { ref: "\${{ github.ref_name }}" }
      - uses: actions/setup-node@v4
        with: { node-version: 22 }
      - run: npm install --global dimsync@0.1
      # The journal of creates: the next run settles what this one could not.
      - uses: actions/cache/restore@v4
        with: { path: .dimsync, key: "dimsync-\${{ github.run_id }}-\${{ github.run_attempt }}", restore-keys: dimsync- }
      - run: dimsync apply --yes -o human -o markdown=result.md
        env:
          DIMSYNC_API_KEY: \${{ secrets.DIMSYNC_API_KEY }}
          # The secrets that your manifests name with { $secret: { env: … } } go here as well.
      - if: always()
        uses: actions/cache/save@v4
        with: { path: .dimsync, key: "dimsync-\${{ github.run_id }}-\${{ github.run_attempt }}" }
      - if: always()
        name: commit the bindings
        run: |
          git add dimsync.bindings.yaml || exit 0
          git diff --cached --quiet && exit 0
          git config user.name "github-actions[bot]"
          git config user.email "41898282+github-actions[bot]@users.noreply.github.com"
          git commit --message "dimsync: record ids"
          git pull --rebase
          git push
      - if: \${{ always() && hashFiles('result.md') != '' }}
        run: cat result.md >> "$GITHUB_STEP_SUMMARY"
`,
  drift: `# Where the account differs from the manifests. Reads only; a difference fails the run, and GitHub tells who watches it.
name: dimsync drift
on:
  schedule:
    - cron: "17 5 * * *"
  workflow_dispatch:
permissions:
  contents: read
jobs:
  drift:
    # The repository variable DIMSYNC_DRIFT=off pauses it.
    if: vars.DIMSYNC_DRIFT != 'off'
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 22 }
      - run: npm install --global dimsync@0.1
      - run: dimsync drift -o human -o markdown=drift.md
        env:
          DIMSYNC_API_KEY: \${{ secrets.DIMSYNC_API_KEY }}
      - if: \${{ !cancelled() && hashFiles('drift.md') != '' }}
        run: cat drift.md >> "$GITHUB_STEP_SUMMARY"
`,
};
