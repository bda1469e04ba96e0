import { resolve } from "node:path";
import type { BaseProject } from "../engine/loosened/entry.ts";
import { extractBase, fetchMissing } from "../git/base.ts";
import { GitError, gitText } from "../git/process.ts";
import { dbtFolder } from "../labels/sources.ts";
import { type LoadOptions, loadProject, type Project } from "../manifests/project.ts";
import { shownPath } from "../manifests/source.ts";
import { DimsyncError, ProblemsError } from "../model/errors.ts";
import { defined } from "../model/json/json.ts";
import { getOrAdd } from "../model/maps.ts";
import { isError, type Problem, type SourceLocation } from "../model/problem.ts";
import { isLocal } from "../model/settings/config.ts";
import type { RecordsState } from "../records/records.ts";
import { visible } from "../text/control-characters.ts";
import { andMore } from "../text/lists.ts";

interface Base extends BaseProject {
  /** The codes of the errors that excluded manifests, as "E_WRONG_TYPE, E_UNKNOWN_KEY"; "" if there are none. */
  readonly errors: string;
  /** Absolute paths of the dbt manifests that were read. */
  readonly dbtFiles: readonly string[];
}

/**
 * The manifests at the commit that was applied last, as the base of a plan. Without it, the origin of the differences is unknown: `problems` says why. Throws
 * E_BASE_REF if the commit is missing and `isRequired`, because `review: strict` needs it.
 */
export async function appliedBase(
  project: Project,
  { appliedCommit }: Pick<RecordsState, "appliedCommit">,
  { options, isRequired }: { readonly options: LoadOptions; readonly isRequired: boolean },
): Promise<{ readonly base?: Base; readonly problems: readonly Problem[] }> {
  const unknown = (message: string): Problem => ({ code: "W_BASE_UNREAD", severity: "warning", message });
  if (appliedCommit === undefined) {
    // Expected in a first run; nothing was promised.
    if (!isRequired) return { problems: [] };
    const where = isLocal(project.settings.records) ? " Records in a folder stay on one machine; keep them in git or PostgreSQL." : "";
    return {
      problems: [
        unknown(
          `The records contain no commit that was applied, so the plan cannot show what someone changed in the account, and \`review: strict\` has no change of others to refuse. The next apply of everything records its commit.${where}`,
        ),
      ],
    };
  }
  const { commit, at, runId } = appliedCommit;
  const what = `${commit.slice(0, 12)} (run ${visible(runId)}, ${visible(at)})`;
  try {
    await fetchMissing(project.settings.folder, commit, options.env);
    const base = await loadBase(project, commit, options);
    if (base.errors === "") return { base, problems: [] };
    return {
      problems: [
        unknown(
          `The manifests of the commit that was applied last, ${what}, have errors today (${base.errors}), so the plan cannot show what someone changed in the account.`,
        ),
      ],
    };
  } catch (error) {
    if (!(error instanceof DimsyncError) || error.code !== "E_BASE_UNREADABLE") throw error;
    const missing = `The commit that was applied last, ${what}, is not in the checkout and could not be fetched, so the plan cannot show what someone changed in the account.`;
    const fix = "Check out the whole history (actions/checkout: fetch-depth: 0; GitLab: GIT_DEPTH: 0).";
    if (!isRequired) return { problems: [unknown(`${missing} ${fix}`)] };
    throw new DimsyncError(
      "E_BASE_REF",
      `${missing} \`review: strict\` needs it, so nothing was sent. ${fix} If a forced push removed the commit, read the output of dimsync plan, then lift the guard once, with a reason:`,
      { cause: error, command: '--allow outsideChanges="the applied commit is gone"' },
    );
  }
}

/** The project's manifests in a commit, and the labels that are not known there. Throws as `loadBase` does. */
export async function loadReviewBase(project: Project, commit: string, options: LoadOptions): Promise<Base> {
  const base = await loadBase(project, commit, options);
  return { ...base, unknownLabels: await unknownLabels(project, { commit, base }, options) };
}

/** The manifests of dbt, as shown, that the base names and git does not have at the commit, and whose dbt project has other YAML files since. */
async function unknownLabels(
  { dbtFiles, settings }: Project,
  { commit, base }: { readonly commit: string; readonly base: Base },
  { cwd, env }: LoadOptions,
): Promise<readonly string[]> {
  const place = { folder: settings.folder, env };
  const found: string[] = [];
  // The base was loaded with the files of today that its commit does not have.
  for (const file of dbtFiles.filter((one) => base.dbtFiles.includes(one)))
    try {
      const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", commit, "HEAD", "--", dbtFolder(file)];
      if (/\.ya?ml(?:\0|$)/u.test(await gitText(place, args, { timeoutMs: 60_000 }))) found.push(shownPath(cwd, file));
    } catch (error) {
      // The dbt project is in another repository.
      if (!(error instanceof GitError)) throw error;
    }
  return found;
}

/**
 * The project's manifests at a commit, with today's variables. Without a usable config at that commit there are none, and all manifests are new. Throws
 * E_BASE_UNREADABLE.
 */
async function loadBase(project: Project, commit: string, options: LoadOptions): Promise<Base> {
  const varFiles = (options.varFiles ?? []).map((file) => resolve(options.cwd, file));
  return atBase(placeOf(project), { commit, options }, async (there) => {
    try {
      const { settings, resources, elsewhere, columnLabels, problems, locate, patterns, catalog, dbtFiles } = await loadProject({
        ...there,
        varFiles,
      });
      const read = { settings, resources, elsewhere, locate, patterns, dbtFiles, ...defined({ columnLabels, catalog }) };
      return { ...read, unread: unreadFiles(problems), errors: codesOf(problems) };
    } catch (error) {
      if (!(error instanceof ProblemsError)) throw error;
      const locate = ({ file }: SourceLocation) => ({ file });
      const none = { resources: [], elsewhere: [], dbtFiles: [], locate, patterns: { shared: [], own: [] } };
      return { ...none, unread: unreadFiles(error.problems), errors: codesOf(error.problems) };
    }
  });
}

/** The files with errors. Manifests in them are missing, so what they protected is not known. */
function unreadFiles(problems: readonly Problem[]): BaseProject["unread"] {
  const byFile = new Map<string, Problem[]>();
  for (const problem of problems.filter(isError))
    if (problem.place !== undefined) getOrAdd(byFile, problem.place.file, () => []).push(problem);
  return [...byFile].map(([file, ofFile]) => ({ file, codes: codesOf(ofFile) }));
}

const codesOf = (problems: readonly Problem[]): string =>
  andMore([...new Set(problems.flatMap(({ code, severity }) => (severity === "error" ? [code] : [])))], "code");

/** Where a project is in the checkout. */
interface ProjectPlace {
  /** Absolute. */
  readonly folder: string;
  /** Absolute; absent if there is none. */
  readonly configFile?: string | undefined;
  readonly target?: string | undefined;
}

export const placeOf = ({ settings: { folder, target }, configFile }: Project): ProjectPlace => ({ folder, configFile, target });

/**
 * Runs `work` with what loads the project at a commit, its variable files included. Files outside the repository have no history; they are
 * read as they are now. Throws E_BASE_UNREADABLE.
 */
export async function atBase<T>(
  { folder, configFile, target }: ProjectPlace,
  { commit, options }: { readonly commit: string; readonly options: LoadOptions },
  work: (there: LoadOptions) => Promise<T>,
): Promise<T> {
  const base = await extractBase(folder, commit, options.env);
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
      labelFolder: folder,
      top: base.top,
      ...(configFile === undefined ? {} : { target }),
    });
  } finally {
    await base.release();
  }
}
