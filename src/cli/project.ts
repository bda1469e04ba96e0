import { mayMatchKind, objectPattern, schemasKind } from "../core/base/model/address.ts";
import { DimsyncError, ProblemsError, refuseErrors } from "../core/base/model/errors.ts";
import { durationMs } from "../core/base/text/counts.ts";
import { didYouMean } from "../core/base/text/suggest.ts";
import { isSchemaConfig, nameMatcher } from "../core/kinds/index.ts";
import type { LoadOptions, Project } from "../core/manifests/index.ts";
import { listTargets, loadProject } from "../core/manifests/index.ts";
import type { Context } from "./context.ts";

type Selection = Pick<Context["flags"], "only" | "exclude">;

interface ProjectNeeds {
  /** Paths on the command line, which replace the manifests of the config. */
  readonly paths?: readonly string[];
  /** Throws E_NO_ACCOUNT before any manifest is read if there is no base URL. */
  readonly account?: boolean;
  /** The names of the targets, instead of those of the flags. */
  readonly targets?: readonly string[] | undefined;
  /** The addresses that are selected, instead of those of the flags. */
  readonly selection?: Selection;
  /** A signal may end the process at any time: the command only reads, or catches signals itself before it writes. */
  readonly interruptible?: boolean;
}

/** Loads the project for each target of the flags, and catches signals from then on, unless it is `interruptible`. Throws what loading throws, and E_USAGE. */
export async function loadProjects(context: Context, needs: ProjectNeeds = {}): Promise<readonly Project[]> {
  const { flags } = context;
  const { paths = [], account = false, interruptible = false, selection = flags } = needs;
  const options = { ...loadOptions(context, paths), needsAccount: account };
  const targets = needs.targets ?? (await targetsOf(flags, options));
  if (targets.length > 1 && (context.io.env["DIMSYNC_BASE_URL"] ?? "") !== "")
    throw new DimsyncError(
      "E_USAGE",
      `DIMSYNC_BASE_URL overrides the base URL of each of the ${targets.length} targets, so all of them would use the same account. Unset it, or select one target with -t NAME.`,
    );
  const several = targets.length === 0 ? [undefined] : targets;
  const projects = await Promise.all(several.map((target) => loadProject(target === undefined ? options : { ...options, target })));
  for (const project of projects) checkSelection(selection, project);
  if (!interruptible) context.io.catchSignals?.();
  return projects;
}

async function targetsOf({ allTargets, target }: Context["flags"], options: LoadOptions): Promise<readonly string[]> {
  if (allTargets !== true) return [...new Set(target)];
  if (target.length > 0) throw new DimsyncError("E_USAGE", "--all-targets and --target cannot be combined.");
  return await listTargets(options);
}

/** A mistyped --only would plan nothing, a mistyped --exclude too much. Throws E_USAGE. */
function checkSelection({ only, exclude }: Selection, { manifests, problems }: Project): void {
  // Manifests with errors are not among those of the project, and their errors are reported instead.
  if (problems.some(({ severity }) => severity === "error")) return;
  const addresses = manifests.map(({ address }) => address);
  const hasSchemas = manifests.some(isSchemaConfig);
  for (const [flag, patterns] of [
    ["--only", only],
    ["--exclude", exclude],
  ] as const)
    for (const pattern of patterns) {
      const ofObject = objectPattern(pattern);
      // Which integrations a SchemaConfig selects is only known after reading.
      if (addresses.some(nameMatcher([ofObject])) || (hasSchemas && mayMatchKind(schemasKind)(pattern))) continue;
      const near =
        didYouMean(ofObject, addresses) || (addresses[0] === undefined ? "" : ` An address is Kind/name, such as ${addresses[0]}.`);
      throw new DimsyncError("E_USAGE", `${flag} ${JSON.stringify(pattern)} does not match the address of any manifest.${near}`);
    }
}

/** Like `loadProjects`, for commands that use one target. */
export async function loadOneProject(context: Context, needs: ProjectNeeds = {}): Promise<Project> {
  const [project, second] = await loadProjects(context, needs);
  if (project === undefined || second !== undefined)
    throw new DimsyncError("E_USAGE", "This command uses one target. Select it with -t NAME.");
  return project;
}

/** Like `loadProjects`, for commands that only need files and names: if several targets exist and none is selected, it loads all. */
export async function loadAnyProjects(context: Context, needs: ProjectNeeds = {}): Promise<readonly Project[]> {
  try {
    return await loadProjects(context, needs);
  } catch (error) {
    const isAmbiguous = error instanceof ProblemsError && error.problems.some(({ code }) => code === "E_AMBIGUOUS_TARGET");
    if (!isAmbiguous) throw error;
    return await loadProjects({ ...context, flags: { ...context.flags, allTargets: true } }, needs);
  }
}

/** The loader's options from the flags. Throws E_USAGE. */
export function loadOptions({ io, flags, cwd }: Context, paths: readonly string[]): LoadOptions {
  return {
    cwd,
    env: io.env,
    ...(flags.config === undefined ? {} : { configFile: flags.config }),
    ...(paths.length === 0 ? {} : { paths }),
    vars: variables(flags.var),
    varFiles: flags.varFile,
    signal: io.interrupted,
  };
}

function variables(assignments: readonly string[]): Readonly<Record<string, string>> {
  const variablesByName: Record<string, string> = {};
  for (const assignment of assignments) {
    const at = assignment.indexOf("=");
    if (at < 1) throw new DimsyncError("E_USAGE", `Invalid --var ${JSON.stringify(assignment)}. Use NAME=VALUE.`);
    variablesByName[assignment.slice(0, at)] = assignment.slice(at + 1);
  }
  return variablesByName;
}

/** The duration in a flag, in milliseconds: a number of seconds, or 30s, 5m, 2h, 1d. Throws E_USAGE. */
export function durationFlag(flag: string, text: string): number {
  const duration = durationMs(/^\d+(?:\.\d+)?$/u.test(text) ? Number(text) : text);
  if (duration === undefined)
    throw new DimsyncError(
      "E_USAGE",
      `Invalid ${flag} ${JSON.stringify(text)}. Use a number of seconds, or a duration such as 30s, 5m, 2h or 1d.`,
    );
  return duration;
}

/** The one of the values that a flag has. Throws E_USAGE. */
export function choiceFlag<T extends string>(flag: string, text: string, values: readonly T[]): T {
  const found = values.find((value) => value === text);
  if (found === undefined)
    throw new DimsyncError("E_USAGE", `Invalid ${flag} ${JSON.stringify(text)}. Use ${values.join(", ")}.${didYouMean(text, values)}`);
  return found;
}

/** The whole number in a flag. Throws E_USAGE. */
export function wholeFlag(flag: string, text: string, minimum: number): number {
  const value = Number(text);
  if (!/^\d+$/u.test(text) || value < minimum)
    throw new DimsyncError("E_USAGE", `Invalid ${flag} ${JSON.stringify(text)}. Use a whole number of at least ${minimum}.`);
  return value;
}

/** Like `loadOneProject`, for commands whose output would be misleading if manifests have errors: throws them as ProblemsError. */
export async function loadValidProject(context: Context, needs: ProjectNeeds = {}): Promise<Project> {
  const project = await loadOneProject(context, needs);
  refuseErrors(project.problems, project.locate);
  return project;
}
