import { describe, expect, test } from "vitest";
import type { PolicySpec, SchemaConfigSpec, SchemaTree } from "../../src/model/resource.ts";
import { literalProblems } from "../../src/policies/offline.ts";
import { resourceOf } from "../support/world.ts";

const policy: PolicySpec = {
  severity: "error",
  when: { column: { name: "*email*", enabled: true }, integration: { labels: { domain: "sales" } } },
  require: { hashed: true },
  message: "in clear",
};
/** Switches of schema and table that are left out are on; "open" leaves them to the account. */
const column = (
  email: { readonly enabled?: boolean; readonly hashed?: boolean },
  { table = true, schema = true }: { readonly table?: boolean | "open"; readonly schema?: boolean | "open" } = {},
): SchemaTree => ({
  public: {
    ...(schema === "open" ? {} : { enabled: schema }),
    tables: { users: { ...(table === "open" ? {} : { enabled: table }), columns: { email } } },
  },
});
const clear = column({ enabled: true, hashed: false });

interface Case {
  readonly policy?: Partial<PolicySpec>;
  readonly config?: Partial<SchemaConfigSpec>;
  readonly others?: Readonly<Record<string, SchemaConfigSpec>>;
  readonly ignoring?: boolean;
}

function found({ policy: more = {}, config = {}, others = {}, ignoring = false }: Case): readonly string[] {
  const resources = [
    resourceOf("Integration", "orders", { match: { name: "Orders" } }, { labels: { domain: "sales" } }),
    resourceOf("Integration", "pinned", {}, { id: "8f1c", labels: { domain: "sales" } }),
    resourceOf("Integration", "billing", {}, { labels: { domain: "finance" } }),
    resourceOf("Policy", "pii", { ...policy, ...more }),
    resourceOf("SchemaConfig", "a", { integration: "orders", schemas: clear, ...config }),
    ...Object.entries(others).map(([name, spec]) => resourceOf("SchemaConfig", name, spec)),
  ];
  return literalProblems(resources, "2026-06-01", ignoring).map(({ code, severity, place }) => `${code} ${severity} ${place?.pointer}`);
}

const at = "/spec/schemas/public/tables/users/columns/email/hashed";
const error = [`E_POLICY error ${at}`];
const warning = [`W_POLICY warning ${at}`];
const anywhere = { when: { column: { name: "*email*", enabled: true } } };

describe("a literal tree against a policy, before the account is known", () => {
  test.each<[string, Case, readonly string[]]>([
    ["says the opposite of what is required: an error", {}, error],
    ["for a policy of less severity, as severe as that", { policy: { severity: "warning" } }, warning],
    ["for information only", { policy: { severity: "info" } }, [`I_POLICY info ${at}`]],
    ["says what is required", { config: { schemas: column({ enabled: true, hashed: true }) } }, []],
    ["leaves it open", { config: { schemas: column({ enabled: true }) } }, []],
    [
      "leaves the table's switch to the account: a warning",
      { config: { schemas: column({ enabled: true, hashed: false }, { table: "open" }) } },
      warning,
    ],
    ["leaves the schema's switch open", { config: { schemas: column({ enabled: true, hashed: false }, { schema: "open" }) } }, warning],
    ["leaves the column's switch open", { config: { schemas: column({ hashed: false }) } }, warning],
    ["switches the table off", { config: { schemas: column({ enabled: true, hashed: false }, { table: false }) } }, []],
    ["switches the schema off", { config: { schemas: column({ enabled: true, hashed: false }, { schema: false }) } }, []],
    ["switches the column off", { config: { schemas: column({ enabled: false, hashed: false }) } }, []],
    ["is about another column", { policy: { when: { column: { name: "phone" } } } }, []],
    ["is about another table", { policy: { when: { column: {}, table: { name: "orders" } } } }, []],
    ["is about another integration", { config: { integration: "billing" } }, []],
    ["is about one that only the account has", { config: { integration: "Orders" } }, []],
    ["unless the policy means all", { config: { integration: "Orders" }, policy: anywhere }, error],
    ["is about a pinned integration", { config: { integration: { id: "8f1c" } } }, error],
    ["is about an id that nobody has pinned", { config: { integration: { id: "b27d" } } }, []],
    ["is about many integrations", { config: { integration: undefined as never, integrations: { names: ["*"] } } }, []],
    ["the policy names the integration", { policy: { when: { column: {}, integration: { names: ["ord*"] } } } }, error],
    ["the policy may leave it out by its live name", { policy: { when: { column: {}, integration: { names: ["*", "!Orders"] } } } }, []],
    ["a live attribute decides whether it is judged", { policy: { when: { column: { isPrimaryKey: false } } } }, warning],
    ["the table's mode decides that", { policy: { when: { column: {}, table: { syncMode: "full" } } } }, warning],
    ["an exemption counts", { policy: { exemptions: [{ column: "email", reason: "r", expires: "2026-06-01" }] } }, []],
    ["one of an integration by whatever name", { policy: { exemptions: [{ integration: "Orders", reason: "r" }] } }, []],
    ["one that expired does not", { policy: { exemptions: [{ column: "email", reason: "r", expires: "2026-05-31" }] } }, error],
    ["a configuration of higher priority may overrule it", { others: { b: { integration: "orders", priority: 1 } } }, []],
    ["one of lower priority can't", { config: { priority: 2 }, others: { b: { integration: "orders", priority: 1 } } }, error],
    ["one of another integration can't", { others: { b: { integration: "billing", priority: 1 } } }, error],
    ["one of many integrations may", { others: { b: { integrations: { names: ["*"] }, priority: 1 } } }, []],
    ["names may be missing: a warning", { config: { missing: "ignore" } }, warning],
    ["differences may be left to others: a warning", { ignoring: true }, warning],
    ["a module judges, which is not run", { policy: { module: "x.mjs", when: undefined as never, require: undefined as never } }, []],
    [
      "a table that must be off is on",
      { policy: { when: { table: { name: "users" } }, require: { enabled: false } } },
      ["E_POLICY error /spec/schemas/public/tables/users/enabled"],
    ],
    [
      "a table that must be on is off",
      { policy: { when: { table: {} }, require: { enabled: true } }, config: { schemas: column({}, { table: false, schema: "open" }) } },
      ["E_POLICY error /spec/schemas/public/tables/users/enabled"],
    ],
    [
      "a table that must be on is in a schema that is off",
      { policy: { when: { table: {} }, require: { enabled: true } }, config: { schemas: column({}, { schema: false }) } },
      ["E_POLICY error /spec/schemas/public/tables/users/enabled"],
    ],
    [
      "a table that must be off is on, if its schema is",
      { policy: { when: { table: {} }, require: { enabled: false } }, config: { schemas: column({}, { schema: "open" }) } },
      ["W_POLICY warning /spec/schemas/public/tables/users/enabled"],
    ],
    [
      "a schema that must be off is on",
      { policy: { when: { schema: {} }, require: { enabled: false } } },
      ["E_POLICY error /spec/schemas/public/enabled"],
    ],
  ])("%s", (_sentence, given, expected) => {
    expect(found(given)).toEqual(expected);
  });
});
