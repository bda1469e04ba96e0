// Every read that a plan needs, and no other.

import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import type { Plan } from "../../../../src/core/base/model/plan.ts";
import type { Reads } from "../../../../src/core/base/model/service.ts";
import { cachedReads, heldReads } from "../../../../src/core/plan/reads/cached-reads.ts";
import { type EmbeddedOptions, seedAccount } from "../../../../src/embedded/index.ts";
import { runCommand } from "../../../support/command.ts";
import { diagnosticsOf } from "../../../support/findings.ts";
import { serve } from "../../../support/loopback.ts";
import { openProject } from "../../../support/open-project.ts";
import { configText, keyVariable, writeProject } from "../../../support/project-folder.ts";
import { blockedSteps } from "../../../support/steps.ts";

const manifest = (kind: string, name: string, spec: object, more: object = {}): string =>
  stringify({ apiVersion: "dimsync/v1", kind, metadata: { name, ...more }, spec });
const tag = (name: string, spec: object): string => manifest("Tag", name.toLowerCase(), { name, taggedBy: "u-3", ...spec });
const config = (name: string, spec: object): string => manifest("SchemaConfig", name, spec);
const email = { columns: { email: { hashed: true } } };

const rows: readonly [
  sentence: string,
  documents: readonly string[],
  reads: readonly string[],
  options?: EmbeddedOptions,
  parts?: object,
  driftReads?: readonly string[],
][] = [
  ["a tag alone: the tags", [tag("PII", {})], ["/v1/tags"]],
  ["several tags: the tags once", [tag("PII", {}), tag("Gold", {}), tag("Finance", {})], ["/v1/tags"]],
  ["a tag that does not exist: the tags", [tag("Absent", { resources: [{ monitor: { id: "m" } }] })], ["/v1/tags"]],
  [
    "resources by id: that tag, and no integrations",
    [tag("PII", { resources: [{ dataAsset: { id: "x" } }, { monitor: { id: "m" } }, { integration: { id: "8f1c" } }] })],
    ["/v1/tags", "/v1/tags/t-1"],
  ],
  [
    "integrations by name: those too, once for several tags",
    [tag("PII", { resources: [{ integration: "Orders" }] }), tag("Gold", { resources: [{ integrations: { names: ["shop-*"] } }] })],
    ["/v1/integrations", "/v1/tags", "/v1/tags/t-1", "/v1/tags/t-3"],
  ],
  ["an exclusive tag: its resources", [tag("PII", { exclusive: true })], ["/v1/tags", "/v1/tags/t-1"]],
  ["an owner written as a name: no users", [tag("PII", { owner: "Privacy team" })], ["/v1/tags"]],
  ["an owner written as an e-mail: the users", [tag("PII", { owner: "privacy@example.com" })], ["/v1/tags", "/v1/users"]],
  [
    "users by e-mail: the users once",
    [tag("PII", { owner: { user: "privacy@example.com" } }), tag("Gold", { owner: { user: "dana@example.com" } })],
    ["/v1/tags", "/v1/users"],
  ],
  [
    "a default user by e-mail: no users if there are no relations",
    [manifest("Tag", "pii", { name: "PII" })],
    ["/v1/tags"],
    {},
    { defaults: { taggedBy: "dana@example.com" } },
  ],
  [
    "a default user by e-mail: the users if there is a relation",
    [manifest("Tag", "pii", { name: "PII", resources: [{ monitor: { id: "m" } }] })],
    ["/v1/tags", "/v1/tags/t-1", "/v1/users"],
    {},
    { defaults: { taggedBy: "dana@example.com" } },
    // Drift does not need the user who would add the tag.
    ["/v1/tags", "/v1/tags/t-1"],
  ],
  [
    "an asset: the integrations, whose references show it",
    [manifest("Asset", "w", { name: "Warehouse" }, { id: "d-12" })],
    ["/v1/integrations"],
  ],
  ["an integration: the list, but not the integration", [manifest("Integration", "orders", {})], ["/v1/integrations"]],
  [
    "a pinned integration that is not in the list: that integration too",
    [manifest("Integration", "gone", {}, { id: "dead" })],
    ["/v1/integrations", "/v1/integrations/dead"],
  ],
  [
    "a configuration by id: the schemas of that integration, and the list, which has its name",
    [config("a", { integration: { id: "8f1c" }, schemas: { public: { tables: { customers: email } } } })],
    ["/v1/integrations", "/v1/integrations/8f1c/schemas"],
  ],
  [
    "a configuration by name: the schemas of each that it selects",
    [config("a", { integrations: { names: ["shop-*"] }, schemas: { public: { tables: { customers: email } } } })],
    ["/v1/integrations", "/v1/integrations/51a1/schemas", "/v1/integrations/51a2/schemas"],
  ],
  [
    "several configurations of one integration: its schemas once",
    [
      config("a", { integration: "Orders", schemas: { public: { enabled: true } } }),
      config("b", { integration: "Orders", priority: 1, schemas: { public: { tables: { customers: email } } } }),
    ],
    ["/v1/integrations", "/v1/integrations/8f1c/schemas"],
  ],
  [
    "responses without columns: the columns of tables with column rules that are or will be enabled",
    [
      config("a", {
        integration: { id: "8f1c" },
        schemas: {
          public: {
            tables: {
              customers: email,
              users: { enabled: true },
              orders: { columns: {} },
              audit_events: { columns: { payload: { enabled: false } } },
              payments: { enabled: false, columns: { iban: { hashed: true } } },
              products: { enabled: false },
            },
          },
        },
      }),
    ],
    [
      "/v1/integrations",
      "/v1/integrations/8f1c/schemas",
      "/v1/integrations/8f1c/schemas/public/tables/customers/columns",
      "/v1/integrations/8f1c/schemas/public/tables/payments/columns",
    ],
    { schemaForm: "snake" },
  ],
  [
    "a table that will be enabled: its columns too",
    [
      config("a", {
        integration: { id: "8f1c" },
        schemas: { public: { tables: { audit_events: { enabled: true, columns: { payload: { enabled: false } } } } } },
      }),
    ],
    ["/v1/integrations", "/v1/integrations/8f1c/schemas", "/v1/integrations/8f1c/schemas/public/tables/audit_events/columns"],
    { schemaForm: "snake" },
  ],
  [
    "all kinds together: each list once, each object once",
    [
      manifest("Asset", "w", { name: "Warehouse" }, { id: "d-12" }),
      manifest("Integration", "orders", { match: { name: "Orders" } }),
      config("a", { integration: "orders", schemas: { public: { enabled: true } } }),
      tag("PII", { owner: { user: "privacy@example.com" }, resources: [{ integration: "orders" }, { asset: "w" }] }),
    ],
    ["/v1/integrations", "/v1/integrations/8f1c/schemas", "/v1/tags", "/v1/tags/t-1", "/v1/users"],
  ],
];

