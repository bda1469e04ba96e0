import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import type { Context } from "../../cli/context.ts";
import { say } from "../../cli/io.ts";
import { loadProjects } from "../../cli/project.ts";
import { gitText, repositoryTop } from "../../core/base/git/process.ts";
import { DimsyncError, messageOf } from "../../core/base/model/errors.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import { isLocal, keyVariable } from "../../core/base/model/settings/config.ts";
import type { Environment } from "../../core/base/model/settings/env.ts";
import { enumerate } from "../../core/base/text/describe.ts";
import { shellWord } from "../../core/base/text/shell.ts";
import { boundaryOf, listTargets, refuseOutside, schemaText, shownPath } from "../../core/manifests/index.ts";
import { type CiSystem, type CiTarget, ciFiles, ciProject, readKey } from "../../core/operations/forge/index.ts";
import type { InitFlags } from "./index.ts";

/** What other commands do once the project exists. */
export interface NextSteps {
  readonly importAccount: (context: Context) => Promise<ExitCode>;
  readonly createRecords: (context: Context) => Promise<void>;
}

/**
 * `dimsync init [DIR]`: writes a config, folders, editor schemas and the jobs for CI, and creates the
 * records of a new project in its remote. Existing files are not changed. With --from-live, imports the account afterwards.
 */
export async function runInit(context: Context<InitFlags>, directory: string | undefined, next: NextSteps): Promise<ExitCode> {
  const { io, cwd, flags } = context;
  const root = resolve(cwd, directory ?? ".");
  const baseUrl = io.env["DIMSYNC_BASE_URL"] || undefined;
  if (flags.fromLive === true && baseUrl === undefined && !existsSync(join(root, "dimsync.yaml")))
    throw new DimsyncError(
      "E_NO_ACCOUNT",
      "init --from-live imports an account, but no account is named. Set DIMSYNC_BASE_URL to its address and DIMSYNC_API_KEY to its key. The address is written to dimsync.yaml, the key is not.",
    );
  const isNew = !existsSync(join(root, "dimsync.yaml"));
  const top = repositoryTop(root) ?? root;
  const ci = await ciSystem(flags, existsSync(root) ? root : top, io.env);
  const accountUrl = baseUrl ?? "https://api.example.com";
  if (!isNew) await refuseOtherTargets(flags.target, root, io.env);
  io.catchSignals?.();
  const boundary = boundaryOf(root, { cwd, env: io.env });
  const written: Written[] = [];
  const write = async (below: string, path: string, text: string): Promise<void> => {
    const file = join(below, path);
    refuseOutside(boundary, file);
    const done = await writeNew(file, text);
    io.stderr(`${done}  ${shownPath(cwd, file)}\n`);
    written.push({ path, done });
  };
  const names = flags.target.length > 0 ? flags.target : ["prod"];
  for (const [path, text] of Object.entries(projectFiles(accountUrl, names))) await write(root, path, text);
  const jobs = { ...(await ciProject({ root, top, baseUrl: accountUrl }, io.env)), isOrdered: flags.inOrder === true };
  const ofJobs = ciFiles(ci, jobs);
  for (const [path, text] of Object.entries(ofJobs)) await write(top, path, text);
  const include = written.find(({ path, done }) => path === ".gitlab-ci.yml" && done === "kept     ");
  if (include !== undefined) io.stderr(includeText(ofJobs[include.path] ?? ""));
  if (isNew) await createRecords(context, root, next);
  const inFolder = await targetsInFolder(context, root);
  if (flags.fromLive === true) {
    const code = await next.importAccount({ ...context, cwd: root }).catch((error: unknown) => {
      const command = root === cwd ? "dimsync import" : `dimsync -C ${shellWord(relative(cwd, root))} import`;
      say(io, "The project is set up, but nothing was imported. When the cause below is fixed, go on with:", command);
      throw error;
    });
    if (flags.quiet !== true) io.stderr(importedText(relative(cwd, root)));
    return code;
  }
  const jobsWritten = written.filter(({ path, done }) => done === "created  " && Object.hasOwn(ofJobs, path));
  if (isNew) io.stderr(nextStepsText(relative(cwd, root), baseUrl, jobs.targets));
  else if (written.every(({ done }) => done !== "created  ")) io.stderr("\nNothing was written: the project has all files.\n");
  if (jobsWritten.length > 0) io.stderr(secretsText(jobs.targets));
  if (inFolder.length > 0) io.stderr(folderText(inFolder));
  return 0;
}

interface Written {
  readonly path: string;
  readonly done: Awaited<ReturnType<typeof writeNew>>;
}

/** Throws E_USAGE if the config that exists does not have the targets of -t. */
async function refuseOtherTargets(names: readonly string[], root: string, env: Environment): Promise<void> {
  const known = names.length === 0 ? [] : await listTargets({ cwd: root, env });
  const missing = names.filter((name) => !known.includes(name));
  if (missing.length > 0)
    throw new DimsyncError(
      "E_USAGE",
      `dimsync.yaml exists and does not have ${enumerate(missing, "or")}. Add each to targets there, and run init again.`,
    );
}

/** Where the jobs run: as the flag says, else by the host of the git remote. Throws E_USAGE. */
async function ciSystem({ ci }: InitFlags, folder: string, env: Environment): Promise<CiSystem> {
  const chosen = ci ?? (isGitlab((await originOf(folder, env)) ?? "") ? "gitlab" : "github");
  const known = (["github", "gitlab", "none"] as const).find((one) => one === chosen);
  if (known === undefined) throw new DimsyncError("E_USAGE", `--ci takes github, gitlab or none, not ${JSON.stringify(ci)}.`);
  return known;
}

