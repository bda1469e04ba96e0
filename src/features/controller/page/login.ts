import type { IncomingMessage } from "node:http";
import { html, base as linkBase } from "../../../core/render/html/html.ts";
import { shell } from "./html/shell.ts";
import { type HtmlPage, htmlReply, type Problem, ProblemError, type Reply, redirectReply } from "./reply.ts";
import type { PageRequest } from "./routes.ts";
import { endedCookie, isEqual, pathWithin, type RefuseToken, sessionCookie } from "./session.ts";

interface LoginForm {
  readonly next: string;
  /** Why the form is here. Default: someone asked for it. */
  readonly reason?: string;
  /**
   * Whether a link of another site led here. Then the browser has not sent the cookie, and it does if the page loads itself again:
   * whoever is signed in does not have to sign in for each link in a chat.
   */
  readonly isFromOtherSite?: boolean | undefined;
}

/** The form that a person signs in with. */
export const loginPage = ({ now }: Pick<PageRequest, "now">, { next, reason = "", isFromOtherSite = false }: LoginForm): HtmlPage =>
  shell({
    title: "Sign in",
    now,
    isLive: false,
    reload: isFromOtherSite ? next : undefined,
    sections: [
      {
        id: "login",
        title: "",
        html: html`${reason !== "" && html`<div class="note bad" role="alert"><p>${reason}</p></div>\n`}<form method="post" action="${linkBase}/login">
<label>Token of the controller <input type="password" name="token" autocomplete="current-password" required></label>
<input type="hidden" name="next" value="${next}">
<button>Sign in</button>
</form>
<p class="quiet small">It is the value of DIMSYNC_CONTROLLER_TOKEN. You stay signed in for seven days. Programs send it as <code>Authorization: Bearer TOKEN</code>.</p>`,
      },
    ],
  });

// The only requests that are not GET: they set and delete a cookie, and change nothing else.

const mostBytes = 8 * 1024;

interface LoginOptions {
  /** Not empty. */
  readonly token: string;
  readonly refuseToken: RefuseToken;
  /** Whether browsers reach the page with https, although no proxy says so. */
  readonly isHttps?: boolean | undefined;
}

/** Replies to POST /login and POST /logout; undefined for any other request. Rejects with a ProblemError. */
export function loginPosts({
  token,
  refuseToken,
  isHttps = false,
}: LoginOptions): (incoming: IncomingMessage, request: PageRequest) => Promise<Reply | undefined> {
  return async (incoming, { path, now, base = "" }) => {
    if (incoming.method !== "POST" || (path !== "/login" && path !== "/logout")) return undefined;
    const { headers, socket } = incoming;
    // Browsers say where a form comes from, if they use https or localhost. Nobody gains by signing someone else in: there is one token.
    const site = headers["sec-fetch-site"];
    if (site !== undefined && site !== "same-origin") throw new ProblemError(otherSite);
    const cookie = { base, isSecure: isHttps || headers["x-forwarded-proto"] === "https" };
    if (path === "/logout") return redirectReply(`${base}/login`, { "set-cookie": endedCookie(cookie) });
    const form = new URLSearchParams(await bodyOf(incoming));
    const next = pathWithin(form.get("next") ?? "/");
    if (isEqual((form.get("token") ?? "").trim(), token))
      return redirectReply(base + next, { "set-cookie": sessionCookie(token, now, cookie) });
    if (refuseToken(socket.remoteAddress ?? "", now) === "blocked") throw new ProblemError(tooManyTokens);
    return htmlReply(loginPage({ now }, { next, reason: "This is not the token of the controller." }), base, { status: 401 });
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const { "transfer-encoding": encoding, "content-length": length = "0" } = incoming.headers;
  if (encoding !== undefined || Number(length) > mostBytes) throw new ProblemError(tooLong);
  let text = "";
  for await (const chunk of incoming.setEncoding("utf8")) text += chunk;
  return text;
}

const otherSite: Problem = {
  status: 403,
  title: "Form of another site",
  detail: "The request comes from a page of another site. Open the status page itself and sign in there.",
};

export const tooManyTokens: Problem = {
  status: 429,
  title: "Too many attempts",
  detail: "Wrong tokens were sent from your address ten times within a minute. Check the token: the right one is accepted at once.",
  headers: { "retry-after": "60" },
};

const tooLong: Problem = { status: 413, title: "Request too long", detail: "The form is longer than 8 KiB." };
