// A tag can be moved to other code, a commit cannot. Dependabot updates both commit and comment.
const checkout = "actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2";
const setupNode = "actions/setup-node@2028fbc5c25fe9cf00d9f06a71cc4710d4507903 # v6.0.0";
const uploadArtifact = "actions/upload-artifact@b7c566a772e6b6bfb58ed0dc250532a479d7789f # v6.0.0";
const downloadArtifact = "actions/download-artifact@37930b1c2abaa49bbe596cd826c3c89aef350131 # v7.0.0";

/** When apply runs. */
export const applyTriggers = `on:
  push:
    # Without \`paths\`: dimsync ends at once if no file of the project changed since the last complete apply.
    branches: [BRANCH]
  workflow_dispatch:
`;

/** The permissions of a job that applies, indented by `indent` spaces. */
export const applyPermissions = (indent: number): string =>
  `permissions:
  # The records are a ref of this repository. No branch is pushed to.
  contents: write
  # To see whether the job that holds the lease of the records has ended.
  actions: read
  # To compare what is applied with the comment that was reviewed.
  pull-requests: read
`
    .replaceAll(/^/gmu, " ".repeat(indent))
    .trimEnd();

/** Checks out the full history. */
export const checkoutHistory = `      # dimsync reads the records with the token that this step leaves in the checkout.
      - uses: ${checkout}
        with: { fetch-depth: 0 }
`;

/** Checks out the tip of the branch, with the history. `why`: the comment above. */
export const checkoutTip = (why: string): string => `      # ${why}
      - uses: ${checkout}
        with: { ref: "\${{ github.ref }}", fetch-depth: 0 }
`;

/** Sets up Node and installs dimsync outside the checkout, so that a branch does not choose the program that gets the key. */
export const installSteps = (version: string): string => `      - uses: ${setupNode}
        # A cache would follow the package.json and .npmrc of the checkout.
        with: { node-version: 24, package-manager-cache: false }
      - name: Install dimsync
        # Outside the checkout: npm reads no .npmrc, package.json or node_modules of the branch.
        run: npm install --prefix "$RUNNER_TEMP/dimsync-package" --no-save --no-audit --no-fund --ignore-scripts dimsync@${version}
`;

/** The script of a step that runs `dimsync ci TASK`. */
export const runDimsync = (task: string): string => `run: |
          "$RUNNER_TEMP/dimsync-package/node_modules/.bin/dimsync" ci ${task}
`;

/** The environment of the step that applies. `target`: an expression or a name. */
export const applyEnvironment = (target: string): string => `        env:
          DIMSYNC_TARGET: ${target}
          DIMSYNC_API_KEY: \${{ secrets.DIMSYNC_API_KEY }}
          # Optional: seals the records, and signs saved plans.
          DIMSYNC_DIGEST_KEY: \${{ secrets.DIMSYNC_DIGEST_KEY }}
          GITHUB_TOKEN: \${{ github.token }}
          # Add the secrets that your manifests use with { $secret: { env: NAME } }.
`;

/** Keeps what only this machine knows, if the records could not be written. `name`: of the target in the artifact's name. */
export const keepResponses = (
  name: string,
): string => `      # Only if the records could not be written: the ids that are missing there. The log has the command
      # that records them.
      - if: failure()
        uses: ${uploadArtifact}
        with:
          name: dimsync-responses-${name}
          path: .dimsync/responses-*/*.ndjson
          include-hidden-files: true
          if-no-files-found: ignore
`;

/** Uploads the plan, and keeps its digest as an output. */
export const uploadPlan = (name: string): string => `      - id: sum
        if: steps.run.outputs.has_changes == 'true'
        run: echo "sha256=$(sha256sum < "$RUNNER_TEMP/plan.json" | cut -d ' ' -f 1)" >> "$GITHUB_OUTPUT"
      - id: upload
        if: steps.run.outputs.has_changes == 'true'
        uses: ${uploadArtifact}
        with:
          name: dimsync-plan-${name}
          path: \${{ runner.temp }}/plan.json
          if-no-files-found: error
`;

/** Downloads the plan of the job, and compares it with the digest of that job. */
export const downloadPlan = (job: string): string => `      - uses: ${downloadArtifact}
        with:
          artifact-ids: \${{ needs.${job}.outputs.artifact_id }}
          path: \${{ runner.temp }}/reviewed
      - name: Check that the plan is the one that was reviewed
        env:
          SHA256: \${{ needs.${job}.outputs.sha256 }}
        run: echo "$SHA256  $RUNNER_TEMP/reviewed/plan.json" | sha256sum --check --strict
`;

/** As a scalar of YAML. */
export const yamlText = (text: string): string => (/^[A-Za-z][\w./-]*$/u.test(text) ? text : JSON.stringify(text));
