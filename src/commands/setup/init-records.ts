import type { Context } from "../../cli/context.ts";
import type { InitFlags } from "../../cli/flags.ts";
import { loadProjects } from "../../cli/project.ts";
import { say } from "../../cli/say.ts";
import { gitText } from "../../git/process.ts";
import { DimsyncError } from "../../model/errors.ts";
import { isLocal } from "../../model/settings/config.ts";
import type { Environment } from "../../model/settings/env.ts";

/**
 * Creates the records of a new project in the remote `origin` of its repository, so that CI jobs and
 * other machines share them. If that fails, prints why.
 */
export async function createRecords(context: Context<InitFlags>, root: string): Promise<void> {
  const { io } = context;
  if (context.flags.records === false || (await originOf(root, io.env)) === undefined) return;
  try {
    const { runMove } = await import("../records/move-records.ts");
    await runMove({ ...context, cwd: root }, "init", undefined);
  } catch (error) {
    if (!(error instanceof DimsyncError)) throw error;
    say(io, `${error.code}: ${error.message}`, error.command);
  }
}

/** The targets of the project whose records are files of this machine; none if the config cannot be read. */
export async function targetsInFolder(context: Context<InitFlags>, root: string): Promise<readonly string[]> {
  const all = { ...context, cwd: root, flags: { ...context.flags, target: [], allTargets: true } };
  try {
    const projects = await loadProjects(all);
    return projects.filter(({ settings }) => isLocal(settings.records)).map(({ settings }) => settings.target);
  } catch (error) {
    if (error instanceof DimsyncError) return [];
    throw error;
  }
}

/** The URL of the git remote `origin`; undefined without one. */
export async function originOf(root: string, env: Environment): Promise<string | undefined> {
  // Without git or a repository there is none.
  return await gitText({ folder: root, env }, ["remote", "get-url", "origin"]).catch(() => undefined);
}