describe("the reads of a plan", () => {
  test.each(rows)("%s", async (_, documents, reads, options = {}, parts = {}, driftReads = undefined) => {
    const files = { "manifests/all.yaml": documents.join("---\n") };
    const { service, made } = await openProject(files, { options, parts: parts as Record<string, unknown> });
    for (const command of ["plan", "drift"]) {
      service.resetCounts();
      const { calls } = await made(command);
      const expected = command === "drift" ? (driftReads ?? reads) : reads;
      // A drift report also reads the audit log if there are differences.
      const ofObjects = service.requests.filter(({ path }) => !path.startsWith("/v1/audit-logs"));
      expect(ofObjects.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(expected.map((path) => `GET ${path}`));
      expect(calls.read).toEqual({ GET: service.requests.length });
    }
  });

  test("problems in manifests: none", async () => {
    const { service, run } = await openProject({ "manifests/all.yaml": `${tag("PII", {})}  wrong: true\n` });
    expect(await run("plan", "-v")).toMatchObject({ code: 1 });
    expect(service.requests).toEqual([]);
  });
});

test("an integration with the columns of more than 20,000 tables to read is not read, and the incomplete plan says what to do", async () => {
  const state = seedAccount();
  const [orders] = state.integrations;
  const [model] = Object.values(orders?.schemas["public"]?.tables ?? {});
  if (orders === undefined || model === undefined) throw new Error("The seed has no table.");
  const tables = Object.fromEntries(Array.from({ length: 20_001 }, (_, index) => [`t${index}`, { ...model, columns: {} }]));
  state.integrations.push({
    ...orders,
    id: "b16",
    name: "Big",
    schemas: { public: { enabled: true, nameInDestination: "public", tables } },
  });
  const fleet = config("fleet", {
    integrations: { names: ["Big", "Orders"] },
    rules: [{ match: { column: "email" }, set: { hashed: true }, minMatches: 0 }],
  });
  const { service, run } = await openProject({ "manifests/all.yaml": fleet }, { options: { schemaForm: "snake", state } });
  const { code, stdout } = await run("plan", "-o", "json");
  const plan = JSON.parse(stdout) as Plan;
  expect([code, plan.complete]).toEqual([1, false]);
  const [refused] = blockedSteps(plan);
  expect(refused).toMatchObject({
    address: "Schemas/Big",
    code: "E_COLUMN_READS",
    message: expect.stringMatching(/20000 requests.*--only/u),
  });
  expect(diagnosticsOf(plan)).toContainEqual(
    expect.objectContaining({ code: "E_COLUMN_READS", severity: "error", address: "Schemas/Big" }),
  );
  // Everything that could be read is planned.
  const read = service.requests.filter(({ path }) => path.endsWith("/columns")).map(({ path }) => path.split("/")[3]);
  expect([...new Set(read)]).toEqual(["8f1c"]);
});

test("client.concurrency limits the reads in flight", async () => {
  const count = 9;
  const concurrency = 3;
  const items = Array.from({ length: count }, (_, index) => ({
    ...{ id: `i${index}`, name: `shard-${index}`, createdAt: "2026-01-01T00:00:00Z", paused: false },
    ...{ source: { id: "s", name: "s", type: "postgres" }, destination: { id: "d", name: "d", type: "snowflake" } },
  }));
  const waiting: ServerResponse[] = [];
  let most = 0;
  const { url } = await serve((request, response) => {
    if (request.url === "/v1/integrations") {
      response.end(JSON.stringify({ code: "ok", data: { items } }));
      return;
    }
    waiting.push(response);
    most = Math.max(most, waiting.length);
    // Responds once all expected reads are in flight, late enough to notice an additional one.
    if (waiting.length === concurrency)
      setTimeout(() => {
        for (const one of waiting.splice(0))
          one.end(JSON.stringify({ code: "ok", data: { schemas: { public: { enabled: true, tables: {} } } } }));
      }, 20);
  });
  const folder = writeProject({
    "dimsync.yaml": configText(url, { client: { concurrency } }),
    "manifests/all.yaml": config("a", { integrations: { names: ["shard-*"] }, schemas: { public: { enabled: true } } }),
  });
  const { code, stdout } = await runCommand(["plan", "-q", "-v"], folder, { [keyVariable]: "key" });
  expect(stdout).toContain(`Read with ${count + 1} GET.`);
  expect(code).toBe(0);
  expect(most).toBe(concurrency);
});

test("held reads ask once for each list, object, tree and table, and confuse none", async () => {
  const asked: string[] = [];
  const ask = async (...args: readonly unknown[]) => {
    asked.push(JSON.stringify(args));
    return args;
  };
  const held = heldReads(cachedReads({ list: ask, one: ask, schemas: ask, columns: ask } as unknown as Reads));
  const ids = ["a", "b"];
  const calls = [
    ...ids.flatMap((name) => [[held.list, { name }], ...ids.map((id) => [held.one, { name }, id])]),
    ...ids.map((id) => [held.schemas, id]),
    ...ids.flatMap((id) => ids.flatMap((schema) => ids.map((table) => [held.columns, id, schema, table]))),
  ] as unknown as readonly (readonly [typeof ask, ...unknown[]])[];
  for (const [read, ...args] of [...calls, ...calls]) expect(await read(...args)).toEqual(args);
  expect(asked).toHaveLength(calls.length);
});
