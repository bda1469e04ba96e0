// The embedded service answers as the interface is documented.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startService, type TestService } from "../support/service.ts";
import { call, createBody } from "./caller.ts";

let service: TestService;
beforeEach(async () => {
  service = await startService({ now: () => new Date("2026-04-01T12:00:00Z") });
});
// Throws if a response in this file differs from schema/openapi.json.
afterEach(() => service.close());

const orders = {
  id: "8f1c",
  name: "Orders",
  createdAt: "2026-02-02T09:30:00.000Z",
  paused: false,
  source: { id: "s-1", name: "orders-pg", type: "postgres" },
  destination: { id: "d-12", name: "Warehouse", type: "snowflake" },
};
const pii = {
  id: "t-1",
  name: "PII",
  description: "Contains personal data",
  owner: "u-2",
  origin: "custom",
  createdAt: "2026-02-10T10:00:00.000Z",
  lastUpdatedAt: "2026-03-02T14:20:00.000Z",
};

describe("integrations", () => {
  test("the list contains every integration with exactly the documented fields", async () => {
    const { status, json } = await call(service, "GET", "/v1/integrations");
    expect(status).toBe(200);
    expect(json.code).toBe("success");
    expect(json.data.items).toHaveLength(4);
    expect(json.data.items[0]).toEqual(orders);
  });

  test("one integration is in data.integration", async () => {
    const { json } = await call(service, "GET", "/v1/integrations/8f1c");
    expect(json).toEqual({ code: "success", data: { integration: orders } });
  });

  test("create returns an exact int64 and a different data.id, and the integration can be read", async () => {
    const { status, text, json } = await call(service, "POST", "/v1/integrations", { body: createBody });
    expect(status).toBe(200);
    expect(text).toContain('"id":9007199254741093,');
    expect(json).toMatchObject({ code: "created", message: "Integration created", data: { id: expect.any(String) } });
    expect(json.data.id).not.toBe("9007199254741093");
    const read = await call(service, "GET", `/v1/integrations/${json.data.id}`);
    expect(read.json.data.integration).toEqual({
      id: json.data.id,
      name: "orders-copy-pg",
      createdAt: "2026-04-01T12:00:00.000Z",
      paused: false,
      source: { id: expect.stringMatching(/^s-/), name: "orders-copy-pg", type: "postgres" },
      destination: { id: "d-12", name: "Warehouse", type: "snowflake" },
    });
    const asset = service.state().assets.at(-1);
    expect(asset).toMatchObject({
      id: read.json.data.integration.source.id,
      connectionType: "source",
      connection: createBody.sourceConfig.connection,
    });
  });

  test("the same body twice makes two integrations", async () => {
    const first = await call(service, "POST", "/v1/integrations", { body: createBody });
    const second = await call(service, "POST", "/v1/integrations", { body: createBody });
    expect(first.json.data.id).not.toBe(second.json.data.id);
    expect(second.text).toContain('"id":9007199254741095,');
    expect(service.state().integrations).toHaveLength(6);
  });

  test("enabled: false makes it paused", async () => {
    const { json } = await call(service, "POST", "/v1/integrations", { body: { ...createBody, enabled: false } });
    expect((await call(service, "GET", `/v1/integrations/${json.data.id}`)).json.data.integration.paused).toBe(true);
  });
});

describe("schema configuration", () => {
  test("GET returns the camelCase map with columns, and cursorField only if there is one", async () => {
    const { json } = await call(service, "GET", "/v1/integrations/8f1c/schemas");
    const { public: schema } = json.data.schemas;
    expect(schema).toMatchObject({ nameInDestination: "orders", enabled: true });
    expect(schema.tables.orders).toMatchObject({
      nameInDestination: "orders",
      enabled: true,
      syncMode: "incremental",
      cursorField: "updated_at",
    });
    expect(schema.tables.order_items).not.toHaveProperty("cursorField");
    expect(schema.tables.orders.columns.id).toEqual({ nameInDestination: "id", enabled: true, hashed: false, isPrimaryKey: true });
    expect(schema.tables.payments.columns.iban.hashed).toBe(true);
  });

  test("PATCH changes only the named nodes and returns the whole map", async () => {
    const before = service.state().integrations[0]?.schemas;
    const body = {
      schemas: {
        public: { enabled: true, tables: { orders: { enabled: false, columns: { contact_email: { enabled: true, hashed: true } } } } },
      },
    };
    const { status, json } = await call(service, "PATCH", "/v1/integrations/8f1c/schemas", { body });
    expect(status).toBe(200);
    const expected = structuredClone(before);
    Object.assign(expected?.["public"]?.tables["orders"] ?? {}, { enabled: false });
    Object.assign(expected?.["public"]?.tables["orders"]?.columns["contact_email"] ?? {}, { hashed: true });
    expect(json).toEqual({ code: "success", data: { schemas: expected } });
    expect(service.state().integrations[0]?.schemas).toEqual(expected);
    expect(expected).not.toEqual(before);
  });

  test("GET columns returns the columns of one table", async () => {
    const { json } = await call(service, "GET", "/v1/integrations/8f1c/schemas/public/tables/order_items/columns");
    expect(json.code).toBe("success");
    expect(Object.keys(json.data.columns)).toEqual(["order_id", "line", "product_id", "quantity", "price_cents"]);
    expect(json.data.columns.line).toEqual({ nameInDestination: "line", enabled: true, hashed: false, isPrimaryKey: true });
  });
});

