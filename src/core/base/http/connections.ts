import { BlockList, isIP, isIPv6 } from "node:net";
import type { Agent, Dispatcher, Pool } from "undici";
import { DimsyncError } from "../model/errors.ts";
import type { BaseUrl } from "../model/settings/base-url.ts";
import type { Environment } from "../model/settings/env.ts";

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

/**
 * The proxy in HTTPS_PROXY, with its user and password, unless NO_PROXY lists the host; of two spellings, the lower-case one wins, as in curl.
 * Loopback never uses it, since a proxy could not reach this machine. HTTP_PROXY has no effect: plain http is only for loopback.
 * @throws DimsyncError E_PROXY, without the value, which may contain a password
 */
export function proxyFor({ origin, loopback }: BaseUrl, env: Environment): string | undefined {
  const variable = ["https_proxy", "HTTPS_PROXY"].find((name) => (env[name] ?? "") !== "");
  if (loopback || variable === undefined || isListed(new URL(origin), env["no_proxy"] ?? env["NO_PROXY"] ?? "")) return undefined;
  const value = env[variable] ?? "";
  const uri = value.includes("://") ? value : `http://${value}`;
  if (URL.canParse(uri) && /^https?:$/u.test(new URL(uri).protocol)) return uri;
  throw new DimsyncError(
    "E_PROXY",
    `The environment variable ${variable} is not the URL of an http or https proxy. Write it like http://proxy.example.com:3128, or add the service's host to NO_PROXY.`,
  );
}

/**
 * NO_PROXY lists hosts, each also for its subdomains and optionally with a port, addresses and blocks of addresses (CIDR);
 * `*` alone is every host. As in curl, names are not resolved.
 */
function isListed({ hostname, port }: URL, noProxy: string): boolean {
  if (noProxy.trim() === "*") return true;
  const address = hostname.replace(/^\[|\]$/gu, "");
  return noProxy
    .toLowerCase()
    .split(/[,\s]+/u)
    .some((entry) => {
      if (isIP(address) > 0 && blockOf(entry)?.check(address, familyOf(address)) === true) return true;
      const [, listed = "", listedPort] = /^(?:\*?\.)?(.+?)(?::(\d+))?$/u.exec(entry) ?? [];
      if (listed === "" || (listedPort !== undefined && listedPort !== (port === "" ? "443" : port))) return false;
      return hostname === listed || hostname.endsWith(`.${listed}`);
    });
}

const familyOf = (address: string): "ipv4" | "ipv6" => (isIPv6(address) ? "ipv6" : "ipv4");

/** `10.0.0.0/8`, `fd00::/8`, or one address without a port, with or without brackets; undefined: something else. */
function blockOf(entry: string): BlockList | undefined {
  const [, address = "", written] = /^\[?([0-9a-f.:]+)\]?(?:\/(\d{1,3}))?$/u.exec(entry) ?? [];
  if (isIP(address) === 0) return undefined;
  const most = isIPv6(address) ? 128 : 32;
  const bits = written === undefined ? most : Number(written);
  if (bits > most) return undefined;
  const block = new BlockList();
  block.addSubnet(address, bits, familyOf(address));
  return block;
}
