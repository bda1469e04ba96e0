import { setMaxListeners } from "node:events";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";
import type { Dispatcher } from "undici";
import { DimsyncError } from "../model/errors.ts";

/** By name in lower case. */
export type HttpHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface WireResponse {
  readonly type: "response";
  readonly status: number;
  readonly headers: HttpHeaders;
  /** Without its content-encoding. */
  readonly body: Buffer;
}

/** No complete response. `sent` is "never" only if no byte of the request can have left. */
export interface WireFailure {
  readonly type: "failure";
  readonly reason: "connection" | "timeout" | "too-large" | "interrupted" | "refused";
  readonly sent: "never" | "maybe";
  /** The code of the error and, while connecting, Node's message; for "too-large" the limit in bytes. Never text of the response. */
  readonly detail: string;
  /** Of a connection error: "ECONNREFUSED". */
  readonly errorCode?: string;
  /** The error that `beforeSend` threw. */
  readonly refusal?: DimsyncError;
}

export interface ExchangeOptions {
  /** For the whole request, from connecting to the end of the response. */
  readonly timeoutMs: number;
  /** The largest response that is read. 0: the result is known once the status is, and the body is not read. */
  readonly maxBytes: number;
  /** Ends the request. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the connection is open, immediately before the first byte. The request is not sent if it throws. */
  readonly beforeSend?: (() => void) | undefined;
  /** Called when the request is sent. */
  readonly onSent?: (() => void) | undefined;
  /** Calls the function once after so many milliseconds, unless the returned function was called before. Default: the system's timers. */
  readonly after?: ((ms: number, run: () => void) => () => void) | undefined;
}

const systemAfter = (ms: number, run: () => void): (() => void) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};

/** Sends a request once. Redirects are not followed. Never rejects. */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { timeoutMs, maxBytes, signal, beforeSend, onSent, after = systemAfter }: ExchangeOptions,
): Promise<WireResponse | WireFailure> {
  return new Promise((resolve) => {
    let isDone = false;
    /** Set when the connection is open. */
    let controller: Dispatcher.DispatchController | undefined;
    let head: Pick<WireResponse, "status" | "headers"> = { status: 0, headers: {} };
    let bytes = 0;
    const chunks: Buffer[] = [];
    const finish = (outcome: WireResponse | WireFailure): void => {
      if (isDone) return;
      isDone = true;
      stopTimer();
      signal?.removeEventListener("abort", interrupt);
      resolve(outcome);
    };
    const giveUp = (reason: WireFailure["reason"], detail = ""): void => {
      finish({ type: "failure", reason, sent: controller === undefined ? "never" : "maybe", detail });
      controller?.abort(new Error(reason));
    };
    const interrupt = (): void => giveUp("interrupted");
    const stopTimer = after(timeoutMs, () => giveUp("timeout"));
    if (signal?.aborted === true) return interrupt();
    if (signal !== undefined) {
      // Node warns of a leak from the eleventh request in flight on.
      setMaxListeners(0, signal);
      signal.addEventListener("abort", interrupt, { once: true });
    }
    dispatcher.dispatch(request, {
      onRequestStart(opened) {
        const isAgain = controller !== undefined;
        if (isDone || (isAgain && request.method !== "GET")) {
          giveUp("connection", "the connection ended");
          opened.abort(new Error("given up"));
          return;
        }
        const refusal = refusalOf(beforeSend);
        if (refusal !== undefined) {
          finish({ type: "failure", reason: "refused", sent: "never", detail: "", refusal });
          opened.abort(new Error("refused"));
          return;
        }
        controller = opened;
        onSent?.();
      },
      onResponseStart(_controller, status, headers) {
        head = { status, headers };
        if (maxBytes === 0) {
          finish({ type: "response", ...head, body: Buffer.alloc(0) });
          controller?.abort(new Error("the body is not read"));
        } else if (Number(headers["content-length"]) > maxBytes) giveUp("too-large", String(maxBytes));
      },
      onResponseData(_controller, chunk) {
        bytes += chunk.length;
        if (bytes > maxBytes) giveUp("too-large", String(maxBytes));
        else chunks.push(chunk);
      },
      onResponseEnd() {
        const body = decoded(head.headers, Buffer.concat(chunks, bytes), maxBytes);
        finish(
          body === undefined
            ? { type: "failure", reason: "too-large", sent: "maybe", detail: String(maxBytes) }
            : { type: "response", ...head, body },
        );
      },
      onResponseError(_controller, error) {
        const isConnecting = controller === undefined;
        const reason = isConnectTimeout(error) ? "timeout" : "connection";
        // Later, only the code is safe to show: the message may contain text of the response.
        const errorCode = connectionCode(error);
        const detail = isConnecting ? connectErrorText(error) : errorCode;
        finish({ type: "failure", reason, sent: isConnecting ? "never" : "maybe", detail, errorCode });
      },
    });
  });
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

const decoders = new Map([
  ["gzip", gunzipSync],
  ["x-gzip", gunzipSync],
  ["deflate", inflateSync],
  ["br", brotliDecompressSync],
]);

/** Some proxies compress a response although the request does not allow it. Undefined if it is then larger than the limit. */
function decoded({ "content-encoding": coding }: HttpHeaders, body: Buffer, maxBytes: number): Buffer | undefined {
  const decode = typeof coding === "string" ? decoders.get(coding.trim().toLowerCase()) : undefined;
  if (decode === undefined || body.length === 0) return body;
  try {
    return decode(body, { maxOutputLength: maxBytes });
  } catch (error) {
    // What cannot be decoded is reported by whoever reads it.
    return error instanceof RangeError ? undefined : body;
  }
}

/** The code of a connection error: "ECONNREFUSED", "UND_ERR_SOCKET"; "" if it has none. */
function connectionCode(error: Error): string {
  return codeOf(firstError(error)) || codeOf(error);
}

/** Whether the error means that the connection was not established in time. */
const isConnectTimeout = (error: Error): boolean => codeOf(error) === "UND_ERR_CONNECT_TIMEOUT";

/**
 * The code and Node's sentence about a connection that was not established. It names the host, and
 * cannot contain text of a response.
 */
function connectErrorText(error: Error): string {
  const { message } = firstError(error);
  const code = connectionCode(error);
  return code === "" || message.includes(code) ? message : `${code}: ${message}`;
}

/** Node tries several addresses of a host and reports all failures together. */
function firstError(error: Error): Error {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return first instanceof Error ? first : error;
}

const codeOf = (error: Error): string => ("code" in error && typeof error.code === "string" ? error.code : "");
