import type { Environment } from "./env.ts";

export const allowedHostsVariable = "DIMSYNC_ALLOWED_HOSTS";

/** The hosts that may get an API key, such as "api.example.com" and "*.example.com"; undefined without a limit. */
export function allowedHosts(env: Environment): readonly string[] | undefined {
  const hosts = (env[allowedHostsVariable] ?? "")
    .split(",")
    .map((host) => host.trim().toLowerCase())
    .filter((host) => host !== "");
  return hosts.length === 0 ? undefined : hosts;
}

/** Whether the host is one of them. "*.example.com" allows every host below example.com, and not example.com itself. Ports do not matter. */
export const isAllowedHost = (hostname: string, hosts: readonly string[]): boolean =>
  hosts.some((host) => (host.startsWith("*.") ? hostname.endsWith(host.slice(1)) && hostname.length > host.length - 1 : hostname === host));
