import type { Dispatcher } from "undici";
import { isLoopback } from "../model/settings/base-url.ts";
import type { Environment } from "../model/settings/env.ts";
import { openPool } from "./connection/open-pool.ts";
import type { HttpHeaders } from "./connection/transport.ts";
import { connectionCode, isConnectTimeout } from "./errors.ts";

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
export async function sendRequest(request: HttpRequest, options: SendOptions): Promise<HttpOutcome> {
  const { timeoutMs, env, signal } = options;
  signal?.throwIfAborted();
  const { origin, hostname } = request.url;
  const dispatcher = await openPool({ origin, prefix: "", loopback: isLoopback(hostname) }, { env, timeoutMs, connections: 1 });
  const limit = AbortSignal.timeout(timeoutMs);
  const stop = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  try {
    return await Promise.race([exchange(dispatcher, request, options.maxBodyBytes), ended(stop)]);
  } finally {
    // Also ends a request that is still in flight.
    await dispatcher.destroy();
    signal?.throwIfAborted();
  }
}

const ended = (stop: AbortSignal): Promise<{ readonly failure: string }> =>
  new Promise((settle) => {
    const end = (): void => settle({ failure: "timeout" });
    if (stop.aborted) end();
    else stop.addEventListener("abort", end, { once: true });
  });

function exchange(dispatcher: Dispatcher, { method, url, headers, body }: HttpRequest, maxBodyBytes: number): Promise<HttpOutcome> {
  return new Promise((settle) => {
    let head: Omit<HttpResponse, "text"> = { status: 0, headers: {} };
    let bytes = 0;
    const chunks: Buffer[] = [];
    dispatcher.dispatch(
      { origin: url.origin, path: `${url.pathname}${url.search}`, method, headers, body: body ?? null, reset: true },
      {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, status, responseHeaders) => {
          head = { status, headers: responseHeaders };
          if (maxBodyBytes === 0) settle({ ...head, text: "" });
        },
        onResponseData: (_controller, chunk) => {
          bytes += chunk.length;
          if (bytes > maxBodyBytes) settle({ failure: "response too large" });
          else chunks.push(chunk);
        },
        onResponseEnd: () => settle({ ...head, text: Buffer.concat(chunks).toString("utf8") }),
        onResponseError: (_controller, error) => settle({ failure: failureText(error) }),
      },
    );
  });
}

const failureText = (error: Error): string => (isConnectTimeout(error) ? "timeout" : connectionCode(error) || "unknown");
