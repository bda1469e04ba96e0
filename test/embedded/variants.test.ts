import { expect, test } from "vitest";
import { startService } from "../support/service.ts";
import { call } from "./caller.ts";

test("snake: GET schemas has snake_case keys and no columns; PATCH and GET columns stay as they are", async () => {
  const service = await startService({ schemaForm: "snake" });
  const { json } = await call(service, "GET", "/v1/integrations/8f1c/schemas");
  const { name_in_destination, enabled, tables, ...rest } = json.data.schemas.public;
  expect([name_in_destination, enabled, rest]).toEqual(["orders", true, {}]);
  expect(tables.orders).toEqual({ name_in_destination: "orders", enabled: true, sync_mode: "incremental", cursor_field: "updated_at" });
  expect(tables.order_items).toEqual({ name_in_destination: "order_items", enabled: true, sync_mode: "full_refresh" });
  const patched = await call(service, "PATCH", "/v1/integrations/8f1c/schemas", { body: { schemas: { public: { enabled: false } } } });
  expect(patched.json.data.schemas.public).toMatchObject({ nameInDestination: "orders", enabled: false });
  expect(patched.json.data.schemas.public.tables.orders.columns.id.isPrimaryKey).toBe(true);
  const columns = await call(service, "GET", "/v1/integrations/8f1c/schemas/public/tables/orders/columns");
  expect(columns.json.data.columns.id).toEqual({ nameInDestination: "id", enabled: true, hashed: false, isPrimaryKey: true });
  await service.close();
});

test("replaceOnPut: members that the body omits are cleared", async () => {
  const service = await startService({ replaceOnPut: true });
  const { json } = await call(service, "PUT", "/v1/tags/t-1", { body: { name: "PII" } });
  await service.close();
  expect(json.data).toMatchObject({ name: "PII", description: "", owner: "" });
});
