import type { WireFailure, WireResponse } from "../base/http/exchange.ts";
import type { Method } from "../base/http/transport.ts";
import { ServiceError } from "../base/model/errors.ts";
import { defined } from "../base/model/json/json.ts";
import type { Code } from "../base/model/titles.ts";
import { repeatAfterStatus, retryAfterMs } from "./retry.ts";
import type { Backpressure } from "./throttle.ts";

/** A failed call as plain data: what it means, and whether the same request may be sent again. */
export interface Failure {
  readonly code: Code;
  readonly sent: "never" | "maybe" | "answered";
  readonly status?: number;
  /** The code in the body, as the service sent it. */
  readonly serviceCode?: string;
  readonly isUnknownPath?: boolean;
  /** "always": the service certainly did nothing. "reads": only requests that change nothing may be repeated. */
  readonly again: "always" | "reads" | "never";
  readonly load: Backpressure;
  /** The problem, the reason and what to do, in full sentences. */
  readonly message: string;
  /** The wait that the service asks for before the next request, in milliseconds. */
  readonly retryAfterMs?: number;
}

export interface CallName {
  readonly method: Method;
  /** Below the base URL, as in a plan. */
  readonly path: string;
}

/** The error that callers see. It has no cause: transport errors can contain bytes of the response. */
export function toServiceError({ method, path }: CallName, failure: Failure, attempts: number): ServiceError {
  const tried = attempts > 1 ? ` dimsync tried ${attempts} times.` : "";
  const reason = `${failure.message}${tried}`;
  return new ServiceError(failure.code, `${method} ${path}: ${reason}`, {
    method,
    path,
    reason,
    sent: failure.sent,
    ...defined({ status: failure.status, serviceCode: failure.serviceCode, isUnknownPath: failure.isUnknownPath }),
  });
}

export const interrupted: Failure = {
  code: "E_INTERRUPTED",
  sent: "never",
  again: "never",
  load: "unknown",
  message: "did not finish, because the run was interrupted.",
};

export const closed: Failure = {
  code: "E_USAGE",
  sent: "never",
  again: "never",
  load: "unknown",
  message: "not sent, because the client is already closed.",
};

const checkLater = "It is not known whether the service acted on it.";

/** A request without a complete response. */
export function failureOfWire({ reason, sent, detail, refusal }: WireFailure, method: Method, timeoutMs: number): Failure {
  const unsure = sent === "maybe" && method !== "GET" ? ` ${checkLater}` : "";
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
            ? `no connection to the service within ${timeoutMs} ms${why}. Check the network, or raise client.timeoutSeconds in dimsync.yaml.`
            : `no complete response within ${timeoutMs} ms.${unsure} Check the network, or raise client.timeoutSeconds in dimsync.yaml.`,
      };
    case "too-large":
      return {
        ...base,
        again: "never",
        code: "E_MALFORMED_ANSWER",
        message: `the response is larger than ${detail} bytes.${unsure} Check baseUrl and any proxy.`,
      };
    case "connection":
      return {
        ...base,
        code: "E_SERVICE_UNREACHABLE",
        message:
          sent === "never"
            ? `no connection to the service${why}. Nothing was sent. ${connectionRemedy(detail)}`
            : `the connection ended before the response was complete${why}.${unsure}`,
      };
  }
}

/** A proxy that opens no tunnel has not tried the address, or could not reach it. */
function connectionRemedy(detail: string): string {
  if (!detail.startsWith("PROXY_TUNNEL")) return "Check baseUrl, the network, HTTPS_PROXY and NODE_EXTRA_CA_CERTS.";
  return detail.endsWith(" 407")
    ? "Write user and password of the proxy in HTTPS_PROXY, percent-encoded."
    : "Check HTTPS_PROXY and the proxy.";
}

interface StatusContext {
  readonly method: Method;
  /** The source of the API key, for example "secret env:DIMSYNC_API_KEY". */
  readonly keySource: string | undefined;
  /** The code in the body. */
  readonly serviceCode: string | undefined;
  readonly isUnknownPath: boolean;
  /** A sentence that quotes the service, or says why it is not quoted; "" if there is nothing to quote. */
  readonly quote: string;
  /** Whether the service has answered anything of this run as expected. */
  readonly hasWorked: boolean;
  readonly nowMs: number;
}

/** A response that refuses the request: with a status other than 2xx, or with an error in its body. */
export function failureOfStatus(response: WireResponse, context: StatusContext): Failure {
  const { status, headers } = response;
  const { keySource, quote, serviceCode, nowMs } = context;
  const says = (text: string): string => [text, quote].filter((part) => part !== "").join(" ");
  const refused = { sent: "answered", status, again: "never", load: "fine", ...defined({ serviceCode }) } as const;
  if (status >= 200 && status < 300)
    return { ...refused, code: "E_SERVICE_STATUS", message: says(`the service answered with status ${status} and an error.`) };
  if (status >= 300 && status < 400) {
    return {
      ...refused,
      code: "E_REDIRECT",
      message: `the service responded with status ${status}, a redirect. dimsync did not follow it, because it sends the API key only to the configured host. Set baseUrl to the address of the service.`,
    };
  }
  if (status === 401 || status === 403) {
    const source = keySource === undefined ? "apiKey of the target in dimsync.yaml, or DIMSYNC_API_KEY or DIMSYNC_API_KEY_FILE" : keySource;
    return {
      ...refused,
      code: "E_UNAUTHORIZED",
      message: says(
        `the service refused the API key with status ${status}. The key comes from ${source}. Check that it belongs to this account, is still valid, and has the permission for this request.`,
      ),
    };
  }
  const overloaded = status === 429 || status === 503;
  const serverFault = status < 200 || status >= 500;
  const again = repeatAfterStatus(status);
  const waitMs = overloaded || again !== "never" ? retryAfterMs(headers, nowMs) : undefined;
  return {
    code: "E_SERVICE_STATUS",
    sent: serverFault ? "maybe" : "answered",
    status,
    ...defined({ serviceCode }),
    ...(status === 404 && context.isUnknownPath ? { isUnknownPath: true } : {}),
    again,
    load: overloaded ? "overloaded" : serverFault ? "unknown" : "fine",
    message: says(statusSentence(status, { ...context, serverFault })),
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
  };
}

function statusSentence(
  status: number,
  { method, hasWorked, serverFault }: Pick<StatusContext, "method" | "hasWorked"> & { readonly serverFault: boolean },
): string {
  if (status === 429)
    return "the service responded with status 429: too many requests. Lower client.concurrency in dimsync.yaml, or try again later.";
  if (status === 404 && !hasWorked) return "the service responded with status 404: the path does not exist. Check baseUrl.";
  if (status === 413) return "the service responded with status 413: the request body is too large.";
  if (!serverFault) return `the service refused the request with status ${status}.`;
  const unsure = method === "GET" ? "" : ` ${checkLater}`;
  return `the service failed with status ${status}.${unsure}`;
}
