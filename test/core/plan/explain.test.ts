// explain shows why a node has its value, and what would change it.
import { describe, expect, test } from "vitest";
import type { Plan } from "../../../src/index.ts";
import { type OpenProjectOptions, openProject } from "../../support/open-project.ts";
import { readySteps } from "../../support/steps.ts";

// On the command line, against the embedded service.

const manifests = `apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders }
spec: { match: { name: Orders } }
---
apiVersion: dimsync/v1
kind: RuleSet
metadata: { name: pii }
spec:
  rules:
    - { id: emails, match: { column: "*email*" }, set: { hashed: true }, reason: GDPR register 12 }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: orders
  unmatched: { tables: disable }
  rules:
    - { id: core, match: { schema: public, table: [orders, customers, users] }, set: { enabled: true } }
    - use: pii
    - { id: support, match: { table: orders, column: contact_email }, set: { hashed: false }, reason: DPIA-41 }
    - { id: keys, match: { column: "*", where: { isPrimaryKey: true } }, set: { enabled: true } }
    - { id: no-logs, match: { table: "audit_*" }, ignore: true }
    - { id: theirs, match: { table: payments }, ignore: true }
  schemas:
    public: { tables: { customers: { columns: { email: { hashed: false } } } } }
`;

const start = ({ text = manifests, ...more }: OpenProjectOptions & { readonly text?: string } = {}) =>
  openProject({ "manifests/a.yaml": text }, { ...more, flags: [], env: { COLUMNS: "200" } });
