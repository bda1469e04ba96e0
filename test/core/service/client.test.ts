// The key goes to the service only, and what comes back is bounded.
import { inspect } from "node:util";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { DimsyncError } from "../../../src/core/base/model/errors.ts";
import { Secret } from "../../../src/core/base/model/settings/secret.ts";
import { tags } from "../../../src/core/kinds/lists.ts";
import { json, refusedUrl, serve, serveSockets } from "../../support/loopback.ts";
import { clientFor, failureOf, key } from "./client-under-test.ts";

const create = { method: "POST", path: "/v1/assets", body: {} } as const;
const noTags = { code: "Success", data: { items: [] } };

function refusalOf(act: () => unknown): DimsyncError {
  try {
    act();
  } catch (error) {
    if (error instanceof DimsyncError) return error;
    throw error;
  }
  throw new Error("it should have been refused");
}

describe("read-only", () => {
  const rows: Record<string, (url: string) => ReturnType<typeof clientFor>> = {
    "with the option": (url) => clientFor(url, { readOnly: true }),
    "with the variable, which no option overrides": (url) => clientFor(url, { env: { DIMSYNC_READ_ONLY: "1" } }),
    "by asReadOnly": (url) => ({ ...clientFor(url).asReadOnly(), waits: [] }),
    "with asReadOnly of a read-only client": (url) => ({ ...clientFor(url, { readOnly: true }).asReadOnly(), waits: [] }),
  };
  test.each(Object.entries(rows))("%s: a write opens no socket", async (_sentence, make) => {
    const service = await serve((_request, response) => json(response, noTags));
    const client = make(service.url);
    for (const method of ["POST", "PUT", "PATCH"] as const) {
      expect(await failureOf(client.send({ ...create, method }))).toMatchObject({ code: "E_READ_ONLY", sent: "never", method });
    }
    expect(service.connections()).toBe(0);
    await client.list(tags);
    expect(client.calls()).toEqual({ GET: 1 });
  });

  test("asReadOnly does not close the client itself, and shares its counts", async () => {
    const service = await serve((_request, response) => json(response, noTags));
    const client = clientFor(service.url);
    await client.asReadOnly().list(tags);
    await client.send(create);
    expect(client.asReadOnly().calls()).toEqual({ GET: 1, POST: 1 });
  });

  test("asReadOnly with a signal ends its own reads, and neither writes nor the reads of another view", async () => {
    const service = await serve((_request, response) => json(response, noTags));
    const client = clientFor(service.url);
    const stop = new AbortController();
    const stoppable = client.asReadOnly(stop.signal);
    await stoppable.list(tags);
    stop.abort();
    expect(await failureOf(stoppable.list(tags))).toMatchObject({ code: "E_INTERRUPTED", sent: "never" });
    await client.asReadOnly().list(tags);
    await client.send(create);
    expect(client.calls()).toEqual({ GET: 2, POST: 1 });
  });

  test("DIMSYNC_READ_ONLY=0 turns it off", async () => {
    const service = await serve((_request, response) => json(response, { data: {} }));
    expect(await clientFor(service.url, { env: { DIMSYNC_READ_ONLY: "0" } }).send(create)).toMatchObject({ status: 200 });
  });
});

describe("redirects are not followed, and the key is not sent elsewhere", () => {
  test.each([301, 302, 303, 307, 308])("status %i", async (status) => {
    const elsewhere = await serve((_request, response) => json(response, noTags));
    const service = await serve((_request, response) => json(response, "", status, { location: `${elsewhere.url}/v1/tags` }));
    const client = clientFor(service.url);
    expect(await failureOf(client.list(tags))).toMatchObject({ code: "E_REDIRECT", sent: "answered", status });
    expect(await failureOf(client.send(create))).toMatchObject({ code: "E_REDIRECT", sent: "answered", status });
    expect(elsewhere.connections()).toBe(0);
    expect(service.received).toHaveLength(2);
  });
});

