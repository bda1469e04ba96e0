import type { Dispatcher, Pool } from "undici";
import type { Secret } from "../model/secret.ts";
import type { BaseUrl } from "./base-url.ts";
import { proxyDispatcher, proxyFor } from "./proxy.ts";

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH";

export interface WireRequest {
  readonly method: Method;
  /** Below the base URL, percent-encoded, with its query. */
  readonly path: string;
  readonly body?: Buffer | undefined;
}

export interface WireAnswer {
  readonly type: "answer";
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** No complete answer. `sent` is "never" only where not one byte of the request can have left: the connection was never made. */
export interface WireFailure {
  readonly type: "failure";
  readonly reason: "connection" | "timeout" | "too-large" | "interrupted";
  readonly sent: "never" | "maybe";
  /** The error's code, and what Node says about it while connecting; never a text of the answer. */
  readonly detail: string;
}

export interface Transport {
  /** One request, once. Never rejects. `signal` ends a request that may be repeated; a write in flight is left to finish. */
  exchange(request: WireRequest, signal: AbortSignal | undefined, onSent: () => void): Promise<WireAnswer | WireFailure>;
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly base: BaseUrl;
  readonly apiKey: Secret<string>;
  readonly userAgent: string;
  readonly timeoutMs: number;
  readonly concurrency: number;
  readonly maxAnswerBytes: number;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * The wire. Two pools: one keeps its connections alive; the other opens one for every POST and closes it after the answer. A POST on a kept
 * connection could meet the server closing it, and nobody could tell whether the service saw the request (interface: no idempotency key).
 */
export function createTransport(options: TransportOptions): Transport {
  const proxy = proxyFor(options.base, options.env);
  const open = async (): Promise<Dispatcher> => {
    const poolOptions: Pool.Options = {
      connections: options.concurrency,
      pipelining: 1,
      allowH2: false,
      // One timer per request, below, covers connecting, headers and body together.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: options.timeoutMs },
    };
    if (proxy !== undefined) return proxyDispatcher(proxy, options.env, poolOptions, options.timeoutMs);
    const { default: DirectPool } = await import("undici/lib/dispatcher/pool.js");
    return new DirectPool(options.base.origin, poolOptions);
  };
  const pools = new Map<"kept" | "fresh", Promise<Dispatcher>>();
  const pool = (name: "kept" | "fresh"): Promise<Dispatcher> => {
    const opened = pools.get(name) ?? open();
    pools.set(name, opened);
    return opened;
  };
  const running = new Set<Promise<unknown>>();

  return {
    exchange(request, signal, onSent) {
      const repeatable = request.method === "GET" || request.method === "HEAD";
      const exchange = pool(request.method === "POST" ? "fresh" : "kept").then((dispatcher) =>
        dispatch(dispatcher, options, request, repeatable ? signal : undefined, onSent),
      );
      running.add(exchange);
      return exchange.finally(() => running.delete(exchange));
    },
    async close() {
      await Promise.allSettled(running);
      for (const opened of pools.values()) await (await opened).destroy();
    },
  };
}

function headersOf(options: TransportOptions, request: WireRequest): Record<string, string> {
  return {
    accept: "application/json",
    "accept-encoding": "identity",
    "user-agent": options.userAgent,
    "x-api-key": options.apiKey.reveal(),
    ...(request.body === undefined ? {} : { "content-type": "application/json" }),
  };
}

function dispatch(
  dispatcher: Dispatcher,
  options: TransportOptions,
  request: WireRequest,
  signal: AbortSignal | undefined,
  onSent: () => void,
): Promise<WireAnswer | WireFailure> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined;
    let done = false;
    let status = 0;
    let headers: WireAnswer["headers"] = {};
    let chunks: Buffer[] = [];
    let bytes = 0;

    const finish = (outcome: WireAnswer | WireFailure): void => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      signal?.removeEventListener("abort", interrupt);
      resolve(outcome);
    };
    const giveUp = (reason: WireFailure["reason"], detail: string): void => {
      finish({ type: "failure", reason, sent: controller === undefined ? "never" : "maybe", detail });
      controller?.abort(new Error(reason));
    };
    const interrupt = (): void => giveUp("interrupted", "");
    const timer = setTimeout(() => giveUp("timeout", ""), options.timeoutMs);
    if (signal?.aborted) return interrupt();
    signal?.addEventListener("abort", interrupt, { once: true });

    dispatcher.dispatch(
      {
        origin: options.base.origin,
        path: options.base.prefix + request.path,
        method: request.method,
        headers: headersOf(options, request),
        body: request.body ?? null,
        reset: request.method === "POST",
      },
      {
        // Called when a connection stands and nothing is written yet; aborting here keeps every byte back.
        onRequestStart(started) {
          const again = controller !== undefined;
          if (done || (again && request.method !== "GET")) {
            giveUp("connection", "the connection ended");
            started.abort(new Error("given up"));
            return;
          }
          controller = started;
          onSent();
        },
        onResponseStart(_controller, statusCode, responseHeaders) {
          status = statusCode;
          headers = responseHeaders;
          chunks = [];
          bytes = 0;
          if (Number(responseHeaders["content-length"]) > options.maxAnswerBytes) giveUp("too-large", "");
        },
        onResponseData(_controller, chunk) {
          bytes += chunk.length;
          if (bytes > options.maxAnswerBytes) giveUp("too-large", "");
          else chunks.push(chunk);
        },
        onResponseEnd() {
          finish({
            type: "answer",
            status,
            headers,
            body: chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, bytes),
          });
        },
        onResponseError(_controller, error) {
          const connecting = controller === undefined;
          const reason = codeOf(error) === "UND_ERR_CONNECT_TIMEOUT" ? "timeout" : "connection";
          finish({ type: "failure", reason, sent: connecting ? "never" : "maybe", detail: describe(error, connecting) });
        },
      },
    );
  });
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

/** While connecting, Node's own sentence helps (host, certificate) and can't hold a text of the answer; afterwards only the code is safe to show. */
function describe(error: Error, connecting: boolean): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  const cause = first instanceof Error ? first : error;
  const code = codeOf(cause) || codeOf(error);
  if (!connecting) return code;
  return code === "" || cause.message.includes(code) ? cause.message : `${code}: ${cause.message}`;
}
