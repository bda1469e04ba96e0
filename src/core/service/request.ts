import { channel } from "node:diagnostics_channel";
import type { WireResponse } from "../base/http/exchange.ts";
import type { Method, Transport } from "../base/http/transport.ts";
import { ServiceError } from "../base/model/errors.ts";
import type { SendableRequest } from "../base/model/service.ts";
import { Secret } from "../base/model/settings/secret.ts";
import { printable, withoutEchoes } from "./echoes.ts";
import { closed, type Failure, failureOfStatus, failureOfWire, interrupted, toServiceError } from "./errors.ts";
import { isUnknownPath, RefusedInBody, refusalOf, type ServiceRefusal } from "./response-body.ts";
import { backoffMs, type CircuitBreaker, mayRepeat } from "./retry.ts";
import type { Backpressure, Throttle } from "./throttle.ts";

/** One call of the interface, ready for the wire. */
export interface ServiceCall<T> {
  readonly method: Method;
  /** Below the base URL, percent-encoded. */
  readonly path: string;
  readonly body?: Buffer;
  /** The response is certainly small: more such calls can be in flight than others. */
  readonly isSmall?: true;
  /** See WireRequest. */
  readonly beforeSend?: (() => void) | undefined;
  /** The secrets of the body, which the response may repeat; absent if it has none. */
  readonly secrets?: readonly string[] | undefined;
  /** Reads a response with status 2xx. An E_MALFORMED_ANSWER that it throws counts as an unreadable response. */
  readonly read: (response: WireResponse) => T;
  /** The result for status 404; absent, or "error": it is an error. */
  readonly absent?: (refusal: ServiceRefusal) => T | "error";
}

/** Makes a call, with its retries. @throws ServiceError */
export type SendRequest = <T>(call: ServiceCall<T>) => Promise<T>;

/** One attempt, as reported to `onCall`. `error` is a code, never a text. */
export interface CallReport {
  readonly method: string;
  readonly path: string;
  readonly status?: number;
  readonly error?: string;
  /** The Date header of the response, in milliseconds since 1970: the clock of the service. */
  readonly dateMs?: number;
  /** From 1. */
  readonly attempt: number;
  /** From sending to the end of the response. */
  readonly durationMs: number;
  /** The wait that the service asks for (Retry-After). */
  readonly retryAfterMs?: number;
}

/** Every attempt is published here as a CallReport: for `--debug`, and for users of the library. */
const requestChannel = "dimsync:request";
const published = channel(requestChannel);

interface ExchangeOptions {
  readonly transport: Transport;
  readonly throttle: Throttle;
  readonly breaker: CircuitBreaker;
  readonly retries: number;
  readonly timeoutMs: number;
  readonly apiKey: Secret;
  readonly keySource: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly wait: (milliseconds: number) => Promise<void>;
  readonly random: () => number;
  readonly now: () => number;
  readonly onCall: ((report: CallReport) => void) | undefined;
  readonly isClosed: () => boolean;
  /** Whether the service has answered anything of this run as expected. */
  readonly hasWorked: () => boolean;
}

type AttemptOutcome<T> = { readonly ok: true; readonly value: T } | Failed;
interface Failed {
  readonly ok: false;
  readonly failure: Failure;
  /** The error that reading the response threw. */
  readonly unreadable?: ServiceError;
}

/** For each attempt: wait for a slot, send, decide about a retry. The slot is free while waiting for a retry. */
export function createSendRequest(options: ExchangeOptions): SendRequest {
  const { throttle, breaker, retries } = options;
  return async (call) => {
    const responsesBefore = breaker.responses();
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await throttle.run(() => attemptOnce(call, attempt, options), {
        isSmall: call.isSmall === true,
        loadOf,
        wait: options.wait,
      });
      if (outcome.ok) return outcome.value;
      const { failure } = outcome;
      if (attempt > retries) breaker.gaveUp(failure, responsesBefore);
      if (attempt > retries || !mayRepeat(call.method, failure)) throw outcome.unreadable ?? toServiceError(call, failure, attempt);
      // The throttle waits for a Retry-After, for all requests.
      if ((failure.retryAfterMs ?? 0) === 0) await options.wait(backoffMs(attempt, options.random));
    }
  };
}

