import { namesOf } from "../../core/operations/forge/index.ts";
import type { DriftLinks } from "../../core/render/index.ts";
import type { CiJob } from "./job.ts";

/**
 * Where a reader of the issue of a target acts: the page that runs apply by hand, and the pull request that accepts the drift, which the
 * job opens after the issue. Undefined if the job does not say the page of the repository. `known`: all targets of the project, in its order.
 */
export function driftLinks(
  { environment, env }: Pick<CiJob, "environment" | "env">,
  target: string,
  known: readonly string[],
): DriftLinks | undefined {
  const { provider, projectUrl, folder } = environment;
  if (provider === "none" || projectUrl === undefined) return undefined;
  const { workflow, file, job, branch } = namesOf({ targets: known, folder }, target);
  if (provider === "github")
    return {
      apply: {
        text: `run the workflow ${workflow} by hand`,
        href: `${projectUrl}/actions/workflows/${applyFile(env["GITHUB_WORKFLOW_REF"]) ?? file}`,
      },
      accept: { text: "the pull request that accepts it", href: `${projectUrl}/pulls?q=is%3Aopen+head%3A${encodeURIComponent(branch)}` },
    };
  return {
    apply: { text: `start the job ${job}`, href: env["CI_PIPELINE_URL"] ?? `${projectUrl}/-/pipelines` },
    accept: {
      text: "the merge request that accepts it",
      href: `${projectUrl}/-/merge_requests?state=opened&source_branch=${encodeURIComponent(branch)}`,
    },
  };
}

/** The workflow beside that of this job: "dimsync-apply.yml" of "example/data/.github/workflows/dimsync-drift.yml@refs/heads/main". */
function applyFile(ref = ""): string | undefined {
  const [, own = ""] = /\/([\w.-]*drift[\w.-]*\.ya?ml)@/u.exec(ref) ?? [];
  return own === "" ? undefined : own.replace("drift", "apply");
}
