import { parseBaseUrl } from "../model/base-url.ts";
import { isEnabled } from "../model/env.ts";
import { DimsyncError, ServiceError } from "../model/errors.ts";
import type { JsonValue } from "../model/json.ts";
import type { Secret } from "../model/secret.ts";
import type { Reads, SendableRequest, WriteAnswer } from "../model/service.ts";
import { pause } from "./abort-listeners.ts";
import { refuseWrites } from "./read-only.ts";
import { createReads } from "./reads.ts";
import { type CallReport, createSendRequest, encodeBody, type SendRequest } from "./request.ts";
import { readJson, readWriteAnswer } from "./response-body.ts";
import { createThrottle } from "./throttle.ts";
import { createTransport } from "./transport.ts";

export interface ClientOptions {
  /** https, or http on loopback; a path before /v1 is kept. */
  readonly baseUrl: string;
  readonly apiKey: Secret<string>;
  /** Where the key comes from, for the message of a refusal: "secret env:DIMSYNC_API_KEY". */
  readonly keySource?: string;
  /** For one attempt as a whole: connecting, headers and body. */
  readonly timeoutMs: number;
  /** Further attempts after the first. */
  readonly retries: number;
  /** At most so many requests at a time. */
  readonly concurrency: number;
  /** At most so many requests are begun per second; as many as come where absent. */
  readonly rate?: number | undefined;
  /** Refuse whatever isn't a GET. DIMSYNC_READ_ONLY in `env` does so too. */
  readonly readOnly: boolean;
  /** "dimsync/0.1.0" or "dimsync/0.1.0 (run/ID)": the audit log shows it. */
  readonly userAgent: string;
  /** Ends waiting, retrying and reads in flight. A write in flight is left to finish. */
  readonly signal?: AbortSignal;
  /** HTTPS_PROXY, NO_PROXY and DIMSYNC_READ_ONLY are looked up here. */
  readonly env: NodeJS.ProcessEnv;
  /** Told of every attempt, when it has ended. */
  readonly onCall?: (report: CallReport) => void;
  /** The largest answer that is read; 1 GiB where absent. */
  readonly maxAnswerBytes?: number;
  /** Instead of timers and chance, in tests. `sleep` may reject when the signal is aborted. */
  readonly sleep?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<unknown>;
  readonly random?: () => number;
}

export interface Client extends Reads {
  /** Sends a write. It goes out once; only what the service certainly did not act on is sent again. `beforeSend` is called when
   * the connection stands, before the first byte of each attempt, and keeps it from being sent by throwing a DimsyncError.
   * @throws ServiceError, whose `sent` tells what is known */
  send(request: SendableRequest, beforeSend?: () => void): Promise<WriteAnswer>;
  /** GET of any path below the base URL, "/v1/tags?x=y"; the whole body, undecoded. @throws ServiceError */
  raw(path: string): Promise<JsonValue>;
  /** How many requests went on the wire so far, by method, retries included. Shared with what `asReadOnly` returns. */
  readonly calls: () => Record<string, number>;
  /** The same connections with the door closed; `signal` ends the reads of this view, in the place of the client's own. */
  asReadOnly(signal?: AbortSignal): Client;
  /** Waits for what is in flight, then closes all connections, also for other views of this client. */
  close(): Promise<void>;
}

const oneGiB = 2 ** 30;

/** Opens no connection; the first call does.
 * @throws DimsyncError E_BASE_URL, E_API_KEY or E_PROXY where the options can't be used
 */
export function createClient(options: ClientOptions): Client {
  const { apiKey, timeoutMs, retries } = options;
  const base = parseBaseUrl(options.baseUrl);
  checkKey(apiKey);
  const concurrency = Math.max(1, options.concurrency);
  const sleep = options.sleep ?? pause;
  // An interrupted sleep is no failure of its own: what comes after it looks at the signal.
  const waitUntil =
    (signal: AbortSignal | undefined) =>
    async (milliseconds: number): Promise<void> => {
      await sleep(milliseconds, signal).catch((error: unknown) => {
        if (signal?.aborted !== true) throw error;
      });
    };
  const now = (): number => Date.now();
  const counts = new Map<string, number>();
  let closing: Promise<void> | undefined;

  const transport = createTransport({
    ...{ base, apiKey, timeoutMs, concurrency, userAgent: options.userAgent, env: options.env },
    maxAnswerBytes: options.maxAnswerBytes ?? oneGiB,
    onSent: (method) => counts.set(method, (counts.get(method) ?? 0) + 1),
  });
  const throttle = createThrottle({ concurrency, rate: options.rate, now });
  const exchangeUntil = (signal: AbortSignal | undefined): SendRequest =>
    createSendRequest({
      ...{ transport, throttle, retries, timeoutMs, apiKey, signal, now },
      wait: waitUntil(signal),
      keySource: options.keySource,
      random: options.random ?? Math.random,
      onCall: options.onCall,
      isClosed: () => closing !== undefined,
    });
  const exchange = exchangeUntil(options.signal);

  const viewOf = (door: SendRequest): Client => ({
    ...createReads(door),
    send: (request, beforeSend) => sendOver(door, request, apiKey, beforeSend),
    raw: (path) => rawOver(door, path),
    calls: () => Object.fromEntries(counts),
    asReadOnly: (signal) => viewOf(refuseWrites(signal === undefined ? exchange : exchangeUntil(signal))),
    close: () => {
      closing ??= transport.close();
      return closing;
    },
  });
  return viewOf(options.readOnly || isEnabled(options.env["DIMSYNC_READ_ONLY"]) ? refuseWrites(exchange) : exchange);
}

async function sendOver(
  exchange: SendRequest,
  { method, path, body }: SendableRequest,
  apiKey: Secret<string>,
  beforeSend: (() => void) | undefined,
): Promise<WriteAnswer> {
  checkPath(method, path);
  const { bytes, secret } = encodeBody(body, apiKey);
  const where = { method, path, sent: "maybe" } as const;
  return exchange({
    method,
    path,
    body: bytes,
    beforeSend,
    heldSecrets: secret,
    read: (answer) => readWriteAnswer(answer.status, answer.body, where),
  });
}

async function rawOver(exchange: SendRequest, path: string): Promise<JsonValue> {
  checkPath("GET", path);
  return exchange({
    method: "GET",
    path,
    heldSecrets: false,
    read: ({ body }) => readJson(body, { method: "GET", path, sent: "answered" }),
  });
}

function checkPath(method: string, path: string): void {
  if (/^\/[!"$-~]*$/u.test(path)) return;
  const message = `${method}: the path can't be sent. It must begin with a slash and be percent-encoded: visible ASCII characters only, without #.`;
  throw new ServiceError("E_PATH", message, { method, path, sent: "never" });
}

/** A header's value must be visible ASCII. Checked here since an error from below could repeat the key. */
function checkKey(apiKey: Secret<string>): void {
  if (/^[!-~](?:[ -~]*[!-~])?$/u.test(apiKey.reveal())) return;
  throw new DimsyncError(
    "E_API_KEY",
    "The API key can't be sent. It is empty, or holds a line break or another character that a header can't carry. Check the variable or the file that it comes from.",
  );
}

/** Any value but these counts: a wish for safety that is misspelt is still one. */
