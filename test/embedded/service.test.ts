// The embedded service starts with keys, counts requests and can be changed from outside.
import { afterEach, expect, test } from "vitest";
import { type EmbeddedService, type Exchange, seedAccount, startEmbeddedService } from "../../src/embedded/index.ts";
import { call } from "./caller.ts";

let service: EmbeddedService;
afterEach(() => service.close());

test("without options: a free port, one random key of the service's own user, the seed", async () => {
  service = await startEmbeddedService();
  const other = await startEmbeddedService();
  await other.close();
  expect(service.url).toBe(`http://127.0.0.1:${service.port}`);
  expect([other.port === service.port, other.apiKey === service.apiKey]).toEqual([false, false]);
  expect(service.state()).toEqual(seedAccount());
  await call(service, "PUT", "/v1/tags/t-1", { body: {} });
  expect(service.state().auditLogs.at(-1)?.actor.email).toBe("bot@example.com");
});

test("each key belongs to its user, and the first one is the service's", async () => {
  service = await startEmbeddedService({ apiKeys: { one: "dana@example.com", two: "sam@example.com" } });
  expect(service.apiKey).toBe("one");
  await call(service, "PUT", "/v1/tags/t-1", { key: "two", body: {} });
  expect(service.state().auditLogs.at(-1)?.actor.email).toBe("sam@example.com");
});

test("an empty list of keys and a port in use are refused", async () => {
  service = await startEmbeddedService();
  await expect(startEmbeddedService({ apiKeys: {} })).rejects.toThrow("at least one API key");
  await expect(startEmbeddedService({ port: service.port })).rejects.toThrow("EADDRINUSE");
});

test("onExchange receives every request and response; requests and counts exclude the console", async () => {
  const exchanges: Exchange[] = [];
  service = await startEmbeddedService({ onExchange: (exchange) => exchanges.push(exchange), latencyMs: 1 });
  const put = await call(service, "PUT", "/v1/tags/t-1", { body: { owner: "u-1" } });
  await call(service, "GET", "/v1/audit-logs?limit=1&offset=2");
  await call(service, "GET", "/v1/nope%2F", { key: undefined });
  await call(service, "DELETE", "/_console/tags/t-3");
  expect(exchanges).toHaveLength(3);
  expect(exchanges[0]).toEqual({
    method: "PUT",
    path: "/v1/tags/t-1",
    query: {},
    requestHeaders: expect.objectContaining({ "x-api-key": service.apiKey, "user-agent": "walk/1" }),
    requestBody: { owner: "u-1" },
    status: 200,
    responseBody: put.text,
    faulted: false,
    key: service.apiKey,
  });
  expect(exchanges[1]).toMatchObject({ query: { limit: "1", offset: "2" }, requestBody: undefined });
  expect(exchanges[2]).toMatchObject({ path: "/v1/nope%2F", status: 401, key: "" });
  expect(service.requests.map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
    "PUT /v1/tags/t-1 200",
    "GET /v1/audit-logs 200",
    "GET /v1/nope%2F 401",
  ]);
  expect(service.counts()).toEqual({ PUT: 1, GET: 2 });
  service.resetCounts();
  expect([service.requests, service.counts()]).toEqual([[], {}]);
});

test("mutate changes the account outside the interface and adds one audit entry", async () => {
  service = await startEmbeddedService({ now: () => new Date("2026-05-01T00:00:00Z") });
  const before = service.state().auditLogs.length;
  const actor = { email: "sam@example.com", ip: "203.0.113.50", userAgent: "browser" };
  service.mutate(
    (state) => {
      for (const integration of state.integrations) integration.paused = true;
    },
    actor,
    'Integration 8f1c "Orders" paused',
  );
  expect((await call(service, "GET", "/v1/integrations/8f1c")).json.data.integration.paused).toBe(true);
  expect(service.state().auditLogs.slice(before)).toEqual([
    {
      id: expect.any(String),
      timestamp: "2026-05-01T00:00:00.000Z",
      event: 'Integration 8f1c "Orders" paused',
      actor: { type: "user", email: "sam@example.com" },
      context: { ipAddress: "203.0.113.50", userAgent: "browser" },
    },
  ]);
  service.mutate(() => undefined);
  expect(service.state().auditLogs.at(-1)?.actor.email).toBe("dana@example.com");
});

test("state is a copy", async () => {
  service = await startEmbeddedService();
  service.state().tags.length = 0;
  expect(service.state().tags).toHaveLength(3);
});

test("many concurrent requests all get a response, and close can be called twice", async () => {
  service = await startEmbeddedService({ latencyMs: 5 });
  const replies = await Promise.all(Array.from({ length: 60 }, () => call(service, "GET", "/v1/users")));
  expect(replies.every((reply) => reply.status === 200)).toBe(true);
  await service.close();
  await expect(service.close()).resolves.toBeUndefined();
  await expect(call(service, "GET", "/v1/users")).rejects.toThrow();
});
