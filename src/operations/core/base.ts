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
  const varFiles = (options.varFiles ?? []).map((file) => resolve(options.cwd, file));
  return atBase(project, { ref, options }, async (there) => {
    try {
      const { resources, labels, problems } = await loadProject({ ...there, varFiles });
      const errors = problems.filter(({ severity }) => severity === "error").length;
      return { resources, ...(labels === undefined ? {} : { labels }), errors };
    } catch (error) {
      if (error instanceof ProblemsError) return { resources: [], errors: error.problems.length };
      throw error;
    }
  });
}

/**
 * Runs `work` with what loads the project at a git ref, its variable files included. Files outside the repository have no history; they are
 * read as they are now. Throws E_BASE_REF and E_NO_GIT.
 */
export async function atBase<T>(
  { settings, configFile }: Project,
  { ref, options }: { readonly ref: string; readonly options: LoadOptions },
  work: (there: LoadOptions) => Promise<T>,
): Promise<T> {
  const base = await checkOutBase(settings.folder, ref, options.env);
  try {
    const { configFile: _now, paths = [], varFiles = [], ...rest } = options;
    const there = configFile === undefined ? undefined : await base.pathInTree(configFile);
    const moved = (files: readonly string[]): Promise<readonly string[]> =>
      Promise.all(files.map(async (file) => (await base.pathInTree(resolve(options.cwd, file))) ?? resolve(options.cwd, file)));
    return await work({
      ...rest,
      ...(there === undefined ? {} : { configFile: there }),
      ...(paths.length === 0 ? {} : { paths: await moved(paths) }),
      varFiles: await moved(varFiles),
      cwd: (await base.pathInTree(options.cwd)) ?? base.folder,
      labelFolder: settings.folder,
      top: base.top,
      ...(configFile === undefined ? {} : { target: settings.target }),
    });
  } finally {
    await base.remove();
  }
}
