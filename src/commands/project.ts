import { kindNamed } from "../kinds/index.ts";
import { durationMs } from "../manifests/durations.ts";
import { type LoadOptions, listTargets, loadProject, type Project } from "../manifests/project.ts";
import type { ClientSettings } from "../model/config.ts";
import { DimsyncError } from "../model/errors.ts";
import type { Context } from "./context.ts";

/** Loads the project once for each target that the flags name; `paths` replace the config's manifests. Throws what loading throws, and E_USAGE. */
export async function loadProjects(context: Context, paths: readonly string[] = []): Promise<readonly Project[]> {
  const { flags } = context;
  const options = loadOptions(context, paths);
  const targets = flags.allTargets === true ? await listTargets(options) : flags.target;
  const several = targets.length === 0 ? [undefined] : targets;
  return Promise.all(several.map((target) => loadProject(target === undefined ? options : { ...options, target })));
}

/** As `loadProjects`, for commands that act on one target. */
export async function loadOneProject(context: Context, paths: readonly string[] = []): Promise<Project> {
  const [project, second] = await loadProjects(context, paths);
  if (project === undefined || second !== undefined)
    throw new DimsyncError("E_USAGE", "This command acts on one target. Name one with -t.");
  return project;
}

function loadOptions({ io, flags, cwd }: Context, paths: readonly string[]): LoadOptions {
  return {
    cwd,
    env: io.env,
    ...(flags.config === undefined ? {} : { configFile: flags.config }),
    ...(paths.length === 0 ? {} : { paths }),
    vars: variables(flags.var),
    varFiles: flags.varFile,
    overrides: overrides(flags),
    references: (resource) => kindNamed(resource.kind)?.references(resource) ?? [],
  };
}

function variables(assignments: readonly string[]): Readonly<Record<string, string>> {
  const variablesByName: Record<string, string> = {};
  for (const assignment of assignments) {
    const at = assignment.indexOf("=");
    if (at < 1) throw new DimsyncError("E_USAGE", `--var takes NAME=VALUE, and ${JSON.stringify(assignment)} is not of that form.`);
    variablesByName[assignment.slice(0, at)] = assignment.slice(at + 1);
  }
  return variablesByName;
}

function overrides(flags: Context["flags"]): Partial<ClientSettings> {
  const timeoutMs = flags.timeout === undefined ? undefined : durationFlag("--timeout", flags.timeout);
  return {
    ...(flags.concurrency === undefined ? {} : { concurrency: wholeFlag("--concurrency", flags.concurrency, 1) }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(flags.retries === undefined ? {} : { retries: wholeFlag("--retries", flags.retries, 0) }),
  };
}

/** A flag's duration in milliseconds: a number of seconds, or 30s, 5m, 2h, 1d. Throws E_USAGE. */
export function durationFlag(flag: string, text: string): number {
  const duration = durationMs(/^\d+(?:\.\d+)?$/u.test(text) ? Number(text) : text);
  if (duration === undefined)
    throw new DimsyncError(
      "E_USAGE",
      `${flag} takes a number of seconds or a duration such as 30s, 5m, 2h, 1d; ${JSON.stringify(text)} is neither.`,
    );
  return duration;
}

/** A flag's whole number. Throws E_USAGE. */
export function wholeFlag(flag: string, text: string, least: number): number {
  const value = Number(text);
  if (!/^\d+$/u.test(text) || value < least)
    throw new DimsyncError("E_USAGE", `${flag} takes a whole number of at least ${least}; ${JSON.stringify(text)} is not one.`);
  return value;
}
