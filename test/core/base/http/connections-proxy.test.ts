// Requests use the proxy of the environment, and no untrusted connection is used.
import type { Socket } from "node:net";
import { setTimeout as sleepFor } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { proxyFor } from "../../../../src/core/base/http/connections.ts";
import { parseBaseUrl } from "../../../../src/core/base/model/settings/base-url.ts";
import { tags } from "../../../../src/core/kinds/lists.ts";
import { manualTimeouts } from "../../../support/clock.ts";
import { json, refusedUrl, serve, serveSockets } from "../../../support/loopback.ts";
import { selfSigned, tlsService } from "../../service/certificate.ts";
import { clientFor, failureOf } from "../../service/client-under-test.ts";
import { proxyTo } from "../../service/connect-proxy.ts";

const create = { method: "POST", path: "/v1/assets", body: {} } as const;
const host = "service.example.com";
const certificate = selfSigned(host);

describe("an untrusted certificate", () => {
  test("directly: nothing is sent, and the message says why", async () => {
    const service = await tlsService(certificate);
    const error = await failureOf(clientFor(`https://localhost:${service.port}`).send(create));
    expect(error).toMatchObject({ code: "E_SERVICE_UNREACHABLE", sent: "never" });
    expect(error.message).toContain("DEPTH_ZERO_SELF_SIGNED_CERT");
    expect(service.received).toEqual([]);
  });
  test("through a proxy: the same", async () => {
    const service = await tlsService(certificate);
    const proxy = await proxyTo(service.port);
    const error = await failureOf(clientFor(`https://${host}`, { env: { HTTPS_PROXY: proxy.url } }).send(create));
    expect(error).toMatchObject({ code: "E_SERVICE_UNREACHABLE", sent: "never" });
    expect(error.message).toContain("DEPTH_ZERO_SELF_SIGNED_CERT");
    expect(proxy.tunnels).toHaveLength(3);
  });
});

describe("a proxy that opens no tunnel: nothing is sent, with one request to it per attempt", () => {
  const rows: Record<string, [act: (socket: Socket) => unknown, code: string, text?: string]> = {
    "it refuses": [
      (socket) => socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n"),
      "E_SERVICE_UNREACHABLE",
      "the proxy refused the tunnel with status 403). Nothing was sent. Check HTTPS_PROXY and the proxy.",
    ],
    "it requires a password": [
      (socket) => socket.end("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n"),
      "E_SERVICE_UNREACHABLE",
      "the proxy refused the tunnel with status 407). Nothing was sent. Write user and password of the proxy in HTTPS_PROXY, percent-encoded.",
    ],
    "it closes the connection": [
      (socket) => socket.end(),
      "E_SERVICE_UNREACHABLE",
      "the proxy did not open a tunnel). Nothing was sent. Check HTTPS_PROXY and the proxy.",
    ],
    "it resets": [(socket) => socket.resetAndDestroy(), "E_SERVICE_UNREACHABLE"],
    "it does not respond": [() => undefined, "E_TIMEOUT"],
  };
  test.each(Object.entries(rows))("%s", async (_sentence, [act, code, text = ""]) => {
    const timeouts = manualTimeouts();
    const proxy = await serveSockets((socket) =>
      socket.on("data", () => {
        act(socket);
        if (code === "E_TIMEOUT") timeouts.pass(400);
      }),
    );
    const client = clientFor(`https://${host}`, {
      env: { HTTPS_PROXY: proxy.url.replace("//", "//dana:pass-canary@") },
      retries: 1,
      timeoutMs: 400,
      after: timeouts.after,
    });
    const error = await failureOf(client.send(create));
    expect(error).toMatchObject({ code, sent: "never" });
    expect(error.message).not.toContain("canary");
    expect(error.message).toContain(text);
    const asked = proxy.connections();
    expect(asked).toBe(2);
    // Finds a loop that continues in the background.
    await sleepFor(50);
    expect(proxy.connections()).toBe(asked);
    expect(client.calls()).toEqual({});
  });

  test("it does not exist", async () => {
    const client = clientFor(`https://${host}`, { env: { HTTPS_PROXY: await refusedUrl() } });
    expect(await failureOf(client.list(tags))).toMatchObject({ code: "E_SERVICE_UNREACHABLE", sent: "never" });
  });
});

