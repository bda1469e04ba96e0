import { basename, resolve } from "node:path";
import type { Context } from "../../../cli/context.ts";
import { checkOutputs, deliverForms } from "../../../cli/output.ts";
import { loadOptions } from "../../../cli/project.ts";
import { diagnosticText } from "../../../cli/report-error.ts";
import { say } from "../../../cli/say.ts";
import { leftOutProblems } from "../../../core/engine/left-out.ts";
import { gitText, runGit } from "../../../core/git/process.ts";
import { listTargets, loadProject, type Project } from "../../../core/manifests/project.ts";
import { ProblemsError, refuseErrors } from "../../../core/model/errors.ts";
import type { ExitCode } from "../../../core/model/exit.ts";
import { type Problem, toDiagnostic } from "../../../core/model/problem.ts";
import { jobUrl } from "../../../core/operations/open-records.ts";
import { projectGitState } from "../../../core/operations/session.ts";
import { jsonDocument, visible } from "../../../core/text/control-characters.ts";
import { counted } from "../../../core/text/counts.ts";
import { andMore, grouped } from "../../../core/text/lists.ts";
import type { ControllerFlags } from "../index.ts";
import { shortDigest } from "../projects/bundle.ts";
import { makeBundle } from "../projects/make-bundle.ts";
import { pushBundle } from "../projects/push-bundle.ts";
import { requestChecks } from "../work/queue.ts";
import { currentUser, neededReason, placeOf, withController } from "./place.ts";

/** `dimsync controller push`: uploads the project and makes it the desired state of its targets under control. */
export async function runPush(context: Context<ControllerFlags>): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  checkOutputs(context, ["human", "json"]);
  const force =
    flags.force === true
      ? neededReason(context, "--force", `dimsync controller push --force --reason "the project has moved to another repository"`)
      : undefined;
  const projects = await projectsUnderControl(context);
  for (const warning of warningsOf(projects, context)) io.stderr(warning);
  const [first] = projects;
  const git = first === undefined ? undefined : await projectGitState(first, io.interrupted);
  refuseErrors(leftOutProblems(git, first?.settings.folder ?? cwd));
  if (git?.dirty === true) say(io, `the project has uncommitted changes, which are pushed too: ${(git.changedFiles ?? []).join(", ")}`);
  const { vars = {} } = loadOptions(context, []);
  const content = await makeBundle(projects, {
    source: flags.source ?? (await sourceOf(first?.settings.folder ?? cwd, io.env)),
    git,
    vars,
    varFiles: flags.varFile.map((file) => resolve(cwd, file)),
    env: io.env,
    isLocal: placeOf(context).url === undefined,
  });
  const { digest, accounts } = await withController(context, async (database) => {
    const pushed = await pushBundle(database, content, {
      projects,
      by: currentUser(context),
      runUrl: jobUrl(io.env),
      force,
      allowRemoval: flags.allowRemoval === true,
      contains: (commit) => historyContains(first?.settings.folder ?? cwd, commit, io.env),
    });
    await requestChecks(database, pushed.accounts);
    return pushed;
  });
  const names = accounts.map(({ target }) => target);
  const { source, commit, dirty } = content;
  await deliverForms(context, {
    human: () =>
      visible(`Pushed ${shortDigest(digest)} of ${source}: ${counted(names.length, "account")} (${names.join(", ")})`).concat("\n"),
    json: () => jsonDocument({ formatVersion: "1.0", kind: "ControllerPush", digest, source, commit, dirty, accounts: names }),
  });
  return 0;
}

/** Whether HEAD is the commit or has it in its history; undefined if the clone does not have it. */
async function historyContains(folder: string, commit: string, env: Context["io"]["env"]): Promise<boolean | undefined> {
  const git = async (args: readonly string[]): Promise<number | undefined> =>
    (await runGit({ folder, env }, args, { timeoutMs: 30_000 })).code;
  if ((await git(["cat-file", "-e", `${commit}^{commit}`])) !== 0) return undefined;
  return (await git(["merge-base", "--is-ancestor", commit, "HEAD"])) === 0;
}

/** Throws ProblemsError if the config cannot be used. */
async function projectsUnderControl(context: Context<ControllerFlags>): Promise<readonly Project[]> {
  const options = loadOptions(context, []);
  // The workers do not have the environment of this job.
  const env = { ...options.env, DIMSYNC_BASE_URL: "", DIMSYNC_API_KEY: "", DIMSYNC_API_KEY_FILE: "", DIMSYNC_TARGET: "" };
  const found: Project[] = [];
  for (const target of await listTargets(options)) {
    const project = await loadProject({ ...options, env, target });
    if (project.settings.controller !== undefined) found.push(project);
  }
  const problems = sharedProblems(found);
  if (problems.length > 0) throw new ProblemsError(problems, found[0]?.locate);
  return found;
}

/** The errors of all targets. One that several targets share is reported once and names them. */
function sharedProblems(projects: readonly Project[]): readonly Problem[] {
  const errors = projects.flatMap(({ problems, settings: { target } }) =>
    problems.filter(({ severity }) => severity === "error").map((problem) => ({ problem, target })),
  );
  return grouped(errors, ({ problem }) => JSON.stringify(problem)).map((same) => {
    const { problem } = same[0];
    return same.length === 1
      ? problem
      : {
          ...problem,
          message: `${problem.message} (targets ${andMore(
            same.map(({ target }) => target),
            "target",
          )})`,
        };
  });
}

/** Each once, even if several targets have it. */
function warningsOf(projects: readonly Project[], context: Context): ReadonlySet<string> {
  const warnings = projects.flatMap(({ problems, locate }) =>
    problems.filter(({ severity }) => severity === "warning").map((problem) => toDiagnostic(problem, locate)),
  );
  return new Set(warnings.map((warning) => diagnosticText(context, warning)));
}

/** "example/dimsync-config" of the remote origin, or the name of the folder. */
async function sourceOf(folder: string, env: Context["io"]["env"]): Promise<string> {
  const url = await gitText({ folder, env }, ["config", "--get", "remote.origin.url"], { timeoutMs: 5_000 }).catch(() => "");
  const [, name] = /[/:]([^/:]+\/[^/:]+?)(?:\.git)?\/?$/u.exec(url.trim()) ?? [];
  return name ?? basename(folder);
}
