import type { Environment } from "./env.ts";

export const allowedHostsVariable = "DIMSYNC_ALLOWED_HOSTS";

/** The hosts that may get an API key or a notification, such as "api.example.com" and "*.example.com"; undefined without a limit. */
export function allowedHosts(env: Environment): readonly string[] | undefined {
  const hosts = (env[allowedHostsVariable] ?? "")
    .split(",")
    .map((host) => host.trim().toLowerCase())
    .filter((host) => host !== "");
  return hosts.length === 0 ? undefined : hosts;
}

/**
 * What the variable has to name for a URL: the host, and of a loopback address the port, too, because any user of the machine can listen at another one.
 */
export function allowedName(url: string): string {
  const { hostname, host } = new URL(url);
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/u.test(hostname) ? host : hostname;
}

/**
 * Whether the host of the URL is one of them. "*.example.com" allows every host below example.com, and not example.com itself. Ports matter on loopback
 * addresses, and if the list names one.
 */
export function isAllowedHost(url: string, hosts: readonly string[]): boolean {
  const { hostname, host } = new URL(url);
  const names = [allowedName(url), host];
  return hosts.some((one) =>
    one.startsWith("*.") ? hostname.endsWith(one.slice(1)) && hostname.length > one.length - 1 : names.includes(one),
  );
}
