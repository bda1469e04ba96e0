import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ciFiles } from "../../../src/core/operations/forge/workflows.ts";
import { runCommand } from "../../support/command.ts";
import { folderOfRun } from "../../support/folder-of-run.ts";
import { gitEnv } from "../../support/git/env.ts";
import { commitAll, git } from "../../support/git/remote.ts";
import { writeProject } from "../../support/project-folder.ts";
import { type ActionRun, type Machine, runAction, runWorkflow } from "./action-runner.ts";
import { type GithubStandIn, githubToken } from "./github-stand-in.ts";

/**
 * The file of the built package, packed once in a run. DIMSYNC_TEST_DIST selects another build, with
 * package.json above it.
 */
export async function packedPackage(): Promise<string> {
  const folder = await folderOfRun("package", (made) => {
    const dist = resolve(process.env["DIMSYNC_TEST_DIST"] ?? "dist");
    if (!existsSync(join(dist, "bin.cjs"))) throw new Error("There is no build. Run `npm run build` first.");
    execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", made], { cwd: dirname(dist), stdio: "ignore" });
  });
  const [name = ""] = readdirSync(folder);
  return join(folder, name);
}

/**
 * A folder for PATH with an `npm` that uses one installation of the packed package. Each job would
 * otherwise install it again, which takes longer than what the job runs.
 */
export async function installedOnce(): Promise<string> {
  const packageFile = await packedPackage();
  const folder = await folderOfRun("installed-package", (made) => {
    const [installed, cache] = [join(made, "installed"), join(made, "cache")];
    mkdirSync(installed);
    execFileSync("npm", ["install", "--prefix", installed, "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", packageFile], {
      env: { ...gitEnv, npm_config_offline: "true", npm_config_cache: cache },
      stdio: "ignore",
    });
    const script = `#!/bin/sh
[ "$*" = "install --prefix $3 --no-save --no-audit --no-fund --ignore-scripts ${packageFile}" ] || exit 99
[ "$3" = "\${RUNNER_TEMP:-\${3%/*}}/\${3##*/}" ] || exit 98
mkdir -p "$3" && ln -s "\${0%/*}/../installed/node_modules" "$3/node_modules"
`;
    mkdirSync(join(made, "bin"));
    writeFileSync(join(made, "bin/npm"), script, { mode: 0o755 });
  });
  return join(folder, "bin");
}

/** Refuses a push to main, as a protected branch does, unless a file in the bare repository allows it. */
const protectMain = `#!/bin/sh
[ "$1" != refs/heads/main ] || [ -e open ] || { echo "main is protected" >&2; exit 1; }
`;

