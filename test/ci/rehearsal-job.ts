import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { workflows } from "../../src/commands/setup/init-workflows.ts";
import { writeProject } from "../support/project-folder.ts";
import { type ActionRun, runAction, runWorkflow } from "./action-runner.ts";
import { type GithubStandIn, githubToken } from "./github-stand-in.ts";

/** Packs the built package into a temp folder. Throws where it isn't built. DIMSYNC_TEST_DIST names another build, with package.json above it. */
export function packPackage(): { readonly file: string; readonly folder: string; readonly remove: () => void } {
  const dist = resolve(process.env["DIMSYNC_TEST_DIST"] ?? "dist");
  if (!existsSync(join(dist, "bin.cjs"))) throw new Error("This installs the built package: run `npm run build` first.");
  const folder = mkdtempSync(join(tmpdir(), "dimsync-package-"));
  const name = execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], {
    cwd: dirname(dist),
    encoding: "utf8",
  }).trim();
  return { file: join(folder, name.split("\n").at(-1) ?? ""), folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

const gitEnv = {
  PATH: process.env["PATH"] ?? "",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_AUTHOR_NAME: "Dana",
  GIT_AUTHOR_EMAIL: "dana@example.com",
  GIT_COMMITTER_NAME: "Dana",
  GIT_COMMITTER_EMAIL: "dana@example.com",
};
const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync("git", args, { cwd, env: gitEnv, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** A repository with a bare remote and a folder for each job's checkout. */
export function startRepository(files: Readonly<Record<string, string>>) {
  const root = writeProject({});
  const remote = join(root, "remote.git");
  const work = join(root, "work");
  git(root, "init", "--quiet", "--bare", "--initial-branch=main", remote);
  git(root, "clone", "--quiet", remote, work);
  let jobs = 0;
  const repository = {
    root,
    remote,
    commit: (branch: string, changes: Readonly<Record<string, string>>): void => {
      const isThere = git(work, "branch", "--list", branch) !== "";
      if (git(work, "branch", "--show-current").trim() !== branch) git(work, "checkout", "--quiet", ...(isThere ? [] : ["-b"]), branch);
      for (const [path, text] of Object.entries(changes)) {
        mkdirSync(dirname(join(work, path)), { recursive: true });
        writeFileSync(join(work, path), text);
      }
      git(work, "add", "--all");
      git(work, "commit", "--quiet", "--message", "change");
      git(work, "push", "--quiet", "origin", branch);
    },
    merge: (branch: string): void => {
      git(work, "checkout", "--quiet", "main");
      git(work, "pull", "--quiet", "origin", "main");
      git(work, "merge", "--quiet", "--no-edit", branch);
      git(work, "push", "--quiet", "origin", "main");
    },
    /** A fresh checkout, as each job gets it. */
    checkout: (branch: string): string => {
      jobs += 1;
      const folder = join(root, `job-${jobs}`);
      git(root, "clone", "--quiet", "--branch", branch, remote, folder);
      return folder;
    },
    /** A file on the remote's branch; undefined where it isn't there. */
    read: (branch: string, path: string): string | undefined => {
      try {
        return git(remote, "show", `${branch}:${path}`);
      } catch {
        return undefined;
      }
    },
  };
  git(work, "symbolic-ref", "HEAD", "refs/heads/main");
  repository.commit("main", files);
  return repository;
}

export type Repository = ReturnType<typeof startRepository>;

/** What a job is made with. */
export const ways = ["the action", "the reusable workflows", "the workflows that init writes"] as const;

export interface Job {
  readonly task: "plan" | "apply" | "drift";
  readonly branch: string;
  readonly inputs?: Readonly<Record<string, string>>;
  /** What the manifests name. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly fromFork?: boolean;
  /** The action where not given. */
  readonly way?: (typeof ways)[number];
}

export async function runJobOf(
  packageFile: string,
  repository: Repository,
  github: GithubStandIn,
  key: string,
  { task, branch, inputs = {}, secrets = {}, fromFork = false, way = "the action" }: Job,
): Promise<ActionRun> {
  const workspace = repository.checkout(branch);
  const temp = join(repository.root, `temp-${workspace.split("-").at(-1)}`);
  mkdirSync(temp);
  const event = join(temp, "event.json");
  const head = { repo: { full_name: fromFork ? "stranger/data" : "example/data" } };
  writeFileSync(event, JSON.stringify(task === "plan" ? { pull_request: { number: 7, head } } : {}));
  const ref = task === "plan" ? "refs/pull/7/merge" : `refs/heads/${branch}`;
  const apiKey = fromFork ? "" : key;
  const given = { package: packageFile, ...inputs };
  const world = {
    workspace,
    temp,
    github: { token: githubToken, run_id: "1", run_attempt: "1", ref },
    env: {
      ...gitEnv,
      HOME: temp,
      CI: "true",
      npm_config_offline: "true",
      npm_config_cache: join(temp, "npm"),
      GITHUB_ACTIONS: "true",
      GITHUB_API_URL: github.url,
      GITHUB_EVENT_PATH: event,
      GITHUB_REF: ref,
      GITHUB_REPOSITORY: "example/data",
      GITHUB_RUN_ID: "1",
    },
  };
  if (way === "the action") {
    const env = { ...world.env, DIMSYNC_API_KEY: apiKey, ...secrets };
    const text = readFileSync(".github/actions/dimsync/action.yml", "utf8");
    return await runAction(text, { task, "node-version": "", ...given }, { ...world, env });
  }
  if (way === "the reusable workflows") {
    const text = readFileSync(`.github/workflows/dimsync-${task}.yml`, "utf8");
    const lines = Object.entries(secrets).map(([name, value]) => `${name}=${value}\n`);
    return await runWorkflow(text, given, { "api-key": apiKey, env: lines.join("") }, world);
  }
  // What the line that init leaves for the secrets says, done.
  const text = workflows("0.0.0")
    [task].replace("dimsync@0.0.0", `--package=${packageFile} dimsync`)
    .replace("# The secrets that your", `${Object.keys(secrets).map((name) => `${name}: \${{ secrets.${name} }}\n          `)}#`);
  return await runWorkflow(text, {}, { DIMSYNC_API_KEY: apiKey, ...secrets }, world);
}
