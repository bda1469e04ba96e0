import { expect, onTestFinished, test } from "vitest";
import { integrations, tags, users } from "../../../src/core/kinds/lists.ts";
import { own } from "../../../src/core/model/json/json.ts";
import { urlPath } from "../../../src/core/model/json/pointer.ts";
import type { LiveTable } from "../../../src/core/model/live.ts";
import { Secret } from "../../../src/core/model/settings/secret.ts";
import { decodeWrite } from "../../../src/core/service/decode/resources.ts";
import type { EmbeddedOptions } from "../../../src/embedded/index.ts";
import { startService } from "../../support/service.ts";
import { clientFor, failureOf } from "./client-under-test.ts";

const apiKey = "k-embedded";

// The service checks every exchange against schema/openapi.json and fails the test if one violates
// it.
async function start(options: EmbeddedOptions = {}) {
  const service = await startService({ apiKeys: { [apiKey]: "bot@example.com" }, ...options });
  onTestFinished(() => service.close());
  return { service, client: clientFor(service.url, { apiKey: new Secret(apiKey) }) };
}

test("every read of the seeded account is decoded, in both forms of GET schemas", async () => {
  for (const schemaForm of ["camel", "snake"] as const) {
    const { service, client } = await start({ schemaForm });
    const state = service.state();
    expect((await client.list(integrations)).items).toHaveLength(state.integrations.length);
    expect((await client.list(users)).items).toHaveLength(state.users.length);
    expect((await client.list(tags)).items).toHaveLength(state.tags.length);
    expect((await client.auditLogs({ limit: 100 })).totalItems).toBeGreaterThan(0);
    for (const { id } of (await client.list(tags)).items) expect((await client.one(tags, id))?.taggedResources).toBeDefined();
    for (const { id } of (await client.list(integrations)).items) {
      expect((await client.one(integrations, id))?.id).toBe(id);
      for (const [schema, { tables }] of Object.entries((await client.schemas(id))?.tree ?? {})) {
        for (const [table, entry] of Object.entries(tables)) {
          expect(entry.syncMode).toEqual(expect.any(String));
          expect(entry).not.toHaveProperty("sync_mode");
          const columns = await client.columns(id, schema, table);
          expect(Object.keys(columns ?? {}).length).toBeGreaterThan(0);
          expect(entry.columns).toEqual(schemaForm === "camel" ? columns : undefined);
        }
      }
    }
  }
});

test.each(["totalItems", "total", "nextCursor", "hasMore"] as const)("lists paged by %s are read to their end", async (style) => {
  const { service, client } = await start({ paging: { style, size: 2 } });
  const { items, completeness } = await client.list(users);
  expect(items.map(({ id }) => id)).toEqual(service.state().users.map(({ id }) => id));
  expect(completeness).toBe("shown");
});

test("writes: the responses to PATCH schemas and PUT tag are decoded, and a read-only client refuses them", async () => {
  const { service, client } = await start();
  const [integration] = (await client.list(integrations)).items;
  const [tag] = (await client.list(tags)).items;
  if (integration === undefined || tag === undefined) throw new Error("the seed has neither integrations nor tags");
  const [schema, { tables } = { tables: {} }] = Object.entries((await client.schemas(integration.id))?.tree ?? {})[0] ?? [""];
  const [table, entry] = Object.entries<LiveTable>(tables)[0] ?? [""];
  const change = { [schema]: { enabled: true, tables: { [table]: { enabled: entry?.enabled !== true, columns: {} } } } };

  const answer = await client.send({
    method: "PATCH",
    path: urlPath(["v1", "integrations", integration.id, "schemas"]),
    body: { schemas: change },
  });
  const after = decodeWrite.schemas(answer);
  expect(own(own(after, schema)?.tables, table)?.enabled).toBe(entry?.enabled !== true);
  expect(after).toEqual((await client.schemas(integration.id))?.tree);

  const { name, owner } = tag;
  const renamed = await client.send({
    method: "PUT",
    path: urlPath(["v1", "tags", tag.id]),
    body: { name, description: "new", owner: owner ?? "" },
  });
  expect(decodeWrite.put(tags, renamed)).toMatchObject({ id: tag.id, description: "new" });
  const before = service.counts();
  expect(await failureOf(client.asReadOnly().send({ method: "PUT", path: "/v1/tags/x", body: {} }))).toMatchObject({ code: "E_READ_ONLY" });
  expect(service.counts()).toEqual(before);
  expect(client.calls()).toEqual(before);
});

test.each(["envelope", "plain", "empty", "echo"] as const)(
  "error bodies of the form %s: a secret of the request is in no error",
  async (errorBody) => {
    const bodies: string[] = [];
    const { client } = await start({
      errorBody,
      faults: ["POST /v1/assets=status:422"],
      onExchange: ({ responseBody }) => bodies.push(responseBody),
    });
    const error = await failureOf(
      client.send({ method: "POST", path: "/v1/assets", body: { connection: { password: new Secret("hunter-canary") } } }),
    );
    expect(error).toMatchObject({ sent: "answered", status: 422 });
    expect(JSON.stringify([error.message, error.stack, error])).not.toContain("hunter-canary");
    // Otherwise the row would prove nothing.
    expect(bodies[0]?.includes("hunter-canary")).toBe(errorBody === "echo");
  },
);
