// schema/openapi.json describes exactly the calls of the interface.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { startService } from "../support/service.ts";
import { call } from "./caller.ts";

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

test("startService throws them from close", async () => {
  const service = await startService();
  await call(service, "GET", "/v1/tags?x=1");
  await call(service, "GET", "/v1/tags/t-1?x=1");
  await expect(service.close()).rejects.toThrow("GET /v1/tags/t-1: it takes no query parameter x");
  expect(service.violations).toHaveLength(1);
});
