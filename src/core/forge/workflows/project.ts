import { existsSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { gitText } from "../../git/process.ts";
import { loadConfig } from "../../manifests/config/load.ts";
import { listTargets } from "../../manifests/project.ts";
import { version } from "../../model/runtime/version.ts";
import { allowedName } from "../../model/settings/allowed-hosts.ts";
import type { Environment } from "../../model/settings/env.ts";
import { workflowDifferences } from "./compare.ts";
import { ciFiles, hasApproval, isEdited, type WorkflowOptions } from "./index.ts";

/** The target in the config that `init` writes. */
const firstTarget = "prod";

interface Place {
  /** The folder of the project. It may not exist yet. */
  readonly root: string;
  /** The top of its repository. */
  readonly top: string;
  /** Of the account, for a project without a config. */
  readonly baseUrl: string;
}

/** What the workflows of a project depend on. */
export async function workflowOptions({ root, top, baseUrl }: Place, env: Environment): Promise<WorkflowOptions> {
  const isNew = !existsSync(join(root, "dimsync.yaml"));
  // Problems of the config are for validate to report.
  const targets = isNew ? [firstTarget] : await listTargets({ cwd: root, env }).catch(() => [firstTarget]);
  const hosts = isNew ? [] : await hostsIn(root, targets, env);
  const folder = relative(top, root).split(sep).join("/");
  const options = { version, targets, hosts: hosts.length > 0 ? hosts : hostsOf([baseUrl]), branch: await branchOf(top, env), folder };
  return { ...options, approval: Object.keys(ciFiles("github", options)).some((path) => hasApproval(textOf(join(top, path)) ?? "")) };
}

const textOf = (file: string): string | undefined => (existsSync(file) ? readFileSync(file, "utf8") : undefined);

interface OutdatedWorkflow {
  /** In the repository. */
  readonly path: string;
  readonly differences: readonly string[];
  readonly isEdited: boolean;
}

/** The workflows of a project that differ in what matters from what `init` would write now. `files`: how many there are. */
export async function compareWorkflows(
  place: Place,
  env: Environment,
): Promise<{ readonly files: number; readonly outdated: readonly OutdatedWorkflow[] }> {
  const options = await workflowOptions(place, env);
  const found = (["github", "gitlab"] as const).flatMap((ci) =>
    Object.entries(ciFiles(ci, options)).flatMap(([path, expected]) => {
      // People have their own jobs in it.
      const text = path === ".gitlab-ci.yml" ? undefined : textOf(join(place.top, path));
      return text === undefined ? [] : [{ path, differences: workflowDifferences(text, expected), isEdited: isEdited(text) }];
    }),
  );
  return { files: found.length, outdated: found.filter(({ differences }) => differences.length > 0) };
}

/** The hosts of an existing config. Without the environment, which is that of this machine. */
async function hostsIn(root: string, targets: readonly string[], env: Environment): Promise<readonly string[]> {
  const { DIMSYNC_BASE_URL: _url, DIMSYNC_ALLOWED_HOSTS: _hosts, ...rest } = env;
  const configs = await Promise.all(targets.map((target) => loadConfig({ cwd: root, env: rest, target })));
  return hostsOf(configs.flatMap(({ settings }) => settings?.baseUrl ?? []));
}

/** The hosts that get an API key: not those of an embedded account. */
const hostsOf = (baseUrls: readonly string[]): readonly string[] => [
  ...new Set(baseUrls.flatMap((url) => (/^https?:/u.test(url) && URL.canParse(url) ? [allowedName(url)] : []))),
];

/** The branch that apply watches: as the operator says, else the default branch of the remote, else that of a repository with one branch. */
async function branchOf(top: string, env: Environment): Promise<string> {
  const git = (...args: readonly string[]): Promise<string> => gitText({ folder: top, env }, args).catch(() => "");
  const remote = await git("symbolic-ref", "--short", "refs/remotes/origin/HEAD");
  const [branch, ...others] = (await git("for-each-ref", "--format=%(refname:short)", "refs/heads")).split("\n").filter(Boolean);
  const only = others.length > 0 ? undefined : (branch ?? (await git("symbolic-ref", "--short", "HEAD")));
  return env["DIMSYNC_APPLIED_BRANCH"] || remote.replace(/^origin\//u, "") || only || "main";
}
