import { appendFileSync, existsSync } from "node:fs";
import { relative } from "node:path";
import type { CiEnvironment } from "../../ci/environment.ts";
import { pushFile } from "../../ci/push-file.ts";
import type { ExitCode } from "../../model/exit.ts";
import { code, prose } from "../../render/markdown/escape.ts";
import type { Context } from "../shared/context.ts";
import type { CiFlags } from "../shared/flags.ts";
import { setGithubOutputs } from "../shared/github-outputs.ts";
import { loadOneProject } from "../shared/project.ts";

/** Whoever the environment names for git, else the account under which GitHub Actions acts, or on GitLab the user who started the pipeline. */
function authorOf({ forge }: CiEnvironment, env: NodeJS.ProcessEnv): { readonly name: string; readonly email: string } {
  const { GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL, GITLAB_USER_NAME, GITLAB_USER_EMAIL } = env;
  const bot = { name: "github-actions[bot]", email: "41898282+github-actions[bot]@users.noreply.github.com" };
  const name = GIT_AUTHOR_NAME ?? (forge === "gitlab" ? GITLAB_USER_NAME : bot.name) ?? "dimsync";
  return { name, email: GIT_AUTHOR_EMAIL ?? (forge === "gitlab" ? GITLAB_USER_EMAIL : bot.email) ?? "dimsync@localhost" };
}

/** A push with the token of GitHub's job starts no workflow; one with GitLab's project token would start a pipeline that finds nothing to do. */
function messageOf({ forge }: CiEnvironment, target: string): string {
  return `dimsync: record ids of ${target}${forge === "gitlab" ? "\n\n[skip ci]" : ""}`;
}

/** Configuration of git that sends the token to the one address, and is neither on a command line nor in a file. */
function gitTokenOf({ pushUrl, token }: CiEnvironment, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (pushUrl === undefined || token === undefined) return {};
  const count = Number(env["GIT_CONFIG_COUNT"] ?? 0);
  return {
    GIT_CONFIG_COUNT: String(count + 1),
    [`GIT_CONFIG_KEY_${count}`]: `http.${pushUrl}.extraHeader`,
    [`GIT_CONFIG_VALUE_${count}`]: `Authorization: Basic ${Buffer.from(`oauth2:${token}`).toString("base64")}`,
  };
}

/**
 * Sees that what apply recorded is not lost with the job: pushes the bindings file, or leaves it for the workflow to upload (output `bindings_file`).
 * Returns 4 where it changed and could not be pushed: until somebody commits it, the next run looks everything up anew.
 */
export async function keepBindings(context: Context<CiFlags>, run: CiEnvironment): Promise<ExitCode> {
  const { io, flags } = context;
  const mode = flags.bindings ?? "push";
  const { settings } = await loadOneProject(context);
  const file = settings.bindingsFile;
  if (mode === "none" || !existsSync(file)) return 0;
  const branch = mode === "push" ? run.branch : undefined;
  const pushed = await pushFile({
    folder: settings.folder,
    file,
    remote: run.pushUrl ?? "origin",
    branch,
    message: messageOf(run, settings.target),
    author: authorOf(run, io.env),
    env: { ...io.env, ...gitTokenOf(run, io.env) },
  });
  if (pushed.outcome !== "refused") {
    io.stderr(`dimsync: bindings: ${pushed.outcome}\n`);
    return 0;
  }
  const { GITHUB_OUTPUT: outputFile = "", GITHUB_STEP_SUMMARY: summaryFile = "" } = io.env;
  setGithubOutputs(outputFile, { bindings_file: file });
  if (mode === "upload") return 0;
  const shown = relative(context.cwd, file);
  const why = `The ids that apply recorded could not be pushed. ${pushed.reason} Commit ${shown} by hand; it is among this job's artifacts.`;
  io.stderr(`dimsync: E_BINDINGS_NOT_PUSHED: ${why}\n`);
  if (summaryFile !== "") appendFileSync(summaryFile, `\n> [!WARNING]\n> ${prose(why)} ${code(shown)}\n`);
  return 4;
}
