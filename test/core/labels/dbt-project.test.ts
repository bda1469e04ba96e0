import { expect, test } from "vitest";
import { lineageOf, readersIn } from "../../../src/core/impact/lineage.ts";
import { models, shopManifest } from "./dbt-project.ts";

const lineage = lineageOf(shopManifest());
const readersOf = readersIn([{ tables: undefined, lineage: () => lineage }]);
const paidOrders = Array.from({ length: 13 }, (_, index) => `mart_orders_${index}`);

/** Who reads a column, counted by hand from the SQL; and where the evidence differs. */
interface Counted {
  readonly readers: readonly string[];
  /** Named although they do not read it. */
  readonly falsely?: readonly string[];
  readonly missed?: readonly string[];
}

const counted: Readonly<Record<string, Counted>> = {
  "customers.email": {
    readers: [
      ...[
        "stg_customers",
        "int_customer_orders",
        "int_newsletter_customers",
        "int_contacts",
        "dim_customers",
        "fct_contacts",
        "fct_tickets",
      ],
      ...["mart_customer_360", "mart_scores", "snap_customers", "crm", "not_null_stg_customers_email", "unique_dim_customers_email"],
      ...["relationships_360_email", "unique_fct_contacts_email", "mart_macro"],
    ],
    falsely: ["mart_masked"],
    missed: ["mart_macro"],
  },
  "customers.phone": {
    readers: ["stg_customers", "dim_customers", "mart_customer_360", "snap_customers", "crm", "mart_macro"],
    missed: ["mart_macro"],
  },
  "customers.last_name": {
    readers: ["stg_customers", "int_customer_addresses", "int_names", "dim_customers", "mart_names", "snap_customers"],
  },
  "orders.contact_email": {
    readers: [
      ...[
        "stg_orders",
        "int_contacts",
        "int_first_orders",
        "int_order_contacts",
        "fct_contacts",
        "mart_first_mails",
        "mart_order_contacts",
      ],
      "unique_fct_contacts_email",
    ],
  },
  "orders.status": {
    readers: [
      ...["stg_orders", "int_orders_paid", "int_first_orders", "fct_orders", "snap_order_status", "accepted_values_stg_orders_status"],
      ...paidOrders,
    ],
  },
  "payments.status": { readers: ["stg_payments"] },
  "payments.card_last4": { readers: ["stg_payments", "int_cards", "mart_cards", "not_null_mart_cards_card"] },
  "employees.email": {
    readers: [
      "stg_employees",
      "int_employee_managers",
      "dim_employees",
      "mart_managers",
      "mart_payroll",
      "hr",
      "not_null_stg_employees_work_email",
    ],
  },
  "tickets.requester_email": {
    readers: [
      ...["stg_tickets", "int_contacts", "int_open_tickets", "fct_contacts", "fct_tickets", "mart_open_contacts", "support"],
      "unique_fct_contacts_email",
    ],
  },
  "addresses.zip": { readers: ["stg_addresses", "int_customer_addresses", "mart_addresses"] },
  "addresses.street": { readers: [] },
  "products.category": { readers: ["stg_products"] },
  "events.ip": { readers: ["stg_events", "int_ip_risk"] },
};

const named = (path: string): readonly string[] => {
  const [table = "", column = ""] = path.split(".");
  return (readersOf({ schema: "RAW_SHOP", table, column, isGone: true })?.readers ?? []).map(({ name }) => name);
};

test("the project has 60 models", () => expect(Object.keys(models)).toHaveLength(60));

test.each(Object.entries(counted))("the readers of %s are those counted by hand", (path, { readers, falsely = [], missed = [] }) => {
  const found = named(path);
  expect({
    falsely: found.filter((name) => !readers.includes(name)),
    missed: readers.filter((name) => !found.includes(name)),
  }).toEqual({ falsely, missed });
});
