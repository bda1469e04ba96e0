// A literal entry that violates a policy is found without the account.
import { describe, expect, test } from "vitest";
import type { PolicySpec, SchemaConfigSpec, SchemaTree } from "../../../../src/core/base/model/manifest.ts";
import { literalProblems } from "../../../../src/core/columns/policies/validate.ts";
import { resourceOf } from "../../../support/accounts/view.ts";

const policy: PolicySpec = {
  severity: "error",
  when: { column: { name: "*email*", enabled: true }, integration: { labels: { domain: "sales" } } },
  require: { hashed: true },
  message: "unhashed",
};
/** The schema and the table are enabled by default; "open" leaves that to the account. */
const column = (
  email: { readonly enabled?: boolean; readonly hashed?: boolean },
  { table = true, schema = true }: { readonly table?: boolean | "open"; readonly schema?: boolean | "open" } = {},
): SchemaTree => ({
  public: {
    ...(schema === "open" ? {} : { enabled: schema }),
    tables: { users: { ...(table === "open" ? {} : { enabled: table }), columns: { email } } },
  },
});
const unhashed = column({ enabled: true, hashed: false });

interface Case {
  readonly policy?: Partial<PolicySpec>;
  readonly config?: Partial<SchemaConfigSpec>;
  readonly others?: Readonly<Record<string, SchemaConfigSpec>>;
  readonly ignoring?: boolean;
}

function found({ policy: more = {}, config = {}, others = {}, ignoring = false }: Case): readonly string[] {
  const manifests = [
    resourceOf("Integration", "orders", { match: { name: "Orders" } }, { labels: { domain: "sales" } }),
    resourceOf("Integration", "pinned", {}, { id: "8f1c", labels: { domain: "sales" } }),
    resourceOf("Integration", "billing", {}, { labels: { domain: "finance" } }),
    resourceOf("Policy", "pii", { ...policy, ...more }),
    resourceOf("SchemaConfig", "a", { integration: "orders", schemas: unhashed, ...config }),
    ...Object.entries(others).map(([name, spec]) => resourceOf("SchemaConfig", name, spec)),
  ];
  return literalProblems(manifests, { today: "2026-06-01", ignoring }).map(
    ({ code, severity, place }) => `${code} ${severity} ${place?.pointer}`,
  );
}

const sets = (...schemas: Parameters<typeof column>): Case => ({ config: { schemas: column(...schemas) } });
const checks = (spec: Partial<PolicySpec>): Case => ({ policy: spec });
const beside = (b: SchemaConfigSpec): Case => ({ others: { b } });
const at = "/spec/schemas/public/tables/users/columns/email/hashed";
const error = [`E_POLICY error ${at}`];
const warning = [`W_POLICY warning ${at}`];
const anywhere = { when: { column: { name: "*email*", enabled: true } } };

