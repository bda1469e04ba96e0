import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Socket } from "node:net";
import { DimsyncError } from "../../core/base/model/errors.ts";
import { version } from "../../core/base/model/runtime/version.ts";
import { isLoopback } from "../../core/base/model/settings/base-url.ts";
import { jsonDocument } from "../../core/base/text/control-characters.ts";
import { familyText, type Sample } from "../../core/render/machine/index.ts";
import { type AccountRow, listAccounts, readReport } from "./accounts.ts";
import type { Database } from "./database.ts";
import { accountPage, accountsPage } from "./page.ts";

// A request has a line and a few headers. So clients that send none use up no connections for long, and no files of the checks.
const limits = { headersTimeout: 5_000, requestTimeout: 5_000, connectionsCheckingInterval: 1_000 } as const;

const headers = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  // Pages have a stricter one of their own as well.
  "content-security-policy": "frame-ancestors 'none'",
};

/** Serves the page, the same as JSON, metrics and probes. Only reads. `listen`: HOST:PORT; `token`: "" for none. Throws E_USAGE and E_CONTROLLER_LISTEN. */
export async function servePage(
  database: Database,
  { listen, token }: { readonly listen: string; readonly token: string },
): Promise<{ readonly url: string; readonly close: () => void }> {
  const [, shownHost = "", digits = ""] = /^(\[[0-9a-fA-F:.]+\]|[\w.-]+):(\d{1,5})$/u.exec(listen) ?? [];
  const host = shownHost.replace(/^\[|\]$/gu, "");
  if (digits === "" || Number(digits) > 65_535)
    throw new DimsyncError("E_USAGE", `Invalid --listen ${JSON.stringify(listen)}. Use HOST:PORT, such as 127.0.0.1:8480.`);
  if (token !== "" && token.length < 16)
    throw listenError("DIMSYNC_CONTROLLER_TOKEN has fewer than 16 characters, so it could be guessed. Generate one: openssl rand -hex 32");
  if (token === "" && !isLoopback(shownHost))
    throw listenError(
      `The page would listen on ${host}, and anyone who reaches that address could read it: names of columns, users and accounts. Set DIMSYNC_CONTROLLER_TOKEN, or listen on 127.0.0.1:8480.`,
    );
  const server = createServer(limits, (request, response) => {
    void reply(database, request, token)
      // The text of the failure may name parts of the database.
      .catch((): Reply => ({ status: 503, body: "The controller cannot read its database. Its log has the reason.\n" }))
      .then(({ status = 200, type = "text/plain; charset=utf-8", body }) => {
        response.writeHead(status, {
          ...headers,
          "content-type": type,
          ...(status === 401 ? { "www-authenticate": 'Basic realm="dimsync controller", charset="UTF-8"' } : {}),
          // A body that nobody reads must not become the next request of the connection.
          ...(request.method === "GET" || request.method === "HEAD" ? {} : { connection: "close" }),
        });
        response.end(body);
      });
  });
  boundConnections(server);
  server.listen(Number(digits), host);
  await once(server, "listening").catch((cause: unknown) => {
    throw listenError(`The page cannot listen on ${listen}: ${cause instanceof Error ? cause.message : ""}. Use another --listen.`);
  });
  const address = server.address();
  const port = typeof address === "object" ? address?.port : digits;
  return { url: `http://${shownHost}:${port}`, close: () => void server.close().closeAllConnections() };
}

const listenError = (message: string): DimsyncError => new DimsyncError("E_CONTROLLER_LISTEN", message);

