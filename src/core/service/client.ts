import { setTimeout } from "node:timers/promises";
import type { ExchangeOptions } from "../base/http/exchange.ts";
import { createTransport } from "../base/http/transport.ts";
import { DimsyncError, ServiceError } from "../base/model/errors.ts";
import { defined, type JsonValue } from "../base/model/json/json.ts";
import type { ExtendedCall, Reads, SendableRequest, WriteAnswer } from "../base/model/service.ts";
import { parseBaseUrl } from "../base/model/settings/base-url.ts";
import { type Environment, isEnabled } from "../base/model/settings/env.ts";
import type { Secret } from "../base/model/settings/secret.ts";
import { printable, withoutEchoes } from "./echoes.ts";
import type { CallName } from "./errors.ts";
import { createReads, type Worked } from "./reads.ts";
import { type CallReport, createSendRequest, encodeBody, type SendRequest } from "./request.ts";
import { readJson, readWriteResponse } from "./response-body.ts";
import { createCircuitBreaker } from "./retry.ts";
import { createThrottle } from "./throttle.ts";

export interface ClientOptions {
  /** https, or http on loopback; a path before /v1 is kept. */
  readonly baseUrl: string;
  readonly apiKey: Secret;
  /** The source of the key, for error messages: "secret env:DIMSYNC_API_KEY". */
  readonly keySource?: string;
  /** Timeout of one attempt: connecting, headers and body. */
  readonly timeoutMs: number;
  /** Maximum number of retries. */
  readonly retries: number;
  /** Maximum number of concurrent requests. */
  readonly concurrency: number;
  /** The same for reads of one table's columns, whose responses are small. Default: `concurrency`. */
  readonly columnConcurrency?: number;
  /** Maximum number of requests started per second; undefined: no limit. */
  readonly rate?: number | undefined;
  /** Whether the service has the GET requests beyond its interface document. Default: false. */
  readonly extended?: boolean;
  /** Refuse every method except GET. DIMSYNC_READ_ONLY in `env` does the same. */
  readonly readOnly: boolean;
  /** "dimsync/0.1.0" or "dimsync/0.1.0 (run/ID)", as the audit log shows it. */
  readonly userAgent: string;
  /** Ends waiting, retrying and reads in flight. Writes in flight finish. */
  readonly signal?: AbortSignal;
  /** HTTPS_PROXY, NO_PROXY and DIMSYNC_READ_ONLY are read from here. */
  readonly env: Environment;
  /** Called after every attempt. */
  readonly onCall?: (report: CallReport) => void;
  /** The largest response that is read, in bytes. Default: 64 MiB. */
  readonly maxResponseBytes?: number;
  /** Replaces the clock, timers and random numbers in tests. `sleep` may reject when the signal is aborted. */
  readonly now?: () => number;
  readonly sleep?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<unknown>;
  readonly random?: () => number;
  readonly after?: ExchangeOptions["after"];
}

export interface Client extends Reads {
  /** Sends a write once. It is only sent again if the service certainly did not act on it. `beforeSend` is called when the
   * connection is open, before the first byte of each attempt; it prevents sending by throwing a DimsyncError.
   * @throws ServiceError; `sent` says whether the service may have acted on it */
  send(request: SendableRequest, beforeSend?: () => void): Promise<WriteAnswer>;
  /** GET of any path below the base URL, "/v1/tags?x=y"; returns the whole body, undecoded. @throws ServiceError */
  raw(path: string): Promise<JsonValue>;
  /** The number of requests sent so far, by method, including retries. Shared with the views of `asReadOnly`. */
  readonly calls: () => Record<string, number>;
  /** A view of the same connections that can only read. `signal` ends its reads, instead of the client's signal. */
  asReadOnly(signal?: AbortSignal): Client;
  /** Waits for requests in flight, then closes all connections, also those of the views. */
  close(): Promise<void>;
}

/** Opens no connection; the first call does.
 * @throws DimsyncError E_BASE_URL, E_NO_API_KEY or E_PROXY if an option is not valid
 */
