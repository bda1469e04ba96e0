import { kindNamed } from "../../kinds/index.ts";
import { nameMatcher } from "../../kinds/patterns/names.ts";
import { type LoadOptions, listTargets, loadProject, type Project } from "../../manifests/project.ts";
import { durationMs } from "../../manifests/scalars.ts";
import type { ClientSettings } from "../../model/config.ts";
import { DimsyncError, ProblemsError } from "../../model/errors.ts";
import { toDiagnostic } from "../../model/problem.ts";
import { didYouMean } from "../../text/suggest.ts";
import type { Context } from "./context.ts";

/** Loads the project once for each target that the flags name; `paths` replace the config's manifests. Throws what loading throws, and E_USAGE. */
export async function loadProjects(context: Context, paths: readonly string[] = []): Promise<readonly Project[]> {
  const { flags } = context;
  const options = loadOptions(context, paths);
  if (flags.allTargets === true && flags.target.length > 0)
    throw new DimsyncError("E_USAGE", "--all-targets and -t exclude each other. Name the targets, or take all.");
  const targets = flags.allTargets === true ? await listTargets(options) : [...new Set(flags.target)];
  const several = targets.length === 0 ? [undefined] : targets;
  const projects = await Promise.all(several.map((target) => loadProject(target === undefined ? options : { ...options, target })));
  for (const project of projects) checkSelection(flags, project);
  return projects;
}

/**
 * Says what is wrong with a base URL that was given, instead of that there is none. Throws ProblemsError where the account can't be reached because of
 * mistakes outside the manifests.
 */
export function checkAccountSettings({ settings, problems, files, locate }: Project): void {
  if (settings.baseUrl !== "") return;
  const mistakes = problems.filter(({ severity, place }) => severity === "error" && (place === undefined || !files.includes(place.file)));
  if (mistakes.length > 0) throw new ProblemsError(mistakes, locate);
}

/** A mistyped --only would look like an account without changes, a mistyped --exclude would change what it should spare. Throws E_USAGE. */
function checkSelection({ only, exclude }: Context["flags"], { resources, problems }: Project): void {
  // Manifests with mistakes aren't among the resources; then the mistakes are what is reported.
  if (problems.some(({ severity }) => severity === "error")) return;
  const addresses = resources.map(({ address }) => address);
  for (const [flag, patterns] of [
    ["--only", only],
    ["--exclude", exclude],
  ] as const)
    for (const pattern of patterns) {
      const ofManifest = pattern.replace(/[@#].*$/su, "");
      if (addresses.some(nameMatcher([ofManifest]))) continue;
      const near = didYouMean(ofManifest, addresses);
      throw new DimsyncError("E_USAGE", `${flag} ${JSON.stringify(pattern)} matches no manifest's address.${near}`, {
        command: "dimsync render",
      });
    }
}

/** As `loadProjects`, for commands that act on one target. */
export async function loadOneProject(context: Context, paths: readonly string[] = []): Promise<Project> {
  const [project, second] = await loadProjects(context, paths);
  if (project === undefined || second !== undefined)
    throw new DimsyncError("E_USAGE", "This command acts on one target. Name one with -t.");
  return project;
}

/** As `loadProjects`, for what asks about files and names alone: of several targets, where none is named, all are loaded. */
export async function loadAnyProjects(context: Context, paths: readonly string[] = []): Promise<readonly Project[]> {
  try {
    return await loadProjects(context, paths);
  } catch (error) {
    const isOpen = error instanceof ProblemsError && error.problems.some(({ code }) => code === "E_AMBIGUOUS_TARGET");
    if (!isOpen) throw error;
    return await loadProjects({ ...context, flags: { ...context.flags, allTargets: true } }, paths);
  }
}

/** The flags that say what is loaded, as the loader takes them. Throws E_USAGE. */
export function loadOptions({ io, flags, cwd }: Context, paths: readonly string[]): LoadOptions {
  return {
    cwd,
    env: io.env,
    ...(flags.config === undefined ? {} : { configFile: flags.config }),
    ...(paths.length === 0 ? {} : { paths }),
    vars: variables(flags.var),
    varFiles: flags.varFile,
    overrides: overrides(flags),
    references: (resource) => kindNamed(resource.kind)?.references(resource) ?? [],
    signal: io.interrupted,
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
    ...(flags.rate === undefined ? {} : { rate: wholeFlag("--rate", flags.rate, 1) }),
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

/** The project of a command that would mislead where manifests have errors: then they are printed to stderr, and there is none. */
export async function loadValidProject(context: Context): Promise<Project | undefined> {
  const project = await loadOneProject(context);
  const errors = project.problems.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return project;
  const { diagnosticText } = await import("./report-error.ts");
  for (const problem of errors) context.io.stderr(diagnosticText(context, toDiagnostic(problem, project.locate)));
  return undefined;
}

/** Looks up the lines of problems that show only against the account. */
export async function withLocations<T>({ locate }: Project, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof ProblemsError && !error.isLocated ? new ProblemsError(error.problems, locate) : error;
  }
}
