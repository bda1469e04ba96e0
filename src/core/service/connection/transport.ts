import type { Dispatcher } from "undici";
import { DimsyncError } from "../../model/errors.ts";
import type { BaseUrl } from "../../model/settings/base-url.ts";
import type { Environment } from "../../model/settings/env.ts";
import type { Secret } from "../../model/settings/secret.ts";
import { connectErrorText, connectionCode, isConnectTimeout } from "../errors.ts";
import { createWatch, type InFlight, type Timeouts, type Watch } from "../in-flight.ts";
import { type Arriving, addChunk, type Body, newBody, processBudget, releaseBody, type SpareBuffers, takeBody } from "./body.ts";
import { openPool } from "./open-pool.ts";
import { proxyFor } from "./proxy.ts";

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface WireRequest {
  readonly method: Method;
  /** Below the base URL, percent-encoded, with its query. */
  readonly path: string;
  readonly body?: Buffer | undefined;
  /** Called when the connection is open, before the first byte. The request is not sent if it throws a DimsyncError. */
  readonly beforeSend?: (() => void) | undefined;
}

/** By name in lower case. */
export type HttpHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface WireResponse {
  readonly type: "response";
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly body: Buffer;
  /** Call it once, when nothing reads the body any more: its bytes may then become those of another response. */
  readonly release: () => void;
}

/** No complete response. `sent` is "never" only if no byte of the request can have left: the connection was never established. */
export interface WireFailure {
  readonly type: "failure";
  readonly reason: "connection" | "timeout" | "too-large" | "interrupted" | "refused";
  readonly sent: "never" | "maybe";
  /** The code of the error and, while connecting, Node's message; for "too-large" the limit in bytes. Never text of the response. */
  readonly detail: string;
  /** The error that `beforeSend` threw. */
  readonly refusal?: DimsyncError;
}

export interface Transport {
  /** Sends a request once. Never rejects. `signal` ends a request that may be repeated; a write in flight finishes. */
  exchange(request: WireRequest, signal: AbortSignal | undefined): Promise<WireResponse | WireFailure>;
  close(): Promise<void>;
}

interface TransportOptions {
  readonly base: BaseUrl;
  readonly apiKey: Secret<string>;
  readonly userAgent: string;
  readonly timeoutMs: number;
  /** Default: the time of the system. */
  readonly timeouts?: Timeouts | undefined;
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
  // One timer per request covers connecting, headers and body together (in-flight.ts).
  const { base, env, timeoutMs, connections } = options;
  // Fails here, before the first request.
  proxyFor(base, env);
  const pools: Record<"kept" | "fresh", { opening?: Promise<Dispatcher>; opened?: Dispatcher }> = { kept: {}, fresh: {} };
  const wire = wireOf(options);
  let underWay = 0;
  let onIdle: (() => void) | undefined;

  return {
    async exchange(request, signal) {
      underWay += 1;
      try {
        const pool = request.method === "POST" ? pools.fresh : pools.kept;
        if (pool.opened === undefined) {
          pool.opening ??= openPool(base, { env, timeoutMs, connections });
          pool.opened = await pool.opening;
        }
        return await dispatch(pool.opened, wire, request, signal);
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
      for (const { opening } of Object.values(pools)) await (await opening)?.destroy();
    },
  };
}

/** The same for all requests. */
interface Wire extends TransportOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyHeaders: Readonly<Record<string, string>>;
  readonly watch: Watch;
  readonly spare: SpareBuffers;
}

function wireOf(options: TransportOptions): Wire {
  const headers = {
    accept: "application/json",
    "accept-encoding": "identity",
    "user-agent": options.userAgent,
    "x-api-key": options.apiKey.reveal(),
  };
  return {
    ...options,
    headers,
    bodyHeaders: { ...headers, "content-type": "application/json" },
    watch: createWatch(options.timeoutMs, options.timeouts),
    spare: [],
  };
}

function refusalOf(beforeSend: (() => void) | undefined): DimsyncError | undefined {
  try {
    beforeSend?.();
    return undefined;
  } catch (error) {
    if (error instanceof DimsyncError) return error;
    // If the check fails for any reason, the request must not be sent.
    return new DimsyncError("E_INTERNAL", String(error), { cause: error });
  }
}

