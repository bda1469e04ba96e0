import { accessSync, constants } from "node:fs";
import { DimsyncError } from "../../core/model/errors.ts";
import { allowedHosts, allowedHostsVariable, allowedName } from "../../core/model/settings/allowed-hosts.ts";
import { parseBaseUrl } from "../../core/model/settings/base-url.ts";
import type { Environment } from "../../core/model/settings/env.ts";
import { proxyFor, proxyVariable } from "../../core/service/connection/proxy.ts";
import { type Check, fail, ok, warn } from "./check.ts";

/** How requests reach the service and how they are protected, according to the settings alone. `baseUrl` is not "". */
export function transportChecks(baseUrl: string, env: Environment): readonly Check[] {
  const isRemote = baseUrl.startsWith("https:");
  return [
    urlCheck(baseUrl),
    ...(isRemote ? [tlsCheck(env)] : []),
    proxyCheck(baseUrl, env),
    ...(isRemote ? [hostsCheck(baseUrl, env)] : []),
  ];
}

/** A host that is not allowed is an error of the config, so that no base URL is left. */
function hostsCheck(baseUrl: string, env: Environment): Check {
  const check = "hosts";
  const hosts = allowedHosts(env);
  if (hosts !== undefined) return ok(check, `Only these hosts get an API key: ${hosts.join(", ")}.`);
  return warn(
    check,
    "dimsync.yaml decides which host gets the API key, so whoever can change it can send the key elsewhere.",
    `Set ${allowedHostsVariable}=${allowedName(baseUrl)} where dimsync runs, for example in the workflows.`,
  );
}

function urlCheck(baseUrl: string): Check {
  if (baseUrl.startsWith("embedded:")) return ok("base URL", "The embedded service, in this process.");
  const { protocol, origin, hostname } = new URL(baseUrl);
  return protocol === "https:"
    ? ok("base URL", `${origin}, over TLS.`)
    : ok("base URL", `${origin}, without TLS: ${hostname} is this machine.`);
}

/** Node ignores a missing certificate file, and turns verification off, with at most a line on stderr. */
function tlsCheck(env: Environment): Check {
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

/** Never shows the value of a variable, which may contain a password. */
function proxyCheck(baseUrl: string, env: Environment): Check {
  const check = "proxy";
  const variable = proxyVariable(env);
  if (variable === undefined || !baseUrl.startsWith("https:")) return ok(check, "No proxy: requests go to the service directly.");
  const base = parseBaseUrl(baseUrl);
  try {
    if (proxyFor(base, env) !== undefined) return ok(check, `Requests go through the proxy in ${variable}.`);
  } catch (error) {
    if (!(error instanceof DimsyncError)) throw error;
    return fail(check, error.message, "Fix this and run dimsync doctor again.");
  }
  const reason = base.loopback ? "the service is on this machine" : `NO_PROXY lists ${new URL(base.origin).hostname}`;
  return ok(check, `${variable} is set, but ${reason}: requests go to the service directly.`);
}