const events = ["events    none for its schemas in the last 30 days", ""];
describe("explain shows", () => {
  test.each<[string, string, readonly string[]]>([
    [
      "the rule that decides, what changes and what would be sent",
      "public.users.email",
      [
        "emails   hashed: true               decides hashed   manifests/a.yaml:11   GDPR register 12",
        "keys     does not apply (where)                      manifests/a.yaml:23",
        "",
        "live      nameInDestination: email, enabled: true, hashed: false, isPrimaryKey: false",
        "outcome   managed: hashed: true",
        "change    hashed false → true   protects",
        "request   PATCH /v1/integrations/8f1c/schemas, here without 3 other changes of Schemas/orders",
        '{"schemas":{"public":{"tables":{"users":{"columns":{"email":{"hashed":true}}}}}}}',
      ],
    ],
    [
      "a rule that a later rule overrides",
      "public.orders.contact_email",
      [
        "emails    hashed: true             overridden       manifests/a.yaml:11   GDPR register 12",
        "support   hashed: false            decides hashed   manifests/a.yaml:22   DPIA-41",
        "keys      does not apply (where)                    manifests/a.yaml:23",
        "",
        "live      nameInDestination: contact_email, enabled: true, hashed: false, isPrimaryKey: false",
        "outcome   managed: hashed: false",
        "change    none",
        "request   none for it; a plan makes 4 other changes of Schemas/orders",
      ],
    ],
    [
      "a literal entry that overrides a rule",
      "public.customers.email",
      [
        "emails    hashed: true             overridden       manifests/a.yaml:11   GDPR register 12",
        "keys      does not apply (where)                    manifests/a.yaml:23",
        "literal   hashed: false            decides hashed   manifests/a.yaml:27",
        "",
        "live      nameInDestination: email, enabled: true, hashed: false, isPrimaryKey: false",
        "outcome   managed: hashed: false",
        "change    none",
        "request   none for it; a plan makes 4 other changes of Schemas/orders",
      ],
    ],
    [
      "the effect of unmatched",
      "public.products",
      [
        "unmatched.tables   enabled: false   decides enabled   manifests/a.yaml:18",
        "",
        "live      nameInDestination: products, enabled: true, syncMode: incremental, cursorField: updated_at",
        "outcome   managed: enabled: false",
        "change    enabled true → false   protects",
        "request   PATCH /v1/integrations/8f1c/schemas, here without 3 other changes of Schemas/orders",
        '{"schemas":{"public":{"tables":{"products":{"enabled":false}}}}}',
      ],
    ],
    [
      "the rule that ignores it",
      "public.payments",
      [
        "theirs   ignores it      manifests/a.yaml:25",
        "",
        "live      nameInDestination: payments, enabled: true, syncMode: incremental, cursorField: paid_at",
        "outcome   ignored: it stays as it is",
        "change    none",
        "request   none for it; a plan makes 4 other changes of Schemas/orders",
      ],
    ],
    [
      "the rule that ignores the table above it",
      "public.audit_events.actor_email",
      [
        "emails    hashed: true             overridden   manifests/a.yaml:11   GDPR register 12",
        "keys      does not apply (where)               manifests/a.yaml:23",
        "no-logs   ignores a node above it              manifests/a.yaml:24",
        "",
        "live      nameInDestination: actor_email, enabled: true, hashed: false, isPrimaryKey: false",
        "outcome   ignored: it stays as it is",
        "stopped   not replicated, because public.audit_events is or will be disabled",
        "change    none",
        "request   none for it; a plan makes 4 other changes of Schemas/orders",
      ],
    ],
    [
      "that nothing applies to it",
      "public",
      [
        "  No rule or literal entry applies to it.",
        "",
        "live      nameInDestination: orders, enabled: true",
        "outcome   unmanaged: it stays as it is",
        "change    none",
        "request   none for it; a plan makes 4 other changes of Schemas/orders",
      ],
    ],
    [
      "the result for a node that does not exist",
      "new.t.x_email",
      [
        "emails   hashed: true             decides hashed   manifests/a.yaml:11   GDPR register 12",
        "keys     does not apply (where)                    manifests/a.yaml:23",
        "",
        "live      not in the account: there is no schema new.",
        "outcome   would be managed: hashed: true",
        "change    none",
        "request   none for it; a plan makes 4 other changes of Schemas/orders",
      ],
    ],
  ])("%s", async (_sentence, path, expected) => {
    const { run, service } = await start();
    const { code, stdout, stderr } = await run("explain", "Schemas/orders", path);
    // The widths of columns are not tested here.
    const squeezed = (all: readonly string[]) => all.map((line) => line.trim().replaceAll(/ {2,}/gu, "  "));
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(squeezed(stdout.split("\n"))).toEqual(squeezed([`Schemas/orders   ${path}`, "", ...expected, ...events]));
    expect(service.requests.map(({ path: read }) => read).sort()).toEqual([
      "/v1/audit-logs",
      "/v1/integrations",
      "/v1/integrations/8f1c/schemas",
    ]);
    expect(service.requests.every(({ method }) => method === "GET")).toBe(true);
  });

  test.each<[string, string, string]>([
    ["a column", "public.users.emial", "there is no column public.users.emial. Did you mean public.users.email?"],
    ["a table", "public.usres.email", "there is no table public.usres. Did you mean public.users?"],
    ["a column, without its schema", "users.email", "there is no schema users. Did you mean public.users.email?"],
    ["a schema", "pubilc", "there is no schema pubilc. Did you mean public?"],
  ])("a suggestion for %s that does not exist", async (_sentence, path, expected) => {
    const { run } = await start();
    expect((await run("explain", "Schemas/orders", path)).stdout).toContain(`live      not in the account: ${expected}\n`);
  });

  test("that unmatched refuses a node, and that an empty literal entry sets nothing", async () => {
    const text = manifests
      .replace("tables: disable", "tables: error")
      .replace("customers: { columns", "products: {}, customers: { columns");
    const { run } = await start({ text });
    const refused = (await run("explain", "Schemas/orders", "public.order_items")).stdout;
    expect(refused).toContain("\nunmatched.tables   refuses it, because nothing covers it   manifests/a.yaml:18\n");
    const covered = (await run("explain", "Schemas/orders", "public.products")).stdout;
    expect(covered).toContain("\nliteral   nothing   manifests/a.yaml:27\n");
  });

  test("that the columns of a table are unknown", async () => {
    const { run } = await start({ options: { schemaForm: "snake", faults: ["GET /columns$=status:404"] } });
    const { stdout } = await run("explain", "Schemas/orders", "public.audit_events.actor_email");
    expect(stdout).toContain("live      unknown: the service returned no columns for public.audit_events\n");
  });

  test("the part of the request in plan that changes the node", async () => {
    const { run } = await start();
    const [explained] = JSON.parse((await run("explain", "Schemas/orders", "public.users.email", "-o", "json")).stdout);
    const made = JSON.parse((await run("plan", "-o", "json")).stdout) as Plan;
    const [request] = readySteps(made).find(({ address }) => address.startsWith("Schemas/"))?.requests ?? [];
    expect(request).toMatchObject(explained.requests[0]);
    expect(explained.requests[0].body).toEqual({
      schemas: { public: { tables: { users: { columns: { email: { hashed: true } } } } } },
    });
    expect(explained).toMatchObject({
      address: "Schemas/orders",
      liveId: "8f1c",
      path: ["public", "users", "email"],
      said: [
        { rule: "emails", file: "manifests/a.yaml", line: 11, effect: "set", wins: ["hashed"] },
        { rule: "keys", effect: "narrowed" },
      ],
      state: "managed",
      changes: [{ key: "hashed", before: false, after: true, cause: { rule: "emails", file: "manifests/a.yaml", line: 11 } }],
      events: [],
    });
  });

  test("that nobody has reviewed a column, if the schemas response has no columns", async () => {
    const text =
      "apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: orders }\nspec:\n  integration: Orders\n  unreviewed: disable\n";
    const { run, service } = await start({ text, parts: { catalog: "catalog.yaml" }, options: { schemaForm: "snake" } });
    expect((await run("catalog", "accept", "--all")).code).toBe(0);
    service.mutate(({ integrations: [orders] }) => {
      const columns = orders?.schemas["public"]?.tables["order_items"]?.columns;
      Object.assign(columns ?? {}, { note: { nameInDestination: "note", enabled: true, hashed: false, isPrimaryKey: false } });
    });
    const { stdout } = await run("explain", "Schemas/Orders", "public.order_items.note");
    expect(stdout).toMatch(/^unreviewed\.columns +enabled: false +decides enabled/mu);
    expect(stdout).toContain("unread    the columns of 6 other tables; a plan may find more");
  });

  test("that the config ignores a node", async () => {
    const ignore = [{ address: "SchemaConfig/orders", path: "/schemas/public/tables/users", reason: "theirs" }];
    const { run } = await start({ parts: { ignore } });
    const { stdout } = await run("explain", "Schemas/orders", "public.users.email");
    expect(stdout).toContain("ignored   enabled and hashed, by an ignore entry in the config\nchange    none\n");
    expect(stdout).not.toContain('"users"');
  });

  test("why nothing can be sent", async () => {
    const { run } = await start({
      text: manifests.replace(
        "  schemas:\n",
        "    - { id: bad, match: { table: users, column: id }, set: { enabled: false } }\n  schemas:\n",
      ),
    });
    const { code, stdout } = await run("explain", "Schemas/orders", "public.users.id");
    expect([code, stdout]).toEqual([0, expect.stringContaining("refused   E_DISABLES_KEY manifests/a.yaml:26: ")]);
    expect(stdout).not.toContain("request");
  });

  test("the audit log entries about the schemas, the newest first", async () => {
    const { run, service } = await start();
    const dana = { email: "dana@example.com", userAgent: "Mozilla/5.0" };
    for (const event of [
      'Schema configuration of integration 8f1c "Orders" changed',
      'Integration 8f1c "Orders" paused',
      'Schema configuration of integration b27d "Billing" changed',
      'Integration 8f1c "Orders" updated',
    ])
      service.mutate(() => {}, dana, event);
    const { stdout } = await run("explain", "SchemaConfig/orders", "public.users.email");
    const shown = stdout.slice(stdout.indexOf("events")).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/gu, "TIME");
    expect(shown).toBe(
      'events    TIME   dana@example.com   Integration 8f1c "Orders" updated\n          TIME   dana@example.com   Schema configuration of integration 8f1c "Orders" changed\n',
    );
  });

  test("everything else if the audit log cannot be read", async () => {
    const { run } = await start({ options: { faults: ["GET /v1/audit-logs=status:403"] } });
    const { code, stdout } = await run("explain", "Schemas/orders", "public.users.email");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/change {4}hashed[\s\S]*\nevents {4}not available: [\s\S]*403/u)]);
  });

  test.each([
    ["a column", "public.users.email", ["users"], "hashed false → true", 5],
    ["a column of a disabled table", "public.audit_events.actor_email", ["audit_events"], "none", 6],
    ["a table", "public.products", [], "enabled true → false", 5],
    ["a schema", "public", [], "none", 6],
  ] as const)("%s without reading the columns of other tables", async (_sentence, path, tables, change, unread) => {
    const read = async (schemaForm: "camel" | "snake") => {
      const { run, service } = await start({ options: { schemaForm } });
      const { stdout } = await run("explain", "Schemas/orders", path);
      const [explained] = JSON.parse((await run("explain", "Schemas/orders", path, "-o", "json")).stdout);
      const half = service.requests.slice(0, service.requests.length / 2).map((one) => one.path);
      const columns = half.flatMap((one) => /tables\/(\w+)\/columns/u.exec(one)?.[1] ?? []);
      return { stdout, explained, columns, others: half.length - columns.length };
    };
    const [camel, snake] = [await read("camel"), await read("snake")];
    expect([camel.columns, camel.others, snake.columns, snake.others]).toEqual([[], 3, tables, 3]);
    expect(snake.explained.changes).toEqual(camel.explained.changes);
    expect(snake.explained.requests).toEqual(camel.explained.requests);
    expect([camel.explained.unreadTables, snake.explained.unreadTables]).toEqual([undefined, unread]);
    expect(snake.stdout).toContain(`change    ${change}`);
    expect(snake.stdout).toContain(`unread    the columns of ${unread} other tables; a plan may find more changes and errors there`);
    expect(camel.stdout).not.toContain("unread");
  });

  test("a node in every integration that a SchemaConfig selects", async () => {
    const { run } = await start({ text: manifests.replace("  integration: orders", '  integrations: { names: ["shop-shard-*"] }') });
    const { stdout } = await run("explain", "SchemaConfig/orders", "public.users.email", "-o", "json");
    expect(JSON.parse(stdout).map(({ address }: { address: string }) => address)).toEqual([
      "Schemas/shop-shard-01",
      "Schemas/shop-shard-02",
    ]);
  });
});

