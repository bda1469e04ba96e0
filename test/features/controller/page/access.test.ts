import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, test } from "vitest";
import { type Access, accessCheck, checkAccess, parseListen } from "../../../../src/features/controller/page/access.ts";
import { refuseTokens } from "../../../../src/features/controller/page/session.ts";

const token = "0123456789abcdef0123456789abcdef";

const checkOf = (access: Access) => (headers: IncomingHttpHeaders) =>
  accessCheck(access, refuseTokens())(headers, { address: "127.0.0.1", now: new Date(0) });

describe("--listen", () => {
  test.each([
    ["127.0.0.1:8480", { host: "127.0.0.1", port: 8480 }],
    ["[::1]:0", { host: "::1", port: 0 }],
    ["status.example.com:443", { host: "status.example.com", port: 443 }],
  ])("%s", (text, expected) => {
    expect(parseListen(text)).toEqual(expected);
  });

  test.each(["8480", "localhost", "127.0.0.1:65536", "::1:8480", "http://localhost:1", ""])("refuses %j and shows an example", (text) => {
    expect(() => parseListen(text)).toThrow("Use HOST:PORT, such as 127.0.0.1:8480.");
  });
});

describe("the page starts", () => {
  test.each([
    ["on loopback", { host: "127.0.0.1" }],
    ["on another loopback address", { host: "127.8.9.1" }],
    ["on loopback over IPv6", { host: "::1" }],
    ["on localhost", { host: "LOCALHOST" }],
    ["anywhere with a token", { host: "0.0.0.0", token }],
    ["anywhere behind a proxy", { host: "0.0.0.0", trustProxyHeader: "X-Forwarded-User" }],
  ])("%s", (_, access) => {
    expect(() => checkAccess({ port: 0, ...access })).not.toThrow();
  });
});

describe("the page refuses to start", () => {
  test.each([
    ["on all addresses", { host: "0.0.0.0" }, "Set DIMSYNC_CONTROLLER_TOKEN, or put a reverse proxy"],
    ["on all addresses over IPv6", { host: "::" }, "anyone who reaches that address could read it"],
    ["on a name that could be public", { host: "localhost.example.com" }, "--trust-proxy-header"],
    ["with an empty token", { host: "10.0.0.1", token: "" }, "DIMSYNC_CONTROLLER_TOKEN"],
    ["with a token that can be guessed", { host: "127.0.0.1", token: "secret" }, "openssl rand -hex 32"],
    ["with an invalid name of a header", { host: "0.0.0.0", trustProxyHeader: "X User" }, "not the name of a header"],
  ])("%s", (_, access, message) => {
    expect(() => checkAccess({ port: 0, ...access })).toThrow(message);
    expect(() => checkAccess({ port: 0, ...access })).toThrow(expect.objectContaining({ code: "E_CONTROLLER_LISTEN", exit: 1 }));
  });

  test("and does not repeat the token", () => {
    expect(() => checkAccess({ host: "::", port: 0, token: "hunter2" })).toThrow(expect.not.stringContaining("hunter2"));
  });
});

describe("on loopback without a token, the Host header must be loopback", () => {
  const check = checkOf({ host: "127.0.0.1", port: 8480 });
  test.each(["localhost:8480", "LOCALHOST", "127.0.0.1:8480", "127.1.2.3", "[::1]:8480"])("accepts %s", (host) => {
    expect(check({ host })).toBeUndefined();
  });
  test.each([
    "evil.example.com:8480",
    "localhost.evil.example.com",
    "127.0.0.1.evil.example.com",
    "evil@localhost",
    "10.0.0.1",
    "",
    "[::1",
    undefined,
  ])("refuses %s", (host) => {
    expect(check(host === undefined ? {} : { host })).toBe("misdirected");
  });
});

describe("a token", () => {
  const check = checkOf({ host: "0.0.0.0", port: 8480, token });
  test.each([
    ["is accepted", `Bearer ${token}`, undefined],
    ["is accepted in any case of the scheme", `bearer  ${token} `, undefined],
    ["is needed", undefined, "unauthorized"],
    ["must be whole", `Bearer ${token.slice(1)}`, "unauthorized"],
    ["must be the only one", `Bearer ${token} ${token}`, "unauthorized"],
    ["must not be empty", "Bearer ", "unauthorized"],
    ["is not a password", `Basic ${Buffer.from(`:${token}`).toString("base64")}`, "unauthorized"],
  ] as const)("%s", (_, authorization, expected) => {
    expect(check({ host: "status.example.com", ...(authorization === undefined ? {} : { authorization }) })).toBe(expected);
  });

  test("is not replaced by a header that nobody trusts", () => {
    expect(check({ "x-forwarded-user": "dana" })).toBe("unauthorized");
  });
});

describe("a trusted header", () => {
  const check = checkOf({ host: "0.0.0.0", port: 8480, trustProxyHeader: "X-Forwarded-User" });
  test("names the user", () => {
    expect(check({ "x-forwarded-user": "dana@example.com" })).toBeUndefined();
  });
  test("must be there, and not be empty", () => {
    expect(check({})).toBe("unauthorized");
    expect(check({ "x-forwarded-user": " " })).toBe("unauthorized");
    expect(check({ authorization: "Bearer " })).toBe("unauthorized");
  });
  test("is an alternative to a token, for programs that do not go through the proxy", () => {
    const both = checkOf({ host: "0.0.0.0", port: 8480, token, trustProxyHeader: "X-Forwarded-User" });
    expect(both({ authorization: `Bearer ${token}` })).toBeUndefined();
    expect(both({ "x-forwarded-user": "dana" })).toBeUndefined();
    expect(both({})).toBe("unauthorized");
  });
});
