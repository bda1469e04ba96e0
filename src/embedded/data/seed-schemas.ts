import type { ColumnEntry, SchemaMap, TableEntry } from "./account.ts";
import { mapValues } from "./own.ts";

/**
 * Tables in a short form. Columns are listed by name: a leading `*` is a primary key, a trailing `#` is hashed, a trailing `-` is
 * disabled. A table that starts with `-` is disabled.
 */
type Tables = Readonly<Record<string, { readonly columns: string; readonly cursor?: string }>>;

const shop: Tables = {
  orders: { columns: "*id customer_id status total_cents contact_email placed_at updated_at", cursor: "updated_at" },
  customers: { columns: "*id email phone first_name last_name street city country created_at updated_at", cursor: "updated_at" },
  users: { columns: "*id email display_name password_hash- last_login_at updated_at", cursor: "updated_at" },
  payments: { columns: "*id order_id method card_last_four iban# amount_cents paid_at", cursor: "paid_at" },
  products: { columns: "*id sku title price_cents updated_at", cursor: "updated_at" },
  order_items: { columns: "*order_id *line product_id quantity price_cents" },
  "-audit_events": { columns: "*id actor_email action payload happened_at", cursor: "happened_at" },
};

const billing: Tables = {
  invoices: { columns: "*id account_id number total_cents billing_email issued_at", cursor: "issued_at" },
  accounts: { columns: "*id company contact_name contact_email# contact_phone# vat_number updated_at", cursor: "updated_at" },
  ledger: { columns: "*id invoice_id debit_cents credit_cents booked_at", cursor: "booked_at" },
};

const generic: Tables = {
  events: { columns: "*id kind subject_email payload created_at", cursor: "created_at" },
  settings: { columns: "*key value" },
};

/** The schema maps of the seed. Each call returns a new copy. */
export function seedSchemas(): {
  readonly orders: SchemaMap;
  readonly billing: SchemaMap;
  readonly shard: SchemaMap;
  readonly generic: SchemaMap;
} {
  return {
    orders: { public: schema("orders", shop), reporting: schema("orders_reporting", { daily_sales: { columns: "*day total_cents" } }) },
    billing: { billing: schema("billing", billing) },
    shard: { public: schema("shop", shop) },
    generic: { public: schema("public", generic) },
  };
}

function schema(nameInDestination: string, tables: Tables): SchemaMap[string] {
  const entries = Object.entries(tables).map(([key, { columns, cursor }]): [string, TableEntry] => {
    const name = key.replace(/^-/, "");
    const entry: TableEntry = {
      nameInDestination: name,
      enabled: !key.startsWith("-"),
      syncMode: cursor === undefined ? "full_refresh" : "incremental",
      columns: Object.fromEntries(columns.split(" ").map(column)),
    };
    if (cursor !== undefined) entry.cursorField = cursor;
    return [name, entry];
  });
  return { nameInDestination, enabled: true, tables: Object.fromEntries(entries) };
}

function column(text: string): [string, ColumnEntry] {
  const name = text.replace(/^\*|[#-]$/g, "");
  return [name, { nameInDestination: name, enabled: !text.endsWith("-"), hashed: text.endsWith("#"), isPrimaryKey: text.startsWith("*") }];
}

/** A source before any configuration: everything enabled, nothing hashed. */
export function untouched(schemas: SchemaMap): SchemaMap {
  return mapValues(schemas, (entry) => ({
    ...entry,
    enabled: true,
    tables: mapValues(entry.tables, (table) => ({
      ...table,
      enabled: true,
      columns: mapValues(table.columns, (col) => ({ ...col, enabled: true, hashed: false })),
    })),
  }));
}
