import { isLoopback } from "./base-url.ts";
import type { Environment } from "./env.ts";

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
