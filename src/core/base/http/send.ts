import { isLoopback } from "../model/settings/base-url.ts";
import type { Environment } from "../model/settings/env.ts";
import { openPool } from "./connections.ts";
import { exchange, type HttpHeaders, type WireFailure } from "./exchange.ts";

/** A request to a server other than the data integration service, such as a webhook or GitHub. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface SendOptions {
  /** For the whole request, from connecting to the end of the response. */
  readonly timeoutMs: number;
  /** HTTPS_PROXY and NO_PROXY apply as for the service. */
  readonly env: Environment;
  readonly signal?: AbortSignal | undefined;
  /** 0: the result is known once the status is, and the body is not read. */
  readonly maxBodyBytes: number;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly text: string;
}

/**
 * `failure`: the system's code ("ECONNREFUSED") or "timeout". Error messages hold host names, which
 * may be part of a secret.
 */
type HttpOutcome = HttpResponse | { readonly failure: string };

/**
 * Sends a request once, over a connection of its own. Redirects are not followed. Throws the
 * signal's reason, and E_PROXY.
 */
export async function sendRequest(
  { method, url, headers, body }: HttpRequest,
  { timeoutMs, env, signal, maxBodyBytes }: SendOptions,
): Promise<HttpOutcome> {
  signal?.throwIfAborted();
  const { origin, hostname, pathname, search } = url;
  const dispatcher = await openPool({ origin, prefix: "", loopback: isLoopback(hostname) }, { env, timeoutMs, connections: 1 });
  const request = { origin, path: `${pathname}${search}`, method, headers, body: body ?? null, reset: true };
  try {
    const outcome = await exchange(dispatcher, request, { timeoutMs, maxBytes: maxBodyBytes, signal });
    if (outcome.type === "response") return { status: outcome.status, headers: outcome.headers, text: outcome.body.toString("utf8") };
    return { failure: failureTexts[outcome.reason] ?? (outcome.errorCode || "unknown") };
  } finally {
    // Also ends a request that is still in flight.
    await dispatcher.destroy();
    signal?.throwIfAborted();
  }
}

const failureTexts: Readonly<Partial<Record<WireFailure["reason"], string>>> = { timeout: "timeout", "too-large": "response too large" };
