import { yamlParser } from "../../manifests/config/options.ts";
import { makeLocate } from "../../manifests/locate.ts";
import type { Project } from "../../manifests/project.ts";
import type { Environment } from "../../model/settings/env.ts";

/** About 60 MiB of memory: a loaded project needs at most two bytes for each character of its manifests. */
export const keptCharacters = 32 * 2 ** 20;

/** The project without references to the texts of its files, so that it can be kept, and with the current git state. */
export const withoutTexts = (project: Project, git: NonNullable<Project["recordedGit"]>["state"]): Project => ({
  ...project,
  locate: ({ file }) => ({ file }),
  recordedGit: { state: git },
  sourceFiles: { files: project.sourceFiles.files, covers: () => false },
});

/**
 * The kept project for one run. It reads the files again if the run reports problems or differences: their
 * positions take more memory than the project. `cwd` and `env`: those that it was loaded with.
 */
export const forRun = (project: Project, { cwd, env }: { readonly cwd: string; readonly env: Environment }): Project => ({
  ...project,
  locate: makeLocate(cwd, () => undefined, yamlParser(env)),
});
