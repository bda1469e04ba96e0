import { type HttpResponse, sendRequest } from "../../base/http/send.ts";
import { DimsyncError, interruptedError } from "../../base/model/errors.ts";
import { memberAt } from "../../base/model/json/json.ts";
import { addAll } from "../../base/model/maps.ts";
import { type Clock, systemClock } from "../../base/model/runtime/clock.ts";
import type { Environment } from "../../base/model/settings/env.ts";
import { masked } from "../../base/model/settings/secret.ts";
import { backoffMs, retryAfterMs } from "../../service/index.ts";
import type { CiEnvironment } from "./environment.ts";

/** The REST interface of GitHub or GitLab: JSON in, JSON out. */
export interface Rest {
  /**
   * Throws DimsyncError: E_FORGE_FORBIDDEN if the token lacks the permission (401, 403, 404) or the
   * feature is switched off (410), E_INTERRUPTED, E_PROXY, and E_FORGE for any other failure.
   */
  readonly call: (method: Method, path: string, options?: CallOptions) => Promise<unknown>;
  /** All pages of a list. Throws as `call`, and E_FORGE if the response is not a list. */
  readonly list: (path: string) => Promise<readonly unknown[]>;
}

interface CallOptions {
  readonly body?: Readonly<Record<string, unknown>>;
  /**
   * Allows a POST to be repeated: resolves with whether an earlier attempt created the object
   * although its response was lost.
   */
  readonly isCreated?: () => Promise<boolean>;
}

export interface RestOptions {
  /** "GitHub" or "GitLab", for messages. */
  readonly name: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** Headers with the token, which appears in no message. */
  readonly headers: Readonly<Record<string, string>>;
  /** HTTPS_PROXY and NO_PROXY apply as for the service. */
  readonly env: Environment;
  readonly signal?: AbortSignal | undefined;
  /** What it waits with between attempts. Default: the time of the system. */
  readonly clock?: Clock | undefined;
}

type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

interface Call {
  readonly method: Method;
  readonly url: string;
  readonly options: CallOptions;
}

const timeoutMs = 30_000;
/** The longest first pause between attempts; doubles each time. */
const firstPauseMs = 1_000;
const attempts = 4;
const maxPages = 50;
const maxBodyBytes = 64 * 1024 * 1024;

/**
 * Repeats a call after a network failure, 429 or 5xx. A POST may have been carried out although its
 * response was lost, so it is repeated only if the caller can look that up.
 */
export function openRest(rest: RestOptions): Rest {
  const { name, baseUrl } = rest;
  return {
    call: async (method, path, options = {}) => {
      // GitHub Enterprise has GraphQL beside its REST interface.
      const url = (path === "/graphql" ? baseUrl.replace(/\/v3$/u, "") : baseUrl) + path;
      const call: Call = { method, url, options };
      const response = await sendWithRetries(rest, call);
      return response === undefined ? undefined : parseBody(rest, call, response);
    },
    list: async (path) => {
      const all: unknown[] = [];
      let url: string | undefined = baseUrl + path;
      for (let page = 0; url !== undefined && page < maxPages; page += 1) {
        const call: Call = { method: "GET", url, options: {} };
        const response: HttpResponse | undefined = await sendWithRetries(rest, call);
        const value = response === undefined ? undefined : parseBody(rest, call, response);
        if (!Array.isArray(value))
          throw new DimsyncError("E_FORGE", `${name} answered GET ${path} with something other than a list. Check the URL of its API.`);
        addAll(all, value as readonly unknown[]);
        url = nextPage(response, baseUrl);
      }
      return all;
    },
  };
}