describe("a literal entry against a policy, without the account", () => {
  test.each<[string, Case, readonly string[]]>([
    ["is an error if it sets the opposite of what the policy requires", {}, error],
    ["has the severity of the policy: warning", checks({ severity: "warning" }), warning],
    ["has the severity of the policy: info", checks({ severity: "info" }), [`I_POLICY info ${at}`]],
    ["may set what the policy requires", sets({ enabled: true, hashed: true }), []],
    [
      "is not checked in a table that the policy does not match",
      {
        policy: { when: { table: { name: "secret_*" } }, require: { enabled: false } },
        config: { schemas: { public: { tables: { users: { enabled: true } } } } },
      },
      [],
    ],
    ["may leave the value to the account", sets({ enabled: true }), []],
    [
      "is a warning if the manifest does not say whether the table is enabled",
      sets({ enabled: true, hashed: false }, { table: "open" }),
      warning,
    ],
    [
      "is a warning if the manifest does not say whether the schema is enabled",
      sets({ enabled: true, hashed: false }, { schema: "open" }),
      warning,
    ],
    ["is a warning if the manifest does not say whether the column is enabled", sets({ hashed: false }), warning],
    ["is fine in a disabled table", sets({ enabled: true, hashed: false }, { table: false }), []],
    ["is fine in a disabled schema", sets({ enabled: true, hashed: false }, { schema: false }), []],
    ["is fine if the policy checks another column", checks({ when: { column: { name: "phone" } } }), []],
    ["is fine if the policy checks another table", checks({ when: { column: {}, table: { name: "orders" } } }), []],
    ["is fine if the policy checks another integration", { config: { integration: "billing" } }, []],
    ["is fine if only the account has the integration, so that its labels are unknown", { config: { integration: "Orders" } }, []],
    ["is an error if the policy checks all integrations", { config: { integration: "Orders" }, policy: anywhere }, error],
    ["is an error for an integration that is given by its pinned id", { config: { integration: { id: "8f1c" } } }, error],
    ["is fine for an id that no manifest pins", { config: { integration: { id: "b27d" } } }, []],
    ["is fine in a SchemaConfig with a selector", { config: { integration: undefined as never, integrations: { names: ["*"] } } }, []],
    [
      "is an error if the policy selects the integration by name",
      checks({ when: { column: {}, integration: { names: ["ord*"] } } }),
      error,
    ],
    [
      "is fine if the policy may exclude the integration by its live name",
      checks({ when: { column: {}, integration: { names: ["*", "!Orders"] } } }),
      [],
    ],
    ["is a warning if a live attribute decides whether the policy applies", checks({ when: { column: { isPrimaryKey: false } } }), warning],
    [
      "is a warning if the sync mode decides whether the policy applies",
      checks({ when: { column: {}, table: { syncMode: "full" } } }),
      warning,
    ],
    ["is fine with an exemption", checks({ exemptions: [{ schema: "public", reason: "r", expires: "2026-06-01" }] }), []],
    [
      "is fine with an exemption for an integration by any name",
      checks({ exemptions: [{ integration: "Orders", reason: "r", expires: "2026-06-01" }] }),
      [],
    ],
    ["is an error with an expired exemption", checks({ exemptions: [{ schema: "public", reason: "r", expires: "2026-05-31" }] }), error],
    ["is fine if a SchemaConfig of higher priority may override it", beside({ integration: "orders", priority: 1 }), []],
    [
      "is an error if the other SchemaConfig has a lower priority",
      { config: { priority: 2 }, others: { b: { integration: "orders", priority: 1 } } },
      error,
    ],
    ["is an error if the other SchemaConfig selects another integration", beside({ integration: "billing", priority: 1 }), error],
    ["is fine if the other SchemaConfig selects several integrations", beside({ integrations: { names: ["*"] }, priority: 1 }), []],
    ["is a warning if missing names are ignored", { config: { missing: "ignore" } }, warning],
    ["is a warning if the config ignores differences of a SchemaConfig", { ignoring: true }, warning],
    [
      "is an error for an enabled table that must be disabled",
      checks({ when: { table: { name: "users" } }, require: { enabled: false } }),
      ["E_POLICY error /spec/schemas/public/tables/users/enabled"],
    ],
    [
      "is an error for a disabled table that must be enabled",
      { ...checks({ when: { table: {} }, require: { enabled: true } }), ...sets({}, { table: false, schema: "open" }) },
      ["E_POLICY error /spec/schemas/public/tables/users/enabled"],
    ],
    [
      "is an error for a table that must be enabled, in a disabled schema",
      { ...checks({ when: { table: {} }, require: { enabled: true } }), ...sets({}, { schema: false }) },
      ["E_POLICY error /spec/schemas/public/tables/users/enabled"],
    ],
    [
      "is a warning for an enabled table that must be disabled, if the manifest does not mention the schema",
      { ...checks({ when: { table: {} }, require: { enabled: false } }), ...sets({}, { schema: "open" }) },
      ["W_POLICY warning /spec/schemas/public/tables/users/enabled"],
    ],
    [
      "is an error for an enabled schema that must be disabled",
      checks({ when: { schema: {} }, require: { enabled: false } }),
      ["E_POLICY error /spec/schemas/public/enabled"],
    ],
  ])("%s", (_sentence, given, expected) => {
    expect(found(given)).toEqual(expected);
  });
});
