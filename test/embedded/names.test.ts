// Any name is an ordinary name to the embedded service.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { seedAccount } from "../../src/embedded/index.ts";
import { startService, type TestService } from "../support/service.ts";
import { call } from "./caller.ts";

const names = ["__proto__", "constructor", "toString", "a/b", "a.b", "100%", "..", ".", " x ", "ü", "%2e", "a?b#c", "", "{id}", "💡"];

let service: TestService;
beforeEach(async () => {
  const account = seedAccount();
  const columns = entries({ nameInDestination: "c", enabled: true, hashed: false, isPrimaryKey: false });
  const table = { nameInDestination: "t", enabled: true, syncMode: "incremental", columns };
  account.integrations.length = 1;
  for (const integration of account.integrations)
    integration.schemas = Object.fromEntries(
      names.map((name) => [name, { nameInDestination: "s", enabled: true, tables: Object.fromEntries([[name, structuredClone(table)]]) }]),
    );
  // A function, as a builder of large accounts would pass it.
  service = await startService({ state: () => structuredClone(account) });
});
afterEach(() => service.close());

function entries<T>(value: T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, structuredClone(value)]));
}

describe.each(names)("%j is an ordinary name", (name) => {
  const segment = encodeURIComponent(name);

  test("in the path of a columns read, however it is encoded", async () => {
    const everyByte = [...Buffer.from(name)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
    for (const encoded of [segment, everyByte]) {
      const { status, json } = await call(service, "GET", `/v1/integrations/8f1c/schemas/${encoded}/tables/${encoded}/columns`);
      expect(status).toBe(200);
      expect(Object.keys(json.data.columns).sort()).toEqual([...names].sort());
    }
  });

  test("in a PATCH and its response, changing only that node", async () => {
    const node = (value: object): object => Object.fromEntries([[name, value]]);
    const body = { schemas: node({ enabled: true, tables: node({ enabled: true, columns: node({ enabled: true, hashed: true }) }) }) };
    const before = JSON.stringify(service.state());
    const { status, text } = await call(service, "PATCH", "/v1/integrations/8f1c/schemas", { body });
    expect(status).toBe(200);
    const hashed = text.split('"hashed":true').length - 1;
    expect(hashed).toBe(1);
    const after = JSON.stringify(service.state());
    expect(after.split('"hashed":true').length - before.split('"hashed":true').length).toBe(1);
    const { json } = await call(service, "GET", `/v1/integrations/8f1c/schemas/${segment}/tables/${segment}/columns`);
    expect(Object.entries(json.data.columns).filter(([, column]) => (column as { hashed: boolean }).hashed)).toEqual([
      [name, { nameInDestination: "c", enabled: true, hashed: true, isPrimaryKey: false }],
    ]);
  });

  test("in both forms", async () => {
    const { json } = await call(service, "GET", "/v1/integrations/8f1c/schemas");
    expect(Object.getOwnPropertyDescriptor(json.data.schemas, name)?.value).toMatchObject({ nameInDestination: "s" });
    const snake = await startService({ schemaForm: "snake", state: service.state() });
    const other = await call(snake, "GET", "/v1/integrations/8f1c/schemas");
    await snake.close();
    const schema = Object.getOwnPropertyDescriptor(other.json.data.schemas, name)?.value;
    expect(Object.getOwnPropertyDescriptor(schema.tables, name)?.value).toEqual({
      name_in_destination: "t",
      enabled: true,
      sync_mode: "incremental",
    });
  });
});

test("an inherited or hostile name is an unknown id", async () => {
  for (const name of names) {
    expect((await call(service, "GET", `/v1/integrations/${encodeURIComponent(name)}`)).status).toBe(404);
  }
});
