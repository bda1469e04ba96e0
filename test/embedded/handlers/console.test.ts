// The embedded console does what a person can do, and audits it.
import { afterEach, beforeEach, expect, test } from "vitest";
import { startService, type TestService } from "../../support/service.ts";
import { call } from "../caller.ts";

let service: TestService;
beforeEach(async () => {
  service = await startService({ apiKeys: { k: "sam@example.com" } });
});
afterEach(() => service.close());

const reshaped = {
  schemas: {
    public: { tables: { orders: null, refunds: { nameInDestination: "r", enabled: true, syncMode: "full_refresh", columns: {} } } },
    reporting: null,
  },
};

test.each([
  ["POST", "/_console/integrations/8f1c", { paused: true }, 'Integration 8f1c "Orders" paused'],
  ["POST", "/_console/integrations/51a2", { paused: false }, 'Integration 51a2 "shop-shard-02" resumed'],
  ["POST", "/_console/integrations/8f1c", { name: "Sales" }, 'Integration 8f1c "Sales" renamed'],
  ["DELETE", "/_console/integrations/8f1c", undefined, 'Integration 8f1c "Orders" deleted'],
  ["PATCH", "/_console/integrations/8f1c/schemas", reshaped, 'Schema configuration of integration 8f1c "Orders" changed'],
  ["DELETE", "/_console/tags/t-1", undefined, 'Tag t-1 "PII" deleted'],
  [
    "DELETE",
    "/_console/tags/t-1/relation",
    { resourceId: "da-7", resourceType: "DataAsset" },
    'Tag t-1 "PII" detached from DataAsset da-7',
  ],
  ["DELETE", "/_console/assets/d-13", undefined, 'Asset d-13 "Lake" deleted'],
])("%s %s %j is done and audited for the key's user", async (method, path, body, event) => {
  const before = service.state();
  expect((await call(service, method, path, body === undefined ? {} : { body })).status).toBe(200);
  const { auditLogs, ...after } = service.state();
  const { auditLogs: earlier, ...rest } = before;
  expect(after).not.toEqual({ ...rest, sequence: after.sequence });
  expect(auditLogs.slice(earlier.length)).toMatchObject([{ event, actor: { email: "sam@example.com" } }]);
});

test("deleting an integration deletes its source and its relations", async () => {
  await call(service, "DELETE", "/_console/integrations/8f1c");
  expect((await call(service, "GET", "/v1/integrations/8f1c")).status).toBe(404);
  expect((await call(service, "GET", "/v1/tags/t-1")).json.data.taggedResources).toEqual([{ id: "da-7" }]);
  expect(service.state().assets.some((asset) => asset.id === "s-1")).toBe(false);
});

test("tables can be added to and removed from the source", async () => {
  await call(service, "PATCH", "/_console/integrations/8f1c/schemas", { body: reshaped });
  const { schemas } = (await call(service, "GET", "/v1/integrations/8f1c/schemas")).json.data;
  expect(Object.keys(schemas)).toEqual(["public"]);
  expect(schemas.public.tables).not.toHaveProperty("orders");
  expect(schemas.public.tables.refunds).toEqual(reshaped.schemas.public.tables.refunds);
  expect(schemas.public.tables.customers.columns.email.enabled).toBe(true);
});

test("a table with a hostile name can be added to the source", async () => {
  const body = '{"schemas":{"public":{"tables":{"__proto__":{"nameInDestination":"p","enabled":true,"syncMode":"x","columns":{}}}}}}';
  await call(service, "PATCH", "/_console/integrations/8f1c/schemas", { body });
  expect((await call(service, "GET", "/v1/integrations/8f1c/schemas/public/tables/__proto__/columns")).json.data).toEqual({ columns: {} });
});

test("a new tag can be read by the id in the response", async () => {
  const { json } = await call(service, "POST", "/_console/tags", { body: { name: "Silver", owner: "u-1" } });
  expect((await call(service, "GET", `/v1/tags/${json.data.id}`)).json.data).toMatchObject({
    name: "Silver",
    owner: "u-1",
    taggedResources: [],
  });
});

test.each([
  [401, "DELETE", "/_console/tags/t-1", { key: undefined }],
  [404, "DELETE", "/_console/tags/nope", {}],
  [409, "DELETE", "/_console/assets/d-12", {}],
  [400, "POST", "/_console/integrations/8f1c", { body: { paused: "yes" } }],
])("%i for %s %s", async (status, method, path, sending) => {
  const before = service.state();
  expect((await call(service, method, path, sending)).status).toBe(status);
  expect(service.state()).toEqual(before);
});
