import { accessSync, constants } from "node:fs";
import { type Check, fail, ok, warn } from "./check.ts";

/** How requests reach the service and how they are protected, according to the settings alone. `baseUrl` is not "". */
export function transportChecks(baseUrl: string, env: NodeJS.ProcessEnv): readonly Check[] {
  return [urlCheck(baseUrl), ...(baseUrl.startsWith("https:") ? [tlsCheck(env)] : []), proxyCheck(baseUrl, env)];
}

function urlCheck(baseUrl: string): Check {
  if (baseUrl.startsWith("embedded:")) return ok("base URL", "The embedded service, in this process.");
  const { protocol, origin, hostname } = new URL(baseUrl);
  return protocol === "https:"
    ? ok("base URL", `${origin}, over TLS.`)
    : ok("base URL", `${origin}, without TLS: ${hostname} is this machine.`);
}

/** Node ignores a missing certificate file, and turns verification off, with at most a line on stderr. */
function tlsCheck(env: NodeJS.ProcessEnv): Check {
  const check = "TLS";
  if (env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0")
    return fail(
      check,
      "NODE_TLS_REJECT_UNAUTHORIZED=0 turns certificate verification off: anyone on the network path can read the key and change responses.",
      "Unset it. For your own certificate authority, set NODE_EXTRA_CA_CERTS to its file.",
    );
  const file = env["NODE_EXTRA_CA_CERTS"] ?? "";
  if (file === "") return ok(check, "Certificates are verified against those of Node.");
  try {
    accessSync(file, constants.R_OK);
    return ok(check, `Certificates are verified against those of Node and ${file}.`);
  } catch {
    return warn(
      check,
      `NODE_EXTRA_CA_CERTS is ${file}, which cannot be read: Node ignores it.`,
      "Correct the path or the file's permissions.",
    );
  }
}

/** As the client decides (service/proxy.ts): https only, the lower-case variable first. Never shows the value, which may contain a password. */
function proxyCheck(baseUrl: string, env: NodeJS.ProcessEnv): Check {
  const check = "proxy";
  const proxy = ["https_proxy", "HTTPS_PROXY"].find((name) => (env[name] ?? "") !== "");
  if (proxy === undefined || !baseUrl.startsWith("https:")) return ok(check, "No proxy: requests go to the service directly.");
  const { hostname, port } = new URL(baseUrl);
  const isBypassed = bypasses(hostname, port === "" ? "443" : port, env["no_proxy"] ?? env["NO_PROXY"] ?? "");
  return isBypassed
    ? ok(check, `${proxy} is set, but NO_PROXY lists ${hostname}: requests go to the service directly.`)
    : ok(check, `Requests go through the proxy in ${proxy}.`);
}

/** NO_PROXY as undici reads it: hosts, with all below them after a dot or `*`, each optionally with a port; `*` alone is all. */
function bypasses(host: string, port: string, noProxy: string): boolean {
  if (noProxy.trim() === "*") return true;
  return noProxy.split(/[,\s]+/u).some((entry) => {
    const [, name = "", at] = /^(.+?)(?::(\d+))?$/u.exec(entry.toLowerCase()) ?? [];
    if (name === "" || (at !== undefined && at !== port)) return false;
    return /^[.*]/u.test(name) ? host.endsWith(name.replace(/^\*/u, "")) : host === name;
  });
}
