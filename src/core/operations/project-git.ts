import { gitState } from "../base/git/state.ts";
import type { Plan } from "../base/model/plan.ts";
import type { Project } from "../manifests/index.ts";

/** The commit of the project, and which of its files have uncommitted changes. */
export async function projectGitState(project: Project, signal: AbortSignal): Promise<Plan["git"]> {
  const { settings, sourceFiles, recordedGit } = project;
  if (recordedGit !== undefined) return recordedGit.state;
  return gitState(settings.folder, sourceFiles, { signal });
}
