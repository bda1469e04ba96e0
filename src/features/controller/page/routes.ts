import { DimsyncError } from "../../../core/model/errors.ts";
import { accountList, listReply, openApiReply, runList } from "./api.ts";
import { accountPage } from "./html/account.ts";
import { accountsPage } from "./html/accounts.ts";
import { bundlePage } from "./html/bundle.ts";
import { runPage } from "./html/run.ts";
import { problemPage } from "./html/shell.ts";
import { loginPage } from "./login.ts";
import { metricsReply } from "./metrics.ts";
import { accountNamed, bundleNamed, type PageReads, runNamed } from "./reads.ts";
import { type HtmlPage, htmlReply, jsonReply, type Problem, ProblemError, problemReply, type Reply, textReply } from "./reply.ts";
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
export type Handler = (reads: PageReads, request: PageRequest, name: string) => Promise<Reply>;

interface Route {
  readonly path: RegExp;
  /** The query parameters that it takes. */
  readonly takes: readonly string[];
  readonly reply: Handler;
}

const page =
  (draw: (...given: Parameters<Handler>) => Promise<HtmlPage>): Handler =>
  async (reads, request, name) =>
    htmlReply(await draw(reads, request, name), request.base);

const json =
  (read: (reads: PageReads, name: string) => Promise<unknown>): Handler =>
  async (reads, _, name) =>
    jsonReply(await read(reads, name));

const filters = ["state", "label", "name", "cause"];
const slice = ["limit", "offset"];

const routes: readonly Route[] = [
  { path: /^\/$/u, takes: [...filters, "group", "page"], reply: page(accountsPage) },
  { path: /^\/accounts\/(.+)$/u, takes: ["page"], reply: page(accountPage) },
  { path: /^\/runs\/([^/]+)$/u, takes: [], reply: page(runPage) },
  { path: /^\/bundles\/([^/]+)$/u, takes: [], reply: page(bundlePage) },
  { path: /^\/login$/u, takes: ["next"], reply: page(askedLogin) },
  { path: /^\/api\/v1\/accounts$/u, takes: [...filters, ...slice], reply: accountList },
  { path: /^\/api\/v1\/accounts\/(.+)$/u, takes: [], reply: json(accountNamed) },
  { path: /^\/api\/v1\/runs$/u, takes: ["account", ...slice], reply: runList },
  { path: /^\/api\/v1\/runs\/([^/]+)$/u, takes: [], reply: json(runNamed) },
  { path: /^\/api\/v1\/bundles\/([^/]+)$/u, takes: [], reply: json(bundleNamed) },
  { path: /^\/api\/v1\/findings$/u, takes: slice, reply: listReply((reads, range) => reads.causes(range)) },
  { path: /^\/api\/v1\/closed$/u, takes: slice, reply: listReply((reads, range) => reads.closed(range)) },
  { path: /^\/api\/v1\/openapi\.json$/u, takes: [], reply: openApiReply },
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
    const why = error instanceof DimsyncError ? error.code : "the database cannot be read";
    return textReply(`not ready: ${why}\n`, { status: 503 });
  }
}

async function askedLogin(_: PageReads, request: PageRequest): Promise<HtmlPage> {
  if (request.login === undefined) throw new ProblemError(notFound);
  return loginPage(request, { next: pathWithin(request.query.get("next") ?? "/") });
}

/** The problem as JSON for programs, and as a page for people: without a session, the form that leads to the page that someone asked for. */
export function problemFor(request: PageRequest, problem: Problem): Reply {
  const { path, query, login, isFromOtherSite, base } = request;
  if (/^\/(?:api\/|metrics$|healthz$|readyz$)/u.test(path)) return problemReply(problem);
  const drawn =
    problem.status === 401 && login !== undefined
      ? loginPage(request, { next: pathWithin(`${path}${query.size === 0 ? "" : `?${query}`}`), isFromOtherSite })
      : problemPage(problem, request);
  return htmlReply(drawn, base, problem);
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
