import { createHash } from "node:crypto";
import { applyWorkflow, approvedApplyWorkflow } from "./apply.ts";
import { gitlabPipeline } from "./gitlab.ts";
import { driftWorkflow, planWorkflow } from "./read-only.ts";
import { yamlText } from "./steps.ts";

/** Where the jobs run. */
export type CiSystem = "github" | "gitlab" | "none";

/** The input of the workflows. */
export interface WorkflowOptions {
  /** The version of dimsync that they install. */
  readonly version: string;
  /** One job each. */
  readonly targets: readonly string[];
  /** That may get an API key. */
  readonly hosts?: readonly string[];
  /** The one that apply watches. GitLab's is always the default branch. */
  readonly branch?: string;
  /** Whether a reviewer approves each plan before exactly that plan is applied. */
  readonly approval?: boolean;
  /** The folder of the project in the repository, such as "deploy/eu"; "" at its top. */
  readonly folder?: string;
}

/** The files that set up the jobs, by path in the repository. */
export function ciFiles(ci: CiSystem, options: WorkflowOptions): Readonly<Record<string, string>> {
  const slug = slugOf(options.folder ?? "");
  const suffix = slug === "" ? "" : `-${slug}`;
  if (ci === "none") return {};
  if (ci === "gitlab") {
    const file = `dimsync${suffix}.gitlab-ci.yml`;
    return { [file]: signed(gitlabPipeline({ ...options, file, slug })), ".gitlab-ci.yml": `include:\n  - local: ${file}\n` };
  }
  const texts = Object.entries(workflows(options)).map(([task, text]) => [`.github/workflows/dimsync-${task}${suffix}.yml`, signed(text)]);
  return Object.fromEntries(texts);
}

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

const signed = (text: string): string =>
  `# Written by dimsync init, which replaces it with --update unless it was edited (${digestOf(text)}).\n${text}`;

/** Whether somebody has changed a file of `ciFiles`. */
export function isEdited(text: string): boolean {
  const [, digest, rest = ""] = /^# Written by dimsync init.*\((\w+)\)\.\n([\s\S]*)$/u.exec(text.replaceAll("\r\n", "\n")) ?? [];
  return digest !== digestOf(rest);
}

/** Whether an apply workflow waits for an approval. */
export const hasApproval = (text: string): boolean => text.includes("sha256sum --check");

/** For names of files and groups. */
const slugOf = (folder: string): string => folder.replaceAll(/[^A-Za-z0-9_.-]+/gu, "-");

/**
 * The workflows for GitHub, by file name below .github/workflows. They need nothing but these actions
 * of GitHub and the npm package.
 */
export function workflows(options: WorkflowOptions): Readonly<Record<"plan" | "apply" | "drift", string>> {
  const { version, targets, hosts = [], approval = false, folder = "", branch = "main" } = options;
  const matrix = `[${targets.map((target) => JSON.stringify(target)).join(", ")}]`;
  const finished = (text: string): string =>
    inFolder(
      folder,
      text
        .replace("[BRANCH]", () => `[${yamlText(branch)}]`)
        .replaceAll("'refs/heads/BRANCH'", () => `'refs/heads/${branch.replaceAll("'", "''")}'`)
        .replace(/^jobs:$/mu, () => `${environmentText(hosts, branch)}jobs:`),
    );
  return {
    plan: finished(planWorkflow(version, matrix)),
    apply: finished(approval ? approvedApplyWorkflow(version, targets) : applyWorkflow(version, matrix)),
    drift: finished(driftWorkflow(version, matrix)),
  };
}

/** The workflow of a project in a folder: its scripts run there, and it has names and groups of its own. */
function inFolder(folder: string, text: string): string {
  if (folder === "") return text;
  return text
    .replace(/^name: (.*)$/mu, (_, name: string) => `name: ${JSON.stringify(`${name} (${folder})`)}`)
    .replace(/^jobs:$/mu, () => `defaults:\n  run:\n    working-directory: ${JSON.stringify(folder)}\njobs:`)
    .replaceAll(/(?<=^ +path: )\.dimsync\/.*$/gmu, (path) => JSON.stringify(`${folder}/${path}`))
    .replaceAll(/(?<=^ +group: dimsync-\w+-)/gmu, `${slugOf(folder)}-`);
}

const environmentText = (hosts: readonly string[], branch: string): string => `env:
  # The branch that apply watches, with which pull requests are compared.
  DIMSYNC_APPLIED_BRANCH: ${yamlText(branch)}
${
  hosts.length === 0
    ? ""
    : `  # The hosts that may get an API key, whatever dimsync.yaml says.
  DIMSYNC_ALLOWED_HOSTS: ${JSON.stringify(hosts.join(","))}
`
}`;
