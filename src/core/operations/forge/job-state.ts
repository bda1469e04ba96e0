import { DimsyncError } from "../../base/model/errors.ts";
import { memberAt } from "../../base/model/json/json.ts";
import type { Environment } from "../../base/model/settings/env.ts";
import type { CiEnvironment } from "./environment.ts";
import { openProvider } from "./rest.ts";

/** The longest time for all attempts. */
const timeLimitMs = 10_000;

/**
 * Whether the job whose page is `jobUrl` has ended, as GitHub or GitLab says. False without a clear
 * answer: for a job of another repository, without a token or its permission, and after any failure.
 */
export async function hasJobEnded(
  jobUrl: string,
  environment: CiEnvironment,
  { env, signal }: { readonly env: Environment; readonly signal: AbortSignal },
): Promise<boolean> {
  const rest = openProvider(environment, { env, signal: AbortSignal.any([signal, AbortSignal.timeout(timeLimitMs)]) });
  const question = (environment.provider === "github" ? githubQuestion : gitlabQuestion)(jobUrl, environment);
  if (rest === undefined || question === undefined) return false;
  try {
    return question.isEnded(await rest.call("GET", question.path));
  } catch (error) {
    if (!(error instanceof DimsyncError)) throw error;
    return false;
  }
}

interface Question {
  readonly path: string;
  readonly isEnded: (answer: unknown) => boolean;
}

/** An attempt of a workflow run. It has ended when all of its jobs have; a later attempt is another one. */
function githubQuestion(jobUrl: string, { repository, runUrl }: CiEnvironment): Question | undefined {
  const prefix = runUrl?.replace(/\d+$/u, "");
  const [, run, attempt] = /^(\d+)\/attempts\/(\d+)$/u.exec(prefix === undefined ? "" : after(prefix, jobUrl)) ?? [];
  if (run === undefined || attempt === undefined) return undefined;
  return {
    path: `/repos/${repository}/actions/runs/${run}/attempts/${attempt}`,
    isEnded: (answer) =>
      member(answer, "id") === run && member(answer, "run_attempt") === attempt && member(answer, "status") === "completed",
  };
}

const gitlabEnds = new Set(["success", "failed", "canceled", "skipped"]);

/** A job. A retry of it is another job. */
function gitlabQuestion(jobUrl: string, { repository, runUrl }: CiEnvironment): Question | undefined {
  const prefix = runUrl?.replace(/\d+$/u, "");
  const [job] = /^\d+$/u.exec(prefix === undefined ? "" : after(prefix, jobUrl)) ?? [];
  if (job === undefined) return undefined;
  return {
    path: `/projects/${encodeURIComponent(repository)}/jobs/${job}`,
    isEnded: (answer) => member(answer, "id") === job && gitlabEnds.has(member(answer, "status")),
  };
}

const after = (prefix: string, text: string): string => (text.startsWith(prefix) ? text.slice(prefix.length) : "");

const member = (value: unknown, key: string): string => String(memberAt(value, key));
