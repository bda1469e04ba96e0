// The observed form answers as the service was seen to.
import { afterEach, describe, expect, test } from "vitest";
import type { EmbeddedOptions } from "../../src/embedded/index.ts";
import { startService, type TestService } from "../support/service.ts";
import { call, createBody } from "./caller.ts";

let service: TestService;
afterEach(() => service.close());

const orders = "650000000000000000000001";
const schemasOf = (id: string): string => `/v1/integrations/${id}/schemas`;

async function start(options: EmbeddedOptions = {}): Promise<void> {
  service = await startService({ observed: true, ...options });
}

const idOf = (name: string): string => service.state().integrations.find((one) => one.name === name)?.id ?? "";
const warehouse = (): string => service.state().assets[0]?.id ?? "";
// biome-ignore lint/suspicious/noExplicitAny: an answer of any shape.
const read = async (path: string): Promise<any> => (await call(service, "GET", path)).json;
const patch = (schemas: object, id = orders) => call(service, "PATCH", schemasOf(id), { body: { schemas } });
const create = (body: object = {}) =>
  call(service, "POST", "/v1/integrations", { body: { ...createBody, destinationId: warehouse(), ...body } });

describe("reads", () => {
  test("ids have 24 hexadecimal digits, and one integration is directly in data, with more members", async () => {
    await start();
    const { code, data } = await read(`/v1/integrations/${orders}`);
    expect([code, data.id, data.latestRunId, data.replicationFrequency]).toEqual(["OK", orders, null, "60"]);
    expect(service.state().tags.map(({ id }) => /^[0-9a-f]{24}$/.test(id))).not.toContain(false);
    expect(service.state().tags[0]?.relations[0]?.resourceId).toBe(orders);
  });

  test("integrationForm: wrapped", async () => {
    await start({ integrationForm: "wrapped" });
    expect((await read(`/v1/integrations/${orders}`)).data.integration.name).toBe("Orders");
  });

  test("the list has a draft without a destination, and an integration to an application", async () => {
    await start();
    const { items } = (await read("/v1/integrations")).data;
    expect(items.find((one: { name: string }) => one.name === "Untitled")).toMatchObject({ isDraft: true });
    expect(items.filter((one: object) => !("destination" in one))).toHaveLength(1);
    expect((await read(schemasOf(idOf("Customers → CRM")))).data).toBe(null);
    expect((await call(service, "GET", schemasOf(idOf("Untitled")))).status).toBe(404);
  });

  test("schemas have no `enabled`, modes are in upper case, and subtables say that they cannot be changed", async () => {
    await start();
    const { public: schema } = (await read(schemasOf(orders))).data.schemas;
    expect(Object.keys(schema)).toEqual(["nameInDestination", "tables"]);
    const { columns: _, ...table } = schema.tables.orders;
    expect(table).toEqual({
      nameInDestination: "orders",
      enabled: true,
      enabledPatchSettings: { allowed: true },
      syncMode: "INCREMENTAL",
      cursorField: "updated_at",
    });
    expect(schema.tables.orders__discounts.enabledPatchSettings).toEqual({ allowed: false });
    expect("cursorField" in schema.tables.payments).toBe(false);
    expect(schema.tables.users.columns.display_name).toEqual({ enabled: true });
  });

  test("streams without a namespace are in a schema named schema", async () => {
    await start();
    expect(Object.keys((await read(schemasOf(idOf("Web analytics")))).data.schemas)).toEqual(["schema"]);
  });

  test("tags, users and the audit log omit what is empty", async () => {
    await start();
    expect((await read("/v1/tags")).data.items.at(-1)).not.toHaveProperty("owner");
    expect((await read("/v1/users")).data.items.at(-1)).not.toHaveProperty("name");
    expect((await read("/v1/audit-logs?limit=1")).data.items[0].actor).toEqual({ type: "system" });
  });
});

