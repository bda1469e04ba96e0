import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { listen } from "../../support/loopback.ts";

export interface StandInComment {
  readonly id: number;
  body: string;
  readonly user: { readonly login: string };
}
export interface StandInIssue {
  readonly number: number;
  title: string;
  body: string;
  state: string;
  readonly labels: readonly string[];
  readonly comments: string[];
  readonly user?: { readonly login: string };
  readonly pull_request?: object;
}

/** The part of GitHub's REST interface that dimsync uses, in memory. */
export interface GithubStandIn {
  readonly url: string;
  readonly port: number;
  readonly comments: Map<number, StandInComment[]>;
  /** The user of the token; undefined: GitHub does not say. */
  login: string | undefined;
  /** The last commit of each pull request; undefined: GitHub does not say. */
  head: string | undefined;
  /** Whether the pull requests were merged. */
  isMerged: boolean;
  readonly issues: StandInIssue[];
  /** The status of workflow runs by id. */
  readonly runs: Map<number, string>;
  /** The number of the pull request that was merged, by commit. */
  readonly merged: Map<string, number>;
  /** "METHOD path", in the order of arrival. */
  readonly calls: string[];
  /**
   * The response to the next calls that match, instead of carrying them out. "reset": the connection is
   * reset within the response; "reset-after": the call is carried out, and its response lost.
   */
  refuse:
    | { readonly matches: RegExp; readonly status: number | "reset" | "reset-after"; times: number; readonly message?: string }
    | undefined;
}

export const githubToken = "stand-in-token";
const pageSize = 2;

/**
 * Starts it on loopback until the test ends; with a certificate over TLS. Lists come in pages of two,
 * so that a client that reads only one page fails.
 */
export async function startGithub(certificate?: { readonly cert: string; readonly key: string }): Promise<GithubStandIn> {
  const github = {
    url: "",
    port: 0,
    comments: new Map<number, StandInComment[]>(),
    login: "github-actions[bot]",
    head: undefined,
    isMerged: false,
    issues: [] as StandInIssue[],
    runs: new Map<number, string>(),
    merged: new Map<string, number>(),
    calls: [] as string[],
    refuse: undefined,
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void => void answer(github, request, response);
  const server = certificate === undefined ? createServer(listener) : createTlsServer(certificate, listener);
  const { url, port } = await listen(server);
  return Object.assign(github, { url, port });
}

async function answer(github: GithubStandIn, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "", github.url);
  const call = `${request.method} ${url.pathname}`;
  github.calls.push(call);
  let text = "";
  for await (const chunk of request) text += String(chunk);
  const body = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
  let isLost = false;
  const reply = (status: number, value: unknown, headers: Record<string, string> = {}): void => {
    if (isLost) return void response.destroy();
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
  };
  if (request.headers.authorization !== `Bearer ${githubToken}`) return reply(401, { message: "Bad credentials" });
  if (github.refuse?.matches.test(call) === true && github.refuse.times-- > 0) {
    const { status, message = "Resource not accessible by integration" } = github.refuse;
    if (typeof status === "number") return reply(status, { message });
    if (status === "reset") return void response.writeHead(200, { "content-length": "99" }).write("[", () => response.destroy());
    isLost = true;
  }
  const paged = (all: readonly unknown[]): void => {
    const page = Number(url.searchParams.get("page") ?? "1");
    const next = new URL(url);
    next.searchParams.set("page", String(page + 1));
    const link = page * pageSize < all.length ? { link: `<${url.href}>; rel="prev", <${next.href}>; rel="next"` } : {};
    reply(200, all.slice((page - 1) * pageSize, page * pageSize), link);
  };
  const [, run, attempt] = /^\/repos\/example\/data\/actions\/runs\/(\d+)\/attempts\/(\d+)$/u.exec(url.pathname) ?? [];
  if (run !== undefined) return reply(200, { id: Number(run), run_attempt: Number(attempt), status: github.runs.get(Number(run)) });
  const [, commit] = /^\/repos\/example\/data\/commits\/([0-9a-f]+)\/pulls$/u.exec(url.pathname) ?? [];
  if (commit !== undefined) {
    const number = github.merged.get(commit);
    const open = { number: 99, merged_at: null };
    return paged(number === undefined ? [open] : [open, { number, merged_at: "2026-01-01T00:00:00Z" }]);
  }
  if (call === "POST /graphql") return reply(200, { data: { viewer: { login: github.login } } });
  if (/^GET \/repos\/example\/data\/pulls\/\d+$/u.test(call))
    return reply(200, { head: { sha: github.head }, merged_at: github.isMerged ? "2026-01-01T00:00:00Z" : null });
  const user = { login: github.login ?? "github-actions[bot]" };
  const [, comments, comment, issue] =
    /^\/repos\/example\/data\/issues(?:\/(\d+)\/comments|\/comments\/(\d+)|\/(\d+))?$/u.exec(url.pathname) ?? [];
  if (comments !== undefined) {
    const number = Number(comments);
    const tracked = github.issues.find((one) => one.number === number);
    if (tracked !== undefined && request.method === "POST") return reply(201, { id: tracked.comments.push(String(body["body"])) });
    const list = github.comments.get(number) ?? [];
    github.comments.set(number, list);
    if (request.method === "GET") return paged(list);
    const made = { id: 1000 + list.length, body: checked(body["body"]), user };
    list.push(made);
    return reply(201, made);
  }
  if (comment !== undefined) {
    const found = [...github.comments.values()].flat().find(({ id }) => id === Number(comment));
    if (found === undefined) return reply(404, { message: "Not Found" });
    if (request.method === "DELETE") {
      for (const [number, list] of github.comments)
        github.comments.set(
          number,
          list.filter((one) => one !== found),
        );
      return void response.writeHead(204).end();
    }
    found.body = checked(body["body"]);
    return reply(200, found);
  }
  if (issue !== undefined) {
    const found = github.issues.find((one) => one.number === Number(issue));
    if (found === undefined) return reply(404, { message: "Not Found" });
    Object.assign(found, body);
    return reply(200, found);
  }
  if (request.method === "GET") {
    const label = url.searchParams.get("labels") ?? "";
    return paged(github.issues.filter((one) => one.state === url.searchParams.get("state") && one.labels.includes(label)));
  }
  const made = {
    number: 40 + github.issues.length,
    title: String(body["title"]),
    body: checked(body["body"]),
    state: "open",
    labels: body["labels"] as string[],
    comments: [],
    user,
  };
  github.issues.push(made);
  reply(201, made);
}

/** GitHub refuses longer bodies with 422; here the test fails. */
function checked(body: unknown): string {
  const text = String(body);
  if (text.length > 65_536) throw new Error(`A body of ${text.length} characters.`);
  return text;
}
