import { accessSync, constants } from "node:fs";
import { type Check, fail, ok, warn } from "./doctor-checks.ts";

/** Where calls go and how they are protected, as far as settings tell; whether anybody answers is another check. */
export function transportChecks(baseUrl: string, env: NodeJS.ProcessEnv): readonly Check[] {
  const isTls = baseUrl.startsWith("https:");
  return [urlCheck(baseUrl), ...(isTls ? [tlsCheck(env)] : []), ...(baseUrl === "" ? [] : [proxyCheck(baseUrl, env)])];
}

function urlCheck(baseUrl: string): Check {
  if (baseUrl === "") return fail("base URL", "No base URL is set.", "Set DIMSYNC_BASE_URL, or give the target a baseUrl in dimsync.yaml.");
  if (baseUrl.startsWith("embedded:")) return ok("base URL", "The embedded service, in this process.");
  const { protocol, origin, hostname } = new URL(baseUrl);
  return protocol === "https:"
    ? ok("base URL", `${origin}, over TLS.`)
    : ok("base URL", `${origin}, without TLS: ${hostname} is this machine.`);
}

/** Node takes a file of certificates that isn't there, and a switch that ends all checking, with at most a line on stderr. */
function tlsCheck(env: NodeJS.ProcessEnv): Check {
  const check = "TLS";
  if (env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0")
    return fail(
      check,
      "NODE_TLS_REJECT_UNAUTHORIZED=0: whoever is in between can read the key and change the answers.",
      "Take it out of the environment. For an own certificate authority, name its file in NODE_EXTRA_CA_CERTS.",
    );
  const file = env["NODE_EXTRA_CA_CERTS"] ?? "";
  if (file === "") return ok(check, "Certificates are checked against those that Node comes with.");
  try {
    accessSync(file, constants.R_OK);
    return ok(check, `Certificates are checked against those that Node comes with, and ${file}.`);
  } catch {
    return warn(
      check,
      `NODE_EXTRA_CA_CERTS names ${file}, which can't be read: Node goes on without it.`,
      "Correct the path or its permissions.",
    );
  }
}

/** As the client decides (service/proxy.ts): https only, the lower-case variables first. Never shows the value, which may hold a password. */
function proxyCheck(baseUrl: string, env: NodeJS.ProcessEnv): Check {
  const check = "proxy";
  const proxy = ["https_proxy", "HTTPS_PROXY"].find((name) => (env[name] ?? "") !== "");
  if (proxy === undefined || !baseUrl.startsWith("https:")) return ok(check, "Calls go to the service directly.");
  const { hostname, port } = new URL(baseUrl);
  const spared = isSpared(hostname, port === "" ? "443" : port, env["no_proxy"] ?? env["NO_PROXY"] ?? "");
  return spared
    ? ok(check, `${proxy} is set, but NO_PROXY names ${hostname}: calls go to the service directly.`)
    : ok(check, `Calls go through the proxy of ${proxy}.`);
}

/** NO_PROXY as undici reads it: hosts, with all below them after a dot or `*`, each perhaps with a port; `*` alone is all. */
function isSpared(host: string, port: string, noProxy: string): boolean {
  if (noProxy.trim() === "*") return true;
  return noProxy.split(/[,\s]+/u).some((entry) => {
    const [, name = "", at] = /^(.+?)(?::(\d+))?$/u.exec(entry.toLowerCase()) ?? [];
    if (name === "" || (at !== undefined && at !== port)) return false;
    return /^[.*]/u.test(name) ? host.endsWith(name.replace(/^\*/u, "")) : host === name;
  });
}
