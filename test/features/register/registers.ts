import { countsOf, type Register, registerExit } from "../../../src/features/register/command.ts";
import type { RegisterRow } from "../../../src/features/register/current.ts";

const row: RegisterRow = {
  ...{ integration: "shop-eu-03", integrationId: "51a3", source: "shop-eu-03-pg (postgres)", destination: "Warehouse (snowflake)" },
  ...{ schema: "public", table: "customers", column: "email" },
  ...{ destinationSchema: "RAW_SHOP_EU_03", destinationTable: "CUSTOMERS", destinationColumn: "EMAIL" },
  ...{ label: "pii", labelSource: "models/sources.yml, source shop.customers.email, meta.contains_pii", replicated: true, hashed: true },
  ...{ rule: "pii (manifests/shops.yaml:9)", reason: "GDPR register 12", exemption: "", approvedBy: "", expires: "", breaks: [] },
  ...{ since: "2026-11-03T06:00:00.000Z" },
};

/** Four rows of two integrations: hashed, exempt, breaking a policy, not replicated. Names and reasons have signs that outputs must escape. */
export const rows: readonly RegisterRow[] = [
  {
    ...row,
    integration: "Orders <b>",
    integrationId: "8f1c",
    column: 'say "hi", a|b',
    reason: "",
    hashed: false,
    breaks: ["Policy/pii-hashed"],
    rule: "",
  },
  row,
  {
    ...{ ...row, column: "phone", hashed: false, rule: "dial (manifests/shops.yaml:12)", reason: "@call centre", since: "" },
    ...{ exemption: "DPIA-41", approvedBy: "privacy@example.com", expires: "2027-03-31" },
  },
  {
    ...row,
    table: "audit_events",
    column: "actor_email",
    replicated: false,
    destinationSchema: "",
    destinationTable: "",
    destinationColumn: "",
  },
];

export function registerOf(all: readonly RegisterRow[]): Register {
  const summary = countsOf(all);
  return {
    target: "prod",
    at: "2026-11-04T06:00:00.000Z",
    account: "https://api.example.com",
    summary,
    rows: all,
    exit: registerExit(summary),
  };
}
