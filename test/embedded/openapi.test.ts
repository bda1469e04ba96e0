import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Exchange } from "../../src/embedded/index.ts";
import { startService, violationsOf } from "../support/service.ts";
import { call, createBody } from "./caller.ts";

const document: { readonly paths: Readonly<Record<string, object>> } = JSON.parse(
  readFileSync(new URL("../../schema/openapi.json", import.meta.url), "utf8"),
);

test("schema/openapi.json describes exactly the calls of the interface", () => {
  const calls = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(calls.sort()).toEqual([
    "GET /v1/audit-logs",
    "GET /v1/integrations",
    "GET /v1/integrations/{id}",
    "GET /v1/integrations/{id}/schemas",
    "GET /v1/integrations/{id}/schemas/{schema}/tables/{table}/columns",
    "GET /v1/tags",
    "GET /v1/tags/{id}",
    "GET /v1/users",
    "PATCH /v1/assets/{id}",
    "PATCH /v1/integrations/{id}/schemas",
    "POST /v1/assets",
    "POST /v1/integrations",
    "POST /v1/tags/{id}/relation",
    "PUT /v1/tags/{id}",
  ]);
});

const fine: Exchange = {
  method: "GET",
  path: "/v1/users",
  query: {},
  requestHeaders: {},
  requestBody: undefined,
  status: 200,
  responseBody: '{"code":"success","data":{"items":[]}}',
  faulted: false,
  key: "k",
};
const put = {
  ...fine,
  method: "PUT",
  path: "/v1/tags/t-1",
  requestHeaders: { "content-type": "application/json" },
  requestBody: {},
  status: 404,
  responseBody: "",
};
const column = '{"nameInDestination":"c","enabled":true,"hashed":false}';
const schemas = { ...fine, path: "/v1/integrations/a/schemas" };
const snake = '{"name_in_destination":"t","enabled":true,"sync_mode":"x"}';
const camel = '{"nameInDestination":"t","enabled":true,"syncMode":"x","columns":{}}';
const schemasAnswer = (table: string, keys = "nameInDestination"): string =>
  `{"code":"c","data":{"schemas":{"p":{"${keys}":"p","enabled":true,"tables":{"__proto__":${table}}}}}}`;

describe("accepted", () => {
  test.each<[string, Exchange]>([
    ["a list", fine],
    [
      "a list with undocumented parameters and paging",
      { ...fine, query: { cursor: "x" }, responseBody: '{"code":"c","data":{"items":[],"total":1}}' },
    ],
    ["any error", { ...fine, status: 500, responseBody: "<html>" }],
    ["a response of a fault", { ...fine, faulted: true, responseBody: "" }],
    [
      "a create with the status 201 and only the int64",
      {
        ...fine,
        method: "POST",
        path: "/v1/integrations",
        requestHeaders: { "content-type": "application/json" },
        requestBody: createBody,
        status: 201,
        responseBody: '{"id":9007199254740993,"code":"c","data":{}}',
      },
    ],
    [
      "an undocumented connector",
      {
        ...put,
        method: "POST",
        path: "/v1/integrations",
        requestBody: { ...createBody, sourceConfig: { type: "kafka", owners: 1 }, sourceSettings: { x: 1 } },
      },
    ],
    ["schemas in camelCase", { ...schemas, responseBody: schemasAnswer(camel) }],
    ["schemas in snake_case", { ...schemas, responseBody: schemasAnswer(snake, "name_in_destination") }],
  ])("%s", (_, exchange) => {
    expect(violationsOf(exchange)).toEqual([]);
  });
});

describe("a violation", () => {
  test.each<[string, Exchange, string]>([
    ["a call outside the interface", { ...fine, method: "DELETE" }, "no such call"],
    ["an unknown path", { ...fine, path: "/v1/users/u-1" }, "no such call"],
    ["a query on a call that takes none", { ...fine, path: "/v1/tags/t-1", query: { x: "1" }, status: 404 }, "no query parameter x"],
    ["a limit over 100", { ...fine, path: "/v1/audit-logs", query: { limit: "101" }, status: 400 }, "query parameter limit"],
    ["an invalid time", { ...fine, path: "/v1/audit-logs", query: { startAt: "today" }, status: 400 }, "query parameter startAt"],
    ["a body on GET", { ...fine, requestBody: {} }, "takes no body"],
    ["an undocumented member in a body", { ...put, requestBody: { colour: "red" } }, '"additionalProperty":"colour"'],
    ["a body without its content type", { ...put, requestHeaders: {} }, "content type is none"],
    ["a missing body", { ...put, requestBody: undefined }, "request body"],
    [
      "isPrimaryKey sent",
      {
        ...put,
        method: "PATCH",
        path: "/v1/integrations/a/schemas",
        requestBody: { schemas: { p: { tables: { t: { columns: { c: { isPrimaryKey: true } } } } } } },
      },
      "isPrimaryKey",
    ],
    [
      "an undocumented resource type",
      { ...put, method: "POST", path: "/v1/tags/t/relation", requestBody: { resourceId: "a", resourceType: "Table", taggedBy: "u" } },
      "resourceType",
    ],
    [
      "a postgres port as text",
      {
        ...put,
        method: "POST",
        path: "/v1/integrations",
        requestBody: { ...createBody, sourceConfig: { type: "postgres", connection: { port: "5432" } } },
      },
      "port",
    ],
    ["a response without its envelope", { ...fine, responseBody: '{"items":[]}' }, "answer"],
    ["a response that is not JSON", { ...fine, responseBody: "<html>" }, "answer"],
    ["a response with an undocumented status", { ...fine, status: 204 }, "status 204"],
    [
      "a column without isPrimaryKey",
      {
        ...fine,
        path: "/v1/integrations/a/schemas/p/tables/t/columns",
        responseBody: `{"code":"c","data":{"columns":{"__proto__":${column}}}}`,
      },
      "isPrimaryKey",
    ],
    ["a mixture of both forms", { ...schemas, responseBody: schemasAnswer(snake) }, "answer"],
  ])("%s", (_, exchange, what) => {
    expect(violationsOf(exchange).join("\n")).toContain(what);
  });
});

test("startService throws them from close", async () => {
  const service = await startService();
  await call(service, "GET", "/v1/tags?x=1");
  await call(service, "GET", "/v1/tags/t-1?x=1");
  await expect(service.close()).rejects.toThrow("GET /v1/tags/t-1: it takes no query parameter x");
  expect(service.violations).toHaveLength(1);
});
