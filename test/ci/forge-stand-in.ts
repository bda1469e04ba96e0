import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";

export interface StandInComment {
  readonly id: number;
  body: string;
  readonly user: { readonly type: string; readonly id: number };
  readonly author_association: string;
}
export interface StandInIssue {
  readonly number: number;
  title: string;
  body: string;
  state: string;
  readonly labels: readonly string[];
  readonly comments: string[];
  readonly pull_request?: object;
}

/** As much of GitHub's REST interface as dimsync uses, in memory. */
export interface ForgeStandIn {
  readonly url: string;
  readonly comments: Map<number, StandInComment[]>;
  readonly issues: StandInIssue[];
  /** "METHOD path", in the order of arrival. */
  readonly calls: string[];
  /** The answer for the next calls that match, instead of carrying them out. */
  refuse: { readonly matches: RegExp; readonly status: number | "broken off"; times: number; readonly message?: string } | undefined;
}

const token = "stand-in-token";
export const standInToken = token;
const pageSize = 2;

/** Starts it on loopback; it stops when the test ends. Lists come in pages of two, so that a client that reads one page only is found out. */
export async function startForge(): Promise<ForgeStandIn> {
  const forge: { url: string } & Omit<ForgeStandIn, "url"> = { url: "", comments: new Map(), issues: [], calls: [], refuse: undefined };
  const server = createServer((request, response) => void answer(forge, request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The stand-in has no port.");
  forge.url = `http://127.0.0.1:${address.port}`;
  return forge;
}

async function answer(forge: ForgeStandIn, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "", forge.url);
  const call = `${request.method} ${url.pathname}`;
  forge.calls.push(call);
  let text = "";
  for await (const chunk of request) text += String(chunk);
  const body = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
  const reply = (status: number, value: unknown, headers: Record<string, string> = {}): void => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
  };
  if (request.headers.authorization !== `Bearer ${token}`) return reply(401, { message: "Bad credentials" });
  if (forge.refuse?.matches.test(call) === true && forge.refuse.times-- > 0)
    return typeof forge.refuse.status === "number"
      ? reply(forge.refuse.status, { message: forge.refuse.message ?? "Resource not accessible by integration" })
      : void response.writeHead(200, { "content-length": "99" }).write("[", () => response.destroy());
  const paged = (all: readonly unknown[]): void => {
    const page = Number(url.searchParams.get("page") ?? "1");
    const next = new URL(url);
    next.searchParams.set("page", String(page + 1));
    const link = page * pageSize < all.length ? { link: `<${url.href}>; rel="prev", <${next.href}>; rel="next"` } : {};
    reply(200, all.slice((page - 1) * pageSize, page * pageSize), link);
  };
  const [, comments, comment, issue] =
    /^\/repos\/example\/data\/issues(?:\/(\d+)\/comments|\/comments\/(\d+)|\/(\d+))?$/u.exec(url.pathname) ?? [];
  if (comments !== undefined) {
    const number = Number(comments);
    const tracked = forge.issues.find((one) => one.number === number);
    if (tracked !== undefined && request.method === "POST") return reply(201, { id: tracked.comments.push(String(body["body"])) });
    const list = forge.comments.get(number) ?? [];
    forge.comments.set(number, list);
    if (request.method === "GET") return paged(list);
    const made = { id: 1000 + list.length, body: checked(body["body"]), user: { type: "Bot", id: 1 }, author_association: "NONE" };
    list.push(made);
    return reply(201, made);
  }
  if (comment !== undefined) {
    const found = [...forge.comments.values()].flat().find(({ id }) => id === Number(comment));
    if (found === undefined) return reply(404, { message: "Not Found" });
    found.body = checked(body["body"]);
    return reply(200, found);
  }
  if (issue !== undefined) {
    const found = forge.issues.find((one) => one.number === Number(issue));
    if (found === undefined) return reply(404, { message: "Not Found" });
    Object.assign(found, body);
    return reply(200, found);
  }
  if (request.method === "GET") {
    const label = url.searchParams.get("labels") ?? "";
    return paged(forge.issues.filter((one) => one.state === url.searchParams.get("state") && one.labels.includes(label)));
  }
  const made = {
    number: 40 + forge.issues.length,
    title: String(body["title"]),
    body: checked(body["body"]),
    state: "open",
    labels: body["labels"] as string[],
    comments: [],
  };
  forge.issues.push(made);
  reply(201, made);
}

/** GitHub refuses longer ones with 422; here the test fails. */
function checked(body: unknown): string {
  const text = String(body);
  if (text.length > 65_536) throw new Error(`A body of ${text.length} characters.`);
  return text;
}
