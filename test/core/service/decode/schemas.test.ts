// Both forms of schemas are decoded to one, with any names.
import { describe, expect, test } from "vitest";
import { own } from "../../../../src/core/base/model/json/json.ts";
import { tags } from "../../../../src/core/kinds/lists.ts";
import { decodeColumns, decodeSchemas } from "../../../../src/core/service/decode/schemas.ts";
import { decodeWrite } from "../../../../src/core/service/reads.ts";

const where = { method: "GET", path: "/v1/integrations/i/schemas", sent: "answered" } as const;
const decode = (schemas: string) => decodeSchemas(JSON.parse(`{"schemas":${schemas}}`), where);

const camelColumn = { nameInDestination: "id", enabled: true, hashed: false, isPrimaryKey: true };
const camelTable = { nameInDestination: "t", enabled: true, syncMode: "incremental", columns: { id: camelColumn } };

test("a camelCase tree is returned unchanged: no node is replaced", () => {
  const data = {
    schemas: { s: { nameInDestination: "s", enabled: true, tables: { t: camelTable, u: { ...camelTable, cursorField: "at" } } } },
  };
  const copy = structuredClone(data);
  const schemas = decodeSchemas(data, where);
  expect(schemas).toBe(data.schemas);
  expect(own(own(schemas, "s")?.tables, "t")).toBe(camelTable);
  expect(camelTable.columns.id).toBe(camelColumn);
  expect(data).toEqual(copy);
});

describe("both forms are decoded to one, entry by entry", () => {
  const rows: Record<string, [given: unknown, wanted: unknown]> = {
    "snake_case without columns": [
      {
        s: {
          name_in_destination: "s",
          enabled: true,
          tables: { t: { name_in_destination: "t", enabled: false, sync_mode: "full", cursor_field: "at" } },
        },
      },
      {
        s: {
          nameInDestination: "s",
          enabled: true,
          tables: { t: { nameInDestination: "t", enabled: false, syncMode: "full", cursorField: "at" } },
        },
      },
    ],
    "a snake_case table beside a camelCase one": [
      {
        s: {
          nameInDestination: "s",
          enabled: true,
          tables: { a: camelTable, b: { name_in_destination: "b", enabled: true, sync_mode: "full" } },
        },
      },
      {
        s: {
          nameInDestination: "s",
          enabled: true,
          tables: { a: camelTable, b: { nameInDestination: "b", enabled: true, syncMode: "full" } },
        },
      },
    ],
    "one entry in both styles, and cursor_field alone": [
      {
        s: {
          nameInDestination: "s",
          enabled: true,
          tables: { t: { nameInDestination: "t", enabled: true, syncMode: "full", cursor_field: "at" } },
        },
      },
      {
        s: {
          nameInDestination: "s",
          enabled: true,
          tables: { t: { nameInDestination: "t", enabled: true, syncMode: "full", cursorField: "at" } },
        },
      },
    ],
    "null members are absent, and columns stay unknown": [
      { s: { nameInDestination: null, enabled: true, tables: { t: { ...camelTable, cursorField: null, columns: null } } } },
      { s: { enabled: true, tables: { t: { nameInDestination: "t", enabled: true, syncMode: "incremental" } } } },
    ],
    "a schema without tables": [
      { s: { nameInDestination: "s", enabled: false } },
      { s: { nameInDestination: "s", enabled: false, tables: {} } },
    ],
    "columns without entries are unknown": [
      { s: { nameInDestination: "s", enabled: true, tables: { t: { ...camelTable, columns: {} } } } },
      { s: { nameInDestination: "s", enabled: true, tables: { t: { nameInDestination: "t", enabled: true, syncMode: "incremental" } } } },
    ],
    "a column in snake_case": [
      {
        s: {
          nameInDestination: "s",
          enabled: true,
          tables: {
            t: { ...camelTable, columns: { c: { name_in_destination: "c", enabled: true, hashed: true, is_primary_key: false } } },
          },
        },
      },
      {
        s: {
          nameInDestination: "s",
          enabled: true,
          tables: { t: { ...camelTable, columns: { c: { nameInDestination: "c", enabled: true, hashed: true, isPrimaryKey: false } } } },
        },
      },
    ],
    "entries without any member": [
      { s: { tables: { t: { columns: { c: {} } } } }, empty: {} },
      { s: { tables: { t: { columns: { c: {} } } } }, empty: { tables: {} } },
    ],
    "a schema entry with its name and tables only": [
      { s: { nameInDestination: "s", tables: { t: camelTable } } },
      { s: { nameInDestination: "s", tables: { t: camelTable } } },
    ],
  };
  test.each(Object.entries(rows))("%s", (_sentence, [given, wanted]) => {
    const decoded = decode(JSON.stringify(given));
    // Through JSON: a new entry for `tables` has no prototype.
    expect(JSON.parse(JSON.stringify(decoded))).toStrictEqual(wanted);
  });
});

test("hostile names are ordinary keys at every level, decoded again or not", () => {
  const text = `{"__proto__":{"enabled":true,"tables":{"__proto__":{"enabled":true,"sync_mode":"full","columns":{"__proto__":{"enabled":false,"hashed":true}}},"constructor":{"enabled":false}}}}`;
  const schemas = decode(text);
  expect(Object.keys(schemas)).toEqual(["__proto__"]);
  const tables = own(schemas, "__proto__")?.tables;
  expect(Object.keys(tables ?? {})).toEqual(["__proto__", "constructor"]);
  expect(own(own(tables, "__proto__")?.columns, "__proto__")).toEqual({ enabled: false, hashed: true });
  expect(own(tables, "__proto__")?.syncMode).toBe("full");
  expect(({} as Record<string, unknown>)["enabled"]).toBeUndefined();
});

test("a missing member is not taken from Object.prototype", () => {
  const schemas = decode(`{"constructor":{"enabled":true,"tables":{"t":{"__proto__":{"enabled":true}}}}}`);
  expect(Object.keys(own(own(schemas, "constructor")?.tables, "t") ?? {})).toEqual([]);
});

test("columns alone are decoded likewise", () => {
  expect(decodeColumns({ columns: { c: { name_in_destination: "c", enabled: true, hashed: false } } }, where)).toEqual({
    c: { nameInDestination: "c", enabled: true, hashed: false },
  });
  expect(() => decodeColumns({ columns: [] }, where)).toThrow("/data/columns is not an object");
  expect(() => decodeColumns({ columns: { c: { enabled: 1, hashed: false } } }, where)).toThrow("/data/columns/c/enabled is neither");
});

describe("the responses to writes", () => {
  const answer = { status: 200, int64Id: undefined };
  test("PATCH schemas returns the whole map", () => {
    expect(decodeWrite.schemas({ ...answer, data: { schemas: { s: { enabled: true } } } })).toMatchObject({
      s: { enabled: true, tables: {} },
    });
  });
  test("PUT tag returns the tag", () => {
    expect(decodeWrite.put(tags, { ...answer, data: { id: 5, name: "PII", owner: "u1" } })).toMatchObject({
      id: "5",
      name: "PII",
      owner: "u1",
    });
  });
  test("if the state can't be read, the outcome is unknown", () => {
    const unknown = { code: "E_MALFORMED_ANSWER", sent: "maybe" };
    expect(() => decodeWrite.schemas({ ...answer, data: undefined })).toThrow(expect.objectContaining({ ...unknown, method: "PATCH" }));
    expect(() => decodeWrite.put(tags, { ...answer, data: {} })).toThrow(expect.objectContaining({ ...unknown, method: "PUT" }));
  });
});
