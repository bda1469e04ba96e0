import { gitText, runGit } from "../../core/git/process.ts";
import { makeLocate } from "../../core/manifests/locate.ts";
import { type LoadOptions, listTargets, loadProject, type Project } from "../../core/manifests/project.ts";
import { DimsyncError, messageOf, ProblemsError } from "../../core/model/errors.ts";
import { placeText } from "../../core/model/problem.ts";
import { projectGitState } from "../../core/operations/run.ts";
import type { Commit } from "./accounts.ts";

/** A target of the checkout: its project as it could be loaded last, and why it cannot be loaded now. */
interface Target {
  readonly name: string;
  readonly project?: Project | undefined;
  readonly error?: string;
}

/** The checkout in the working directory, as it was loaded last. */
export interface Checkout {
  /** Loads the targets again if the commit is another one; outside git, each time. Throws ProblemsError if the config never could be read. */
  readonly refresh: () => Promise<readonly Target[]>;
  readonly target: (name: string) => Target | undefined;
  /** Undefined outside git. */
  readonly commit: () => Commit | undefined;
  /** Whether the loaded commit is older than this one: by ancestry where git knows it, else by time. */
  readonly isBehind: (known: Commit) => Promise<boolean>;
}

/** `folder`: that of dimsync.yaml. */
export function openCheckout(given: LoadOptions, folder: string): Checkout {
  // Each target has an account of its own, whatever the environment says about one.
  const options = { ...given, env: { ...given.env, DIMSYNC_BASE_URL: "", DIMSYNC_API_KEY_FILE: "", DIMSYNC_TARGET: "" } };
  const { cwd, signal = new AbortController().signal } = options;
  const place = { folder, env: given.env };
  let commit: Commit | undefined;
  let targets: readonly Target[] = [];
  const find = (name: string): Target | undefined => targets.find((target) => target.name === name);
  const loadTarget = async (name: string): Promise<Target> => {
    try {
      const project = await loadProject({ ...options, target: name, needsAccount: true });
      // It stays in memory: without the texts of its files, and with the state of git, which is the same until it is loaded again.
      const recordedGit = { state: await projectGitState(project, signal) };
      return { name, project: { ...project, recordedGit, locate: makeLocate(cwd, () => undefined) } };
    } catch (error) {
      signal.throwIfAborted();
      return { name, project: find(name)?.project, error: errorText(error) };
    }
  };
  const load = async (): Promise<readonly Target[]> => {
    try {
      const loaded: Target[] = [];
      for (const name of await listTargets(options)) loaded.push(await loadTarget(name));
      return loaded;
    } catch (error) {
      if (targets.length === 0) throw error;
      return targets.map((target) => ({ ...target, error: errorText(error) }));
    }
  };
  return {
    async refresh() {
      const [id, at] = (await gitText(place, ["log", "-1", "--format=%H %cI"]).catch(() => "")).split(" ");
      const now = id === undefined || at === undefined ? undefined : { id, at };
      if (now === undefined || now.id !== commit?.id) [targets, commit] = [await load(), now];
      return targets;
    },
    target: find,
    commit: () => commit,
    async isBehind(known) {
      if (commit === undefined || commit.id === known.id) return commit === undefined;
      const isAncestor = async (older: string, newer: string): Promise<boolean> =>
        (await runGit(place, ["merge-base", "--is-ancestor", older, newer])).code === 0;
      if (await isAncestor(commit.id, known.id)) return true;
      return !(await isAncestor(known.id, commit.id)) && Date.parse(commit.at) < Date.parse(known.at);
    },
  };
}

/** A failure as one paragraph: the first problem with its place, and how many there are. */
export function errorText(error: unknown): string {
  const problems = error instanceof ProblemsError ? error.diagnostics.filter(({ severity }) => severity === "error") : [];
  const [first, ...more] = problems;
  if (first !== undefined)
    return `${first.code}: ${placeText(first)} ${first.message}${more.length > 0 ? ` (and ${more.length} more)` : ""}`;
  if (!(error instanceof DimsyncError)) return `E_INTERNAL: ${messageOf(error)}`;
  return `${error.code}: ${error.message}${error.command === undefined ? "" : ` ${error.command}`}`;
}
