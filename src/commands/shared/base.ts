import { resolve } from "node:path";
import { layOutBase } from "../../manifests/git.ts";
import { type LoadOptions, loadProject, type Project } from "../../manifests/project.ts";
import { ProblemsError } from "../../model/errors.ts";

/**
 * The project's manifests as they were at a git ref, with today's variables. A ref at which there was no usable config had no manifests: all that is
 * declared now is new; `mistakes` counts the errors that left manifests out. Throws E_BASE_REF and E_NO_GIT.
 */
export async function loadBase(
  project: Project,
  ref: string,
  options: LoadOptions,
): Promise<Pick<Project, "resources"> & { readonly mistakes: number }> {
  const { settings, configFile } = project;
  const base = await layOutBase(settings.folder, ref, options.env);
  try {
    const { configFile: _now, paths = [], varFiles = [], ...rest } = options;
    const there = configFile === undefined ? undefined : await base.twinOf(configFile);
    // What lies outside the repository has no past, and is read as it is.
    const twins = await Promise.all(
      paths.map(async (path) => (await base.twinOf(resolve(options.cwd, path))) ?? resolve(options.cwd, path)),
    );
    const { resources, problems } = await loadProject({
      ...rest,
      ...(there === undefined ? {} : { configFile: there }),
      ...(paths.length === 0 ? {} : { paths: twins }),
      varFiles: varFiles.map((file) => resolve(options.cwd, file)),
      cwd: (await base.twinOf(options.cwd)) ?? base.folder,
      ...(configFile === undefined ? {} : { target: settings.target }),
    });
    return { resources, mistakes: problems.filter(({ severity }) => severity === "error").length };
  } catch (error) {
    if (error instanceof ProblemsError) return { resources: [], mistakes: error.problems.length };
    throw error;
  } finally {
    await base.remove();
  }
}