describe("explain refuses", () => {
  test.each<[string, readonly string[], string]>([
    ["another kind", ["Tag/pii", "x"], "E_USAGE"],
    ["no path", ["SchemaConfig/orders"], "E_USAGE"],
    ["too deep a path", ["SchemaConfig/orders", "a.b.c.d"], "E_USAGE"],
    ["an unknown address", ["SchemaConfig/order", "public"], "Did you mean SchemaConfig/orders"],
    ["an unsupported format", ["SchemaConfig/orders", "public", "-o", "html"], "E_OUTPUT"],
  ])("%s", async (_sentence, argv, expected) => {
    const { run } = await start();
    expect(await run("explain", ...argv)).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(expected) });
  });
  test("invalid manifests, with the line of each problem", async () => {
    const { run, service } = await start({ text: manifests.replace("set: { enabled: true } }", "set: { enabled: maybe } }") });
    const { code, stderr } = await run("explain", "SchemaConfig/orders", "public");
    expect([code, stderr]).toEqual([1, expect.stringMatching(/manifests\/a\.yaml:20:\d+/u)]);
    expect(service.requests).toEqual([]);
  });
  test("a SchemaConfig with invalid rules, with the problems", async () => {
    const { run } = await start({ text: manifests.replace("use: pii", "use: nope") });
    expect(await run("explain", "SchemaConfig/orders", "public")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/a\.yaml:21:\d+[\s\S]*E_UNKNOWN_REFERENCE/u),
    });
  });
});