async function attemptOnce<T>(call: ServiceCall<T>, attempt: number, options: ExchangeOptions): Promise<AttemptOutcome<T>> {
  const { transport, throttle, breaker, signal } = options;
  if (options.isClosed()) return { ok: false, failure: closed };
  if (signal?.aborted) return { ok: false, failure: interrupted };
  const open = breaker.open();
  if (open !== undefined) return { ok: false, failure: open };
  const begun = performance.now();
  const received = await transport.exchange(call, signal);
  const durationMs = performance.now() - begun;
  const outcome: AttemptOutcome<T> =
    received.type === "failure"
      ? { ok: false, failure: failureOfWire(received, call.method, options.timeoutMs) }
      : readResponse(call, received, options);
  if (received.type === "response") breaker.responded(outcome.ok ? undefined : outcome.failure, call.method === "GET");
  if (!outcome.ok && outcome.failure.retryAfterMs !== undefined) throttle.hold(outcome.failure.retryAfterMs);
  const report: CallReport = {
    method: call.method,
    path: call.path,
    attempt,
    durationMs,
    ...(received.type === "response" ? { status: received.status, ...dateOf(received) } : {}),
    ...(outcome.ok ? {} : { error: outcome.failure.code }),
    ...(outcome.ok || outcome.failure.retryAfterMs === undefined ? {} : { retryAfterMs: outcome.failure.retryAfterMs }),
  };
  options.onCall?.(report);
  if (published.hasSubscribers) published.publish(report);
  return outcome;
}

const loadOf = (outcome: AttemptOutcome<unknown>): Backpressure => (outcome.ok ? "fine" : outcome.failure.load);

function readResponse<T>(call: ServiceCall<T>, response: WireResponse, options: ExchangeOptions): AttemptOutcome<T> {
  const { status } = response;
  try {
    if (status >= 200 && status < 300) return { ok: true, value: call.read(response) };
  } catch (error) {
    if (error instanceof RefusedInBody) return { ok: false, failure: failureOf(call, response, { ...options, refusal: error.refusal }) };
    if (!(error instanceof ServiceError)) throw error;
    const { code, sent, message } = error;
    return { ok: false, failure: { code, sent, status, again: "reads", load: "fine", message }, unreadable: error };
  }
  const refusal = refusalOf(response.body);
  const absent = status === 404 && call.absent !== undefined ? call.absent(refusal) : "error";
  return absent === "error" ? { ok: false, failure: failureOf(call, response, { ...options, refusal }) } : { ok: true, value: absent };
}

function failureOf<T>(
  call: ServiceCall<T>,
  response: WireResponse,
  options: ExchangeOptions & { readonly refusal: ServiceRefusal },
): Failure {
  const { keySource, refusal, apiKey } = options;
  const quote = quoteRefusal(refusal, [...(call.secrets ?? []), apiKey.reveal()]);
  const context = {
    method: call.method,
    keySource,
    serviceCode: refusal.code,
    isUnknownPath: isUnknownPath(refusal),
    quote,
    hasWorked: options.hasWorked(),
    nowMs: options.now(),
  };
  return failureOfStatus(response, context);
}

function dateOf({ headers: { date } }: WireResponse): { readonly dateMs?: number } {
  const dateMs = typeof date === "string" ? Date.parse(date) : Number.NaN;
  return Number.isNaN(dateMs) ? {} : { dateMs };
}

const holdsSecret = (value: unknown): boolean =>
  value instanceof Secret || (typeof value === "object" && value !== null && Object.values(value).some(holdsSecret));

const secretsOf = (value: unknown): readonly string[] => {
  if (value instanceof Secret) return [value.reveal()];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(secretsOf) : [];
};

/** The bytes of a request body, and its secrets. This is the one place where the secrets of a body are revealed. */
export function encodeBody(body: SendableRequest["body"]): { readonly bytes: Buffer; readonly secrets: readonly string[] } {
  const secret = holdsSecret(body);
  // A replacer sees a member after its toJSON, which for a Secret is "[secret]". Its parent still has the Secret itself.
  const reveal = function (this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
    const member = this[key];
    return member instanceof Secret ? member.reveal() : value;
  };
  // Most bodies have none, and a replacer takes five times as long.
  return { bytes: Buffer.from(JSON.stringify(body, secret ? reveal : undefined)), secrets: secret ? secretsOf(body) : [] };
}

const longestQuote = 300;

/** A sentence with the code and words of a refusal, without words that could come from a secret; "" without words. */
function quoteRefusal({ code, words }: ServiceRefusal, secrets: readonly string[]): string {
  const said = [code, words].flatMap((part) => (part === undefined ? [] : printable(part))).filter((part) => part !== "");
  if (said.length === 0) return "";
  const whole = said.join(": ");
  const shown = withoutEchoes(whole, secrets);
  if (shown === undefined) return "The text of the response is withheld, because it repeats a secret of the request.";
  const hidden = shown === whole ? "" : " Words that could come from a secret of the request are masked.";
  return `The service says: "${shorten(shown)}".${hidden}`;
}

function shorten(text: string): string {
  const characters = [...text];
  return characters.length <= longestQuote ? text : `${characters.slice(0, longestQuote - 1).join("")}…`;
}
