import { expect, test } from "vitest";
import { transportChecks } from "../../../src/features/doctor/transport.ts";

const proxied = { HTTPS_PROXY: "http://user:word@proxy.example.com:3128" };

test.each<readonly [sentence: string, env: Readonly<Record<string, string>>, check: string, state: string, found: string]>([
  ["no proxy", {}, "proxy", "ok", "directly"],
  ["a proxy", proxied, "proxy", "ok", "through the proxy in HTTPS_PROXY."],
  ["the lower-case variable wins", { ...proxied, https_proxy: "http://other" }, "proxy", "ok", "in https_proxy."],
  ["a host in NO_PROXY", { ...proxied, NO_PROXY: "x.org, api.example.com:443" }, "proxy", "ok", "directly"],
  ["a domain in NO_PROXY", { ...proxied, NO_PROXY: ".example.com" }, "proxy", "ok", "directly"],
  ["the parent domain in NO_PROXY", { ...proxied, NO_PROXY: "example.com" }, "proxy", "ok", "directly"],
  ["a proxy that cannot be used", { HTTPS_PROXY: "socks://word@proxy" }, "proxy", "fail", "not the URL of an http or https proxy"],
  ["another port in NO_PROXY", { ...proxied, NO_PROXY: "api.example.com:8443" }, "proxy", "ok", "through the proxy"],
  ["the beginning of the host in NO_PROXY", { ...proxied, NO_PROXY: "api.example" }, "proxy", "ok", "through the proxy"],
  ["no certificates of one's own", {}, "TLS", "ok", "those of Node."],
  ["a certificate file that does not exist", { NODE_EXTRA_CA_CERTS: "/nowhere/ca.pem" }, "TLS", "warn", "cannot be read"],
  ["no verification", { NODE_TLS_REJECT_UNAUTHORIZED: "0" }, "TLS", "fail", "anyone on the network path"],
])("doctor reports how requests reach the service: %s", (_, env, check, state, found) => {
  const result = transportChecks("https://api.example.com", env).find((one) => one.check === check);
  expect(result).toMatchObject({ state, found: expect.stringContaining(found) });
  expect(result?.found).not.toContain("word");
});