describe("an integration in creation", () => {
  test("is refused with 409 for some requests, and then there", async () => {
    await start();
    const { status, json } = await create();
    expect([status, "id" in json]).toEqual([201, false]);
    const { id } = json.data;
    expect(await call(service, "GET", `/v1/integrations/${id}`)).toMatchObject({ status: 409, json: { code: "IntegrationInCreation" } });
    expect((await patch({ public: { enabled: true } }, id)).status).toBe(409);
    expect((await read(schemasOf(id))).data.schemas).toHaveProperty("public");
  });

  test("by a clock", async () => {
    let now = new Date("2026-11-27T08:00:00Z");
    await start({ discoveryDelayMs: 60_000, discoverAfterReads: 0, now: () => now });
    const { id } = (await create()).json.data;
    expect((await call(service, "GET", schemasOf(id))).status).toBe(409);
    now = new Date("2026-11-27T08:01:00Z");
    expect((await call(service, "GET", schemasOf(id))).status).toBe(200);
  });

  test("can fail", async () => {
    await start();
    const { id } = (await create()).json.data;
    await call(service, "POST", `/_console/integrations/${id}`, { body: { failure: "The slot is in use." } });
    expect((await call(service, "GET", schemasOf(id))).json).toEqual({ code: "IntegrationFailed", message: "The slot is in use." });
  });
});

describe("creates", () => {
  test("from an existing source, with what is optional left out", async () => {
    await start();
    const source = service.state().assets.find(({ name }) => name === "orders-pg");
    const body = { sourceId: source?.id, destinationId: warehouse(), destinationSchema: "x", replicationFrequency: "60" };
    expect((await call(service, "POST", "/v1/integrations", { body })).status).toBe(201);
    expect(service.state().integrations.at(-1)).toMatchObject({ name: "orders-pg → Warehouse", source: { id: source?.id } });
  });

  test("with a name, tags and an agent", async () => {
    await start();
    const { tags } = service.state();
    const more = { name: "Shop", tags: [tags[2]?.id], agentId: null, cronExpression: "0 4 * * *" };
    const { id } = (await create(more)).json.data;
    expect(service.state().integrations.at(-1)).toMatchObject({ name: "Shop", settings: { cronExpression: "0 4 * * *", agentId: null } });
    expect(service.state().tags[2]?.relations.at(-1)?.resourceId).toBe(id);
  });
});

describe("PATCH of schemas", () => {
  test("an unknown schema refuses all of it; unknown tables and columns are skipped", async () => {
    await start();
    const { status, json } = await patch({ public: { enabled: false }, gone: {} });
    expect([status, json.message.code]).toEqual([404, "NotFound_SchemaConfig"]);
    expect(service.state().integrations[0]?.schemas["public"]?.enabled).toBe(true);
    const skipped = { schema: {}, public: { tables: { gone: { enabled: false }, orders: { columns: { gone: { hashed: true } } } } } };
    expect((await patch(skipped)).status).toBe(200);
  });

  test("keys, subtables, and modes that the source does not have are accepted and not kept", async () => {
    await start();
    const before = service.state().integrations[0]?.schemas;
    const off = { enabled: false, hashed: true };
    const tables = {
      orders: { syncMode: "Change Stream", columns: { id: off } },
      orders__discounts: { enabled: false, columns: { voucher_email: off } },
      payments: { cursorField: "order_id" },
    };
    expect((await patch({ public: { tables } })).status).toBe(200);
    expect(service.state().integrations[0]?.schemas).toEqual(before);
  });

  test("a column of a source without field-level blocking is hashed, and not disabled", async () => {
    await start();
    const columns = { user_email: { enabled: false, hashed: true } };
    const { json } = await patch({ schema: { tables: { sessions: { columns } } } }, idOf("Web analytics"));
    expect(json.data.schemas.schema.tables.sessions.columns.user_email).toMatchObject({ enabled: true, hashed: true });
  });

  test("a mode and a cursor are written in one spelling and read in the other; any other text is refused", async () => {
    await start();
    const { json } = await patch({ public: { tables: { orders: { syncMode: "Incremental (Append-Only)", cursorField: "placed_at" } } } });
    expect(json.data.schemas.public.tables.orders).toMatchObject({ syncMode: "INCREMENTAL_(APPEND-ONLY)", cursorField: "placed_at" });
    expect((await patch({ public: { tables: { orders: { syncMode: "hourly" } } } })).status).toBe(400);
  });
});