/** The REST interface of the job's provider; undefined without a provider or a token. */
export function openProvider(
  { provider, token, apiUrl }: Pick<CiEnvironment, "provider" | "token" | "apiUrl">,
  { env, signal }: { readonly env: Environment; readonly signal: AbortSignal },
): Rest | undefined {
  if (provider === "none" || token === undefined) return undefined;
  const headers =
    provider === "github"
      ? { authorization: `Bearer ${token}`, accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" }
      : { "private-token": token };
  return openRest({ name: provider === "github" ? "GitHub" : "GitLab", baseUrl: apiUrl, headers, env, signal });
}

/** Resolves with undefined if an earlier attempt turned out to have created the object. */
async function sendWithRetries(rest: RestOptions, call: Call): Promise<HttpResponse | undefined> {
  const { name, signal, clock = systemClock } = rest;
  const { method, options } = call;
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await sendOnce(rest, call);
    const failed = "failure" in outcome;
    const isRefused = !failed && isRateLimited(outcome);
    if (!failed && outcome.status < 500 && !isRefused) return outcome;
    const isRepeatable = method !== "POST" || isRefused || options.isCreated !== undefined;
    if (!isRepeatable || attempt === attempts) {
      if (!failed) return outcome;
      throw new DimsyncError("E_FORGE", `${name} could not be reached: ${outcome.failure}. Run the job again.`);
    }
    const waitMs = failed ? undefined : retryAfterMs(outcome.headers, clock.now().getTime());
    await clock.sleep(waitMs ?? backoffMs(attempt, Math.random, firstPauseMs), signal);
    throwInterrupted(signal);
    if (!isRefused && (await options.isCreated?.()) === true) return undefined;
  }
}

async function sendOnce({ headers, env, signal }: RestOptions, { method, url, options: { body } }: Call) {
  const json = body === undefined ? undefined : masked(JSON.stringify(body));
  const all = { ...headers, "user-agent": "dimsync", ...(json === undefined ? {} : { "content-type": "application/json" }) };
  return await sendRequest({ method, url: new URL(url), headers: all, body: json }, { timeoutMs, env, signal, maxBodyBytes }).catch(
    (error: unknown) => {
      throwInterrupted(signal);
      throw error;
    },
  );
}

function throwInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw interruptedError();
}

function parseBody({ name }: RestOptions, { method, url }: Call, response: HttpResponse): unknown {
  const { status, text } = response;
  const { pathname } = new URL(url);
  if (status < 200 || status > 299) throw refusal(name, `${method} ${pathname}`, response);
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch (error) {
    throw new DimsyncError("E_FORGE", `${name} answered ${method} ${pathname} with invalid JSON. Check the URL of its API.`, {
      cause: error,
    });
  }
}

const header = ({ headers }: HttpResponse, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === "object" ? value[0] : value;
};

/**
 * The URL that a Link header calls next. Only one below the base URL is followed, because the token
 * is sent to it.
 */
function nextPage(response: HttpResponse | undefined, baseUrl: string): string | undefined {
  const link = response === undefined ? undefined : header(response, "link");
  const next = (link ?? "").split(",").find((part) => /;\s*rel="next"/u.test(part));
  const url = next === undefined ? undefined : /<([^>]+)>/u.exec(next)?.[1];
  return url?.startsWith(`${baseUrl}/`) === true ? url : undefined;
}

/** GitHub also limits with 403, which otherwise means a missing permission. */
function isRateLimited(response: HttpResponse): boolean {
  if (response.status === 429) return true;
  return (
    response.status === 403 &&
    (header(response, "retry-after") !== undefined ||
      header(response, "x-ratelimit-remaining") === "0" ||
      /rate limit/iu.test(response.text))
  );
}

function refusal(name: string, call: string, response: HttpResponse): DimsyncError {
  const { status, text } = response;
  const isForbidden = [401, 403, 404, 410].includes(status) && !isRateLimited(response);
  const reason = /"message"\s*:\s*"([^"\\]{1,200})"/u.exec(text)?.[1];
  const what = `${name} answered ${call} with ${status}${reason === undefined ? "" : ` (${reason})`}.`;
  if (status === 410) return new DimsyncError("E_FORGE_FORBIDDEN", `${what} The feature is switched off there.`);
  return isForbidden
    ? new DimsyncError("E_FORGE_FORBIDDEN", `${what} The token lacks a permission. docs/ci.md lists the permissions of each job.`)
    : new DimsyncError("E_FORGE", `${what} Run the job again.`);
}

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
