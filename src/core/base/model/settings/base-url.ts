import { DimsyncError } from "../errors.ts";

/** A checked base URL, in the parts that a request needs. */
export interface BaseUrl {
  /** "https://api.example.com:8443" */
  readonly origin: string;
  /** The prefix of every path: "" or "/prefix", without a slash at the end, and without the /v1 that every path begins with. */
  readonly prefix: string;
  /** 127.0.0.0/8, ::1 or localhost: plain http is allowed and no proxy is used. */
  readonly loopback: boolean;
}

const advice = "Write it like https://api.example.com in baseUrl of the target or in DIMSYNC_BASE_URL.";

const refuse = (problem: string): DimsyncError => new DimsyncError("E_BASE_URL", `The base URL ${problem}. ${advice}`);

/** For a URL of the standard parser. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/u.test(hostname);
}

/**
 * Reads a base URL. Errors never repeat the text, which may contain a password. @throws
 * DimsyncError E_BASE_URL if the key would be sent unencrypted, or if the URL has more than an
 * origin and a path.
 */
export function parseBaseUrl(text: string): BaseUrl {
  if (!URL.canParse(text)) throw refuse("is not an absolute URL");
  const url = new URL(text);
  const loopback = isLoopback(url.hostname);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw refuse("uses neither https nor http");
  if (url.protocol === "http:" && !loopback) {
    throw refuse(
      "uses plain http to another machine, so others could read the API key; http is only allowed for loopback addresses (127.0.0.0/8, ::1 and localhost)",
    );
  }
  if (url.username !== "" || url.password !== "")
    throw refuse("contains a user name or a password, but the service only accepts the API key");
  if (url.search !== "" || text.includes("?")) throw refuse("contains a query, which can't be part of every request");
  if (url.hash !== "" || text.includes("#")) throw refuse("contains a fragment (#), which is never sent");
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/u, "").replace(/\/+v1$/u, ""), loopback };
}
