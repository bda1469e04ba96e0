import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { AccountState } from "../data/account.ts";
import { isObject, type UncheckedObject } from "../data/own.ts";
import type { Store } from "../data/store.ts";
import type { ErrorBody, Exchange } from "../options.ts";
import { type CallResult, invalid, notFound, RefusedCall, type ServedCall, type ServiceOptions } from "./call.ts";
import type { FaultAction, FaultBook } from "./faults.ts";
import { routeOf } from "./routes.ts";

/** What every request of one service shares. */
export interface Setting {
  readonly options: ServiceOptions;
  readonly store: Store;
  readonly emailByKey: ReadonlyMap<string, string>;
  readonly faults: FaultBook;
  /** By path: what a GET shows while the last write is not visible yet, and how many times. */
  readonly lagging: Map<string, { readonly account: AccountState; reads: number }>;
  readonly onExchange: (exchange: Exchange) => void;
  /** Aborted when the service closes, which ends all waiting requests. */
  readonly closing: AbortSignal;
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly ipAddress: string;
  /** undefined if it was too large. */
  readonly text: string | undefined;
}

/** A response on the wire; `status` 0 cuts the connection. */
interface Sent {
  readonly status: number;
  readonly text: string;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
}

const cut: Sent = { status: 0, text: "", type: "", headers: {} };
const signIn = "<!doctype html><html><body><h1>Sign in to continue</h1></body></html>";
const page: Sent = { ...cut, status: 200, text: signIn, type: "text/html; charset=utf-8" };
const errorIn200 = {
  code: { code: "error", message: "The agent did not answer.", error: { context: {}, name: "AgentError", code: "AGENT_UNREACHABLE" } },
  ok: { ok: false, error: "invalid connection" },
};
const accepted = { code: "accepted", message: "The change is being applied.", data: { jobId: "1" } };

/** Receives one request, handles it or applies a fault, calls `onExchange`, and sends the response. */
export async function serve(setting: Setting, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { options, faults, closing } = setting;
  const request = await receive(incoming, options.maxBodyBytes);
  const isInterface = !request.path.startsWith("/_console/");
  const fault = isInterface ? faults.strike(request.method, request.path, request.query) : undefined;
  if (isInterface && options.latencyMs) await sleep(options.latencyMs, undefined, { signal: closing });
  const sent = fault === undefined ? perform(setting, request) : suffer(setting, request, fault);
  // Called before the client can receive the response, so that a caller that awaits the client finds the exchange counted.
  if (isInterface) setting.onExchange(exchangeOf(request, sent, fault !== undefined));
  if (fault?.kind === "delay") await sleep(fault.ms, undefined, { signal: closing });
  if (sent.status === 0) {
    incoming.socket.destroy();
    return;
  }
  response.writeHead(sent.status, { "content-type": sent.type, ...sent.headers });
  response.end(sent.text);
}

async function receive(incoming: IncomingMessage, largestBody: number): Promise<Request> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const received of incoming) {
    const chunk: Buffer = received;
    size += chunk.length;
    // The rest of a body that is too large is read and dropped: a response to a client that is still sending could get lost.
    if (size <= largestBody) chunks.push(chunk);
  }
  const [path = "", ...rest] = (incoming.url ?? "").split("?");
  return {
    method: incoming.method ?? "",
    path,
    query: rest.join("?"),
    headers: Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
    ipAddress: incoming.socket.remoteAddress ?? "",
    text: size > largestBody ? undefined : Buffer.concat(chunks).toString("utf8"),
  };
}

/** The outcome without a fault; `isDropped`: of a write that changes nothing. */
function perform(setting: Setting, request: Request, isDropped = false): Sent {
  try {
    const result = handleCall(setting, request, isDropped);
    return { ...result, type: "application/json; charset=utf-8", headers: {} };
  } catch (error) {
    const refusal =
      error instanceof RefusedCall ? error : new RefusedCall(500, "internal_error", `The embedded service failed: ${String(error)}`);
    return refused(setting, request, refusal);
  }
}

function handleCall(setting: Setting, request: Request, isDropped: boolean): CallResult {
  const { options, store, emailByKey } = setting;
  const email = emailByKey.get(request.headers["x-api-key"] ?? "");
  if (email === undefined) throw new RefusedCall(401, "unauthorized", "The header x-api-key is missing or not a key of this account.");
  const { handler, params } = routeOf(request, options);
  const isRead = request.method === "GET";
  const call: ServedCall = {
    account: isRead ? shownAccount(setting, request) : store.account,
    options,
    params,
    query: new URLSearchParams(request.query),
    body: bodyOf(request),
    by: { email, ipAddress: request.ipAddress, userAgent: request.headers["user-agent"] ?? "" },
    now: options.now?.() ?? new Date(),
  };
  if (isRead) return handler(call);
  if (isDropped) return handler(withoutEffect(call, request));
  const reads = lagAfter(request, options);
  const before = reads > 0 ? structuredClone(store.account) : undefined;
  const result = handler(call);
  store.save();
  if (before === undefined) return result;
  for (const path of readsOf(request, result)) setting.lagging.set(path, { account: before, reads });
  return isOfSchemas(request) ? handler(withoutEffect({ ...call, account: before }, request)) : result;
}

