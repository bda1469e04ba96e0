import type { Dispatcher, Pool } from "undici";
import { isLoopback } from "../model/base-url.ts";
import { proxyDispatcher, proxyFor } from "./proxy.ts";

export interface PostOptions {
  /** From connecting to the answer's status. */
  readonly timeoutMs: number;
  /** For the proxy: HTTPS_PROXY and NO_PROXY, as for the service. */
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Posts JSON to another receiver than the service, once, and returns the answer's status; the answer's body is thrown away. Redirects are not followed.
 * `failure` is the system's code ("ECONNREFUSED") or "time-out": error messages hold host names, which may be part of a secret. Throws the signal's
 * reason, and E_PROXY.
 */
export async function postJson(
  url: URL,
  body: string,
  { timeoutMs, env, signal }: PostOptions,
): Promise<{ readonly status: number } | { readonly failure: string }> {
  signal?.throwIfAborted();
  const dispatcher = await openTo(url, env, timeoutMs);
  const limit = AbortSignal.timeout(timeoutMs);
  const stop = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  try {
    return await Promise.race([post(dispatcher, url, body), ended(stop)]);
  } finally {
    // Also ends what is under way.
    await dispatcher.destroy();
    signal?.throwIfAborted();
  }
}

async function openTo(url: URL, env: NodeJS.ProcessEnv, timeoutMs: number): Promise<Dispatcher> {
  const options: Pool.Options = { connections: 1, pipelining: 1, allowH2: false, connect: { timeout: timeoutMs } };
  const proxy = proxyFor({ origin: url.origin, prefix: "", loopback: isLoopback(url.hostname) }, env);
  if (proxy !== undefined) return proxyDispatcher(proxy, env, options, timeoutMs);
  const { default: DirectPool } = await import("undici/lib/dispatcher/pool.js");
  return new DirectPool(url.origin, options);
}

const ended = (stop: AbortSignal): Promise<{ readonly failure: string }> =>
  new Promise((settle) => {
    const end = (): void => settle({ failure: "time-out" });
    if (stop.aborted) end();
    else stop.addEventListener("abort", end, { once: true });
  });

function post(dispatcher: Dispatcher, url: URL, body: string): Promise<{ readonly status: number } | { readonly failure: string }> {
  return new Promise((settle) => {
    dispatcher.dispatch(
      {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: "POST",
        headers: { "content-type": "application/json; charset=utf-8", "user-agent": "dimsync" },
        body,
        reset: true,
      },
      {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, status) => settle({ status }),
        onResponseData: () => undefined,
        onResponseEnd: () => undefined,
        onResponseError: (_controller, error) => settle({ failure: codeOf(error) }),
      },
    );
  });
}

function codeOf(error: Error): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  const cause = first instanceof Error ? first : error;
  const code = "code" in cause ? cause.code : undefined;
  return code === "UND_ERR_CONNECT_TIMEOUT" ? "time-out" : typeof code === "string" ? code : "unknown";
}
