import { resolve } from "node:path";
import { extractBase, fetchMissing } from "../base/git/base.ts";
import { GitError, gitText } from "../base/git/process.ts";
import { gitState } from "../base/git/state.ts";
import type { ColumnReview } from "../base/model/columns.ts";
import { DimsyncError, ProblemsError } from "../base/model/errors.ts";
import { defined } from "../base/model/json/json.ts";
import { problemIn } from "../base/model/manifest.ts";
import { getOrAdd } from "../base/model/maps.ts";
import type { Plan } from "../base/model/plan.ts";
import { isError, type Problem, problemAt, type SourceLocation } from "../base/model/problem.ts";
import { isLocal } from "../base/model/settings/config.ts";
import { visible } from "../base/text/control-characters.ts";
import { andMore } from "../base/text/lists.ts";
import { shellWord } from "../base/text/shell.ts";
import { dbtFolder } from "../columns/labels/index.ts";
import { isSchemaConfig, unreviewedIn } from "../kinds/index.ts";
import { type LoadOptions, loadProject, type Project, shownPath } from "../manifests/index.ts";
import type { BaseProject, Run } from "../plan/index.ts";
import type { RecordsState } from "../records/index.ts";

interface Base extends BaseProject {
  /** The codes of the errors that excluded manifests, as "E_WRONG_TYPE, E_UNKNOWN_KEY"; "" if there are none. */
  readonly errors: string;
  /** Absolute paths of the dbt manifests that were read. */
  readonly dbtFiles: readonly string[];
}

interface Based {
  /** With the base, or with a problem that says why the origin of the differences is unknown. */
  readonly run: Run;
  /** Why there is no base, if `review: strict` needs it. */
  readonly unreadable?: DimsyncError;
}

/** The run with the base of its comparison: what the caller chose, else the manifests of the commit that was applied last, as far as the records know it. */
export async function withBase(run: Run, chosen: BaseProject | undefined): Promise<Based> {
  const { project, options } = run;
  const isNeeded = run.kind === "Plan" && project.settings.review === "strict" && options.allow?.has("outsideChanges") !== true;
  const found = chosen === undefined ? await appliedBase(project, run.records(), isNeeded) : { base: chosen };
  const { problem, unreadable, base } = found;
  const problems = problem === undefined ? project.problems : [...project.problems, problem];
  return {
    run: {
      ...run,
      project: { ...project, problems },
      // A column that is switched off until someone reviews it does not come from the manifests.
      options: { ...options, ...defined({ base: base && { ...base, review: await openReview(base) } }) },
    },
    ...defined({ unreadable: isNeeded ? unreadable : undefined }),
  };
}

interface AppliedBase extends Pick<Based, "unreadable"> {
  readonly base?: BaseProject;
  readonly problem?: Problem;
}

async function appliedBase(
  project: Project,
  { appliedCommit }: Pick<RecordsState, "appliedCommit">,
  isNeeded: boolean,
): Promise<AppliedBase> {
  const unknown = (message: string): Problem => ({ code: "I_BASE_UNREAD", severity: "info", message });
  if (appliedCommit === undefined) {
    // Expected in a first run; nothing was promised.
    if (!isNeeded) return {};
    const where = isLocal(project.settings.records) ? " Records in a folder stay on one machine; keep them in git or PostgreSQL." : "";
    return {
      problem: unknown(
        `The records contain no commit that was applied, so the plan cannot show what someone changed in the account, and \`review: strict\` has no change of others to refuse. The next apply of everything records its commit.${where}`,
      ),
    };
  }
  const { commit, at, runId, manifestDigest } = appliedCommit;
  // Git is not read for manifests that are the same.
  if (manifestDigest === project.manifestDigest()) return { base: { ...project, unread: [] } };
  const what = `${commit.slice(0, 12)} (run ${visible(runId)}, ${visible(at)})`;
  try {
    await fetchMissing(project.settings.folder, commit, project.options.env);
    const base = await loadBase(project, commit);
    if (base.errors === "") return { base };
    const message = `The manifests of the commit that was applied last, ${what}, have errors today (${base.errors}), so the origin of the differences is unknown.`;
    return { problem: unknown(message) };
  } catch (error) {
    if (!(error instanceof DimsyncError)) throw error;
    const why =
      error.code === "E_BASE_UNREADABLE" ? "is not in the checkout and could not be fetched" : `could not be read (${error.code})`;
    const missing = `The commit that was applied last, ${what}, ${why}, so the origin of the differences is unknown.`;
    const fix = "Check out the whole history (actions/checkout: fetch-depth: 0; GitLab: GIT_DEPTH: 0).";
    const unreadable = new DimsyncError(
      "E_BASE_REF",
      `${missing} \`review: strict\` needs it, so nothing was sent. ${fix} If a forced push removed the commit, read the output of dimsync plan, then lift the guard once, with a reason:`,
      { cause: error, command: '--allow outsideChanges="the applied commit is gone"' },
    );
    return { problem: unknown(`${missing} ${fix}`), unreadable };
  }
}

