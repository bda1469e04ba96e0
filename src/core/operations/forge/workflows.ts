import { existsSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { gitText } from "../../base/git/process.ts";
import { defined } from "../../base/model/json/json.ts";
import { version } from "../../base/model/runtime/version.ts";
import { allowedName } from "../../base/model/settings/base-url.ts";
import type { Settings } from "../../base/model/settings/config.ts";
import type { Environment } from "../../base/model/settings/env.ts";
import { shellWord } from "../../base/text/shell.ts";
import { listTargets, loadConfig, packageText } from "../../manifests/index.ts";

/** Where the jobs run. */
export type CiSystem = "github" | "gitlab" | "none";

/** An account that the jobs plan and apply. */
export interface CiTarget {
  readonly name: string;
  /** The variable with its key, and the secret of CI with the same name. */
  readonly key: string;
  /** The variable with the URL of its records, if they are in a database. */
  readonly database?: string | undefined;
}

/** What the jobs of a project depend on. */
export interface CiProject {
  readonly targets: readonly CiTarget[];
  /** Whether apply takes one target after the other. */
  readonly isOrdered?: boolean;
  /** Those that may get a key or a notification. */
  readonly hosts: readonly string[];
  /** The branch that apply watches. GitLab's is always the default branch. */
  readonly branch: string;
  /** The folder of the project in the repository, such as "deploy/eu"; "" at its top. */
  readonly folder: string;
}

/** The files that set up the jobs, by path in the repository: the templates of the package, with the values of the project. */
export function ciFiles(ci: CiSystem, project: CiProject): Readonly<Record<string, string>> {
  const slug = plain(project.folder);
  const suffix = slug === "" ? "" : `-${slug}`;
  if (ci === "none") return {};
  if (ci === "github")
    return Object.fromEntries(
      ["plan", "apply", "drift"].map((task) => [
        `.github/workflows/dimsync-${task}${suffix}.yml`,
        filled(`dimsync-${task}.yml`, holesOf(project, inExpression)),
      ]),
    );
  const file = `dimsync${suffix}.gitlab-ci.yml`;
  const { all, lists } = holesOf(project, quoted);
  return {
    [file]: filled("dimsync.gitlab-ci.yml", { all: { ...all, FILE: file }, lists }),
    ".gitlab-ci.yml": `include:\n  - local: ${file}\n`,
  };
}

/** The names that the files give to the workflow, or the job, that applies by hand, and to the branch of the pull request that accepts drift. */
export function namesOf(
  { targets, folder }: { readonly targets: readonly string[]; readonly folder: string },
  target: string,
): { readonly workflow: string; readonly file: string; readonly job: string; readonly branch: string } {
  const slug = slugOf(folder);
  const id = idsOf(targets)[targets.indexOf(target)] ?? "";
  return {
    workflow: `dimsync apply${slug === "" ? "" : ` (${plain(folder)})`}`,
    file: `dimsync-apply${plain(folder) === "" ? "" : `-${plain(folder)}`}.yml`,
    job: `dimsync apply ${target} by hand${folder === "" ? "" : ` (${folder})`}`,
    branch: `dimsync/drift-${slug === "" ? "" : `${slug}-`}${id}`,
  };
}

/** The key that can only read, for the jobs that only read: DIMSYNC_READ_KEY beside DIMSYNC_API_KEY. */
export const readKey = (key: string): string => `${key.replace(/_?(?:API_)?KEY$/u, "")}_READ_KEY`.replace(/^_/u, "");

/** Texts by the name of a hole. A line with a hole that has no text is left out. */
type Holes = Readonly<Record<string, string | undefined>>;

interface ProjectHoles {
  readonly all: Holes;
  readonly lists: Readonly<Record<string, readonly Holes[]>>;
}

/** `written`: for a text between double quotes. */
function holesOf({ targets, isOrdered = false, hosts, branch, folder }: CiProject, written: (text: string) => string): ProjectHoles {
  const slug = slugOf(folder);
  const place = folder === "" ? "" : ` (${folder})`;
  const keys = [...new Set(targets.map(({ key }) => key))].map((key) => ({ KEY: key, READ_KEY: readKey(key) }));
  const databases = [...new Set(targets.flatMap(({ database = [] }) => database))].map((name) => ({ DATABASE: name }));
  const ids = idsOf(targets.map(({ name }) => name));
  const ofTargets = targets.map(({ name, key, database }, index): Holes => {
    const before = isOrdered ? index - 1 : -1;
    const id = ids[before];
    return {
      TARGET: written(name),
      TARGET_LITERAL: inLiteral(name),
      TARGET_VALUE: asValue(name),
      ID: ids[index],
      KEY: key,
      READ_KEY: readKey(key),
      DATABASE: database,
      BEFORE: id,
      BEFORE_TARGET: before < 0 ? undefined : written(targets[before]?.name ?? ""),
      AFTER: id === undefined ? "" : ` && needs.apply-${id}.result == 'success'`,
    };
  });
  const all = {
    VERSION: version,
    WORKFLOW_PLACE: slug === "" ? "" : ` (${plain(folder)})`,
    PLACE: written(place),
    PLACE_VALUE: asValue(place),
    SLUG: slug === "" ? "" : `${slug}-`,
    FOLDER: written(folder === "" ? "." : folder),
    SHELL_FOLDER: folder === "" ? undefined : quoted(shellWord(folder)),
    BELOW: folder === "" ? "" : asValue(`${folder}/`),
    BRANCH: written(branch),
    BRANCH_LITERAL: inLiteral(branch),
    BRANCH_PATTERN: quoted(branch.replaceAll(/[*?+[\]!\\]/gu, String.raw`\$&`)),
    HOSTS: hosts.length === 0 ? undefined : written(hosts.join(",")),
    TARGETS: targets.map(({ name }) => written(name)).join('", "'),
  };
  return { all, lists: { target: ofTargets, key: keys, database: databases } };
}

/** Names of jobs, groups and branches for the targets: unique, of letters, digits, hyphens and underscores. */
function idsOf(names: readonly string[]): readonly string[] {
  const ids: string[] = [];
  for (const name of names) {
    const id = plain(name).replaceAll(".", "-");
    ids.push(ids.includes(id) ? `${id}-${ids.length}` : id);
  }
  return ids;
}

const plain = (text: string): string => text.replaceAll(/[^A-Za-z0-9_.-]+/gu, "-");

const slugOf = (folder: string): string => plain(folder).replaceAll(".", "-");

/** Text between double quotes in YAML. */
const quoted = (text: string): string => JSON.stringify(text).slice(1, -1);

/** The same where GitHub replaces expressions. */
const inExpression = (text: string): string => quoted(text).replaceAll("${{", () => `$\{{ '$\{{' }}`);

/** The same in a literal of an expression of GitHub. */
const inLiteral = (text: string): string => quoted(text.replaceAll("'", "''"));

/** The same where GitLab replaces variables. */
const asValue = (text: string): string => quoted(text).replaceAll("$", () => "$$");

/** A template with its holes filled. What is between `#for each LIST` and `#end` is there for each entry of the list. */
function filled(file: string, { all, lists }: ProjectHoles): string {
  const parts = packageText(`templates/${file}`).split(/^ *#for each (\w+)\n([\s\S]*?)^ *#end\n/gmu);
  return parts
    .map((part, index) => {
      if (index % 3 === 0) return withHoles(part, all);
      const entries = index % 3 === 1 ? [] : (lists[parts[index - 1] ?? ""] ?? []);
      return entries.map((one) => withHoles(part, { ...all, ...one })).join("");
    })
    .join("");
}

function withHoles(text: string, holes: Holes): string {
  const hole = /__([A-Z]+(?:_[A-Z]+)*)__/gu;
  const isFilled = (line: string): boolean => [...line.matchAll(hole)].every(([, name = ""]) => holes[name] !== undefined);
  return text
    .split("\n")
    .filter(isFilled)
    .join("\n")
    .replaceAll(hole, (_, name: string) => holes[name] ?? "");
}

interface Place {
  /** The folder of the project. It may not exist yet. */
  readonly root: string;
  /** The top of its repository. */
  readonly top: string;
  /** Of the account, for a project without a config. */
  readonly baseUrl: string;
}

/** What the jobs of the project depend on, as its config and its repository say. Problems of the config are for validate to report. */
export async function ciProject({ root, top, baseUrl }: Place, env: Environment): Promise<CiProject> {
  // Without the environment, which is that of this machine.
  const { DIMSYNC_BASE_URL: _url, DIMSYNC_ALLOWED_HOSTS: _hosts, DIMSYNC_API_KEY: _key, DIMSYNC_API_KEY_FILE: _file, ...rest } = env;
  const names = existsSync(join(root, "dimsync.yaml")) ? await listTargets({ cwd: root, env: rest }).catch(() => []) : [];
  const accounts = await Promise.all(
    names.map(async (target) => ({ target, settings: (await loadConfig({ cwd: root, env: rest, target })).settings })),
  );
  const targets = accounts.map(({ target, settings }) => ({
    name: target,
    key: keyName(settings?.apiKey?.$secret.env),
    ...defined({ database: databaseName(settings?.records) }),
  }));
  // The URL of any other webhook is a secret.
  const slack = accounts.some(({ settings }) => settings?.notify?.format === "slack") ? ["https://hooks.slack.com"] : [];
  const hosts = hostsOf([...accounts.flatMap(({ settings }) => settings?.baseUrl ?? []), ...slack]);
  return {
    targets: targets.length > 0 ? targets : [{ name: "prod", key: keyName(undefined) }],
    hosts: hosts.length > 0 ? hosts : hostsOf([baseUrl]),
    branch: await branchOf(top, env),
    folder: relative(top, root).split(sep).join("/"),
  };
}

/** A name that a secret of CI can have. */
const keyName = (name: string | undefined): string =>
  name !== undefined && /^[A-Za-z_][A-Za-z0-9_]*$/u.test(name) ? name : "DIMSYNC_API_KEY";

const databaseName = (records: Settings["records"] | undefined): string | undefined =>
  records?.store === "postgres" ? records.url.$secret.env : undefined;

/** Not that of an embedded account. */
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