describe("assets", () => {
  const block = { etl: { account: "a", password: "canary-password" } };

  test("a flat connection of a multi-purpose asset answers 200 and writes nothing; a block is written", async () => {
    await start();
    const path = `/v1/assets/${warehouse()}`;
    const before = service.state().assets[0];
    expect((await call(service, "PATCH", path, { body: { name: "New", connection: { account: "b" } } })).status).toBe(200);
    expect(service.state().assets[0]).toEqual(before);
    await call(service, "PATCH", path, { body: { connection: block } });
    expect(service.state().assets[0]?.connection).toEqual({ ...before?.connection, ...block });
  });

  test("a Snowflake asset is multi-purpose whatever the create said", async () => {
    await start();
    const body = { name: "w", type: "snowflake", connectionType: "destination", authMethod: "direct", connection: { account: "a" } };
    expect((await call(service, "POST", "/v1/assets", { body })).status).toBe(201);
    expect(service.state().assets.at(-1)).toMatchObject({ connectionType: "multi_purpose", connection: { etl: { account: "a" } } });
  });
});

describe("requests beyond the interface", () => {
  test("PATCH of an integration changes what it names, null clears, and GET shows it late", async () => {
    await start();
    const path = `/v1/integrations/${idOf("Orders")}`;
    const body = {
      name: "Orders (EU)",
      paused: true,
      replicationFrequency: "cron",
      cronExpression: "0 4 * * *",
      onSchemaUpdate: "ignoreAll",
    };
    expect((await call(service, "PATCH", path, { body })).json).toEqual({ code: "OK", data: { paused: true } });
    expect((await read(path)).data).toMatchObject({ name: "Orders", paused: false, onSchemaUpdate: "enableColumnChanges" });
    expect((await read(path)).data).toMatchObject(body);
    await call(service, "PATCH", path, { body: { cronExpression: null, replicationFrequency: "60" } });
    await read(path);
    expect((await read(path)).data).not.toHaveProperty("cronExpression");
  });

  test("the agent of an integration is that of its source", async () => {
    await start();
    const integration = service.state().integrations[0];
    service.mutate((state) => {
      for (const asset of state.assets) if (asset.id === integration?.source.id) asset.configuration = { agentId: "a-1" };
    });
    const { status, json } = await call(service, "PATCH", `/v1/integrations/${integration?.id}`, { body: { agentId: "a-2" } });
    expect([status, json.code]).toEqual([400, "SOURCE_AGENT_MISMATCH"]);
  });

  test("a tag is created, its relation is removed, and an asset is shown without its connection", async () => {
    await start();
    const body = { name: "GDPR", owner: service.state().users[0]?.id };
    const { json } = await call(service, "POST", "/v1/tags", { body });
    expect((await read(`/v1/tags/${json.data.id}`)).data).toMatchObject(body);
    const tag = service.state().tags.find(({ relations }) => relations.length > 0);
    const [relation] = tag?.relations ?? [];
    const removed = { resourceId: relation?.resourceId, resourceType: relation?.resourceType };
    expect((await call(service, "DELETE", `/v1/tags/${tag?.id}/relation`, { body: removed })).status).toBe(200);
    expect(service.state().tags.find(({ id }) => id === tag?.id)?.relations).not.toContainEqual(relation);
    expect((await read(`/v1/assets/${warehouse()}`)).data).toMatchObject({ type: "snowflake", connectionType: "multi_purpose" });
    expect((await read(`/v1/assets/${warehouse()}`)).data).not.toHaveProperty("connection");
  });

  test.each([
    ["PATCH", "/v1/integrations/8f1c", 405],
    ["POST", "/v1/tags", 405],
    ["DELETE", "/v1/tags/t-1/relation", 405],
    ["GET", "/v1/assets/d-12", 405],
  ])("without the profile, %s %s is refused with 4xx", async (method, path, status) => {
    service = await startService();
    expect((await call(service, method, path, { body: {} })).status).toBe(status);
    // The interface document does not have the call.
    service.violations.length = 0;
  });
});

test("each reference of an integration is an asset, also after another integration that used it is deleted", async () => {
  await start();
  await call(service, "DELETE", `/_console/integrations/${idOf("Customers → CRM")}`);
  const all = service.state().integrations.flatMap(({ source, destination }) => [source.id, destination.id]);
  expect((await Promise.all(all.map((id) => call(service, "GET", `/v1/assets/${id}`)))).map(({ status }) => status)).not.toContain(404);
});