describe("tags", () => {
  test("the list has no taggedResources", async () => {
    const { json } = await call(service, "GET", "/v1/tags");
    expect(json.data.items.map((tag: { name: string }) => tag.name)).toEqual(["PII", "Finance", "Gold"]);
    expect(json.data.items[0]).toEqual(pii);
  });

  test("one tag is directly in data, with taggedResources", async () => {
    const { json } = await call(service, "GET", "/v1/tags/t-1");
    expect(json).toEqual({ code: "success", data: { ...pii, taggedResources: [{ id: "8f1c" }, { id: "da-7" }] } });
  });

  test("PUT keeps members that the body omits and returns no taggedResources", async () => {
    const { json } = await call(service, "PUT", "/v1/tags/t-1", { body: { description: "New" } });
    expect(json).toEqual({ code: "success", data: { ...pii, description: "New", lastUpdatedAt: "2026-04-01T12:00:00.000Z" } });
  });

  test("a relation returns no data, and a second one changes nothing", async () => {
    const body = { resourceId: "51a1", resourceType: "Integration", taggedBy: "u-3" };
    for (const _ of [1, 2]) {
      const { status, json } = await call(service, "POST", "/v1/tags/t-3/relation", { body });
      expect([status, json]).toEqual([200, { code: "success", message: "Tag relation created" }]);
    }
    expect(service.state().tags[2]?.relations).toEqual([body]);
  });

  test("data assets and monitors are accepted with any id", async () => {
    for (const [resourceId, resourceType] of [
      ["da-9", "DataAsset"],
      ["m-77", "Monitor"],
    ]) {
      const { status } = await call(service, "POST", "/v1/tags/t-3/relation", { body: { resourceId, resourceType, taggedBy: "u-3" } });
      expect(status).toBe(200);
    }
    expect((await call(service, "GET", "/v1/tags/t-3")).json.data.taggedResources).toEqual([{ id: "da-9" }, { id: "m-77" }]);
  });
});

describe("assets", () => {
  test("create returns id, name and type", async () => {
    const body = { name: "Second", type: "snowflake", description: "x", connection: { account: "y" }, connectionType: "destination" };
    const { json } = await call(service, "POST", "/v1/assets", { body });
    expect(json).toEqual({ code: "success", data: { id: expect.stringMatching(/^d-/), name: "Second", type: "snowflake" } });
    expect(service.state().assets.at(-1)).toEqual({ ...body, id: json.data.id });
  });

  test("create accepts an empty object, since every field is optional", async () => {
    const { status, json } = await call(service, "POST", "/v1/assets", { body: {} });
    expect([status, json.data.name, json.data.type]).toEqual([200, "", ""]);
  });

  test("edit returns only the id, replaces the whole connection and renames the references of integrations", async () => {
    const { json } = await call(service, "PATCH", "/v1/assets/d-12", { body: { name: "Main", connection: { role: "R" } } });
    expect(json).toEqual({ code: "success", data: { id: "d-12" } });
    expect(service.state().assets[0]).toMatchObject({ name: "Main", description: "Central warehouse" });
    expect(service.state().assets[0]?.connection).toEqual({ role: "R" });
    expect((await call(service, "GET", "/v1/integrations/8f1c")).json.data.integration.destination.name).toBe("Main");
  });
});

test("users have code, data.items and message", async () => {
  const { json } = await call(service, "GET", "/v1/users");
  expect(json).toMatchObject({ code: "success", message: "Users listed" });
  expect(json.data.items[0]).toEqual({ id: "u-1", email: "dana@example.com", createdAt: "2026-01-05T08:00:00.000Z", name: "Dana" });
  expect(json.data.items).toHaveLength(5);
});

test("every write adds an audit entry with the object, the actor and the address", async () => {
  const writes: readonly (readonly [method: string, path: string, body: object, event: RegExp])[] = [
    ["POST", "/v1/integrations", createBody, /^Integration \S+ "orders-copy-pg" created/],
    ["PATCH", "/v1/integrations/8f1c/schemas", { schemas: {} }, /integration 8f1c "Orders" changed/],
    ["PUT", "/v1/tags/t-2", { owner: "u-5" }, /^Tag t-2 "Finance" updated/],
    [
      "POST",
      "/v1/tags/t-2/relation",
      { resourceId: "8f1c", resourceType: "Integration", taggedBy: "u-1" },
      /^Tag t-2 "Finance" attached to Integration 8f1c "Orders"/,
    ],
    ["POST", "/v1/assets", { name: "A", connectionType: "source" }, /^Asset s-\d+ "A" created/],
    ["PATCH", "/v1/assets/d-13", { description: "B" }, /^Asset d-13 "Lake" updated/],
  ];
  for (const [method, path, body, event] of writes) {
    const before = service.state().auditLogs.length;
    expect((await call(service, method, path, { body })).status).toBe(200);
    const [entry, ...more] = service.state().auditLogs.slice(before);
    expect(more).toEqual([]);
    expect(entry).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      timestamp: "2026-04-01T12:00:00.000Z",
      event: expect.stringMatching(event),
      actor: { type: "user", email: "bot@example.com" },
      context: { ipAddress: "127.0.0.1", userAgent: "walk/1" },
    });
  }
});
