import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { DimsyncError } from "../../../core/model/errors.ts";
import { type Access, type AccessCheck, accessCheck, checkAccess, type Refusal, urlHost } from "./access.ts";
import { requestBase, withoutBase } from "./base-path.ts";
import { loginPosts, tooManyTokens } from "./login.ts";
import type { PageReads } from "./reads.ts";
import { type Problem, ProblemError, type Reply } from "./reply.ts";
import { isPublic, type PageRequest, problemFor, replyTo } from "./routes.ts";
import { hasSession, refuseTokens } from "./session.ts";

export interface PageOptions extends Access {
  readonly reads: PageReads;
  /** "/dimsync": the path of the page's URL behind a proxy. Default: none. */
  readonly base?: string | undefined;
  /** Whether browsers use https, although this server does not. Else a proxy can say so in X-Forwarded-Proto. */
  readonly isHttps?: boolean | undefined;
  /** For ages and times; default: the clock. */
  readonly now?: () => Date;
  /** Receives failures that are not the fault of a client, such as an unreadable database. */
  readonly onError?: (error: unknown) => void;
}

export interface StatusPage {
  /** "http://127.0.0.1:8480" */
  readonly url: string;
  readonly port: number;
  /** Ends all connections. */
  readonly close: () => Promise<void>;
}

// A request has a line and a few headers, and nothing takes long to send.
const limits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
} as const;
const mostConnections = 500;
const idleMs = 60_000;
// Below mostConnections, so that there is always room for a new connection.
const mostWaiting = { ofAddress: 100, ofAll: 400 } as const;

/**
 * Starts the status page and API. Read-only: it has no route that changes anything but the cookie of whoever signs in.
 * @throws DimsyncError E_CONTROLLER_LISTEN if it would be readable by others, or cannot listen.
 */
export async function startPage(options: PageOptions): Promise<StatusPage> {
  checkAccess(options);
  const { token = "" } = options;
  const refuseToken = refuseTokens();
  const doors = {
    refusalOf: accessCheck(options, refuseToken),
    ...(token === "" ? {} : { replyToPost: loginPosts({ ...options, token, refuseToken }) }),
  };
  const server = createServer(limits, (incoming, response) => {
    answer(incoming, { ...options, ...doors })
      .then((reply) => send(incoming, response, reply))
      .catch((error: unknown) => {
        options.onError?.(error);
        response.destroy();
      });
  });
  server.maxConnections = mostConnections;
  boundWaiting(server);
  server.setTimeout(idleMs);
  const port = await listen(server, options);
  return { url: `http://${urlHost(options.host)}:${port}${options.base ?? ""}`, port, close: () => close(server) };
}

/**
 * Bounds the connections without a request, of one address and of all: each one more closes the
 * oldest. So connections that never send a complete request keep nobody else out.
 */
function boundWaiting(server: Server): void {
  const waiting = new Map<Socket, string>();
  const wait = (socket: Socket): void => {
    if (socket.destroyed) return;
    const address = socket.remoteAddress ?? "";
    waiting.set(socket, address);
    const ofAddress = [...waiting].filter(([, other]) => other === address);
    const [oldest] = ofAddress.length > mostWaiting.ofAddress ? ofAddress : waiting.size > mostWaiting.ofAll ? waiting : [];
    oldest?.[0].destroy();
  };
  server.on("connection", (socket) => {
    wait(socket);
    socket.once("close", () => waiting.delete(socket));
  });
  server.on("request", ({ socket }, response) => {
    waiting.delete(socket);
    response.once("close", () => wait(socket));
  });
}

async function listen(server: Server, { host, port }: Access): Promise<number> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new DimsyncError(
      "E_CONTROLLER_LISTEN",
      `The status page cannot listen on ${urlHost(host)}:${port}: ${why}. Use another --listen.`,
      {
        cause: error,
      },
    );
  }
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

async function close(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}

interface AnswerOptions extends PageOptions {
  readonly refusalOf: AccessCheck;
  /** Absent without a token. */
  readonly replyToPost?: ReturnType<typeof loginPosts>;
}

async function answer(incoming: IncomingMessage, options: AnswerOptions): Promise<Reply> {
  const { now: clock = () => new Date(), token = "", reads, onError, refusalOf, replyToPost } = options;
  const { url = "/", headers } = incoming;
  const [path = "/", query = ""] = url.split("?");
  const base = requestBase(headers, options);
  const now = clock();
  const request: PageRequest = {
    path: withoutBase(path, base),
    query: new URLSearchParams(query),
    now,
    base,
    ...(token === "" ? {} : { login: hasSession(token, headers.cookie, now) ? "done" : "offered" }),
    isFromOtherSite: headers["sec-fetch-site"] === "cross-site" && headers["sec-fetch-mode"] === "navigate",
  };
  try {
    const posted = await replyToPost?.(incoming, request);
    if (posted !== undefined) return posted;
    const refusal = isPublic(request.path) ? undefined : refusalOf(headers, { address: incoming.socket.remoteAddress ?? "", now });
    if (refusal !== undefined) return problemFor(request, refusals[refusal]);
    const wrong = wrongRequest(incoming);
    if (wrong !== undefined) return problemFor(request, wrong);
    return await replyTo(request, reads);
  } catch (error) {
    if (error instanceof ProblemError) return problemFor(request, error.problem);
    onError?.(error);
    return problemFor(request, unreadable);
  }
}

const refusals: Readonly<Record<Refusal, Problem>> = {
  unauthorized: {
    status: 401,
    title: "Unauthorized",
    detail:
      "This page needs the controller's token. Send it as `Authorization: Bearer TOKEN`, or sign in at /login or through the proxy in front of it.",
    headers: { "www-authenticate": 'Bearer realm="dimsync controller"' },
  },
  blocked: tooManyTokens,
  misdirected: {
    status: 421,
    title: "Wrong host",
    detail: "The controller listens on this machine only, so the Host header must be localhost or a loopback address.",
  },
};

const unreadable: Problem = {
  status: 503,
  title: "State not available",
  detail: "The controller could not read its database. It tries again with each request; its log has the reason.",
  headers: { "retry-after": "15" },
};

function wrongRequest({ method = "", headers }: IncomingMessage): Problem | undefined {
  if (method !== "GET" && method !== "HEAD")
    return {
      status: 405,
      title: "Read-only",
      detail: "The status page and its API only read. To change something, use dimsync controller.",
      headers: { allow: "GET, HEAD" },
    };
  if (headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0) return undefined;
  return { status: 413, title: "Request with a body", detail: "Send the request without a body." };
}

const always = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "x-frame-options": "DENY",
} as const;

function send({ method, headers: asked }: IncomingMessage, response: ServerResponse, { status, headers, body }: Reply): void {
  const isSame = status === 200 && headers["etag"] !== undefined && asked["if-none-match"]?.split(/\s*,\s*/u).includes(headers["etag"]);
  const text = Buffer.from(isSame === true ? "" : body);
  // A body that nobody reads must not become the next request of the connection.
  const closes = method !== "GET" && method !== "HEAD" ? { connection: "close" } : {};
  response.writeHead(isSame === true ? 304 : status, {
    ...always,
    ...headers,
    ...closes,
    ...(isSame === true ? {} : { "content-length": text.length }),
  });
  response.end(method === "HEAD" || isSame === true ? undefined : text);
}