describe("the key", () => {
  test.each([401, 403])(
    "refused with %i: the message names its source and quotes the service without a part of the key",
    async (status) => {
      const service = await serve((_request, response) =>
        json(response, { code: "Denied", message: `no such key: ${key.slice(0, 8)}` }, status),
      );
      const named = await failureOf(clientFor(service.url, { keySource: "secret env:MY_KEY" }).list(tags));
      expect(named).toMatchObject({ code: "E_UNAUTHORIZED", status, sent: "answered" });
      expect(named.message).toContain("comes from secret env:MY_KEY.");
      expect(named.message).toContain('The service says: "Denied: no such key: ▒▒▒"');
      expect((await failureOf(clientFor(service.url).list(tags))).message).toContain("DIMSYNC_API_KEY_FILE");
      expect(service.received).toHaveLength(2);
    },
  );

  test.each(["", " ", "a\nb", "key\n", "ключ", "a\u0000b"])("%j is not valid in a header and is refused without being shown", (value) => {
    const error = refusalOf(() => clientFor("https://api.example.com", { apiKey: new Secret(value) }));
    expect(error.code).toBe("E_NO_API_KEY");
    if (value.trim() !== "") expect(error.message).not.toContain(value);
  });

  test("with several spaces in it is recognised before white space is normalised", async () => {
    const service = await serve(({ headers }, response) => json(response, { message: `no key ${headers["x-api-key"]}` }, 404));
    const error = await failureOf(clientFor(service.url, { apiKey: new Secret("spaced   canary") }).list(tags));
    expect(error.message).toContain("no key ▒▒▒");
    expect(error.message).not.toContain("canary");
  });

  test("is not shown in errors or in the client itself", async () => {
    const echo = (message: string) => serve((_request, response) => json(response, { message }, 404));
    const errors = [
      await failureOf(clientFor(await refusedUrl()).list(tags)),
      await failureOf(clientFor((await echo(`key ${key}`)).url).list(tags)),
      await failureOf(clientFor((await echo(encodeURIComponent(key))).url).raw("/v1/x")),
      await failureOf(clientFor((await serveSockets((socket) => socket.end(`${key}\r\n\r\n`))).url).list(tags)),
    ];
    for (const shown of [...errors, clientFor("https://api.example.com")]) {
      expect(inspect(shown, { depth: 12, showHidden: true, getters: true })).not.toContain(key);
      expect(JSON.stringify(shown)).not.toContain(key);
    }
  });
});

describe("base URLs", () => {
  const good: Record<string, [text: string, path: string]> = {
    "a bare host": ["http://127.0.0.1:PORT", "/v1/tags"],
    "a slash at the end": ["http://127.0.0.1:PORT/", "/v1/tags"],
    "a prefix": ["http://127.0.0.1:PORT/a/b//", "/a/b/v1/tags"],
    "the version": ["http://127.0.0.1:PORT/v1", "/v1/tags"],
    "the version and slashes": ["http://127.0.0.1:PORT//v1//", "/v1/tags"],
    "a prefix and the version": ["http://127.0.0.1:PORT/a/v1/", "/a/v1/tags"],
    "a prefix that only looks like the version": ["http://127.0.0.1:PORT/av1", "/av1/v1/tags"],
    "localhost in capitals": ["http://LocalHost:PORT", "/v1/tags"],
  };
  test.each(Object.entries(good))("%s is used unchanged", async (_sentence, [text, path]) => {
    const service = await serve((_request, response) => json(response, noTags));
    await clientFor(text.replace("PORT", String(service.port))).list(tags);
    expect(service.received[0]?.url).toBe(path);
  });

  const bad: Record<string, string> = {
    "no scheme": "api.example.com",
    "a path": "/v1",
    "plain http to another machine": "http://api.example.com",
    "plain http to a name with a prefix of loopback": "http://127.0.0.1.example.com",
    "plain http to a name with a suffix of loopback": "http://localhost.example.com",
    "another scheme": "ftp://127.0.0.1",
    "an embedded service, which has a URL when it runs": "embedded:file.json",
    "a user name": "https://dana:canary@api.example.com",
    "a query": "https://api.example.com/?a=canary",
    "an empty query": "https://api.example.com/?",
    "a fragment": "https://api.example.com/#canary",
  };
  test.each(Object.entries(bad))("%s is refused", (_sentence, text) => {
    const error = refusalOf(() => clientFor(text));
    expect(error).toMatchObject({ code: "E_BASE_URL", exit: 1 });
    expect(error.message).not.toContain("canary");
  });
});

