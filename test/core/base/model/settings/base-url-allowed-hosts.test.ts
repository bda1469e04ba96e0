// Only hosts that the list names get requests.
import { expect, test } from "vitest";
import { unlistedHost } from "../../../../../src/core/base/model/settings/base-url.ts";

test("a list of hosts, with patterns for those below a domain", () => {
  const env = { DIMSYNC_ALLOWED_HOSTS: " api.example.com,*.Example.org, ," };
  const allowed = (host: string): boolean => unlistedHost(`https://${host}`, env) === undefined;
  expect(["api.example.com", "eu.example.org", "a.b.example.org"].filter(allowed)).toHaveLength(3);
  const others = ["example.com", "example.org", "anotherexample.org", "api.example.com.test", "xapi.example.com", ".example.org"];
  expect(others.filter(allowed)).toEqual([]);
});

test.each([
  ["http://127.0.0.1:9801", "127.0.0.1:9801", true],
  ["http://127.0.0.1:9811", "127.0.0.1:9801", false],
  ["http://127.0.0.1:9811", "127.0.0.1", false],
  ["http://localhost", "localhost", true],
  ["http://[::1]:9801", "[::1]:9801", true],
  ["http://[::1]:9801", "[::1]", false],
  ["https://api.example.com:8443", "api.example.com", true],
  ["https://api.example.com:8443", "api.example.com:8443", true],
  ["https://api.example.com", "api.example.com:8443", false],
])("ports matter on loopback addresses and if they are named: %s with %s", (url, hosts, isAllowed) => {
  expect(unlistedHost(url, { DIMSYNC_ALLOWED_HOSTS: hosts }) === undefined).toBe(isAllowed);
});

test("without the variable, or with an empty one, there is no limit", () => {
  const url = "https://api.example.com";
  expect([unlistedHost(url, {}), unlistedHost(url, { DIMSYNC_ALLOWED_HOSTS: " , " })]).toEqual([undefined, undefined]);
});