interface Reply {
  readonly status?: number;
  readonly type?: string;
  readonly body: string;
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

function isAllowed({ headers }: IncomingMessage, token: string): boolean {
  // Without a token only this machine can connect; a page of another origin can make its name resolve to 127.0.0.1, and cannot change the Host header.
  if (token === "") return URL.canParse(`http://${headers.host}`) && isLoopback(new URL(`http://${headers.host}`).hostname);
  const [scheme = "", given = ""] = (headers.authorization ?? "").split(" ");
  const pair = Buffer.from(given, "base64").toString();
  const password = { bearer: given, basic: pair.slice(pair.indexOf(":") + 1) }[scheme.toLowerCase()] ?? "";
  return timingSafeEqual(digest(password), digest(token));
}

const htmlReply = (body: string): Reply => ({ type: "text/html; charset=utf-8", body });
const jsonReply = (value: unknown): Reply => ({ type: "application/json; charset=utf-8", body: jsonDocument(value, 0) });

async function reply(database: Database, request: IncomingMessage, token: string): Promise<Reply> {
  const url = new URL(request.url ?? "/", "http://localhost");
  const path = url.pathname;
  if (path === "/healthz") return { body: "ok\n" };
  // Without a token: it names no account.
  if (path !== "/readyz" && !isAllowed(request, token))
    return { status: 401, body: "Sign in with DIMSYNC_CONTROLLER_TOKEN as Bearer, or as the password of Basic.\n" };
  if (request.method !== "GET" && request.method !== "HEAD") return { status: 405, body: "The page only reads.\n" };
  const accounts = await listAccounts(database);
  const stale = accounts.filter(({ isStale }) => isStale).length;
  if (path === "/readyz") return stale === 0 ? { body: "ok\n" } : { status: 503, body: `${stale} not checked within three intervals\n` };
  if (path === "/") return htmlReply(accountsPage(accounts, url.searchParams));
  if (path === "/api/accounts") return jsonReply({ accounts });
  if (path === "/metrics") return { type: "text/plain; version=0.0.4; charset=utf-8", body: metricsOf(accounts) };
  const [, api, encoded] = /^(\/api)?\/accounts\/([^/]+)$/u.exec(path) ?? [];
  const account = accounts.find(({ target }) => encodeURIComponent(target) === encoded);
  if (account === undefined) return { status: 404, body: "Not found\n" };
  const report = await readReport(database, account.target);
  return api === undefined ? htmlReply(accountPage(account, report)) : jsonReply({ ...account, report: report ?? null });
}

const mostConnections = { ofAddress: 100, ofAll: 400 } as const;

/** Each connection beyond the most of its address or of all closes the oldest one, so that half-open connections keep nobody out. */
function boundConnections(server: Server): void {
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    const ofAddress = [...open].filter(({ remoteAddress }) => remoteAddress === socket.remoteAddress);
    const [oldest] = ofAddress.length > mostConnections.ofAddress ? ofAddress : open.size > mostConnections.ofAll ? open : [];
    if (oldest === undefined) return;
    open.delete(oldest);
    oldest.destroy();
  });
}

/** Prometheus text format 0.0.4. Each account has its labels, as `label_team`. */
export function metricsOf(accounts: readonly AccountRow[]): string {
  const gauge = (name: string, help: string, value: (account: AccountRow) => number | null): string => {
    const samples = accounts
      .map((account) => [labelsOf(account), value(account)] as const)
      .filter((sample): sample is Sample => sample[1] !== null);
    return familyText({ name: `controller_${name}`, help, type: "gauge", samples });
  };
  // Nothing is known of an account before its first check.
  const known = (of: "exposed" | "differences" | "byHand" | "policy") => (account: AccountRow) =>
    account.checkedAt === null && account.exposed === 0 ? null : account[of];
  const age = ({ readAt, checkedAt }: AccountRow) => (checkedAt === null ? null : (Date.parse(readAt) - Date.parse(checkedAt)) / 1000);
  return [
    familyText({ name: "controller_build_info", help: "The version of the process.", type: "gauge", samples: [[{ version }, 1]] }),
    gauge("exposed_columns", "Columns that are less protected than the manifests declare.", known("exposed")),
    gauge("differences", "Differences that a request could fix, missing objects, and what is not compared.", known("differences")),
    gauge("by_hand", "Differences that somebody must fix by hand.", known("byHand")),
    gauge("policy_findings", "Violated policies.", known("policy")),
    gauge("failures", "Checks that failed in a row.", ({ failures }) => failures),
    gauge("stale", "1 if the account was not checked within three intervals.", ({ isStale }) => (isStale ? 1 : 0)),
    gauge("check_age_seconds", "Time since the last check that read everything.", age),
    gauge("check_duration_seconds", "Duration of the last check.", ({ durationMs }) => durationMs && durationMs / 1000),
    gauge("check_interval_seconds", "Interval of the checks.", ({ everyMs }) => everyMs / 1000),
  ].join("");
}

const labelsOf = ({ target, mode, labels }: AccountRow): Readonly<Record<string, string>> => ({
  target,
  mode,
  ...Object.fromEntries(Object.entries(labels).map(([name, value]) => [`label_${name.replaceAll(/\W/gu, "_")}`, value])),
});
