import type { Dispatcher } from "undici";
import type { BaseUrl } from "../model/settings/base-url.ts";
import type { Environment } from "../model/settings/env.ts";
import type { Secret } from "../model/settings/secret.ts";
import { openPool, proxyFor } from "./connections.ts";
import { type ExchangeOptions, exchange, type WireFailure, type WireResponse } from "./exchange.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

interface WireRequest extends Pick<ExchangeOptions, "beforeSend"> {
  readonly method: Method;
  /** Below the base URL, percent-encoded, with its query. */
  readonly path: string;
  readonly body?: Buffer | undefined;
}

export interface Transport {
  /** Sends a request once. Never rejects. `signal` ends a request that may be repeated; a write in flight finishes. */
  exchange(request: WireRequest, signal: AbortSignal | undefined): Promise<WireResponse | WireFailure>;
  close(): Promise<void>;
}

interface TransportOptions extends Pick<ExchangeOptions, "after"> {
  readonly base: BaseUrl;
  readonly apiKey: Secret;
  readonly userAgent: string;
  readonly timeoutMs: number;
  /** Maximum number of connections. */
  readonly connections: number;
  readonly maxResponseBytes: number;
  readonly env: Environment;
  /** Called when a request is sent. */
  readonly onSent: (method: Method) => void;
}

/**
 * Sends requests through two pools. One keeps its connections alive. The other one opens a connection
 * for every POST and closes it after the response: a kept connection may be closed by the server at
 * the moment of the POST, and then it is unknown whether the service received it.
 */
export function createTransport(options: TransportOptions): Transport {
  const { base, apiKey, userAgent, env, timeoutMs, connections, maxResponseBytes, after, onSent } = options;
  // Fails here, before the first request.
  proxyFor(base, env);
  const headers = { accept: "application/json", "accept-encoding": "identity", "user-agent": userAgent, "x-api-key": apiKey.reveal() };
  const bodyHeaders = { ...headers, "content-type": "application/json" };
  const pools: { kept?: Promise<Dispatcher>; fresh?: Promise<Dispatcher> } = {};
  let underWay = 0;
  let onIdle: (() => void) | undefined;

  return {
    async exchange({ method, path, body, beforeSend }, signal) {
      underWay += 1;
      const name = method === "POST" ? "fresh" : "kept";
      try {
        pools[name] ??= openPool(base, { env, timeoutMs, connections });
        const request: Dispatcher.DispatchOptions = {
          origin: base.origin,
          path: base.prefix + path,
          method,
          headers: body === undefined ? headers : bodyHeaders,
          body: body ?? null,
          reset: method === "POST",
        };
        return await exchange(await pools[name], request, {
          timeoutMs,
          maxBytes: maxResponseBytes,
          signal: method === "GET" ? signal : undefined,
          beforeSend,
          onSent: () => onSent(method),
          after,
        });
      } finally {
        underWay -= 1;
        if (underWay === 0) onIdle?.();
      }
    },
    async close() {
      if (underWay > 0)
        await new Promise<void>((resolve) => {
          onIdle = resolve;
        });
      for (const pool of Object.values(pools)) await (await pool).destroy();
    },
  };
}