describe("paths", () => {
  test.each([
    "",
    "v1/tags",
    "https://example.com/v1",
    "/v1/a b",
    "/v1/ü",
    "/v1\r\nx: y",
    "/v1#x",
    "/v1/tags/%2E%2E",
    "/v1/integrations/%2E/schemas",
  ])("%j is refused before anything is sent", async (path) => {
    const service = await serve((_request, response) => json(response, noTags));
    const client = clientFor(service.url);
    expect(await failureOf(client.raw(path))).toMatchObject({ code: "E_USAGE", sent: "never" });
    expect(await failureOf(client.send({ ...create, path }))).toMatchObject({ code: "E_USAGE", sent: "never" });
    expect(service.connections()).toBe(0);
  });

  test.each(["/v1/../v1/tags", "/v1/%2e%2E/x", "//example.com/v1", "/v1/%", "/v1/a%2Fb?x=%20&y=[1]"])(
    "%s arrives as it was written",
    async (path) => {
      const service = await serve((_request, response) => json(response, noTags));
      await clientFor(service.url).raw(path);
      expect(service.received[0]?.url).toBe(path);
    },
  );
});

test("a response above the limit is not read, with or without content-length", async () => {
  const body = JSON.stringify({ data: { items: [], padding: "x".repeat(2_000) } });
  const said = await serve((_request, response) => json(response, body, 200, { "content-length": String(body.length) }));
  const unsaid = await serve((_request, response) => {
    response.write(body.slice(0, 500));
    response.end(body.slice(500));
  });
  for (const service of [said, unsaid]) {
    expect((await clientFor(service.url, { maxResponseBytes: body.length }).list(tags)).items).toEqual([]);
    const client = clientFor(service.url, { maxResponseBytes: body.length - 1 });
    expect(await failureOf(client.list(tags))).toMatchObject({ code: "E_MALFORMED_ANSWER" });
    expect(await failureOf(client.send(create))).toMatchObject({ code: "E_MALFORMED_ANSWER", sent: "maybe" });
    expect(client.calls()).toEqual({ GET: 1, POST: 1 });
  }
});

test.each([
  ["gzip", gzipSync],
  ["br", brotliCompressSync],
  ["deflate", deflateSync],
])("a response that a proxy compressed with %s is read, up to the same limit", async (coding, compress) => {
  const body = JSON.stringify({ data: { items: [], padding: "x".repeat(20_000) } });
  const service = await serve((_request, response) => {
    response.setHeader("content-encoding", coding);
    response.end(compress(body));
  });
  expect((await clientFor(service.url, { maxResponseBytes: body.length }).list(tags)).items).toEqual([]);
  const client = clientFor(service.url, { maxResponseBytes: body.length - 1 });
  expect(await failureOf(client.list(tags))).toMatchObject({ code: "E_MALFORMED_ANSWER" });
});

test.each([2 ** 50, 2 ** 30, 64 * 2 ** 20 + 1])(
  "a response that announces %d bytes is refused before memory is kept for it",
  async (length) => {
    // The rest never comes.
    const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n{"data":`;
    const service = await serveSockets((socket) => void socket.once("data", () => socket.write(head)));
    const client = clientFor(service.url, { retries: 0 });
    const before = process.memoryUsage().arrayBuffers;
    expect(await failureOf(client.list(tags))).toMatchObject({ code: "E_MALFORMED_ANSWER" });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 2 ** 20);
  },
);

test("close waits for requests in flight, and nothing is sent afterwards", async () => {
  let arrive = (_answer: () => void): void => undefined;
  const arrived = new Promise<() => void>((resolve) => {
    arrive = resolve;
  });
  const service = await serve((_request, response) => arrive(() => json(response, { data: { id: "a" } })));
  const client = clientFor(service.url);
  const sending = client.send(create);
  const answer = await arrived;
  const closing = client.close();
  expect(await failureOf(client.list(tags))).toMatchObject({ code: "E_USAGE", sent: "never" });
  expect(await failureOf(client.asReadOnly().list(tags))).toMatchObject({ code: "E_USAGE" });
  answer();
  expect(await sending).toMatchObject({ data: { id: "a" } });
  await closing;
  await client.close();
  expect(service.received).toHaveLength(1);
});

test("an error of the caller is not reported as one of the service", async () => {
  const service = await serve((_request, response) => json(response, noTags));
  const client = clientFor(service.url, {
    onCall: () => {
      throw new RangeError("mine");
    },
  });
  await expect(client.list(tags)).rejects.toThrow(RangeError);
});
