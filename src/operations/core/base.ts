import { resolve } from "node:path";
import { checkOutBase } from "../../git/base.ts";
import { type LoadOptions, loadProject, type Project } from "../../manifests/project.ts";
import { ProblemsError } from "../../model/errors.ts";

/**
 * The project's manifests at a git ref, with today's variables. Without a usable config at that ref there are none, and all manifests are new. `errors`
 * counts the problems that excluded manifests. Throws E_BASE_REF and E_NO_GIT.
 */
export async function loadBase(
  project: Project,
  ref: string,
  options: LoadOptions,
): Promise<Pick<Project, "resources" | "labels"> & { readonly errors: number }> {
  const { settings, configFile } = project;
  const base = await checkOutBase(settings.folder, ref, options.env);
  try {
    const { configFile: _now, paths = [], varFiles = [], ...rest } = options;
    const there = configFile === undefined ? undefined : await base.pathInTree(configFile);
    // Files outside the repository have no history; they are read as they are now.
    const basePaths = await Promise.all(
      paths.map(async (path) => (await base.pathInTree(resolve(options.cwd, path))) ?? resolve(options.cwd, path)),
    );
    const { resources, labels, problems } = await loadProject({
      ...rest,
      ...(there === undefined ? {} : { configFile: there }),
      ...(paths.length === 0 ? {} : { paths: basePaths }),
      varFiles: varFiles.map((file) => resolve(options.cwd, file)),
      cwd: (await base.pathInTree(options.cwd)) ?? base.folder,
      labelFolder: settings.folder,
      ...(configFile === undefined ? {} : { target: settings.target }),
    });
    return {
      resources,
      ...(labels === undefined ? {} : { labels }),
      errors: problems.filter(({ severity }) => severity === "error").length,
    };
  } catch (error) {
    if (error instanceof ProblemsError) return { resources: [], errors: error.problems.length };
    throw error;
  } finally {
    await base.remove();
  }
}