export function createClient(options: ClientOptions): Client {
  const { apiKey, timeoutMs, retries, userAgent, env, maxResponseBytes = 64 * 2 ** 20 } = options;
  const base = parseBaseUrl(options.baseUrl);
  checkKey(apiKey);
  const concurrency = Math.max(1, options.concurrency);
  const smallConcurrency = Math.max(concurrency, options.columnConcurrency ?? concurrency);
  const now = options.now ?? Date.now;
  const counts = new Map<string, number>();
  let closing: Promise<void> | undefined;

  const transport = createTransport({
    base,
    apiKey,
    timeoutMs,
    after: options.after,
    connections: smallConcurrency,
    userAgent,
    env,
    maxResponseBytes,
    onSent: (method) => counts.set(method, (counts.get(method) ?? 0) + 1),
  });
  const throttle = createThrottle({ concurrency, smallConcurrency, rate: options.rate, now });
  const breaker = createCircuitBreaker(now);
  let hasWorked = false;
  const worked: Worked = { get: () => hasWorked, set: () => (hasWorked = true) };
  const extended = new Map<ExtendedCall, Promise<unknown> | undefined>(
    options.extended === true ? [["GET /v1/assets/{id}", undefined]] : [],
  );
  const sendRequestUntil = (signal: AbortSignal | undefined): SendRequest =>
    createSendRequest({
      transport,
      throttle,
      breaker,
      retries,
      timeoutMs,
      apiKey,
      signal,
      now,
      wait: (milliseconds) => sleepUntil(signal, milliseconds, options.sleep),
      keySource: options.keySource,
      random: options.random ?? Math.random,
      onCall: options.onCall,
      isClosed: () => closing !== undefined,
      hasWorked: worked.get,
    });
  const untilClosed = sendRequestUntil(options.signal);

  const viewOf = (sendRequest: SendRequest): Client => ({
    ...createReads(sendRequest, worked, extended),
    send: (request, beforeSend) => sendOver(sendRequest, request, apiKey, beforeSend),
    raw: (path) => rawOver(sendRequest, path),
    calls: () => Object.fromEntries(counts),
    asReadOnly: (signal) => viewOf(refuseWrites(signal === undefined ? untilClosed : sendRequestUntil(signal))),
    close: () => {
      closing ??= transport.close();
      return closing;
    },
  });
  return viewOf(options.readOnly || isEnabled(env["DIMSYNC_READ_ONLY"]) ? refuseWrites(untilClosed) : untilClosed);
}

const pause = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> => setTimeout(milliseconds, undefined, { signal });

/** An interrupted sleep is not an error: the code after it checks the signal. */
async function sleepUntil(signal: AbortSignal | undefined, milliseconds: number, sleep: ClientOptions["sleep"] = pause): Promise<void> {
  await sleep(milliseconds, signal).catch((error: unknown) => {
    if (signal?.aborted !== true) throw error;
  });
}

async function sendOver(
  exchange: SendRequest,
  { method, path, body }: SendableRequest,
  apiKey: Secret,
  beforeSend: (() => void) | undefined,
): Promise<WriteAnswer> {
  checkPath(method, path);
  const { bytes, secrets } = encodeBody(body);
  const where = { method, path, sent: "maybe" } as const;
  return exchange({
    method,
    path,
    body: bytes,
    beforeSend,
    secrets,
    read({ status, body: answer, headers }) {
      const { words, ...rest } = readWriteResponse(status, answer, where);
      const shown = words && withoutEchoes(printable(words), [...secrets, apiKey.reveal()]);
      return { ...rest, ...defined({ words: shown, locatedId: idBelow(path, headers["location"]) }) };
    },
  });
}

/** The one segment that a location has after the path, such as the id of a created object. */
function idBelow(path: string, location: unknown): string | undefined {
  const [, id] = typeof location === "string" ? (location.split(/[?#]/u)[0]?.split(`${path}/`) ?? []) : [];
  return id !== undefined && /^[\w-]+$/u.test(id) ? id : undefined;
}

async function rawOver(exchange: SendRequest, path: string): Promise<JsonValue> {
  checkPath("GET", path);
  return exchange({
    method: "GET",
    path,
    read: ({ body }) => readJson(body, { method: "GET", path, sent: "answered" }),
  });
}

function checkPath(method: string, path: string): void {
  if (/^\/[^/]+\/[^/]+\/(?:%2E)+(?=[/?]|$)/u.test(path)) {
    const message = `${method}: an id consists of dots only. Programs on the way to the service could read it as another path, so nothing was sent.`;
    throw new ServiceError("E_USAGE", message, { method, path, sent: "never" });
  }
  if (/^\/[!"$-~]*$/u.test(path)) return;
  const message = `${method}: the path is not valid. It must begin with a slash and be percent-encoded: visible ASCII characters only, without #.`;
  throw new ServiceError("E_USAGE", message, { method, path, sent: "never" });
}

/** A header's value must be visible ASCII. Checked here because an error of the HTTP library could repeat the key. */
function checkKey(apiKey: Secret): void {
  if (/^[!-~](?:[ -~]*[!-~])?$/u.test(apiKey.reveal())) return;
  throw new DimsyncError(
    "E_NO_API_KEY",
    "The API key is not valid. It is empty, or contains a line break or another character that is not allowed in a header. Check the variable or file that it comes from.",
  );
}

/**
 * Refuses every method except GET before a socket is opened.
 * @throws ServiceError E_READ_ONLY, `sent` "never".
 */
function refuseWrites(exchange: SendRequest): SendRequest {
  return (call) => (call.method === "GET" ? exchange(call) : Promise.reject(refusal(call)));
}

function refusal({ method, path }: CallName): ServiceError {
  return new ServiceError(
    "E_READ_ONLY",
    `${method} ${path}: not sent, because this client only reads. Only apply writes to the account, and only without DIMSYNC_READ_ONLY.`,
    { method, path, sent: "never" },
  );
}
