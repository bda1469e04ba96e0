import type { IncomingHttpHeaders } from "node:http";
import { DimsyncError } from "../../../core/model/errors.ts";
import { isLoopback } from "../../../core/model/settings/base-url.ts";
import { hasSession, isEqual, type RefuseToken } from "./session.ts";

/** Where the page listens, and who may read it. */
export interface Access {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Required as `Authorization: Bearer`. "" counts as not set. */
  readonly token?: string | undefined;
  /** The header in which a reverse proxy, which must have authenticated the user, names them. */
  readonly trustProxyHeader?: string | undefined;
}

export const defaultListen = "127.0.0.1:8480";

const shortestToken = 16;

/** "127.0.0.1:8480", "[::1]:8480", "0.0.0.0:80". @throws DimsyncError E_USAGE for any other text. */
export function parseListen(text: string): Pick<Access, "host" | "port"> {
  const [, bracketed, plain = "", digits = ""] = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/u.exec(text) ?? [];
  const port = Number(digits);
  if (digits === "" || port > 65_535)
    throw new DimsyncError("E_USAGE", `Invalid --listen ${JSON.stringify(text)}. Use HOST:PORT, such as ${defaultListen}.`);
  return { host: bracketed ?? plain, port };
}

/** @throws DimsyncError E_CONTROLLER_LISTEN if others could read the page, or guess the token. */
export function checkAccess({ host, token = "", trustProxyHeader = "" }: Access): void {
  const refuse = (message: string): DimsyncError => new DimsyncError("E_CONTROLLER_LISTEN", message);
  if (token !== "" && token.length < shortestToken)
    throw refuse(
      `DIMSYNC_CONTROLLER_TOKEN has fewer than ${shortestToken} characters, so it could be guessed. Generate one: openssl rand -hex 32`,
    );
  if (trustProxyHeader !== "" && !/^[\w!#$%&'*+.^`|~-]+$/u.test(trustProxyHeader))
    throw refuse(
      `--trust-proxy-header ${JSON.stringify(trustProxyHeader)} is not the name of a header. Use a name such as X-Forwarded-User.`,
    );
  if (token !== "" || trustProxyHeader !== "" || isLoopback(urlHost(host))) return;
  throw refuse(
    `The status page would listen on ${host}, and anyone who reaches that address could read it: names of columns, users and accounts. Set DIMSYNC_CONTROLLER_TOKEN, or put a reverse proxy that authenticates users in front and name its header with --trust-proxy-header, or listen on ${defaultListen}.`,
  );
}

/** As in a URL: an IPv6 address has brackets. */
export const urlHost = (host: string): string => (host.includes(":") ? `[${host}]` : host.toLowerCase());

export type Refusal = ReturnType<RefuseToken> | "misdirected";

/** Returns why the request may not read anything; undefined if it may. */
export type AccessCheck = (headers: IncomingHttpHeaders, from: { readonly address: string; readonly now: Date }) => Refusal | undefined;

export function accessCheck({ token = "", trustProxyHeader = "" }: Access, refuseToken: RefuseToken): AccessCheck {
  if (token === "" && trustProxyHeader === "") return ({ host = "" }) => (isLoopbackHost(host) ? undefined : "misdirected");
  return (headers, { address, now }) => {
    const [, given = ""] = /^Bearer +(\S+) *$/iu.exec(headers.authorization ?? "") ?? [];
    if (token !== "" && (isEqual(given, token) || hasSession(token, headers.cookie, now))) return undefined;
    const user = trustProxyHeader === "" ? undefined : headers[trustProxyHeader.toLowerCase()];
    if (typeof user === "string" && user.trim() !== "") return undefined;
    if (token === "" || given === "") return "unauthorized";
    return refuseToken(address, now);
  };
}

/**
 * Whether the Host header names this machine. A web page of another origin can make its name resolve
 * to 127.0.0.1 (DNS rebinding), but it cannot change the Host header.
 */
function isLoopbackHost(host: string): boolean {
  const url = `http://${host}`;
  return /^[\w.:[\]-]+$/u.test(host) && URL.canParse(url) && isLoopback(new URL(url).hostname);
}