describe("proxied requests", () => {
  test("never those to loopback", async () => {
    const service = await serve((_request, response) => json(response, { data: { items: [] } }));
    const proxy = await serveSockets((socket) => socket.destroy());
    const env = { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url, https_proxy: proxy.url, http_proxy: proxy.url };
    await clientFor(service.url, { env }).list(tags);
    await failureOf(clientFor(service.url.replace("http:", "https:"), { env }).list(tags));
    expect(proxy.connections()).toBe(0);
  });

  // 0.0.0.0 is this machine to connect(), but is not written like loopback.
  const rows: Record<string, [env: Record<string, string>, proxied: boolean]> = {
    "HTTPS_PROXY alone": [{}, true],
    "NO_PROXY with another host": [{ NO_PROXY: "example.com,127.0.0.1" }, true],
    "NO_PROXY with this host": [{ NO_PROXY: "example.com, 0.0.0.0" }, false],
    "NO_PROXY with a block of addresses": [{ NO_PROXY: "10.0.0.0/8,0.0.0.0/30" }, false],
    "NO_PROXY with another block": [{ NO_PROXY: "10.0.0.0/8" }, true],
    "NO_PROXY with a block that is too long": [{ NO_PROXY: "0.0.0.0/33" }, true],
    "no_proxy with everything": [{ no_proxy: "*" }, false],
  };
  test.each(Object.entries(rows))("%s", async (_sentence, [env, proxied]) => {
    const service = await serveSockets((socket) => socket.destroy());
    const proxy = await serveSockets((socket) => socket.destroy());
    const client = clientFor(`https://0.0.0.0:${service.port}`, { env: { HTTPS_PROXY: proxy.url, ...env }, retries: 0 });
    expect(await failureOf(client.list(tags))).toMatchObject({ sent: "never" });
    expect([service.connections(), proxy.connections()]).toEqual(proxied ? [0, 1] : [1, 0]);
  });

  test.each<[string, string, boolean]>([
    ["an address of version 6", "fd00::7", false],
    ["an address in brackets", "[fd00::7]", false],
    ["a block of version 6", "fd00::/8", false],
    ["an address with a port", "[fd00::7]:443", false],
    ["another block of version 6", "fe80::/10", true],
    ["a block of version 4", "0.0.0.0/0", true],
  ])("NO_PROXY with %s", (_sentence, listed, proxied) => {
    const env = { HTTPS_PROXY: "http://proxy.example.com", NO_PROXY: listed };
    expect(proxyFor(parseBaseUrl("https://[fd00::7]"), env) !== undefined).toBe(proxied);
  });

  test.each(["socks5://dana:canary@proxy.example.com", "http://dana:canary@", "ftp://canary.example.com"])(
    "%s is refused without being shown",
    (value) => {
      expect(() => clientFor(`https://${host}`, { env: { HTTPS_PROXY: value } })).toThrow(
        expect.objectContaining({ code: "E_PROXY", message: expect.not.stringContaining("canary") }),
      );
    },
  );

  test("a proxy without a scheme is an http proxy, and an empty variable counts as unset", async () => {
    const proxy = await serveSockets((socket) => socket.destroy());
    await failureOf(clientFor(`https://${host}`, { env: { HTTPS_PROXY: `localhost:${proxy.port}` }, retries: 0 }).list(tags));
    expect(proxy.connections()).toBe(1);
    const service = await serveSockets((socket) => socket.destroy());
    await failureOf(clientFor(`https://0.0.0.0:${service.port}`, { env: { https_proxy: "", HTTPS_PROXY: "" }, retries: 0 }).list(tags));
    expect(service.connections()).toBe(1);
  });
});
