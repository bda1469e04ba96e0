import type { IncomingHttpHeaders } from "node:http";
import { DimsyncError } from "../../../core/model/errors.ts";

/** "/dimsync" of "/dimsync/"; "" of "/". Undefined if it is not a path: a link that begins with two slashes leads to another host. */
export const basePathOf = (text: string): string | undefined =>
  /^(?:\/(?!\.+(?:\/|$))[\w.~-]+)*\/?$/u.test(text) ? text.replace(/\/$/u, "") : undefined;

/** Of `--base-path`. @throws DimsyncError E_USAGE */
export function basePath(text: string): string {
  const path = text === "" ? undefined : basePathOf(text);
  if (path !== undefined) return path;
  throw new DimsyncError("E_USAGE", `Invalid --base-path ${JSON.stringify(text)}. Use a path of the status page's URL, such as /dimsync.`);
}

/** Below which path clients see the page. Only a proxy that is trusted can say it in X-Forwarded-Prefix. */
export function requestBase(
  headers: IncomingHttpHeaders,
  { base = "", trustProxyHeader = "" }: { readonly base?: string | undefined; readonly trustProxyHeader?: string | undefined },
): string {
  const prefix = headers["x-forwarded-prefix"];
  return (trustProxyHeader !== "" && typeof prefix === "string" ? basePathOf(prefix) : undefined) ?? base;
}

/** The path below the base. Proxies can have removed the base, and probes do not use it. */
export const withoutBase = (path: string, base: string): string =>
  path === base || path.startsWith(`${base}/`) ? path.slice(base.length) || "/" : path;
