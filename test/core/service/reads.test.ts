// A response is decoded as documented, or refused with the pointer.
import { describe, expect, test } from "vitest";
import { ServiceError } from "../../../src/core/base/model/errors.ts";
import { own } from "../../../src/core/base/model/json/json.ts";
import type { Listing } from "../../../src/core/base/model/service.ts";
import { assets, integrations, tags, users } from "../../../src/core/kinds/lists.ts";
import { wholeSchemas } from "../../../src/core/kinds/schemas.ts";
import { json, serve } from "../../support/loopback.ts";
import { clientFor, failureOf, key } from "./client-under-test.ts";

const reference = { id: "r1", name: "pg", type: "postgres" };
const integration = {
  id: "8f1c",
  name: "Orders",
  createdAt: "2025-01-01T00:00:00Z",
  paused: false,
  source: reference,
  destination: { ...reference, id: "r2" },
};
const hostile = ["__proto__", "constructor", "a/b", "a.b", "100%", "..", ".", " x ", "ü", "a%2Fb", "?q=1#f"];

test("a table in which a name is there twice is unread, because the first value would be hidden", async () => {
  const columns = '{"email": {"hashed": false}, "id": {}, "email": {"hashed": true}}';
  const schemas = `{"public": {"tables": {"users": {"enabled": true, "columns": ${columns}}, "logs": {"enabled": true}}}}`;
  const service = await serve(({ url }, response) =>
    json(response, url?.endsWith("/schemas") ? `{"data": {"schemas": ${schemas}}}` : `{"data": {"columns": ${columns}}}`),
  );
  const client = clientFor(service.url);
  const { tree, unread = [] } = (await client.schemas("8f1c")) ?? { tree: {} };
  expect(tree).toEqual({ public: { tables: { users: {}, logs: { enabled: true } } } });
  expect(unread.map(({ path, failure }) => [path, failure.message])).toEqual([
    [["public", "users"], expect.stringContaining("/data/schemas/public/tables/users/columns/email is there twice")],
  ]);
  expect((await failureOf(client.columns("8f1c", "public", "users"))).message).toContain("/data/columns/email is there twice");
});

test("every read sends the documented request with the key, and decodes the response", async () => {
  const service = await serve(({ url }, response) => {
    const data: Record<string, unknown> = {
      "/v1/integrations": { items: [integration] },
      "/v1/integrations/8f1c": { integration },
      "/v1/tags": { items: [{ id: "t1", name: "PII" }] },
      "/v1/tags/t1": { id: "t1", name: "PII", description: null, owner: "u1", taggedResources: [{ id: "8f1c", extra: 1 }] },
      "/v1/users": { items: [{ id: "u1", email: "dana@example.com", createdAt: "2025-01-01T00:00:00Z", name: "Dana" }] },
      "/v1/audit-logs?limit=100&offset=20&sortOrder=asc&startAt=2025-01-01T00%3A00%3A00%2B02%3A00": {
        totalItems: 21,
        items: [
          { id: "a1", timestamp: "2025-01-01T00:00:00Z", event: "x", actor: { type: "user", email: "dana@example.com" }, context: null },
          { id: "a2", timestamp: 7 },
        ],
      },
    };
    const found = own(data, url);
    json(response, found === undefined ? { code: "NotFound" } : { code: "Success", data: found }, found === undefined ? 404 : 200);
  });
  const client = clientFor(service.url);

  expect(await client.list(integrations)).toEqual({ items: [integration], completeness: "unknown" });
  expect(await client.one(integrations, "8f1c")).toEqual(integration);
  expect((await client.list(tags)).items[0]).toEqual({
    ...{ id: "t1", name: "PII", description: undefined, owner: undefined },
    ...{ origin: undefined, createdAt: undefined, lastUpdatedAt: undefined },
  });
  expect(await client.one(tags, "t1")).toMatchObject({ owner: "u1", description: undefined, taggedResources: [{ id: "8f1c" }] });
  expect((await client.list(users)).items[0]?.email).toBe("dana@example.com");
  expect(await client.auditLogs({ limit: 100, offset: 20, sortOrder: "asc", startAt: "2025-01-01T00:00:00+02:00" })).toEqual({
    totalItems: 21,
    items: [
      {
        ...{ id: "a1", timestamp: "2025-01-01T00:00:00Z", event: "x" },
        actor: { type: "user", email: "dana@example.com" },
        context: { ipAddress: undefined, userAgent: undefined },
      },
    ],
    unread: [{ index: 1, id: "a2", why: expect.stringContaining("/data/items/1/timestamp") }],
  });
  expect(await client.one(integrations, "gone")).toBeUndefined();
  expect(await client.schemas("gone")).toBeUndefined();
  expect(await client.columns("gone", "a", "b")).toBeUndefined();
  expect(await client.one(tags, "gone")).toBeUndefined();
  expect(await client.raw("/v1/tags?x=y%20z").catch((error: unknown) => error)).toMatchObject({ status: 404, path: "/v1/tags?x=y%20z" });
  expect(await client.raw("/v1/users")).toMatchObject({ code: "Success" });
  for (const { headers, method } of service.received) {
    expect({ method, key: headers["x-api-key"], agent: headers["user-agent"] }).toEqual({ method: "GET", key, agent: "dimsync/test" });
  }
  expect(client.calls()).toEqual({ GET: service.received.length });
});

