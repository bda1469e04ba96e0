import { shellWord } from "../../text/shell.ts";
import type { WorkflowOptions } from "./index.ts";
import { yamlText } from "./steps.ts";

interface PipelineOptions extends WorkflowOptions {
  /** The name of the file, for its comment. */
  readonly file: string;
  /** The folder as a part of names; "" at the top of the repository. */
  readonly slug: string;
}

/** The jobs for GitLab CI. Several targets have a job each. */
export function gitlabPipeline({ version, targets, hosts = [], folder = "", file, slug: name }: PipelineOptions): string {
  const [target = ""] = targets;
  const ofTarget = targets.length === 1 ? `    # A target of dimsync.yaml.\n    DIMSYNC_TARGET: ${yamlText(target)}\n` : "";
  const each = targets.length === 1 ? "" : `  parallel:\n    matrix:\n      - DIMSYNC_TARGET: ${JSON.stringify(targets)}\n`;
  const enter = folder === "" ? "" : `    - cd ${shellWord(folder)}\n`;
  const below = (path: string): string => (folder === "" ? path : JSON.stringify(`${folder}/${path}`));
  // Files that are included share one space of names.
  const hidden = (text: string): string => (name === "" ? text : `${text} ${name}`);
  const job = (task: string): string => (folder === "" ? `dimsync ${task}` : JSON.stringify(`dimsync ${task} (${folder})`));
  const slug = name === "" ? "" : `${name}-`;
  return `# dimsync in GitLab CI: plan in merge requests, apply on the default branch, drift on a schedule.
# Include it in .gitlab-ci.yml:
#   include: { local: ${file} }
# Set these variables as masked (Settings, CI/CD):
#   DIMSYNC_READ_KEY: an API key that can only read, for plan and drift
#   DIMSYNC_API_KEY: an API key that can write, for apply; protected, and limited to the environment
#     with the name of the target
#   GITLAB_TOKEN: a project access token with the role Developer or higher and the scopes api and
#     write_repository, for the records (a ref of this repository), the note on merge requests and the
#     issue about drift. No branch is pushed to, so the default branch can be protected.
#   the secrets that the manifests use, for apply; protected and limited like DIMSYNC_API_KEY
${hidden(".dimsync")}:
  # Not the slim image, which has no git. A tag can be moved: node:24@sha256:DIGEST pins it.
  image: node:24
  variables:
    DIMSYNC_PACKAGE: dimsync@${version}
${ofTarget}    # The hosts that may get an API key, whatever dimsync.yaml says.
    DIMSYNC_ALLOWED_HOSTS: ${yamlText(hosts.join(","))}
    # The full history, so that drift can compare with an earlier commit.
    GIT_DEPTH: "0"
${each}  before_script: &install
    # Outside the checkout: npm reads no .npmrc, package.json or node_modules of the branch, which would choose the
    # program that gets the key.
    - DIMSYNC_FOLDER="$(mktemp -d)"
    - npm install --prefix "$DIMSYNC_FOLDER" --no-save --no-audit --no-fund --ignore-scripts "$DIMSYNC_PACKAGE"
${enter}  artifacts:
    when: always
    name: dimsync-$DIMSYNC_TARGET
    paths: [${below("dimsync-*.md")}]

${hidden(".dimsync read")}:
  extends: ${hidden(".dimsync")}
  stage: test
  before_script:
    - *install
    # In the script, because a variable of the project would take precedence over one of the job.
    - export DIMSYNC_API_KEY="$DIMSYNC_READ_KEY"

${job("plan")}:
  extends: ${hidden(".dimsync read")}
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event" && $CI_MERGE_REQUEST_TARGET_BRANCH_NAME == $CI_DEFAULT_BRANCH
  interruptible: true
  script:
    - '"$DIMSYNC_FOLDER/node_modules/.bin/dimsync" ci plan -o human -o markdown=dimsync-plan.md'

${job("apply")}:
  extends: ${hidden(".dimsync")}
  stage: deploy
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH && $CI_PIPELINE_SOURCE == "push"
  # The environment has the secrets of the target, and optionally required approvals.
  environment:
    name: $DIMSYNC_TARGET
  # One at a time, and never cancelled: a create whose response is lost cannot be repeated safely.
  resource_group: dimsync-apply-${slug}$DIMSYNC_TARGET
  interruptible: false
  artifacts:
    paths:
      - ${below("dimsync-*.md")}
      # Only if the records could not be written: the ids that are missing there. The log has the command
      # that records them.
      - ${below(".dimsync/responses-*/*.ndjson")}
  script:
    # The branch as it is now, so that retrying an old job does not revert anything.
    - git fetch --quiet origin "refs/heads/$CI_COMMIT_BRANCH"
    - git checkout --quiet --detach FETCH_HEAD
    - '"$DIMSYNC_FOLDER/node_modules/.bin/dimsync" ci apply -o human -o markdown=dimsync-apply.md'

${job("drift")}:
  extends: ${hidden(".dimsync read")}
  rules:
    - if: $CI_PIPELINE_SOURCE == "schedule"
  script:
    - '"$DIMSYNC_FOLDER/node_modules/.bin/dimsync" ci drift -o human -o markdown=dimsync-drift.md'
`;
}
