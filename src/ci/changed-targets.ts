import type { Context } from "../cli/context.ts";
import { loadOptions, loadProjects } from "../cli/project.ts";
import { ProblemsError } from "../model/errors.ts";
import { targetChange } from "../operations/core/target-changes.ts";

/** Throws ProblemsError if a target of the flags differs from the one at `base`, before any of its secrets is read. */
export async function refuseChangedTargets(context: Context, base: string): Promise<void> {
  const projects = await loadProjects(context, { account: true });
  const options = loadOptions(context, []);
  const found = await Promise.all(projects.map((project) => targetChange(project, base, options)));
  const problems = found.filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new ProblemsError(problems, projects[0]?.locate);
}
