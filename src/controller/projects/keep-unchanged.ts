import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { gitText } from "../../git/process.ts";
import type { Project } from "../../manifests/project.ts";
import type { Environment } from "../../model/settings/env.ts";
import { moduleFiles } from "../../operations/policy-modules.ts";
import { projectGitState } from "../../operations/session.ts";
import { forRun, keptCharacters, recentlyUsed, withoutTexts } from "./kept-project.ts";

type Load = (target: string, signal: AbortSignal) => Promise<Project>;

export interface Watching {
  readonly cwd: string;
  readonly env: Environment;
  /** Absolute: of the config. */
  readonly folder: string;
  /** How many changes of files in the folder were seen; undefined if nothing watches it: then nothing is kept. */
  readonly changes: () => number | undefined;
}

/** Loads the project of a target again only if its files, or the git state, have changed since it was loaded. */
export function keepUnchanged(load: Load, { folder, changes, ...loadedWith }: Watching): Load {
  const kept = recentlyUsed<KeptProject>(keptCharacters);
  return async (target, signal) => {
    const found = kept.get(target);
    if (found !== undefined && found.changes === changes() && found.stamp === stampOf(found.paths))
      return forRun(found.project, loadedWith);
    const before = changes();
    const project = await load(target, signal);
    if (before === undefined) return project;
    const [git, gitFiles] = await Promise.all([projectGitState(project, signal), gitStateFiles(folder, loadedWith.env)]);
    const sources = [...project.sourceFiles.files, ...moduleFiles(project.resources, folder)];
    // Adding or removing a file changes its folder.
    const paths = [...new Set([...sources, ...sources.map((path) => dirname(path)), ...project.dbtFiles, ...gitFiles])];
    kept.set(target, { project: withoutTexts(project, git), changes: before, paths, stamp: stampOf(paths) }, sizeOf(sources));
    return { ...project, recordedGit: { state: git } };
  };
}

interface KeptProject {
  readonly project: Project;
  /** How many changes had been seen before it was loaded. */
  readonly changes: number;
  /** What it was made from, and its state at that time: events can be lost. */
  readonly paths: readonly string[];
  readonly stamp: string;
}

function stampOf(paths: readonly string[]): string {
  return paths
    .map((path) => {
      const found = statSync(path, { throwIfNoEntry: false });
      return found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeMs}`;
    })
    .join("\n");
}

const sizeOf = (files: readonly string[]): number =>
  files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);

/** The files that git changes with the commit or the index; none outside a repository. */
async function gitStateFiles(folder: string, env: Environment): Promise<readonly string[]> {
  const gitFolder = await gitText({ folder, env }, ["rev-parse", "--absolute-git-dir"], { timeoutMs: 5_000 }).catch(() => undefined);
  return gitFolder === undefined ? [] : ["HEAD", "index", "logs/HEAD"].map((name) => join(gitFolder, name));
}