describe("faults of the account, in both profiles", () => {
  const hash = { public: { tables: { orders: { columns: { contact_email: { hashed: true } } } } } };
  const hashed = (json: { data: object }): unknown =>
    JSON.stringify(json.data).includes('"contact_email":{"nameInDestination":"contact_email","enabled":true,"hashed":true');
  const account = () => service.state().integrations[0]?.schemas["public"]?.tables["orders"]?.columns["contact_email"]?.hashed;

  test.each([true, false])(
    "a lagging read shows a write after so many requests, and its answer shows the state before (%s)",
    async (observed) => {
      await start({ observed, readLag: 2 });
      const id = service.state().integrations[0]?.id ?? "";
      const shown = [(await patch(hash, id)).json, await read(schemasOf(id)), await read(schemasOf(id)), await read(schemasOf(id))];
      expect(shown.map(hashed)).toEqual([false, false, false, true]);
      expect(account()).toBe(true);
    },
  );

  test("a new integration lags, too: it is neither in the list nor there by id", async () => {
    await start({ observed: false, readLag: 1 });
    const { id } = (await create({ destinationId: "d-12" })).json.data;
    expect((await call(service, "GET", `/v1/integrations/${id}`)).status).toBe(404);
    expect((await read("/v1/integrations")).data.items).toHaveLength(4);
    expect((await read("/v1/integrations")).data.items).toHaveLength(5);
    expect((await call(service, "GET", `/v1/integrations/${id}`)).status).toBe(200);
  });

  test("a dropped write is answered with what is there, and an accepted one with 202 and no data", async () => {
    await start({ faults: ["PATCH schemas$@1=dropped", "PATCH schemas$@2=accepted"] });
    const dropped = await patch(hash);
    expect([dropped.status, hashed(dropped.json), account()]).toEqual([200, false, false]);
    const { status, json } = await patch(hash);
    expect([status, json.message, json.data.schemas, account()]).toEqual([202, "The change is being applied.", undefined, true]);
  });

  test("a dropped create has an id that nothing shows", async () => {
    await start({ faults: ["POST /v1/integrations$=dropped"] });
    const { status, json } = await create();
    expect(status).toBe(201);
    expect((await call(service, "GET", `/v1/integrations/${json.data.id}`)).status).toBe(404);
  });

  test("drafts have five forms", async () => {
    await start({ drafts: 5 });
    const { items } = (await read("/v1/integrations")).data;
    const drafts = items.slice(-5).map(({ source, destination }: { source: object; destination: object }) => [source, destination]);
    expect(new Set(drafts.map((one: unknown) => JSON.stringify(one))).size).toBe(5);
    service.violations.length = 0;
  });

  test("odd members are numbers for times, and null", async () => {
    await start({ observed: false, oddMembers: true });
    expect((await read("/v1/integrations")).data.items[0]).toMatchObject({ createdAt: 1770024600, origin: null });
    expect((await read("/v1/tags")).data.items[0]).toMatchObject({ createdAt: expect.any(Number), name: "PII" });
    service.violations.length = 0;
  });
});

test("errors come in all forms", async () => {
  await start({ faults: ["GET /v1/users$=error-200", "GET /v1/tags$=error-200:ok"] });
  expect((await read("/v1/integrations/x")).code).toBe("NotFound_Integration");
  expect((await call(service, "PATCH", "/v1/assets/x", { body: {} })).json).toEqual({ statusCode: 404, message: expect.any(String) });
  expect(await read("/v1/tags/x")).toEqual({ message: expect.any(String) });
  const invalid = await call(service, "PUT", `/v1/tags/${service.state().tags[0]?.id}`, { body: { name: 1 } as never });
  expect(invalid.json).toEqual({ statusCode: 400, message: [expect.any(String)], error: "Bad Request" });
  expect(await read("/v1/users")).toMatchObject({ code: "error", error: { code: "AGENT_UNREACHABLE" } });
  expect(await read("/v1/tags")).toEqual({ ok: false, error: "invalid connection" });
  // The call is invalid on purpose.
  service.violations.length = 0;
});
