// A new integration discovers what its source has, when the options say.
import { afterEach, describe, expect, test } from "vitest";
import type { EmbeddedOptions, SchemaMap } from "../../../src/embedded/index.ts";
import { startService, type TestService } from "../../support/service.ts";
import { call, createBody } from "../caller.ts";

let service: TestService;
afterEach(() => service.close());

async function create(
  options: EmbeddedOptions,
  body: object = createBody,
): Promise<{ readonly id: string; readonly read: () => Promise<SchemaMap> }> {
  service = await startService(options);
  const { json, text } = await call(service, "POST", "/v1/integrations", { body });
  const id: string = json.data.id ?? /"id":(\d+)/.exec(text)?.[1];
  return { id, read: async () => (await call(service, "GET", `/v1/integrations/${id}/schemas`)).json.data.schemas };
}

const from = (type: string, database: string): object => ({ ...createBody, sourceConfig: { type, name: "n", connection: { database } } });

describe("what a new integration discovers", () => {
  test.each([
    ["postgres", "orders", ["public", "reporting"], "payments"],
    ["mysql", "billing", ["billing"], "ledger"],
    ["mysql", "orders", ["public"], "events"],
    ["kafka", "__proto__", ["public"], "events"],
  ])("%s/%s", async (type, database, schemas, table) => {
    const found = await (await create({}, from(type, database))).read();
    expect(Object.keys(found)).toEqual(schemas);
    expect(Object.keys(found[schemas[0] ?? ""]?.tables ?? {})).toContain(table);
  });

  test("a source without a connection", async () => {
    const found = await (await create({}, { ...createBody, sourceConfig: { type: "x", name: "n" } })).read();
    expect(Object.keys(found)).toEqual(["public"]);
  });
});

describe("onSchemaUpdate decides what is enabled at first", () => {
  test.each([
    ["enableAll", { schema: true, table: true, column: true, key: true }],
    ["anything else", { schema: true, table: true, column: true, key: true }],
    ["enableColumnChanges", { schema: false, table: false, column: true, key: true }],
    ["ignoreAll", { schema: false, table: false, column: false, key: true }],
  ])("%s", async (onSchemaUpdate, expected) => {
    const { public: schema } = await (await create({}, { ...createBody, onSchemaUpdate })).read();
    const table = schema?.tables["customers"];
    expect({
      schema: schema?.enabled,
      table: table?.enabled,
      column: table?.columns["email"]?.enabled,
      key: table?.columns["id"]?.enabled,
    }).toEqual(expected);
    expect(table?.columns["email"]?.hashed).toBe(false);
  });
});

test("each integration has its own copy of the catalogue's map", async () => {
  const first = await create({});
  await call(service, "PATCH", `/v1/integrations/${first.id}/schemas`, { body: { schemas: { public: { enabled: false } } } });
  const second = await call(service, "POST", "/v1/integrations", { body: createBody });
  const { json } = await call(service, "GET", `/v1/integrations/${second.json.data.id}/schemas`);
  expect(json.data.schemas.public.enabled).toBe(true);
  expect(service.state().catalogue["postgres/orders"]?.["public"]?.enabled).toBe(true);
});

test("discoverAfterReads: that many reads return nothing, and nothing can be changed until then", async () => {
  const { id, read } = await create({ discoverAfterReads: 2 });
  const patch = () => call(service, "PATCH", `/v1/integrations/${id}/schemas`, { body: { schemas: { public: { enabled: true } } } });
  expect(await read()).toEqual({});
  expect((await patch()).status).toBe(400);
  expect((await call(service, "GET", `/v1/integrations/${id}/schemas/public/tables/orders/columns`)).status).toBe(404);
  expect(await read()).toEqual({});
  expect(Object.keys(await read())).toEqual(["public", "reporting"]);
  expect((await patch()).status).toBe(200);
});

test("discoveryDelayMs: reads return nothing until that time has passed", async () => {
  let now = Date.UTC(2026, 3, 1);
  const { read } = await create({ discoveryDelayMs: 1000, now: () => new Date(now) });
  expect(await read()).toEqual({});
  now += 999;
  expect(await read()).toEqual({});
  now += 1;
  expect(Object.keys(await read())).toEqual(["public", "reporting"]);
});

test("intOnly: data is empty and the int64's decimal text is the id", async () => {
  const { id, read } = await create({ createAnswer: "intOnly" });
  expect(id).toBe("9007199254741093");
  expect(Object.keys(await read())).toContain("public");
  expect((await call(service, "GET", `/v1/integrations/${Number(id)}`)).status).toBe(404);
});

test("createdStatus: POST responds with 201, other methods with 200", async () => {
  service = await startService({ createdStatus: 201 });
  const body = { resourceId: "8f1c", resourceType: "Integration", taggedBy: "u-1" };
  expect((await call(service, "POST", "/v1/integrations", { body: createBody })).status).toBe(201);
  expect((await call(service, "POST", "/v1/assets", { body: {} })).status).toBe(201);
  expect((await call(service, "POST", "/v1/tags/t-3/relation", { body })).status).toBe(201);
  expect((await call(service, "PUT", "/v1/tags/t-3", { body: {} })).status).toBe(200);
});
