import { gitText, runGit } from "../../core/git/process.ts";
import { makeLocate } from "../../core/manifests/locate.ts";
import { type LoadOptions, listTargets, loadProject, type Project } from "../../core/manifests/project.ts";
import { DimsyncError, ProblemsError } from "../../core/model/errors.ts";
import { placeText } from "../../core/model/problem.ts";
import { projectGitState } from "../../core/operations/session.ts";
import { counted } from "../../core/text/counts.ts";
import type { Commit } from "./accounts.ts";

/** A target of the checkout. */
interface Target {
  readonly name: string;
  /** As it could be loaded last; absent if it never could. */
  readonly project?: Project;
  /** Why it cannot be loaded now. */
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
  readonly options: LoadOptions;
}

/** `folder`: that of dimsync.yaml. */
export function openCheckout(given: LoadOptions, folder: string): Checkout {
  // Each target has an account of its own, whatever the environment says about one.
  const options = { ...given, env: { ...given.env, DIMSYNC_BASE_URL: "", DIMSYNC_API_KEY_FILE: "", DIMSYNC_TARGET: "" } };
  const place = { folder, env: given.env };
  let commit: Commit | undefined;
  let targets: readonly Target[] = [];
  const loadTarget = async (name: string): Promise<Target> => {
    const before = targets.find((target) => target.name === name)?.project;
    try {
      const project = await loadProject({ ...options, target: name, needsAccount: true });
      return { name, project: await kept(project, options) };
    } catch (error) {
      options.signal?.throwIfAborted();
      return { name, ...(before === undefined ? {} : { project: before }), error: errorText(error) };
    }
  };
  const load = async (): Promise<readonly Target[]> => {
    try {
      const names = await listTargets(options);
      const loaded: Target[] = [];
      // One after the other: they share the processor, and checks go on meanwhile.
      for (const name of names) loaded.push(await loadTarget(name));
      return loaded;
    } catch (error) {
      if (targets.length === 0) throw error;
      return targets.map((target) => ({ ...target, error: errorText(error) }));
    }
  };
  return {
    async refresh() {
      const now = await headOf(folder, given);
      if (now === undefined || now.id !== commit?.id) {
        const loaded = await load();
        // A pull in between: the next sweep loads again.
        [targets, commit] = [loaded, now];
      }
      return targets;
    },
    target: (name) => targets.find((target) => target.name === name),
    commit: () => commit,
    async isBehind(known) {
      if (commit === undefined) return true;
      if (commit.id === known.id) return false;
      const isAncestor = async (older: string, newer: string): Promise<boolean> =>
        (await runGit(place, ["merge-base", "--is-ancestor", older, newer])).code === 0;
      if (await isAncestor(commit.id, known.id)) return true;
      return !(await isAncestor(known.id, commit.id)) && Date.parse(commit.at) < Date.parse(known.at);
    },
    options,
  };
}

async function headOf(folder: string, { env }: LoadOptions): Promise<Commit | undefined> {
  const [id, at] = (await gitText({ folder, env }, ["log", "-1", "--format=%H %cI"]).catch(() => "")).split(" ");
  return id === undefined || at === undefined ? undefined : { id, at };
}

/** A project that stays in memory: without the texts of its files, and with the state of git, which is the same until it is loaded again. */
async function kept(project: Project, { cwd, signal = new AbortController().signal }: LoadOptions): Promise<Project> {
  const state = await projectGitState(project, signal);
  return { ...project, recordedGit: { state }, locate: makeLocate(cwd, () => undefined) };
}

/** A failure as one paragraph: the first problem with its place, and how many there are. */
export function errorText(error: unknown): string {
  if (error instanceof ProblemsError) {
    const errors = error.diagnostics.filter(({ severity }) => severity === "error");
    const [first] = errors;
    const more = errors.length > 1 ? ` (and ${counted(errors.length - 1, "more error")})` : "";
    if (first !== undefined) return `${first.code}: ${placeText(first)} ${first.message}${more}`;
  }
  if (error instanceof DimsyncError)
    return `${error.code}: ${error.message.replace(/:$/u, "")}${error.command === undefined ? "" : `: ${error.command}`}`;
  return `E_INTERNAL: ${error instanceof Error ? error.message : String(error)}`;
}
