import type { Agent, Dispatcher, Pool } from "undici";
import type { BaseUrl } from "../model/settings/base-url.ts";
import type { Environment } from "../model/settings/env.ts";
import { proxyFor } from "./proxy.ts";

interface PoolOptions {
  /** HTTPS_PROXY and NO_PROXY are read from here. */
  readonly env: Environment;
  /** For connecting, also to the proxy. */
  readonly timeoutMs: number;
  readonly connections: number;
}

/**
 * Opens a pool of connections to a host, through the proxy if there is one. Connects with the first
 * request. Responses have no time limit of their own. @throws DimsyncError E_PROXY
 */
export async function openPool(base: BaseUrl, { env, timeoutMs, connections }: PoolOptions): Promise<Dispatcher> {
  const proxy = proxyFor(base, env);
  const options: Agent.Options = { connections, allowH2: false, headersTimeout: 0, bodyTimeout: 0, connect: { timeout: timeoutMs } };
  const { Agent, Pool, ProxyAgent } = await import("undici");
  if (proxy === undefined) return new Agent(options);
  return new ProxyAgent({
    ...options,
    uri: proxy,
    requestTls: { timeout: timeoutMs },
    proxyTls: { timeout: timeoutMs },
    // Connections to the proxy itself. Without this limit, a proxy that never responds to CONNECT would block for five minutes.
    clientFactory: (origin, clientOptions) => new Pool(origin, { ...clientOptions, headersTimeout: timeoutMs }),
    factory: (origin, poolOptions: Pool.Options) => new Pool(origin, { ...poolOptions, ...failingConnect(poolOptions.connect) }),
  });
}

/**
 * undici takes UND_ERR_SOCKET and UND_ERR_INFO for the end of an idle connection and reconnects at
 * once, forever. From a connector they mean that the proxy closed the connection during CONNECT:
 * under another code the request fails, and dimsync's own retries decide.
 */
function failingConnect(connect: Pool.Options["connect"]): Pick<Pool.Options, "connect"> {
  if (typeof connect !== "function") return {};
  return {
    connect: (options, callback) =>
      connect(options, (...result) => {
        const [error] = result;
        if (error === null) callback(...result);
        else callback(Object.assign(new Error(tunnelText(error)), { code: tunnelCode(error) }), null);
      }),
  };
}

function tunnelCode(error: Error): unknown {
  const code = "code" in error ? error.code : undefined;
  return code === "UND_ERR_SOCKET" || code === "UND_ERR_INFO" || code === "UND_ERR_ABORTED" ? "PROXY_TUNNEL" : code;
}

/** undici tells the status of the proxy's response only in the text of its error. */
function tunnelText({ message }: Error): string {
  const status = /\((\d{3})\) !== 200/u.exec(message)?.[1];
  return status === undefined ? "the proxy did not open a tunnel" : `the proxy refused the tunnel with status ${status}`;
}
