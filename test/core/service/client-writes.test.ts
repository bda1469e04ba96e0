// A write is sent once, and its outcome is known or said to be unknown.
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import type { SendableRequest } from "../../../src/core/base/model/service.ts";
import { Secret } from "../../../src/core/base/model/settings/secret.ts";
import { tags } from "../../../src/core/kinds/lists.ts";
import { manualTimeouts } from "../../support/clock.ts";
import { json, refusedUrl, serve, serveSockets } from "../../support/loopback.ts";
import { clientFor, failureOf, key } from "./client-under-test.ts";

const create: SendableRequest = { method: "POST", path: "/v1/integrations", body: { destinationId: "d-1" } };
const patch: SendableRequest = { method: "PATCH", path: "/v1/integrations/8f1c/schemas", body: { schemas: {} } };
const canary = 's3cret-canary\n"quoted"';

test("a body is sent with its secrets, at any depth and with any names", async () => {
  const service = await serve((_request, response) => json(response, { code: "Success", data: { id: "i-1" } }));
  const connection: Record<string, unknown> = Object.assign(Object.create(null), {
    list: [new Secret("first")],
    nested: { a: new Secret("b") },
  });
  const name = "__proto__";
  connection[name] = new Secret(canary);
  // The map only contains values that may be sent. The unusual key is tested here.
  await clientFor(service.url).send({ ...create, body: { connection } as SendableRequest["body"] });

  expect(service.received[0]?.body).toBe(`{"connection":{"list":["first"],"nested":{"a":"b"},"__proto__":${JSON.stringify(canary)}}}`);
  expect(service.received[0]?.headers).toMatchObject({
    "content-type": "application/json",
    "x-api-key": key,
    "user-agent": "dimsync/test",
  });
});

describe("ids keep every digit", () => {
  const rows: Record<string, [body: string, data: unknown, int64Id: string | undefined]> = {
    "an int64 beyond 2^53": ['{"id":9007199254740993,"code":"Created","data":{"id":"i-1"}}', { id: "i-1" }, "9007199254740993"],
    "an int64 within 2^53": ['{"id":42,"data":{"id":"i-1"}}', { id: "i-1" }, "42"],
    "both as numbers": [
      '{"id":9223372036854775807,"data":{"id":9223372036854775806,"__proto__":1}}',
      JSON.parse('{"id":"9223372036854775806","__proto__":1}'),
      "9223372036854775807",
    ],
    "an int64 as text": ['{"id":"9223372036854775807","data":{}}', {}, "9223372036854775807"],
    "no data, as for a relation": ['{"code":"Success","message":"ok"}', undefined, undefined],
    "no id but data": ['{"data":{"id":"x","extra":{"n":1}}}', { id: "x", extra: { n: 1 } }, undefined],
  };
  test.each(Object.entries(rows))("%s", async (_sentence, [body, data, int64Id]) => {
    const service = await serve((_request, response) => json(response, body));
    expect(await clientFor(service.url).send(create)).toMatchObject({ status: 200, data, int64Id });
  });
});

test("a Location below the path of the request names the created object", async () => {
  for (const [location, id] of [
    ["/v1/integrations/6a4f", "6a4f"],
    ["https://api.example.com/v1/integrations/6a4f?x=1", "6a4f"],
    ["/v1/jobs/7", undefined],
    ["/v1/integrations/a/b", undefined],
  ] as const) {
    const service = await serve((_request, response) => json(response, {}, 202, { location }));
    expect((await clientFor(service.url).send(create)).locatedId).toBe(id);
  }
});