/** Whether the host of a remote is GitLab: https://HOST/…, ssh://git@HOST:22/… or git@HOST:… */
const isGitlab = (remote: string): boolean => /^(?:\w+:\/\/)?(?:[^@/]*@)?[^/:]*gitlab/iu.test(remote);

/** The file exists, and only people know where in it the jobs belong. */
const includeText = (text: string): string =>
  `\ndimsync: add this to .gitlab-ci.yml, or the jobs will not run:\n${text.replaceAll(/^(?=.)/gmu, "  ")}`;

const importedText = (folder: string): string => `
Next: Review the manifests, and commit them with dimsync.yaml. Then check that nothing differs:
${folder === "" ? "" : `  cd ${shellWord(folder)}\n`}  dimsync plan
`;

function nextStepsText(folder: string, baseUrl: string | undefined, targets: readonly CiTarget[]): string {
  const keys = enumerate([...new Set(targets.map(({ key }) => key))], "and");
  const [first] = targets;
  const isOne = targets.length === 1;
  const addresses = isOne
    ? "the service's address in dimsync.yaml and its host in the workflows, and its key"
    : "the addresses of the targets in dimsync.yaml and their hosts in the workflows, and their keys";
  const enter = folder === "" ? "" : `  cd ${shellWord(folder)}\n`;
  return `
Next: Set ${baseUrl === undefined ? addresses : isOne ? "the service's key" : "the keys"} in ${keys}.
Write a manifest, or import what the account has:
${enter}  dimsync import${isOne ? "" : ` -t ${shellWord(first?.name ?? "")}`}
Then check it:
  dimsync validate
  dimsync plan${isOne ? "" : " --all-targets"}
`;
}

const secretsText = (targets: readonly CiTarget[]): string => `
Secrets of the jobs:
${targets.map(({ name, key }) => `  ${name}: ${readKey(key)}, which can only read, for plan and drift; ${key} for apply\n`).join("")}`;

/** `targets`: those whose records are files of this machine. */
const folderText = (targets: readonly string[]): string => `
The records (ids and the journal of creates) of ${targets.join(", ")} are files of this machine. CI jobs do not see
them. Before the first apply in CI, move them to the remote of the repository:
${targets.map((target) => `  dimsync records migrate --to git -t ${shellWord(target)}\n`).join("")}`;

/** Writes a file unless it exists. Throws E_OUTPUT. */
async function writeNew(file: string, text: string): Promise<"created  " | "unchanged" | "kept     "> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { flag: "wx" });
    return "created  ";
  } catch (error) {
    const existing = await readFile(file, "utf8").catch(() => undefined);
    if (existing !== undefined) return existing === text ? "unchanged" : "kept     ";
    throw new DimsyncError("E_OUTPUT", `${file} could not be written: ${messageOf(error)}. Choose another folder.`, { cause: error });
  }
}

/**
 * Creates the records of a new project in the remote `origin` of its repository, so that CI jobs and
 * other machines share them. If that fails, prints why.
 */
async function createRecords(context: Context<InitFlags>, root: string, next: NextSteps): Promise<void> {
  const { io } = context;
  if (context.flags.records === false || (await originOf(root, io.env)) === undefined) return;
  try {
    await next.createRecords({ ...context, cwd: root });
  } catch (error) {
    if (!(error instanceof DimsyncError)) throw error;
    say(io, `${error.code}: ${error.message}`, error.command);
  }
}

/** The targets of the project whose records are files of this machine; none if the config cannot be read. */
async function targetsInFolder(context: Context<InitFlags>, root: string): Promise<readonly string[]> {
  const all = { ...context, cwd: root, flags: { ...context.flags, target: [], allTargets: true } };
  try {
    const projects = await loadProjects(all);
    return projects.filter(({ settings }) => isLocal(settings.records)).map(({ settings }) => settings.target);
  } catch (error) {
    if (error instanceof DimsyncError) return [];
    throw error;
  }
}

/** The URL of the git remote `origin`; undefined without one. */
async function originOf(root: string, env: Environment): Promise<string | undefined> {
  // Without git or a repository there is none.
  return await gitText({ folder: root, env }, ["remote", "get-url", "origin"]).catch(() => undefined);
}

/** Texts by path. */
type Files = Readonly<Record<string, string>>;

/** What `dimsync init` writes below the project's folder. */
const projectFiles = (baseUrl: string, targets: readonly string[]): Files => ({
  "dimsync.yaml": configText(baseUrl, targets),
  "manifests/README.md": manifestsReadme,
  "schema/config.schema.json": schemaText("Config") ?? "",
  "schema/manifest.schema.json": schemaText("Manifest") ?? "",
  ".gitignore": ".dimsync/\nnode_modules/\nplan.json\n*.plan.json\n",
});

const configText = (baseUrl: string, targets: readonly string[]): string => `# yaml-language-server: $schema=./schema/config.schema.json
apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
targets:
${targets
  .map(
    (name) => `  ${name}:
    baseUrl: ${/^[\w:/.-]+$/u.test(baseUrl) ? baseUrl : JSON.stringify(baseUrl)}
    apiKey: { $secret: { env: ${keyVariable(name, targets.length)} } }
`,
  )
  .join("")}`;

const manifestsReadme = `# Manifests

The YAML files in this folder describe the desired state of the account. Each integration, schema
configuration, tag and asset has one document:

\`\`\`yaml
# yaml-language-server: $schema=../schema/manifest.schema.json
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: orders
  schemas:
    public:
      tables:
        customers: { columns: { email: { hashed: true } } }
---
# yaml-language-server: $schema=../schema/manifest.schema.json
apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders }
spec:
  match: { name: Orders } # an existing integration
\`\`\`

\`dimsync schema KIND\` prints the JSON Schema of a kind, \`dimsync get integrations\` lists the live
integrations, and \`dimsync validate\` checks the files.
`;