/** The account that a GET of this path shows. */
function shownAccount({ store, lagging }: Setting, { path }: Request): AccountState {
  const lag = lagging.get(path);
  if (lag !== undefined && --lag.reads >= 0) return lag.account;
  lagging.delete(path);
  return store.account;
}

const isOfSchemas = ({ path }: Request): boolean => path.endsWith("/schemas");

const lagAfter = ({ method, path }: Request, { readLag, settingsLag }: ServiceOptions): number =>
  method === "PATCH" && /^\/v1\/integrations\/[^/]+$/.test(path) ? Math.max(readLag, settingsLag) : readLag;

/** The paths of the reads that show what a call has written. */
function readsOf({ method, path }: Request, { text }: CallResult): readonly string[] {
  const written = path.replace(/\/relation$/, "");
  const created = method === "POST" && written === path ? /"data":{"id":"([^"]+)"/.exec(text)?.[1] : undefined;
  return created === undefined ? [written] : [written, `${written}/${created}`, `${written}/${created}/schemas`];
}

/** The same call on a copy of the account, without members that would change anything there. */
const withoutEffect = (call: ServedCall, request: Request): ServedCall => ({
  ...call,
  account: structuredClone(call.account),
  body: request.method === "POST" || request.method === "DELETE" ? call.body : isOfSchemas(request) ? { schemas: {} } : {},
});

function bodyOf(request: Request): UncheckedObject {
  if (request.text === undefined) throw new RefusedCall(413, "too_large", "The body is too large.");
  if (request.text === "") return {};
  if (!/^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? "")) {
    throw new RefusedCall(415, "unsupported_media_type", "The body must be sent as application/json.");
  }
  const body = parsed(request.text);
  if (body === undefined) throw invalid("The body is not JSON.");
  if (!isObject(body)) throw invalid("The body must be a JSON object.");
  return body;
}

function suffer(setting: Setting, request: Request, fault: FaultAction): Sent {
  const [, , list = "", id = ""] = request.path.split("/");
  // A 404 is that of an object that does not exist.
  const refusal = (status: number, headers: Sent["headers"]): RefusedCall =>
    status === 404
      ? notFound(request.path.endsWith("/columns") ? "table" : list.slice(0, -1), id)
      : new RefusedCall(status, "fault", `The service responds with ${status} for now.`, { headers });
  const refuse = (status: number, headers: Sent["headers"] = {}): Sent => refused(setting, request, refusal(status, headers));
  if (fault.kind === "reset-before") return cut;
  if (fault.kind === "html") return page;
  if (fault.kind === "error-200") return { ...page, text: JSON.stringify(errorIn200[fault.form]), type: "application/json" };
  if (fault.kind === "status")
    return refuse(fault.status, fault.retryAfterSeconds === undefined ? {} : { "retry-after": String(fault.retryAfterSeconds) });
  const sent = perform(setting, request, fault.kind === "dropped");
  switch (fault.kind) {
    case "reset-after":
      return cut;
    case "status-after":
      return refuse(fault.status);
    case "truncate":
      return { ...sent, text: sent.text.slice(0, Math.floor(sent.text.length / 2)) };
    case "empty":
      return { ...sent, text: "" };
    case "content-type":
      return { ...sent, type: "text/plain" };
    case "accepted":
      return sent.status < 300 ? { ...sent, status: 202, text: JSON.stringify(accepted) } : sent;
    case "dropped":
    case "delay":
      return sent;
  }
}

function refused({ options }: Setting, request: Request, refusal: RefusedCall): Sent {
  return { status: refusal.status, headers: refusal.headers, ...errorBody(refusal, request.text ?? "", options.errorBody) };
}

function exchangeOf({ method, path, query, headers, text }: Request, sent: Sent, faulted: boolean): Exchange {
  return {
    method,
    path,
    query: Object.fromEntries(new URLSearchParams(query)),
    requestHeaders: headers,
    requestBody: text === undefined ? undefined : parsed(text),
    status: sent.status,
    responseBody: sent.text,
    faulted,
    key: headers["x-api-key"] ?? "",
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Body of an error response. The interface does not define it (docs/service-interface.md#errors), so the option `errorBody` varies it. */
function errorBody(refusal: RefusedCall, requestText: string, wanted: ErrorBody): { readonly text: string; readonly type: string } {
  const { status: statusCode, message, seen } = refusal;
  const style = wanted === "mixed" ? seen.form : wanted;
  const code = wanted === "mixed" ? (seen.code ?? refusal.code) : refusal.code;
  if (style === "empty") return { text: "", type: "application/json" };
  if (style === "plain") return { text: message, type: "text/plain" };
  const forms = {
    envelope: { code, message },
    echo: { code, message: requestText === "" ? message : `${message} Request body: ${requestText}` },
    nested: { statusCode, message: { code, message } },
    status: { statusCode, message },
    list: { statusCode, message: [message], error: "Bad Request" },
    message: { message },
  };
  return { text: JSON.stringify(forms[style]), type: "application/json" };
}
