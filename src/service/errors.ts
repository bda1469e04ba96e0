import { ServiceError } from "../model/errors.ts";
import { retryAfterMs } from "./retry.ts";
import type { Backpressure } from "./throttle.ts";
import type { Method, WireAnswer, WireFailure } from "./transport.ts";

/** A call that did not end well, as plain data: what it means, and whether the same request may be sent again. */
export interface Failure {
  readonly code: string;
  readonly sent: "never" | "maybe" | "answered";
  readonly status?: number;
  /** "always": the service certainly did nothing. "reads": a request that changes nothing may be repeated. */
  readonly again: "always" | "reads" | "never";
  readonly load: Backpressure;
  /** What is wrong, why, and what to do, in full sentences. */
  readonly message: string;
  /** What the service asks for before anything else is sent. */
  readonly retryAfterMs?: number;
}

export interface CallName {
  readonly method: Method;
  /** Below the base URL, as in a plan. */
  readonly path: string;
}

/** The error that callers see. It has no cause: transport errors can hold bytes of the answer. */
export function toServiceError({ method, path }: CallName, failure: Failure, attempts: number): ServiceError {
  const tried = attempts > 1 ? ` This was attempt ${attempts}, the last one.` : "";
  return new ServiceError(failure.code, `${method} ${path}: ${failure.message}${tried}`, {
    method,
    path,
    sent: failure.sent,
    ...(failure.status === undefined ? {} : { status: failure.status }),
  });
}

export const interrupted: Failure = {
  code: "E_INTERRUPTED",
  sent: "never",
  again: "never",
  load: "unknown",
  message: "ended before it was done, because the run was interrupted.",
};

export const closed: Failure = {
  code: "E_CLIENT_CLOSED",
  sent: "never",
  again: "never",
  load: "unknown",
  message: "not sent, because the client is closed already.",
};

const checkLater = "Whether the service acted on it is not known.";

/** A request without a complete answer. */
export function failureOfWire({ reason, sent, detail, refusal }: WireFailure, method: Method, timeoutMs: number): Failure {
  const unsure = sent === "maybe" && method !== "GET" && method !== "HEAD" ? ` ${checkLater}` : "";
  const why = detail === "" ? "" : ` (${detail})`;
  const base = { sent, again: sent === "never" ? "always" : "reads", load: "unknown" } as const;
  switch (reason) {
    case "interrupted":
      return { ...interrupted, sent };
    case "refused":
      return { ...base, again: "never", code: refusal?.code ?? "E_INTERNAL", message: `not sent. ${refusal?.message ?? ""}` };
    case "timeout":
      return {
        ...base,
        code: "E_TIMEOUT",
        message:
          sent === "never"
            ? `no connection to the service within ${timeoutMs} ms${why}. Check the network, or raise --timeout.`
            : `no complete answer within ${timeoutMs} ms.${unsure} Check the network, or raise --timeout.`,
      };
    case "too-large":
      return { ...base, again: "never", code: "E_ANSWER_TOO_LARGE", message: `the answer is larger than this client reads.${unsure}` };
    case "connection":
      return {
        ...base,
        code: "E_SERVICE_UNREACHABLE",
        message:
          sent === "never"
            ? `no connection to the service${why}. Nothing was sent. Check baseUrl, the network, HTTPS_PROXY and NODE_EXTRA_CA_CERTS.`
            : `the connection ended before the answer was complete${why}.${unsure}`,
      };
  }
}

export interface StatusContext {
  readonly method: Method;
  /** Words about where the API key comes from, for example "secret env:DIMSYNC_API_KEY". */
  readonly keySource: string | undefined;
  /** A sentence that quotes the service, or says why it isn't quoted; "" where there is nothing to quote. */
  readonly quote: () => string;
  readonly nowMs: number;
}

/** An answer with a status other than 2xx. */
export function failureOfStatus(answer: WireAnswer, { method, keySource, quote, nowMs }: StatusContext): Failure {
  const { status, headers } = answer;
  const says = (text: string): string => [text, quote()].filter((part) => part !== "").join(" ");
  const refused = { sent: "answered", status, again: "never", load: "fine" } as const;
  if (status >= 300 && status < 400) {
    return {
      ...refused,
      code: "E_REDIRECT",
      message: `the service answered with status ${status}, a redirect. It was not followed, because the API key is sent to the configured host only. Set baseUrl to where the service really is.`,
    };
  }
  if (status === 401 || status === 403) {
    const source = keySource === undefined ? "apiKey of the target in dimsync.yaml, or DIMSYNC_API_KEY or DIMSYNC_API_KEY_FILE" : keySource;
    return {
      ...refused,
      code: "E_UNAUTHORIZED",
      message: `the service refused the API key with status ${status}. The key comes from ${source}. Check that it is the key of this account, still valid, and allowed to do this.`,
    };
  }
  const overloaded = status === 429 || status === 503;
  const serverFault = status < 200 || status >= 500;
  const repeatable = serverFault || status === 408 || status === 425;
  const waitMs = overloaded || repeatable ? retryAfterMs(headers, nowMs) : undefined;
  return {
    code: "E_SERVICE_STATUS",
    sent: serverFault ? "maybe" : "answered",
    status,
    again: status === 429 ? "always" : repeatable ? "reads" : "never",
    load: overloaded ? "overloaded" : serverFault ? "unknown" : "fine",
    message: says(statusSentence(status, method, serverFault)),
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
  };
}

function statusSentence(status: number, method: Method, serverFault: boolean): string {
  if (status === 429) return "the service answered with status 429: too many requests. Lower --concurrency, or try again later.";
  if (status === 404)
    return "the service answered with status 404: there is nothing at this path. Check baseUrl: it must not end with /v1.";
  if (status === 413)
    return "the service refused the body as too large, with status 413. Lower client.maxBodyBytes in dimsync.yaml (8388608 unless set): changes of schemas are then split between tables.";
  if (!serverFault) return `the service refused it with status ${status}.`;
  const unsure = method === "GET" || method === "HEAD" ? "" : ` ${checkLater}`;
  return `the service failed with status ${status}.${unsure}`;
}