describe("sync modes and cursors", () => {
  const modes = `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: Orders
  rules:
    - { id: names, match: { column: "*name*" }, set: { hashed: true } }
    - { id: all, match: { table: customers }, set: { syncMode: full refresh } }
    - { id: cursors, match: { table: [customers, order_items] }, set: { syncMode: incremental, cursorField: created_at } }
    - { id: hidden, match: { table: payments }, set: { cursorField: paid_at } }
  schemas: { reporting: { tables: { daily_sales: { syncMode: Change Stream } } } }
`;
  const extended = { text: modes, parts: { service: { extended: true } }, options: { observed: true, ids: "short" } } as const;

  test.each<[string, string, readonly string[]]>([
    [
      "from the rule that decides both, with the request that sends them",
      "public.customers",
      [
        "all       syncMode: full refresh                           overridden                         manifests/a.yaml:8",
        "cursors   syncMode: incremental, cursorField: created_at   decides syncMode and cursorField   manifests/a.yaml:9",
        "outcome   managed: syncMode: incremental, cursorField: created_at",
        "change    cursorField updated_at → created_at   neutral",
        '{"schemas":{"public":{"tables":{"customers":{"cursorField":"created_at"}}}}}',
      ],
    ],
    [
      "from the literal tree",
      "reporting.daily_sales",
      [
        "literal   syncMode: Change Stream   decides syncMode   manifests/a.yaml:11",
        "outcome   managed: syncMode: Change Stream",
        "change    syncMode FULL_REFRESH → Change Stream   neutral",
      ],
    ],
    [
      "that are not sent, because the table has no such column",
      "public.order_items",
      ["change     none", 'not sent   syncMode and cursorField, because the table has no column "created_at"'],
    ],
    [
      "that are not sent, because the service does not show the cursor",
      "public.payments",
      ["change     none", "not sent   cursorField, because the service does not show the live value"],
    ],
  ])("explain shows those %s", async (_sentence, path, expected) => {
    const { run } = await start(extended);
    const { code, stdout } = await run("explain", "Schemas/Orders", path);
    const lines = stdout.split("\n").map((line) => line.trim());
    expect([code, lines.filter((line) => expected.includes(line))]).toEqual([0, expected]);
    expect(lines.filter((line) => line.startsWith("request")).length).toBeLessThan(2);
  });

  test.each([
    ["explain", "Schemas/Orders", "public.customers"],
    ["explain", "SchemaConfig/orders", "public.customers"],
  ])("without service.extended, %s %s names the lines that set them", async (...argv) => {
    const { run } = await start({ ...extended, parts: {} });
    expect(await run(...argv)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/a\.yaml:8:\d+ +E_UNWRITABLE_FIELD[\s\S]*set service: \{ extended: true \} for the target/u),
    });
  });
});

test("the address of a SchemaConfig with lower priority explains the same", async () => {
  const above =
    "apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: above }\nspec:\n  integration: orders\n  priority: 1\n  rules: [{ match: { table: users }, set: { enabled: false } }]\n";
  const { run } = await start({ text: `${manifests}---\n${above}` });
  const named = await run("explain", "Schemas/orders", "public.users");
  expect(named.code).toBe(0);
  await expect(named.stdout).toContain("Schemas/orders");
  for (const layer of ["Schemas/orders", "SchemaConfig/orders"])
    expect(await run("explain", layer, "public.users")).toMatchObject({ code: 0, stdout: named.stdout });
});
