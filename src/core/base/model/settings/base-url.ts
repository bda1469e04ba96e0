import { DimsyncError } from "../errors.ts";
import type { Environment } from "./env.ts";

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

const variable = "DIMSYNC_ALLOWED_HOSTS";

/**
 * DIMSYNC_ALLOWED_HOSTS with its hosts, such as "api.example.com" and "*.example.com", if it does not name the host of the URL: then the
 * host gets no secret. "*.example.com" allows every host below example.com, and not example.com itself. Ports matter on loopback addresses,
 * and if the list names one.
 */
export function unlistedHost(url: string, env: Environment): string | undefined {
  const hosts = (env[variable] ?? "")
    .split(",")
    .map((host) => host.trim().toLowerCase())
    .filter((host) => host !== "");
  if (hosts.length === 0) return undefined;
  const { hostname, host } = new URL(url);
  const names = [allowedName(url), host];
  const isListed = hosts.some((one) =>
    one.startsWith("*.") ? hostname.endsWith(one.slice(1)) && hostname.length > one.length - 1 : names.includes(one),
  );
  return isListed ? undefined : `${variable} (${hosts.join(", ")})`;
}

/** What the variable has to name for a URL: the host, and of a loopback address the port, too, because any user of the machine can listen at another one. */
export function allowedName(url: string): string {
  const { hostname, host } = new URL(url);
  return isLoopback(hostname) ? host : hostname;
}