describe("a write that may have been executed is sent once and reported so", () => {
  const rows: Record<string, [act: (socket: import("node:net").Socket) => void, code: string]> = {
    "reset after the request": [(socket) => socket.resetAndDestroy(), "E_SERVICE_UNREACHABLE"],
    "closed without a response": [(socket) => socket.end(), "E_SERVICE_UNREACHABLE"],
    "no response in time": [() => undefined, "E_TIMEOUT"],
    "a response that ends in its headers": [(socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-le"), "E_SERVICE_UNREACHABLE"],
    "a response that ends in its body": [
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{"data":'),
      "E_SERVICE_UNREACHABLE",
    ],
    "a response that hangs in its body": [(socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{"data":'), "E_TIMEOUT"],
    "a response that is not HTTP": [(socket) => socket.end("secret noise\r\n\r\n"), "E_SERVICE_UNREACHABLE"],
    "status 500": [(socket) => socket.end("HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n"), "E_SERVICE_STATUS"],
    "status 503 with Retry-After": [
      (socket) => socket.end("HTTP/1.1 503 Busy\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"),
      "E_SERVICE_STATUS",
    ],
    "200 with HTML": [(socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>"), "E_MALFORMED_ANSWER"],
    "200 with an id that is not an integer": [
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{"id":1.5}'),
      "E_MALFORMED_ANSWER",
    ],
  };
  test.each(
    Object.entries(rows).flatMap(([sentence, row]) =>
      [create, patch].map((request) => [`${request.method}: ${sentence}`, request, row] as const),
    ),
  )("%s", async (_sentence, request, [act, code]) => {
    let requests = 0;
    const timeouts = manualTimeouts();
    const service = await serveSockets((socket) =>
      socket.on("data", (bytes) => {
        if (!bytes.toString().includes(`${request.method} ${request.path} HTTP/1.1`)) return;
        requests += 1;
        act(socket);
        if (code === "E_TIMEOUT") timeouts.pass(700);
      }),
    );
    const client = clientFor(service.url, { timeoutMs: 700, after: timeouts.after });
    const error = await failureOf(client.send(request));
    expect(error).toMatchObject({ code, sent: "maybe", method: request.method, path: request.path });
    expect(error.message).toMatch(/not known/u);
    expect(requests).toBe(1);
    expect(client.calls()).toEqual({ [request.method]: 1 });
  });
});

test.each([create, patch])("a write that is answered with success and without a body is not sent again: $method", async (request) => {
  const service = await serveSockets((socket) => socket.on("data", () => socket.end("HTTP/1.1 204 No Content\r\n\r\n")));
  const client = clientFor(service.url);
  expect(await client.send(request)).toEqual({ status: 204, data: undefined, int64Id: undefined, isEmpty: true });
  expect(client.calls()).toEqual({ [request.method]: 1 });
});

describe("a write that was certainly not executed", () => {
  test.each([400, 401, 403, 404, 405, 408, 409, 413, 422, 425])("status %i is final, and `sent` is answered", async (status) => {
    const service = await serve((_request, response) => json(response, {}, status));
    expect(await failureOf(clientFor(service.url).send(create))).toMatchObject({ sent: "answered", status });
    expect(service.received).toHaveLength(1);
  });

  test("429 is sent again after Retry-After, and `sent` is answered if it never ends", async () => {
    const service = await serve((_request, response, turn) =>
      turn === 0 ? json(response, {}, 429, { "retry-after": "7" }) : json(response, { data: { id: "i-1" } }),
    );
    const client = clientFor(service.url);
    expect(await client.send(create)).toMatchObject({ data: { id: "i-1" } });
    expect(client.waits).toHaveLength(1);
    expect(client.waits[0]).toBeGreaterThan(6_000);
    expect(client.calls()).toEqual({ POST: 2 });

    const busy = await serve((_request, response) => json(response, {}, 429));
    expect(await failureOf(clientFor(busy.url).send(create))).toMatchObject({ sent: "answered", status: 429 });
    expect(busy.received).toHaveLength(3);
  });

  test("a refused connection is tried again, and nothing counts as sent", async () => {
    const attempts: unknown[] = [];
    const client = clientFor(await refusedUrl(), { onCall: (call) => attempts.push(call) });
    const error = await failureOf(client.send(create));
    expect(error).toMatchObject({ code: "E_SERVICE_UNREACHABLE", sent: "never" });
    expect(error.message).toContain("ECONNREFUSED");
    expect(attempts).toEqual(
      [1, 2, 3].map((attempt) => ({
        method: "POST",
        path: create.path,
        error: "E_SERVICE_UNREACHABLE",
        attempt,
        durationMs: expect.any(Number),
      })),
    );
    expect(client.calls()).toEqual({});
  });

  test("a connection that is established during a retry sends the write once", async () => {
    const service = await serve((_request, response) => json(response, { data: { id: "i-1" } }));
    const { createServer } = await import("node:net");
    const client = clientFor(await refusedUrl(), { retries: 0 });
    expect((await failureOf(client.send(create))).sent).toBe("never");
    // A port that first refuses and then responds: the retry finds a relay to the service.
    const url = new URL(await refusedUrl());
    let relay: import("node:net").Server | undefined;
    const late = clientFor(url.origin, {
      sleep: async () => {
        relay ??= createServer(async (socket) => {
          const { connect } = await import("node:net");
          socket.pipe(connect(service.port, "127.0.0.1")).pipe(socket);
        });
        const server = relay;
        if (!server.listening) await new Promise<void>((resolve) => server.listen(Number(url.port), "127.0.0.1", resolve));
      },
    });
    expect(await late.send(create)).toMatchObject({ data: { id: "i-1" } });
    expect(service.received).toHaveLength(1);
    expect(late.calls()).toEqual({ POST: 1 });
    await late.close();
    await new Promise((resolve) => (relay === undefined ? resolve(undefined) : relay.close(resolve)));
  });

  test("a TLS handshake that hangs is a timeout, never sent", async () => {
    const silent = await serveSockets(() => undefined);
    const client = clientFor(silent.url.replace("http:", "https:"), { retries: 1, timeoutMs: 100 });
    expect(await failureOf(client.send(create))).toMatchObject({ code: "E_TIMEOUT", sent: "never" });
    expect(client.calls()).toEqual({});
  });
});

test("every POST has its own connection, so none uses one that the server is closing", async () => {
  const service = await serve((_request, response) => json(response, { data: { id: "i-1", items: [] } }));
  const client = clientFor(service.url);
  await client.list(tags);
  // A connection is free one turn after its response.
  await new Promise(setImmediate);
  await client.list(tags);
  expect(service.connections()).toBe(1);
  await client.send(create);
  await client.send(create);
  expect(service.connections()).toBe(3);
  await client.send(patch);
  expect(service.connections()).toBe(3);
  expect(service.received.map(({ method, headers }) => `${method} ${headers.connection}`)).toEqual([
    ...["GET keep-alive", "GET keep-alive", "POST close", "POST close", "PATCH keep-alive"],
  ]);
});

test("a server that closes kept connections at once costs no POST and no GET", async () => {
  const service = await serve((_request, response) => {
    response.on("finish", () => response.socket?.destroySoon());
    json(response, { data: { id: "i-1", items: [] } });
  });
  const client = clientFor(service.url);
  for (let i = 0; i < 5; i += 1) {
    await client.list(tags);
    await client.send(create);
  }
  expect(client.calls()["POST"]).toBe(5);
  expect(service.received.filter(({ method }) => method === "POST")).toHaveLength(5);
});

describe("no text of a response is shown if it could contain a secret", () => {
  const withSecret: SendableRequest = { ...create, body: { destinationSchema: "analytics", password: new Secret("hunter-canary") } };
  const rows: Record<string, [request: SendableRequest, message: string, shown: RegExp]> = {
    "without secrets the service is quoted": [
      create,
      "name taken\u0000\u001b[31m\n\n by  other",
      /The service says: "E42: name taken \[31m by other"\./u,
    ],
    "a long text is cut": [create, "y".repeat(5_000), /"E42: y{294}…"\.$/u],
    "of a request with a secret, only words that have a part of it are masked": [
      withSecret,
      "the slot replikation_7 is taken, hunters and destinationSchema analytics-1 too; aHVudGVyLWNhbmFyeQ==",
      /"E42: the slot replikation_7 is taken, ▒▒▒ and destinationSchema analytics-1 too; ▒▒▒==?"\. Words that could come from a secret/u,
    ],
    "a secret that is repeated letter by letter is masked": [withSecret, "h u n t e r - c a n a r y is wrong", /"E42: ▒▒▒ is wrong"/u],
    "a text of nothing else is withheld": [
      { ...create, body: { password: new Secret("E42 hunter") } },
      "hunter",
      /withheld, because it repeats/u,
    ],
    "a short secret is masked only as a word": [
      { ...create, body: { password: new Secret("no") } },
      "no is not known",
      /"E42: ▒▒▒ is not known"/u,
    ],
    "the key is masked": [create, `bad key ${key}`, /"E42: bad key ▒▒▒"/u],
    "the key is masked beyond the cut": [create, `${"y".repeat(400)}${key}`, /withheld|▒▒▒/u],
  };
  test.each(Object.entries(rows))("%s", async (_sentence, [request, message, shown]) => {
    const service = await serve((_request, response) => json(response, { code: "E42", message }, 422));
    const error = await failureOf(clientFor(service.url).send(request));
    expect(error.message).toMatch(shown);
    for (const text of [error.message, error.stack ?? "", inspect(error, { depth: 9, showHidden: true }), JSON.stringify(error)]) {
      expect(text).not.toContain(key);
      expect(text).not.toContain("hunter-canary");
    }
  });

  const secret = "s3c/Ret+9aZ_bcd EFgh%77é";
  const echoes: Record<string, (text: string) => string> = {
    plain: (text) => text,
    "upper case": (text) => text.toUpperCase(),
    base64: (text) => Buffer.from(text).toString("base64"),
    "base64 after one character": (text) => Buffer.from(`:${text}`).toString("base64"),
    "base64 after two characters": (text) => Buffer.from(`x:${text}`).toString("base64url"),
    hex: (text) => Buffer.from(text).toString("hex").toUpperCase(),
    "hex with spaces": (text) => (Buffer.from(text).toString("hex").match(/../gu) ?? []).join(" "),
    "a URL": encodeURIComponent,
    "a URL, each byte": (text) => Buffer.from(text).toString("hex").replace(/../gu, "%$&"),
    JSON: JSON.stringify,
    "JSON, each character": (text) => [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
    HTML: (text) => [...text].map((one) => `&#${one.charCodeAt(0)};`).join(""),
    "its first half": (text) => text.slice(0, 12),
  };
  test.each(Object.entries(echoes).flatMap(([form, echo]) => ["error", "words"].map((place) => [form, place, echo] as const)))(
    "of a secret in %s, nothing is left in the %s",
    async (_form, place, echo) => {
      for (const value of [secret, key]) {
        const message = `Cannot log in with ${echo(value)}, ask your administrator`;
        const service = await serve((_request, response) => json(response, { code: "E42", message }, place === "error" ? 422 : 202));
        const sent = clientFor(service.url).send({ ...create, body: { password: new Secret(secret) } });
        const text = place === "error" ? (await failureOf(sent)).message : ((await sent).words ?? "withheld");
        expect(text).toMatch(/withheld|Cannot log in with [▒\W]+, ask your administrator/u);
      }
    },
  );

  const errors: Record<string, [answer: object, shown: RegExp]> = {
    "a list": [
      { statusCode: 400, error: "Bad Request", message: ["a must be text", "b is required"] },
      /says: "a must be text; b is required"\./u,
    ],
    "an object in message": [{ statusCode: 404, message: { code: "NotFound_X", message: "no x" } }, /says: "NotFound_X: no x"\./u],
    "an object in error": [{ error: { code: "AGENT", name: "AgentError", context: {} } }, /says: "AGENT: AgentError"\./u],
    "a text in error": [{ ok: false, error: "invalid connection" }, /says: "invalid connection"\./u],
  };
  test.each(Object.entries(errors))("the reason is quoted from %s, with any status", async (_sentence, [answer, shown]) => {
    const service = await serve(({ url }, response) => json(response, { code: "error", ...answer }, url === "/v1/bad" ? 403 : 200));
    const client = clientFor(service.url);
    for (const error of [
      await failureOf(client.send(create)),
      await failureOf(client.raw("/v1/bad")),
      await failureOf(client.raw("/v1/tags")),
    ]) {
      expect(error.message).toMatch(shown);
      expect(error.sent).toBe("answered");
    }
  });

  test("an unreadable answer that repeats the secret does not get into the error", async () => {
    const service = await serve(({ body }, response) => json(response, `<html>${body}</html>`));
    const error = await failureOf(clientFor(service.url).send(withSecret));
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("hunter-canary");
    expect(error.cause).toBeUndefined();
  });
});
