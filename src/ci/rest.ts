import { setTimeout } from "node:timers/promises";
import { DimsyncError } from "../model/errors.ts";

/** A REST interface of a forge (GitHub, GitLab): JSON in, JSON out. */
export interface Rest {
  /** Throws DimsyncError: E_FORGE_FORBIDDEN where the token may not (401, 403, 404) or nobody can (410), E_INTERRUPTED, E_FORGE for all else. */
  readonly call: (method: "GET" | "POST" | "PATCH" | "PUT", path: string, body?: Readonly<Record<string, unknown>>) => Promise<unknown>;
  /** All pages of a list, as far as the answers link them. Throws as `call`, and E_FORGE for an answer that is no list. */
  readonly list: (path: string) => Promise<readonly unknown[]>;
}

export interface RestOptions {
  /** "GitHub", "GitLab": for messages. */
  readonly name: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** Header with the token; its value is in no message. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Between attempts; 1 000 where not given. */
  readonly pauseMs?: number;
}

const timeoutMs = 30_000;
const attempts = 4;
const mostPages = 50;
const mostPauseMs = 60_000;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Reads and updates are tried again after a failure of the network, 429 and 5xx; a POST is not, since it may have been carried out. */
export function openRest({ name, baseUrl, headers, signal, pauseMs = 1_000 }: RestOptions): Rest {
  const refuseInterrupted = (): void => {
    if (signal?.aborted === true) throw new DimsyncError("E_INTERRUPTED", "The run was interrupted.", { exit: 130 });
  };
  const send = async (method: string, url: string, body: unknown): Promise<Answer> => {
    for (let attempt = 1; ; attempt += 1) {
      let afterMs = 0;
      const isLast = method === "POST" || attempt === attempts;
      try {
        const limit = AbortSignal.timeout(timeoutMs);
        const answer = await fetch(url, {
          method,
          headers: { ...headers, "user-agent": "dimsync", ...(body === undefined ? {} : { "content-type": "application/json" }) },
          body: body === undefined ? null : JSON.stringify(body),
          redirect: "error",
          signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        });
        // Within the attempt, since a connection may break in the middle of it.
        const read = { status: answer.status, headers: answer.headers, text: await answer.text() };
        if (isLast || !(read.status >= 500 || isTooOften(read))) return read;
        afterMs = Math.min(Number(read.headers.get("retry-after") ?? 0) * 1_000 || 0, mostPauseMs);
      } catch (error) {
        refuseInterrupted();
        if (isLast)
          throw new DimsyncError("E_FORGE", `${name} could not be reached: ${reasonOf(error)}. Run the job again.`, { cause: error });
      }
      await setTimeout(Math.max(afterMs, pauseMs * 2 ** (attempt - 1)), undefined, { signal }).catch(refuseInterrupted);
    }
  };
  const checked = async (method: string, url: string, body?: unknown): Promise<{ readonly value: unknown; readonly answer: Answer }> => {
    const answer = await send(method, url, body);
    const { text } = answer;
    const path = new URL(url).pathname;
    if (answer.status < 200 || answer.status > 299) throw refusal(name, method, path, answer);
    try {
      return { value: text === "" ? undefined : JSON.parse(text), answer };
    } catch (error) {
      throw new DimsyncError("E_FORGE", `${name} answered ${method} ${path} with what is no JSON. Check its address.`, { cause: error });
    }
  };
  return {
    call: async (method, path, body) => (await checked(method, baseUrl + path, body)).value,
    list: async (path) => {
      const all: unknown[] = [];
      let url: string | undefined = baseUrl + path;
      for (let page = 0; url !== undefined && page < mostPages; page += 1) {
        const { value, answer }: Awaited<ReturnType<typeof checked>> = await checked("GET", url);
        if (!Array.isArray(value))
          throw new DimsyncError("E_FORGE", `${name} answered GET ${path} with what is no list. Check its address.`);
        all.push(...(value as readonly unknown[]));
        url = nextPage(answer.headers.get("link"), baseUrl);
      }
      return all;
    },
  };
}

/** The address that a Link header calls next; only one below the base, since the token goes with it. */
function nextPage(link: string | null, baseUrl: string): string | undefined {
  const next = (link ?? "").split(",").find((part) => /;\s*rel="next"/u.test(part));
  const url = next === undefined ? undefined : /<([^>]+)>/u.exec(next)?.[1];
  return url?.startsWith(`${baseUrl}/`) === true ? url : undefined;
}

/** 429; GitHub also says it with 403, which otherwise means that the token may not. */
function isTooOften({ status, headers, text }: Answer): boolean {
  return (
    status === 429 ||
    (status === 403 && (headers.has("retry-after") || headers.get("x-ratelimit-remaining") === "0" || /rate limit/iu.test(text)))
  );
}

function refusal(name: string, method: string, path: string, answer: Answer): DimsyncError {
  const { status, text } = answer;
  const forbidden = (status === 401 || status === 403 || status === 404 || status === 410) && !isTooOften(answer);
  const why = /"message"\s*:\s*"([^"\\]{1,200})"/u.exec(text)?.[1];
  const what = `${name} answered ${method} ${path} with ${status}${why === undefined ? "" : ` (${why})`}.`;
  return new DimsyncError(
    forbidden ? "E_FORGE_FORBIDDEN" : "E_FORGE",
    status === 410
      ? `${what} It is switched off there.`
      : forbidden
        ? `${what} The token may not do this: give the job the permissions that docs/ci.md lists.`
        : `${what} Run the job again.`,
  );
}

/** The system's code of a failed connection ("ECONNREFUSED"); never the whole message, which may hold the address. */
function reasonOf(error: unknown): string {
  const cause: unknown = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error && "code" in cause && typeof cause.code === "string"
    ? cause.code
    : error instanceof Error
      ? error.name
      : "unknown";
}
