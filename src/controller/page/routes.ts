import { DimsyncError } from "../../model/errors.ts";
import { accountList, accountReply, bundleReply, causesReply, closedReply, openApiReply, runList, runReply } from "./api.ts";
import { accountPage } from "./html/account.ts";
import { accountsPage } from "./html/accounts.ts";
import { bundlePage } from "./html/bundle.ts";
import { loginPage } from "./html/login.ts";
import { runPage } from "./html/run.ts";
import { problemPage } from "./html/shell.ts";
import { metricsReply } from "./metrics.ts";
import type { PageReads } from "./reads.ts";
import { type HtmlPage, htmlReply, type Problem, ProblemError, problemReply, type Reply, textReply } from "./reply.ts";
import { pathWithin } from "./session.ts";

export interface PageRequest {
  /** As sent, percent-encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly now: Date;
  /** "/dimsync": what the path was below, and the links of the reply are. */
  readonly base?: string;
  /** Whether people can sign in with the token, or have. Absent without a token. */
  readonly login?: "offered" | "done";
  /** Whether a link of another site led here. */
  readonly isFromOtherSite?: boolean;
}

/** `name` is what the path names: an account, a run or a bundle; "" for a list. */
type Handler = (reads: PageReads, request: PageRequest, name: string) => Promise<Reply>;

interface Route {
  readonly path: RegExp;
  /** The query parameters that it takes. */
  readonly takes: readonly string[];
  readonly reply: Handler;
}

const filters = ["state", "label", "name", "cause"];
const slice = ["limit", "offset"];

const routes: readonly Route[] = [
  {
    path: /^\/$/u,
    takes: [...filters, "group", "page"],
    reply: async (reads, request) => htmlReply(await accountsPage(reads, request), request.base),
  },
  {
    path: /^\/accounts\/(.+)$/u,
    takes: ["page"],
    reply: async (reads, request, name) => htmlReply(await accountPage(reads, request, name), request.base),
  },
  {
    path: /^\/runs\/([^/]+)$/u,
    takes: [],
    reply: async (reads, request, name) => htmlReply(await runPage(reads, request, name), request.base),
  },
  {
    path: /^\/bundles\/([^/]+)$/u,
    takes: [],
    reply: async (reads, request, name) => htmlReply(await bundlePage(reads, request, name), request.base),
  },
  { path: /^\/login$/u, takes: ["next"], reply: loginReply },
  { path: /^\/api\/v1\/accounts$/u, takes: [...filters, ...slice], reply: accountList },
  { path: /^\/api\/v1\/accounts\/(.+)$/u, takes: [], reply: accountReply },
  { path: /^\/api\/v1\/runs$/u, takes: ["account", ...slice], reply: runList },
  { path: /^\/api\/v1\/runs\/([^/]+)$/u, takes: [], reply: runReply },
  { path: /^\/api\/v1\/bundles\/([^/]+)$/u, takes: [], reply: bundleReply },
  { path: /^\/api\/v1\/findings$/u, takes: slice, reply: causesReply },
  { path: /^\/api\/v1\/closed$/u, takes: slice, reply: closedReply },
  { path: /^\/api\/v1\/openapi\.json$/u, takes: [], reply: async (_reads, request) => openApiReply(request) },
  { path: /^\/metrics$/u, takes: [], reply: metricsReply },
  { path: /^\/healthz$/u, takes: [], reply: async () => textReply("ok\n") },
  { path: /^\/readyz$/u, takes: [], reply: readyReply },
];

/** Probes need no token, because a probe of Kubernetes cannot keep one secret. They show nothing about accounts, as the form. */
export const isPublic = (path: string): boolean => path === "/healthz" || path === "/readyz" || path === "/login";

/** Rejects with a ProblemError for a request that has no result, and with other errors if the state cannot be read. */
export async function replyTo(request: PageRequest, reads: PageReads): Promise<Reply> {
  for (const { path, takes, reply } of routes) {
    const match = path.exec(request.path);
    if (match === null) continue;
    const unknown = [...request.query.keys()].find((name) => !takes.includes(name));
    if (unknown !== undefined) throw new ProblemError(unknownParameter(unknown, takes));
    return await reply(reads, request, decoded(match[1] ?? ""));
  }
  throw new ProblemError(notFound);
}

async function readyReply(reads: PageReads): Promise<Reply> {
  try {
    await reads.ready();
    return textReply("ok\n");
  } catch (error) {
    // A probe shows no details: the log has them.
    if (error instanceof DimsyncError) return textReply(`not ready: ${error.code}\n`, "text/plain; charset=utf-8", 503);
    return textReply("not ready: the database cannot be read\n", "text/plain; charset=utf-8", 503);
  }
}

async function loginReply(_: PageReads, request: PageRequest): Promise<Reply> {
  if (request.login === undefined) throw new ProblemError(notFound);
  const next = pathWithin(request.query.get("next") ?? "/");
  return htmlReply(loginPage(request, { next, reason: "", isFromOtherSite: false }), request.base);
}

/** The problem as JSON for programs, and as a page for people. */
export function problemFor(request: PageRequest, problem: Problem): Reply {
  if (/^\/(?:api\/|metrics$|healthz$|readyz$)/u.test(request.path)) return problemReply(problem);
  const { headers, ...rest } = htmlReply(
    problem.status === 401 && request.login !== undefined ? loginFor(request) : problemPage(problem, request),
    request.base,
    problem.status,
  );
  return { ...rest, headers: { ...headers, ...problem.headers } };
}

/** The form, which leads to the page that someone asked for. */
function loginFor(request: PageRequest): HtmlPage {
  const { path, query, isFromOtherSite = false } = request;
  const next = pathWithin(`${path}${query.size === 0 ? "" : `?${query}`}`);
  return loginPage(request, { next, reason: "", isFromOtherSite });
}

const notFound: Problem = {
  status: 404,
  title: "Not found",
  detail: "The controller has no page with this address. The accounts are at /, the API is described at /api/v1/openapi.json.",
};

const unknownParameter = (name: string, takes: readonly string[]): Problem => ({
  status: 400,
  title: "Unknown parameter",
  detail: `Unknown parameter ${JSON.stringify(name)}. ${takes.length === 0 ? "This address takes none." : `This address takes ${takes.join(", ")}.`}`,
});

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw new ProblemError(notFound);
  }
}