/** The project's manifests in a commit, and the labels that are not known there. Throws as `loadBase` does. */
export async function loadReviewBase(project: Project, commit: string): Promise<Base> {
  const base = await loadBase(project, commit);
  return { ...base, unknownLabels: await unknownLabels(project, { commit, base }) };
}

/** The manifests of dbt, as shown, that the base names and git does not have at the commit, and whose dbt project has other YAML files since. */
async function unknownLabels(
  { dbtFiles, settings, options: { cwd, env } }: Project,
  { commit, base }: { readonly commit: string; readonly base: Base },
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
async function loadBase(project: Project, commit: string): Promise<Base> {
  const { cwd, varFiles: given = [] } = project.options;
  const varFiles = given.map((file) => resolve(cwd, file));
  return atBase(project, commit, async (there) => {
    try {
      const { settings, manifests, elsewhere, columnLabels, problems, locate, patterns, catalog, dbtFiles } = await loadProject({
        ...there,
        varFiles,
      });
      const read = { settings, manifests, elsewhere, locate, patterns, dbtFiles, ...defined({ columnLabels, catalog }) };
      return { ...read, unread: unreadFiles(problems), errors: codesOf(problems) };
    } catch (error) {
      if (!(error instanceof ProblemsError)) throw error;
      const locate = ({ file }: SourceLocation) => ({ file });
      const none = { manifests: [], elsewhere: [], dbtFiles: [], locate, patterns: { shared: [], own: [] } };
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

/**
 * Runs `work` with what loads the project at a commit, its variable files included. Files outside the repository have no history; they are
 * read as they are now. Throws E_BASE_UNREADABLE.
 */
export async function atBase<T>(
  { settings: { folder, target }, configFile, options }: Project,
  commit: string,
  work: (there: LoadOptions) => Promise<T>,
): Promise<T> {
  const base = await extractBase(folder, commit, options.env);
  try {
    const { configFile: _now, needsAccount: _, paths = [], varFiles = [], ...rest } = options;
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

/** How columns are reviewed. Undefined if the target has no catalog; then nothing of it is loaded. */
export async function openReview({ catalog }: Pick<Project, "catalog">): Promise<ColumnReview | undefined> {
  if (catalog === undefined) return undefined;
  const { newReview } = await import("../columns/catalog/index.ts");
  return newReview({ catalog: catalog.columns, file: catalog.file });
}

/** What keeps a run from reviewing columns: as problems, so that nothing is compared. */
export function withCatalogProblems(project: Project): Project {
  const problems = [...catalogProblems(project), ...missingCatalog(project)];
  return problems.length === 0 ? project : { ...project, problems: [...project.problems, ...problems] };
}

/** `unreviewed` of SchemaConfigs in a target without a catalog, where it would have no effect. */
export function catalogProblems({ settings, manifests }: Pick<Project, "settings" | "manifests">): readonly Problem[] {
  if (settings.catalogFile !== undefined) return [];
  const { target } = settings;
  return manifests.filter(isSchemaConfig).flatMap((config): readonly Problem[] => {
    const mode = unreviewedIn(config);
    if (mode === undefined) return [];
    const message = `unreviewed: ${mode} needs a file of reviewed columns, and the target ${visible(target)} has none. Add catalog: dimsync.catalog.${visible(target)}.yaml to the target in dimsync.yaml, then accept the columns that the account has now.`;
    return [problemIn(config, "/spec/unreviewed", { code: "E_NO_CATALOG", message, command: acceptAll(target) })];
  });
}

const acceptAll = (target: string): string => `dimsync catalog accept --all -t ${shellWord(target)}`;

/** An error if the file does not exist: deleting it must not end the review of columns without a word. */
function missingCatalog({ catalog, settings: { target } }: Project): readonly Problem[] {
  if (catalog === undefined || catalog.text !== "") return [];
  const message = `${catalog.file} does not exist, so no column has been reviewed. Review the account once, accept its columns, and commit the file.`;
  return [problemAt(undefined, { code: "E_CATALOG_MISSING", message, command: acceptAll(target) })];
}

/** The commit of the project, and which of its files have uncommitted changes. */
export async function projectGitState(project: Project, signal: AbortSignal): Promise<Plan["git"]> {
  const { settings, sourceFiles, recordedGit } = project;
  if (recordedGit !== undefined) return recordedGit.state;
  return gitState(settings.folder, sourceFiles, { signal });
}
