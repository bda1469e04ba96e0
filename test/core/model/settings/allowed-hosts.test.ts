import { expect, test } from "vitest";
import { allowedHosts, isAllowedHost } from "../../../../src/core/model/settings/allowed-hosts.ts";

test("a list of hosts, with patterns for those below a domain", () => {
  const hosts = allowedHosts({ DIMSYNC_ALLOWED_HOSTS: " api.example.com,*.Example.org, ," }) ?? [];
  const allowed = (host: string): boolean => isAllowedHost(host, hosts);
  expect(["api.example.com", "eu.example.org", "a.b.example.org"].filter(allowed)).toHaveLength(3);
  const others = ["example.com", "example.org", "anotherexample.org", "api.example.com.test", "xapi.example.com", ".example.org"];
  expect(others.filter(allowed)).toEqual([]);
});

test("without the variable, or with an empty one, there is no limit", () => {
  expect([allowedHosts({}), allowedHosts({ DIMSYNC_ALLOWED_HOSTS: " , " })]).toEqual([undefined, undefined]);
});
