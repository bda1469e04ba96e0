import type { Dispatcher, Pool } from "undici";
import type { BaseUrl } from "../model/base-url.ts";
import { DimsyncError } from "../model/errors.ts";

/**
 * The proxy that HTTPS_PROXY names for this base URL, if any; the lower-case form wins, as with curl. A loopback host is never proxied: a proxy could not
 * reach it. HTTP_PROXY therefore never applies, as http is for loopback only. NO_PROXY is judged by undici, per request.
 * @throws DimsyncError E_PROXY; its text never holds the value, which may contain a password.
 */
export function proxyFor(base: BaseUrl, env: NodeJS.ProcessEnv): string | undefined {
  const value = env["https_proxy"] || env["HTTPS_PROXY"];
  if (base.loopback || value === undefined || value === "") return undefined;
  const text = value.includes("://") ? value : `http://${value}`;
  const protocol = URL.canParse(text) ? new URL(text).protocol : "";
  if (protocol === "http:" || protocol === "https:") return text;
  throw new DimsyncError(
    "E_PROXY",
    "The environment variable HTTPS_PROXY can't be used. It must be a URL like http://proxy.example.com:3128; only http and https proxies are supported. Correct it, or list the service's host in NO_PROXY.",
  );
}

/** A dispatcher that tunnels through the proxy (CONNECT), or goes directly where NO_PROXY says so. */
export async function proxyDispatcher(uri: string, env: NodeJS.ProcessEnv, options: Pool.Options, timeoutMs: number): Promise<Dispatcher> {
  const [{ default: EnvHttpProxyAgent }, { default: DirectPool }, { default: connectMethod }] = await Promise.all([
    import("undici/lib/dispatcher/env-http-proxy-agent.js"),
    import("undici/lib/dispatcher/pool.js"),
    import("undici/lib/api/api-connect.js"),
  ]);
  return new EnvHttpProxyAgent({
    ...options,
    httpProxy: "",
    httpsProxy: uri,
    noProxy: env["no_proxy"] ?? env["NO_PROXY"] ?? "",
    requestTls: { timeout: timeoutMs },
    proxyTls: { timeout: timeoutMs },
    // The pool of connections to the proxy itself. `connect` is a method that only undici's entry point would give to pools. Without a limit of its own, a
    // proxy that never answers CONNECT would hold its tunnel open for five minutes.
    clientFactory: (origin, clientOptions) =>
      Object.assign(new DirectPool(origin, { ...clientOptions, headersTimeout: timeoutMs }), { connect: connectMethod }),
    factory: (origin, poolOptions: Pool.Options) => new DirectPool(origin, { ...poolOptions, ...endingConnect(poolOptions.connect) }),
  });
}

/**
 * undici takes UND_ERR_SOCKET and UND_ERR_INFO for the end of an idle connection and connects again at once, for ever. From a connector they mean that the
 * proxy hung up during CONNECT: under another code the request fails, and our own retries decide.
 */
function endingConnect(connect: Pool.Options["connect"]): Pick<Pool.Options, "connect"> {
  if (typeof connect !== "function") return {};
  return {
    connect: (options, callback) =>
      connect(options, (...result) => {
        const [error] = result;
        if (error === null) callback(...result);
        else callback(Object.assign(new Error("the proxy did not open a tunnel"), { code: tunnelCode(error) }), null);
      }),
  };
}

function tunnelCode(error: Error): unknown {
  const code = "code" in error ? error.code : undefined;
  return code === "UND_ERR_SOCKET" || code === "UND_ERR_INFO" || code === "UND_ERR_ABORTED" ? "PROXY_TUNNEL" : code;
}
