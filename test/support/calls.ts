import { canonicalJson, isObject } from "../../src/core/base/model/json/json.ts";
import type { Exchange } from "../../src/embedded/index.ts";

/**
 * Calls in the form of golden files: one line each, with bodies below. Consecutive reads are
 * sorted, and secrets are shown as references.
 */
export function callLines(exchanges: readonly Exchange[], env: Readonly<Record<string, string>>): string {
  const groups: Exchange[][] = [];
  for (const exchange of exchanges) {
    const last = groups.at(-1);
    if (exchange.method === "GET" && last?.[0]?.method === "GET") last.push(exchange);
    else groups.push([exchange]);
  }
  return groups.flatMap((group) => group.map((exchange) => callLine(exchange, env)).sort()).join("");
}

function callLine({ method, path, query, status, requestBody }: Exchange, env: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  const answered = status === 200 ? "" : ` → ${status === 0 ? "cut" : status}`;
  const body = requestBody === undefined ? "" : `    ${canonicalJson(referenced(requestBody, env))}\n`;
  return `  ${method} ${path}${text === "" ? "" : `?${text}`}${answered}\n${body}`;
}

/** The body as in a plan: a reference instead of each secret value. */
function referenced(value: unknown, env: Readonly<Record<string, string>>): unknown {
  if (typeof value === "string") {
    const name = Object.keys(env).find((key) => env[key] === value);
    return name === undefined ? value : { $secret: { env: name } };
  }
  if (Array.isArray(value)) return value.map((member) => referenced(member, env));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, referenced(member, env)]));
}
