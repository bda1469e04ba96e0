import { gitText } from "../../core/base/git/process.ts";
import { DimsyncError, messageOf, ProblemsError } from "../../core/base/model/errors.ts";
import { placeText } from "../../core/base/model/problem.ts";
import { spaced } from "../../core/base/text/paths.ts";
import type { LoadOptions, Project } from "../../core/manifests/index.ts";
import { listTargets, loadProject, makeLocate } from "../../core/manifests/index.ts";
import { projectGitState } from "../../core/operations/index.ts";
import type { AccountRow, Commit } from "./accounts.ts";

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
  /** Whether the loaded commit is older than the one that was checked: by ancestry where git knows it, else by time. */
  readonly isBehind: (checked: Pick<AccountRow, "commit" | "commitAt">) => Promise<boolean>;
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
    async isBehind({ commit: known, commitAt }) {
      if (known === null || commitAt === null || known === commit?.id) return false;
      if (commit === undefined) return true;
      const base = await gitText(place, ["merge-base", commit.id, known]).catch(() => "");
      return base === commit.id || (base !== known && Date.parse(commit.at) < Date.parse(commitAt));
    },
  };
}

/** A failure as one paragraph: the first problem with its place, and how many there are. */
export function errorText(error: unknown): string {
  if (!(error instanceof DimsyncError)) return `E_INTERNAL: ${messageOf(error)}`;
  const [first, ...more] = error instanceof ProblemsError ? error.diagnostics.filter(({ severity }) => severity === "error") : [];
  if (first === undefined) return spaced(`${error.code}:`, error.message, error.command ?? "");
  return spaced(`${first.rule}:`, placeText(first), first.message, more.length > 0 ? `(and ${more.length} more)` : "");
}
