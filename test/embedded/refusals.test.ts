// What the embedded service refuses changes nothing.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EmbeddedService, startEmbeddedService } from "../../src/embedded/index.ts";
import { call, createBody, type Sending } from "./caller.ts";

let service: EmbeddedService;
beforeAll(async () => {
  service = await startEmbeddedService();
});
afterAll(() => service.close());

const { destinationId: _destination, ...withoutDestination } = createBody;
const columns = "/v1/integrations/8f1c/schemas/public/tables";
const relation = { resourceId: "8f1c", resourceType: "Integration", taggedBy: "u-1" };

const cases: Readonly<Record<string, readonly [status: number, method: string, path: string, sending?: Sending]>> = {
  "no key": [401, "GET", "/v1/users", { key: undefined }],
  "an unknown key": [401, "GET", "/v1/users", { key: "wrong" }],
  "a key that is a member of every object": [401, "GET", "/v1/users", { key: "__proto__" }],
  "an unknown path without a key": [401, "GET", "/v2", { key: undefined }],
  "an unknown path": [404, "GET", "/v1/monitors"],
  "no version": [404, "GET", "/integrations"],
  "a trailing slash": [404, "GET", "/v1/integrations/8f1c/schemas/"],
  "an unknown integration": [404, "GET", "/v1/integrations/nope"],
  "schemas of an unknown integration": [404, "GET", "/v1/integrations/nope/schemas"],
  "an unknown schema": [404, "GET", "/v1/integrations/8f1c/schemas/nope/tables/orders/columns"],
  "an unknown table": [404, "GET", `${columns}/nope/columns`],
  "an inherited name as a table": [404, "GET", `${columns}/constructor/columns`],
  "an unknown tag": [404, "PUT", "/v1/tags/nope", { body: {} }],
  "an unknown asset": [404, "PATCH", "/v1/assets/nope", { body: {} }],
  "the path of assets read": [405, "GET", "/v1/assets"],
  "an integration deleted": [405, "DELETE", "/v1/integrations/8f1c"],
  "a tag created": [405, "POST", "/v1/tags", { body: { name: "x" } }],
  "broken percent-encoding": [400, "GET", "/v1/tags/%E0%A4%A"],
  "malformed JSON": [400, "PUT", "/v1/tags/t-1", { body: "{" }],
  "JSON that isn't an object": [400, "PUT", "/v1/tags/t-1", { body: [1] }],
  "a body of another type": [415, "PUT", "/v1/tags/t-1", { body: "{}", headers: { "content-type": "text/plain" } }],
  "an integration without a body": [400, "POST", "/v1/integrations"],
  "an integration without destinationId": [400, "POST", "/v1/integrations", { body: withoutDestination }],
  "an integration to an unknown destination": [400, "POST", "/v1/integrations", { body: { ...createBody, destinationId: "d-99" } }],
  "an integration to a source": [400, "POST", "/v1/integrations", { body: { ...createBody, destinationId: "s-1" } }],
  "enabled as text": [400, "POST", "/v1/integrations", { body: { ...createBody, enabled: "yes" } }],
  "sourceSettings as a list": [400, "POST", "/v1/integrations", { body: { ...createBody, sourceSettings: [] } }],
  "a nameless source": [400, "POST", "/v1/integrations", { body: { ...createBody, sourceConfig: { type: "postgres" } } }],
  "a PATCH without schemas": [400, "PATCH", "/v1/integrations/8f1c/schemas", { body: {} }],
  "a PATCH of an unknown schema": [400, "PATCH", "/v1/integrations/8f1c/schemas", { body: { schemas: { nope: {} } } }],
  "a PATCH of an inherited name": [400, "PATCH", "/v1/integrations/8f1c/schemas", { body: '{"schemas":{"__proto__":{"enabled":false}}}' }],
  "a PATCH of an unknown table": [
    400,
    "PATCH",
    "/v1/integrations/8f1c/schemas",
    { body: { schemas: { public: { tables: { nope: {} } } } } },
  ],
  "a PATCH with enabled as text": [400, "PATCH", "/v1/integrations/8f1c/schemas", { body: { schemas: { public: { enabled: "no" } } } }],
  "a PATCH whose last node is unknown": [
    400,
    "PATCH",
    "/v1/integrations/8f1c/schemas",
    { body: { schemas: { public: { enabled: false, tables: { orders: { columns: { nope: { hashed: true } } } } } } } },
  ],
  "a tag's name as a number": [400, "PUT", "/v1/tags/t-1", { body: { name: 1 } }],
  "a relation without taggedBy": [400, "POST", "/v1/tags/t-1/relation", { body: { resourceId: "8f1c", resourceType: "Integration" } }],
  "a relation to another resource type": [400, "POST", "/v1/tags/t-1/relation", { body: { ...relation, resourceType: "Table" } }],
  "a relation by an unknown user": [400, "POST", "/v1/tags/t-1/relation", { body: { ...relation, taggedBy: "dana@example.com" } }],
  "a relation to an unknown integration": [404, "POST", "/v1/tags/t-1/relation", { body: { ...relation, resourceId: "nope" } }],
  "an asset of another connection type": [400, "POST", "/v1/assets", { body: { connectionType: "both" } }],
  "an asset whose connection is text": [400, "PATCH", "/v1/assets/d-12", { body: { connection: "dsn" } }],
};

describe("refused, and nothing changes", () => {
  test.each(Object.entries(cases))("%s", async (_, [status, method, path, sending]) => {
    const before = service.state();
    const reply = await call(service, method, path, sending);
    expect(reply.status).toBe(status);
    expect(reply.json).toEqual({ code: expect.any(String), message: expect.any(String) });
    expect(service.state()).toEqual(before);
  });
});

test("405 names the methods of the path", async () => {
  expect((await call(service, "DELETE", "/v1/integrations")).headers["allow"]).toBe("GET, POST");
});

test("a body over maxBodyBytes is refused with 413", async () => {
  const small = await startEmbeddedService({ maxBodyBytes: 100 });
  expect((await call(small, "PUT", "/v1/tags/t-1", { body: { description: "x".repeat(100) } })).status).toBe(413);
  await small.close();
});

test("unknown members are ignored", async () => {
  expect((await call(service, "PUT", "/v1/tags/t-3", { body: { colour: "red" } })).status).toBe(200);
  expect(service.state().tags[2]).not.toHaveProperty("colour");
  const body = { schemas: { public: { syncMode: "x", tables: { orders: { syncMode: "x" } } } } };
  expect((await call(service, "PATCH", "/v1/integrations/8f1c/schemas", { body })).json.data.schemas.public.tables.orders.syncMode).toBe(
    "incremental",
  );
});

test.each([
  ["envelope", '{"code":"not_found","message":"There is no tag with the id or name \\"nope\\"."}', "application/json"],
  ["plain", 'There is no tag with the id or name "nope".', "text/plain"],
  ["empty", "", "application/json"],
  ["echo", 'Request body: {\\"owner\\":\\"canary\\"}"}', "application/json"],
] as const)("error bodies come in the style %s", async (errorBody, text, type) => {
  const other = await startEmbeddedService({ errorBody });
  const reply = await call(other, "PUT", "/v1/tags/nope", { body: { owner: "canary" } });
  await other.close();
  expect([reply.status, reply.type]).toEqual([404, type]);
  expect(reply.text.slice(-text.length)).toBe(text);
  expect(reply.text.includes("canary")).toBe(errorBody === "echo");
});