test("texts of the audit log are cut, whatever their length", async () => {
  const text = "x".repeat(100_000);
  const entry = {
    id: "a1",
    timestamp: "2025-01-01T00:00:00Z",
    event: text,
    actor: { type: text, email: text },
    context: { userAgent: text },
  };
  const service = await serve((_request, response) => json(response, { data: { totalItems: 1, items: [entry] } }));
  const { items } = await clientFor(service.url).auditLogs({});
  expect([items[0]?.event, items[0]?.actor.email, items[0]?.context.userAgent]).toEqual(Array(3).fill(`${"x".repeat(4_096)}…`));
});

test.each(hostile)("the name %j is sent as one segment, and is an ordinary key in the response", async (name) => {
  const column = { nameInDestination: "c", enabled: true, hashed: false, isPrimaryKey: false };
  const columns = JSON.stringify(Object.fromEntries([["first", column]])).replace('"first"', JSON.stringify(name));
  const service = await serve((_request, response) => json(response, `{"code":"Success","data":{"columns":${columns}}}`));
  const client = clientFor(`${service.url}/prefix/`);
  const answer = await client.columns(name, name, name);

  expect(Object.keys(answer ?? {})).toEqual([name]);
  expect(own(answer, name)).toEqual(column);
  expect(service.received[0]?.url).toMatch(/^\/prefix\/v1\/integrations\/[^/?#]+\/schemas\/[^/?#]+\/tables\/[^/?#]+\/columns$/u);
  expect(decodeURIComponent(service.received[0]?.url.split("/")[4] ?? "")).toBe(name);
});

describe("responses that violate the interface are refused with the pointer", () => {
  const rows: Record<string, [body: string, read: "tags" | "integrations" | "schemas" | "auditLogs" | "tag", place: string]> = {
    "an array instead of an envelope": ["[]", "tags", "the response is not an object"],
    "no data": ['{"code":"Success"}', "tags", "/data is not an object"],
    "items that are a map": ['{"data":{"items":{}}}', "tags", "/data/items is not an array"],
    "items that are missing": ['{"data":{}}', "tags", "/data/items is not an array"],
    "an id beyond 2^53": [
      '{"data":{"items":[{"id":9007199254740993,"name":"x"}]}}',
      "tags",
      "/data/items/0/id is a number that is too large to be exact",
    ],
    "an empty id": ['{"data":{"items":[{"id":"","name":"x"}]}}', "tags", "/data/items/0/id is an empty string"],
    "an id of dots": ['{"data":{"items":[{"id":"..","name":"x"}]}}', "tags", "/data/items/0/id consists of dots only"],
    "an integration whose name is a number": [
      '{"data":{"items":[{"id":"1","name":2}]}}',
      "integrations",
      "/data/items/0/name is not a string",
    ],
    "a schema entry that is null": ['{"data":{"schemas":{"a/b":null}}}', "schemas", "/data/schemas/a~1b is not an object"],
    "a column with a number for hashed": [
      '{"data":{"schemas":{"s":{"enabled":true,"tables":{"a~b":{"enabled":true,"columns":{"c":{"enabled":true,"hashed":1}}}}}}}}',
      "schemas",
      "/data/schemas/s/tables/a~0b/columns/c/hashed is neither true nor false",
    ],
    "a table with a string for enabled": [
      '{"data":{"schemas":{"s":{"enabled":true,"tables":{"t":{"enabled":"yes"}}}}}}',
      "schemas",
      "/data/schemas/s/tables/t/enabled is neither true nor false",
    ],
    "schemas that are missing": ['{"data":{}}', "schemas", "/data/schemas is not an object"],
    "a total that is a string": ['{"data":{"totalItems":"1","items":[]}}', "auditLogs", "/data/totalItems is not an integer"],
    "another object than the one of the request": [
      '{"data":{"id":"u","name":"x"}}',
      "tag",
      '/data is the object "u", which was not asked for',
    ],
    "a resource that is a list": [
      '{"data":{"id":"t","name":"x","taggedResources":[["1"]]}}',
      "tag",
      "/data/taggedResources/0 is not a string",
    ],
  };
  /** Fails as the list did for an entry. */
  const firstUnread = async (listing: Promise<Listing<unknown>>): Promise<void> => {
    const { unread: [entry] = [] } = await listing;
    if (entry !== undefined) throw new ServiceError("E_MALFORMED_ANSWER", entry.why, { method: "GET", path: "", sent: "answered" });
  };
  test.each(Object.entries(rows))("%s", async (_sentence, [body, read, place]) => {
    const service = await serve((_request, response) => json(response, body));
    const client = clientFor(service.url);
    const calls = {
      tags: () => firstUnread(client.list(tags)),
      integrations: () => firstUnread(client.list(integrations)),
      schemas: () => wholeSchemas(client, "i"),
      tag: () => client.one(tags, "t"),
      auditLogs: () => client.auditLogs({}),
    };
    const error = await failureOf(calls[read]());
    expect(error).toMatchObject({ code: "E_MALFORMED_ANSWER", method: "GET", sent: "answered" });
    expect(error.message).toContain(`: ${place}. `);
    // The form would not change in another attempt.
    expect(service.received).toHaveLength(1);
  });
});

test("a body that is not JSON is requested again, whatever its content-type, and never quoted", async () => {
  const bodies = ["<html>secret words</html>", '{"data":{"items":[', "\ufeff" + '{"data":{"items":[{"id":7,"name":"x"}]}}'];
  const service = await serve((_request, response, turn) => json(response, bodies[turn] ?? "", 200, { "content-type": "text/html" }));
  expect((await clientFor(service.url).list(tags)).items[0]?.id).toBe("7");
  expect(service.received).toHaveLength(3);

  for (const [body, words] of [
    ["<html>secret words</html>", "is HTML"],
    ["", "is empty"],
    ["{secret words", "is not complete JSON"],
  ] as const) {
    const broken = await serve((_request, response) => json(response, body));
    const error = await failureOf(clientFor(broken.url, { retries: 1 }).list(tags));
    expect(error.code).toBe("E_MALFORMED_ANSWER");
    expect(error.message).toContain(words);
    expect(error.message).not.toContain("secret words");
    expect(broken.received).toHaveLength(2);
  }
});

test("a response in another encoding than UTF-8 is refused, because it would change names", async () => {
  const service = await serve((_request, response) => response.end(Buffer.from('{"data":{"items":[{"id":"1","name":"\xfc"}]}}', "latin1")));
  expect((await failureOf(clientFor(service.url, { retries: 0 }).list(tags))).message).toContain("is not UTF-8 text");
});

describe("GET of an asset, which not every service has", () => {
  const gone = { statusCode: 404, message: "The asset d-1 does not exist" };
  const asks = async (body: unknown, status = 404) => {
    const service = await serve((_request, response) => json(response, body, status));
    const client = clientFor(service.url, { extended: true });
    const ids = ["d-1", "d-2", "d-3"];
    const read = await Promise.all(ids.map((id) => client.one(assets, id)));
    return { read, sent: service.received.length };
  };

  test.each<[what: string, body: unknown]>([
    ["a code", { code: "NotFound_Asset", message: "Not Found" }],
    ["words about it", gone],
  ])("a 404 with %s says that the asset is gone", async (_, body) => {
    expect(await asks(body)).toEqual({ read: [undefined, undefined, undefined], sent: 3 });
  });

  test.each<[what: string, body: unknown, status?: number]>([
    ["404 of a web framework", { statusCode: 404, message: "Cannot GET /v1/assets/d-1", error: "Not Found" }],
    ["404 with words about no object", { message: "Not Found" }],
    ["404 without a body", ""],
    ["404 with HTML", "<html><body>404 Not Found</body></html>"],
    ["404 with another JSON", { detail: "no" }],
    ["405", { code: "method_not_allowed", message: "no" }, 405],
  ])("a %s says that the service does not have the request: it is sent once in a run", async (_, body, status) => {
    expect(await asks(body, status)).toEqual({ read: [undefined, undefined, undefined], sent: 1 });
  });

  test("another failure of the first one does not decide about the others", async () => {
    let answered = 0;
    const service = await serve((_request, response) => json(response, gone, answered++ === 0 ? 403 : 404));
    const client = clientFor(service.url, { extended: true });
    const read = await Promise.allSettled(["d-1", "d-2"].map((id) => client.one(assets, id)));
    expect(read.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  });
});