/** One request in flight, and the part of the response that has arrived so far. */
interface Attempt {
  readonly wire: Wire;
  readonly request: WireRequest;
  readonly resolve: (outcome: WireResponse | WireFailure) => void;
  readonly inFlight: InFlight;
  /** Set when the connection is open. */
  controller: Dispatcher.DispatchController | undefined;
  done: boolean;
  status: number;
  headers: HttpHeaders;
  body: Body;
  readonly arriving: Arriving;
}

function dispatch(
  dispatcher: Dispatcher,
  wire: Wire,
  request: WireRequest,
  signal: AbortSignal | undefined,
): Promise<WireResponse | WireFailure> {
  return new Promise((resolve) => {
    const { method, path, body } = request;
    const inFlight: InFlight = {
      expire: () => giveUp(attempt, "timeout"),
      interrupt: () => giveUp(attempt, "interrupted"),
      signal: method === "GET" || method === "HEAD" ? signal : undefined,
    };
    const attempt: Attempt = {
      wire,
      request,
      resolve,
      inFlight,
      controller: undefined,
      done: false,
      status: 0,
      headers: {},
      body: newBody(0, wire.spare),
      arriving: { bytes: 0, pause: () => attempt.controller?.pause(), resume: () => attempt.controller?.resume() },
    };
    if (inFlight.signal?.aborted) return giveUp(attempt, "interrupted");
    wire.watch.begin(inFlight);
    dispatcher.dispatch(
      {
        origin: wire.base.origin,
        path: wire.base.prefix + path,
        method,
        headers: body === undefined ? wire.headers : wire.bodyHeaders,
        body: body ?? null,
        reset: method === "POST",
      },
      handlerOf(attempt),
    );
  });
}

const handlerOf = (attempt: Attempt): Dispatcher.DispatchHandler => ({
  onRequestStart: (controller) => begin(attempt, controller),
  onResponseStart(_controller, status, headers) {
    attempt.status = status;
    attempt.headers = headers;
    const length = Number(headers["content-length"]);
    if (length > attempt.wire.maxResponseBytes) giveUp(attempt, "too-large", String(attempt.wire.maxResponseBytes));
    else attempt.body = newBody(length, attempt.wire.spare);
  },
  onResponseData(_controller, chunk) {
    if (attempt.body.bytes + chunk.length > attempt.wire.maxResponseBytes)
      giveUp(attempt, "too-large", String(attempt.wire.maxResponseBytes));
    else {
      addChunk(attempt.body, chunk);
      processBudget.add(attempt.arriving, chunk.length);
    }
  },
  onResponseEnd() {
    const { status, headers, body, wire } = attempt;
    finish(attempt, { type: "response", status, headers, body: takeBody(body), release: () => releaseBody(body, wire.spare) });
  },
  onResponseError(_controller, error) {
    const connecting = attempt.controller === undefined;
    const reason = isConnectTimeout(error) ? "timeout" : "connection";
    // Later, only the code is safe to show: the message may contain text of the response.
    const detail = connecting ? connectErrorText(error) : connectionCode(error);
    finish(attempt, { type: "failure", reason, sent: connecting ? "never" : "maybe", detail });
  },
});

/** Called when the connection is open and nothing is written; aborting here sends no byte. */
function begin(attempt: Attempt, controller: Dispatcher.DispatchController): void {
  const { method, beforeSend } = attempt.request;
  const again = attempt.controller !== undefined;
  if (attempt.done || (again && method !== "GET")) {
    giveUp(attempt, "connection", "the connection ended");
    controller.abort(new Error("given up"));
    return;
  }
  const refusal = refusalOf(beforeSend);
  if (refusal !== undefined) {
    finish(attempt, { type: "failure", reason: "refused", sent: "never", detail: "", refusal });
    controller.abort(new Error("refused"));
    return;
  }
  attempt.controller = controller;
  attempt.wire.onSent(method);
}

function giveUp(attempt: Attempt, reason: WireFailure["reason"], detail = ""): void {
  const { controller } = attempt;
  finish(attempt, { type: "failure", reason, sent: controller === undefined ? "never" : "maybe", detail });
  controller?.abort(new Error(reason));
}

function finish(attempt: Attempt, outcome: WireResponse | WireFailure): void {
  if (attempt.done) return;
  attempt.done = true;
  attempt.wire.watch.end(attempt.inFlight);
  processBudget.end(attempt.arriving);
  attempt.resolve(outcome);
}