/** A repository with a bare remote, whose branch main is protected, and a folder for each job's checkout. */
export function startRepository(files: Readonly<Record<string, string>>) {
  const root = writeProject({});
  const remote = join(root, "remote.git");
  const work = join(root, "work");
  git(root, "init", "--quiet", "--bare", "--initial-branch=main", remote);
  git(root, "clone", "--quiet", remote, work);
  writeFileSync(join(remote, "hooks", "update"), protectMain, { mode: 0o755 });
  let jobs = 0;
  /** Pushes as a user who may push to main. */
  const push = (branch: string): void => {
    writeFileSync(join(remote, "open"), "");
    git(work, "push", "--quiet", "origin", branch);
    rmSync(join(remote, "open"));
  };
  const repository = {
    root,
    remote,
    /** Creates the records of the targets, or of the only one, in the remote, and names them in dimsync.yaml. */
    createRecords: async (...targets: readonly string[]): Promise<void> => {
      const folder = repository.checkout("main");
      for (const flags of targets.length === 0 ? [[]] : targets.map((target) => ["-t", target])) {
        const { code, stderr } = await runCommand(["records", "init", ...flags], folder, gitEnv);
        if (code !== 0) throw new Error(stderr);
      }
      repository.commit("main", { "dimsync.yaml": readFileSync(join(folder, "dimsync.yaml"), "utf8") });
    },
    commit: (branch: string, changes: Readonly<Record<string, string>>): void => {
      const isThere = git(work, "branch", "--list", branch) !== "";
      if (git(work, "branch", "--show-current") !== branch) git(work, "checkout", "--quiet", ...(isThere ? [] : ["-b"]), branch);
      for (const [path, text] of Object.entries(changes)) {
        mkdirSync(dirname(join(work, path)), { recursive: true });
        writeFileSync(join(work, path), text, text.startsWith("#!") ? { mode: 0o755 } : {});
      }
      commitAll(work);
      push(branch);
    },
    merge: (branch: string): void => {
      git(work, "checkout", "--quiet", "main");
      git(work, "pull", "--quiet", "origin", "main");
      git(work, "merge", "--quiet", "--no-edit", branch);
      push("main");
    },
    /** A fresh checkout, as each job gets it. */
    checkout: (branch: string): string => {
      jobs += 1;
      const folder = join(root, `job-${jobs}`);
      git(root, "clone", "--quiet", "--branch", branch, remote, folder);
      return folder;
    },
    /** A file on the branch or ref of the remote; undefined if it does not exist. */
    read: (ref: string, path: string): string | undefined => {
      try {
        return git(remote, "show", `${ref}:${path}`);
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

/** The ways to set up a job. */
export const ways = ["the action", "the workflows of init"] as const;

/** The settings of all jobs of a test. */
export interface Rehearsal {
  /** The packed package. */
  readonly packageFile: string;
  /** A folder with an `npm` of its own; undefined: that of this machine. */
  readonly npm: string | undefined;
  /** Where npm looks for packages; undefined: nowhere. */
  readonly registry?: string;
  readonly repository: Repository;
  readonly github: GithubStandIn;
  /** Of the service. */
  readonly hosts: readonly string[];
  /** The secrets DIMSYNC_READ_KEY and DIMSYNC_API_KEY. */
  readonly keys: { readonly read: string; readonly write: string };
}

export interface Job {
  readonly task: "plan" | "apply" | "drift";
  readonly branch: string;
  readonly inputs?: Readonly<Record<string, string>>;
  /** The secrets of the manifests. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly author?: "member" | "fork" | "Dependabot";
  /** Dependabot has secrets of its own, which may have the key that can read. */
  readonly hasReadKey?: boolean;
  /** Default: the action. */
  readonly way?: (typeof ways)[number];
  /** Of the project in the repository, for the workflows of init. */
  readonly folder?: string;
  /** The inputs of a workflow that is run by hand. */
  readonly byHand?: { readonly target: string; readonly reason: string };
}

/** Runs a job with no other secrets than those that GitHub would hand to it. */
export async function runJob(rehearsal: Rehearsal, job: Job): Promise<ActionRun> {
  const { task, branch, inputs = {}, secrets = {}, author = "member", way = "the action", folder = "" } = job;
  const { hasReadKey = author === "member" } = job;
  const machine = startMachine(rehearsal, {
    event: task === "plan" ? "pull_request" : job.byHand === undefined ? "push" : "workflow_dispatch",
    branch,
    author,
  });
  const given = { package: rehearsal.packageFile, ...inputs };
  const { read, write } = rehearsal.keys;
  if (way === "the action") {
    const key = hasReadKey ? (task === "apply" ? write : read) : "";
    const env = { ...machine.env, DIMSYNC_API_KEY: key, ...secrets };
    const text = readFileSync("action.yml", "utf8");
    return await runAction(text, { task, "node-version": "", ...given }, { ...machine, env });
  }
  const keys = hasReadKey ? { DIMSYNC_READ_KEY: read, ...(task === "apply" ? { DIMSYNC_API_KEY: write } : {}) } : {};
  const runs = await runWorkflow(workflowOfInit(rehearsal, { task, secrets, folder }), {
    inputs: job.byHand ?? {},
    secrets: () => ({ ...keys, ...secrets }),
    startMachine: () => machine,
  });
  const [run] = Object.values(runs);
  if (run === undefined) throw new Error("No job ran.");
  return run;
}

/** The workflow that init writes, with the packed package and the secrets of the manifests. */
function workflowOfInit(
  { packageFile, hosts }: Rehearsal,
  { task, secrets, folder }: Required<Pick<Job, "task" | "secrets" | "folder">>,
): string {
  const added = Object.keys(secrets).map((name) => `${name}: \${{ secrets.${name} }}\n          `);
  const project = { targets: [{ name: "prod", key: "DIMSYNC_API_KEY" }], hosts, branch: "main", folder };
  const [, text = ""] = Object.entries(ciFiles("github", project)).find(([path]) => path.includes(`dimsync-${task}`)) ?? [];
  return text.replaceAll(/dimsync@\d\S*/gu, packageFile).replace("# Add the secrets", `${added.join("")}#`);
}

export interface WrittenJob extends Pick<Job, "task" | "branch" | "byHand"> {
  /** By job. */
  readonly secrets: (job: string) => Readonly<Record<string, string>>;
}

/** Runs the jobs of a workflow that is in the repository, and returns those that ran. */
export async function runWritten(
  rehearsal: Rehearsal,
  { task, branch, byHand, secrets }: WrittenJob,
): Promise<Readonly<Record<string, ActionRun>>> {
  const text = rehearsal.repository.read("main", `.github/workflows/dimsync-${task}.yml`) ?? "";
  return await runWorkflow(text.replaceAll(/dimsync@\d\S*/gu, rehearsal.packageFile), {
    secrets,
    ...(byHand === undefined ? {} : { inputs: byHand }),
    startMachine: () => startMachine(rehearsal, { event: eventOf({ task, byHand }), branch, author: "member" }),
  });
}

const eventOf = ({ task, byHand }: { readonly task: Job["task"]; readonly byHand?: Job["byHand"] | undefined }): Trigger["event"] =>
  task === "plan" ? "pull_request" : byHand === undefined ? "push" : "workflow_dispatch";

interface Trigger {
  readonly event: "pull_request" | "push" | "workflow_dispatch";
  readonly branch: string;
  readonly author: "member" | "fork" | "Dependabot";
}

/** A machine with a fresh checkout and the variables of a job. */
function startMachine({ repository, github, npm, registry }: Rehearsal, { event, branch, author }: Trigger): Machine {
  const workspace = repository.checkout(branch);
  const temp = join(repository.root, `temp-${workspace.split("-").at(-1)}`);
  mkdirSync(temp);
  if (registry !== undefined) writeFileSync(join(temp, ".npmrc"), `registry=${registry}\n`);
  const eventFile = join(temp, "event.json");
  const head = { repo: { full_name: author === "fork" ? "other/data" : "example/data" } };
  const base = git(workspace, "rev-parse", "origin/main");
  const pull = { number: 7, head, base: { ref: "main", sha: base } };
  writeFileSync(
    eventFile,
    JSON.stringify({ ...(event === "pull_request" ? { pull_request: pull } : {}), repository: { default_branch: "main" } }),
  );
  const ref = event === "pull_request" ? "refs/pull/7/merge" : `refs/heads/${branch}`;
  return {
    workspace,
    temp,
    github: { token: githubToken, run_id: "1", run_attempt: "1", ref, event_name: event },
    env: {
      ...gitEnv,
      ...(npm === undefined ? {} : { PATH: `${npm}:${gitEnv["PATH"]}` }),
      HOME: temp,
      CI: "true",
      ...(registry === undefined ? { npm_config_offline: "true" } : {}),
      npm_config_cache: join(temp, "npm"),
      GITHUB_ACTIONS: "true",
      GITHUB_ACTOR: author === "Dependabot" ? "dependabot[bot]" : "dana",
      GITHUB_API_URL: github.url,
      GITHUB_EVENT_NAME: event,
      GITHUB_EVENT_PATH: eventFile,
      GITHUB_REF: ref,
      GITHUB_REPOSITORY: "example/data",
      GITHUB_RUN_ID: "1",
    },
  };
}
