import { basename, resolve } from "node:path";
import { makeBundle } from "../../controller/projects/make-bundle.ts";
import { pushBundle } from "../../controller/projects/push-bundle.ts";
import { requestChecks } from "../../controller/work/queue.ts";
import { gitText } from "../../git/process.ts";
import { listTargets, loadProject, type Project } from "../../manifests/project.ts";
import { ProblemsError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import { toDiagnostic } from "../../model/problem.ts";
import { projectGitState } from "../../operations/session.ts";
import { jsonDocument, visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import type { Context } from "../shared/context.ts";
import type { ControllerFlags } from "../shared/flags.ts";
import { checkOutputs, deliverForms } from "../shared/output.ts";
import { loadOptions } from "../shared/project.ts";
import { diagnosticText } from "../shared/report-error.ts";
import { say } from "../shared/say.ts";
import { currentUser, placeOf, withController } from "./place.ts";

/** `dimsync controller push`: uploads the project and makes it the desired state of its targets under control. */
export async function runPush(context: Context<ControllerFlags>): Promise<ExitCode> {
  const { io, flags, cwd } = context;
  checkOutputs(context, ["human", "json"]);
  const projects = await projectsUnderControl(context);
  for (const warning of warningsOf(projects, context)) io.stderr(warning);
  const [first] = projects;
  const git = first === undefined ? undefined : await projectGitState(first, io.interrupted);
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
    const pushed = await pushBundle(database, content, { projects, by: currentUser(context) });
    await requestChecks(database, pushed.accounts);
    return pushed;
  });
  const names = accounts.map(({ target }) => target);
  const { source, commit, dirty } = content;
  await deliverForms(context, {
    human: () =>
      visible(`Pushed ${digest.slice(0, 19)} of ${source}: ${counted(names.length, "account")} (${names.join(", ")})`).concat("\n"),
    json: () => jsonDocument({ formatVersion: "1.0", kind: "ControllerPush", digest, source, commit, dirty, accounts: names }),
  });
  return 0;
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
  const problems = found.flatMap((project) =>
    project.problems.filter(({ severity }) => severity === "error").map((problem) => ({ problem, project })),
  );
  const [one] = problems;
  if (one !== undefined) throw new ProblemsError([...new Set(problems.map(({ problem }) => problem))], one.project.locate);
  return found;
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
