import { join, relative } from "node:path";
import { layOutBase } from "../drift/base.ts";
import { type LoadOptions, loadProject, type Project } from "../manifests/project.ts";
import { ProblemsError } from "../model/errors.ts";

/**
 * The project's manifests as they were at a git ref, with today's variables. A ref at which there was no usable config had no manifests: all that is
 * declared now is new. Throws E_BASE_REF and E_NO_GIT.
 */
export async function loadBase(project: Project, ref: string, options: LoadOptions): Promise<Pick<Project, "resources">> {
  const { settings, configFile } = project;
  const base = await layOutBase(settings.folder, ref, options.env);
  try {
    const { configFile: _now, ...rest } = options;
    const there = configFile === undefined ? {} : { configFile: join(base.folder, relative(settings.folder, configFile)) };
    return await loadProject({ ...rest, ...there, cwd: base.folder, target: settings.target });
  } catch (error) {
    if (error instanceof ProblemsError) return { resources: [] };
    throw error;
  } finally {
    await base.remove();
  }
}
