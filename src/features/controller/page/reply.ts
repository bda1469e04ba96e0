import { createHash } from "node:crypto";
import { type Html, markupOf } from "../../../core/render/html/html.ts";
import { jsonDocument } from "../../../core/text/control-characters.ts";

/** What a request gets. HEAD gets the same without the body. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A page whose policy allows nothing but these hashes and, with a script, reading the page again. */
export interface HtmlPage {
  readonly html: Html;
  readonly style: Html;
  readonly script?: Html;
}

const hashOf = (text: Html): string => `'sha256-${createHash("sha256").update(markupOf(text)).digest("base64")}'`;

const policyOf = ({ style, script }: Omit<HtmlPage, "html">): string =>
  [
    "default-src 'none'",
    `style-src ${hashOf(style)}`,
    ...(script === undefined ? [] : [`script-src ${hashOf(script)}`, "connect-src 'self'"]),
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");

/** Nothing is stored: pages contain names of columns and users. The ETag is for clients that keep the page themselves. */
const kept = (body: string): Readonly<Record<string, string>> => ({
  "cache-control": "no-store",
  etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`,
});

/** `base`: what its links are below. */
export function htmlReply(
  { html, ...policy }: HtmlPage,
  base = "",
  { status = 200, headers = {} }: Partial<Omit<Reply, "body">> = {},
): Reply {
  const body = markupOf(html, base);
  const own = { "content-type": "text/html; charset=utf-8", "content-security-policy": policyOf(policy) };
  return { status, headers: { ...own, ...kept(body), ...headers }, body };
}

export function jsonReply(value: unknown, headers: Readonly<Record<string, string>> = {}): Reply {
  const body = jsonDocument(value, 0);
  return { status: 200, headers: { "content-type": "application/json", ...kept(body), ...headers }, body };
}

/** 303: the browser goes there with GET. */
export const redirectReply = (location: string, headers: Readonly<Record<string, string>>): Reply => ({
  status: 303,
  headers: { location, "cache-control": "no-store", ...headers },
  body: "",
});

/** `version`: of the text format. */
export const textReply = (body: string, { version = "", status = 200 } = {}): Reply => ({
  status,
  headers: { "content-type": `text/plain; ${version === "" ? "" : `version=${version}; `}charset=utf-8`, "cache-control": "no-store" },
  body,
});

/** Why a request got no result. */
export interface Problem {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 421 | 429 | 500 | 503;
  /** Without user text. */
  readonly title: string;
  /** Sentences: what is wrong, and what to do. */
  readonly detail: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** RFC 9457. */
export function problemReply({ status, title, detail, headers = {} }: Problem): Reply {
  const body = `${JSON.stringify({ type: "about:blank", title, status, detail })}\n`;
  return { status, headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...headers }, body };
}
