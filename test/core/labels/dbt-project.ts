import { dbtManifest } from "./dbt-manifest.ts";

// A dbt project of a shop with 60 models, in the layers that dbt recommends. A relation in SQL is written as `source.orders` or
// `ref.stg_orders`.

const sources = ["customers", "orders", "order_items", "products", "payments", "addresses", "events", "employees", "newsletter", "tickets"];

const staging = {
  stg_customers:
    "select id as customer_id, lower(email) as email, phone, first_name || ' ' || last_name as full_name, country as country_code, created_at from source.customers",
  stg_orders:
    "with source as (select * from source.orders), renamed as (select id as order_id, customer_id, status, amount, contact_email, ordered_at from source) select * from renamed",
  stg_order_items: "select order_id, product_id, quantity, price as unit_price from source.order_items",
  stg_products: "select * from source.products",
  stg_payments: "select id as payment_id, order_id, method, amount, '**** ' || card_last4 as card, status from source.payments",
  stg_addresses: "select * except (street) from source.addresses",
  stg_events: "-- ip is hashed here\nselect id as event_id, user_id, sha2(ip) as ip_hash, url, occurred_at from source.events",
  stg_employees: "select id as employee_id, email as work_email, manager_id from source.employees",
  stg_newsletter: "select id, email, subscribed from source.newsletter",
  stg_tickets: "select id as ticket_id, requester_email, subject, status from source.tickets",
};

const intermediate = {
  int_customer_orders:
    "select c.customer_id, c.email, o.order_id, o.amount from ref.stg_customers c join ref.stg_orders o on o.customer_id = c.customer_id",
  int_order_totals: "select order_id, sum(quantity * unit_price) as total from ref.stg_order_items group by 1",
  int_orders_paid: "select o.order_id, o.status, p.amount as paid from ref.stg_orders o join ref.stg_payments p using (order_id)",
  int_customer_addresses: "select a.*, c.full_name from ref.stg_addresses a join ref.stg_customers c using (customer_id)",
  int_newsletter_customers:
    "select n.email, n.subscribed, c.customer_id from ref.stg_newsletter n left join ref.stg_customers c on lower(n.email) = c.email",
  int_contacts:
    "select email from ref.stg_customers union all select requester_email from ref.stg_tickets union all select contact_email from ref.stg_orders",
  int_sessions: "select user_id, count(*) as n from ref.stg_events group by user_id",
  int_employee_managers:
    "select e.employee_id, m.work_email as manager_email from ref.stg_employees e join ref.stg_employees m on e.manager_id = m.employee_id",
  int_products_priced: "select * exclude (category) from ref.stg_products",
  int_first_orders:
    "with ranked as (select *, row_number() over (partition by customer_id order by ordered_at) as n from ref.stg_orders) select * from ranked where n = 1",
  int_open_tickets: "select ticket_id, requester_email as contact from ref.stg_tickets where status = 'open'",
  int_cards: "select payment_id, card from ref.stg_payments",
  int_names: "select customer_id, full_name from ref.stg_customers",
  int_ip_risk: "select ip_hash, count(*) as n from ref.stg_events group by 1",
  int_order_contacts: "select order_id, coalesce(contact_email, 'none') as contact from ref.stg_orders",
};

const marts: Readonly<Record<string, string>> = {
  dim_customers: "select c.*, a.city from ref.stg_customers c left join ref.stg_addresses a using (customer_id)",
  dim_products: "select * from ref.int_products_priced",
  fct_orders: "select o.order_id, o.customer_id, t.total, o.status from ref.stg_orders o join ref.int_order_totals t using (order_id)",
  fct_payments: "select payment_id, order_id, amount from ref.stg_payments",
  fct_contacts: "select email, count(*) as n from ref.int_contacts group by email",
  dim_employees: "select employee_id, work_email from ref.stg_employees",
  fct_tickets:
    "select t.ticket_id, t.contact, c.customer_id from ref.int_open_tickets t left join ref.stg_customers c on t.contact = c.email",
  fct_newsletter: "select * from ref.int_newsletter_customers",
  mart_customer_360: "select d.email, d.phone, o.total from ref.dim_customers d join ref.fct_orders o using (customer_id)",
  mart_churn: "select customer_id from ref.dim_customers where created_at < '2020-01-01'",
  mart_revenue: "select sum(total) as revenue from ref.fct_orders",
  mart_first_mails: "select contact_email from ref.int_first_orders",
  mart_managers: "select manager_email from ref.int_employee_managers",
  mart_addresses: "select city, zip from ref.int_customer_addresses",
  mart_cards: "select card from ref.int_cards",
  mart_scores: 'def model(dbt, session):\n    df = dbt.ref("dim_customers")\n    return df[["email"]]\n',
  mart_open_contacts: "select contact from ref.fct_tickets",
  mart_order_contacts: "select contact from ref.int_order_contacts",
  mart_names: "select full_name from ref.int_names",
  // It names a column as one that it does not read.
  mart_masked: "select customer_id, '***' as email from ref.stg_customers",
  // Before `dbt compile`, the manifest does not show what the macro reads.
  mart_macro: "select {{ contact_columns() }} from ref.stg_customers",
  // Its SQL is not in the manifest.
  mart_payroll: "",
  ...Object.fromEntries(
    Array.from({ length: 13 }, (_, index) => [
      `mart_orders_${index}`,
      `select order_id, total from ref.fct_orders where status = 'paid' -- email ${index}`,
    ]),
  ),
};

export const models: Readonly<Record<string, string>> = { ...staging, ...intermediate, ...marts };

const snapshots: Readonly<Record<string, string>> = {
  snap_customers: "select * from source.customers",
  snap_order_status: "select order_id, status from ref.stg_orders",
};

/** The model, the column and, for relationships, the model with a column of the same name that it refers to. */
const tests: Readonly<Record<string, readonly [test: string, model: string, column: string, to?: string]>> = {
  not_null_stg_customers_email: ["not_null", "stg_customers", "email"],
  unique_dim_customers_email: ["unique", "dim_customers", "email"],
  relationships_360_email: ["relationships", "mart_customer_360", "email", "dim_customers"],
  accepted_values_stg_orders_status: ["accepted_values", "stg_orders", "status"],
  not_null_stg_employees_work_email: ["not_null", "stg_employees", "work_email"],
  unique_fct_contacts_email: ["unique", "fct_contacts", "email"],
  not_null_mart_cards_card: ["not_null", "mart_cards", "card"],
  not_null_fct_orders_order_id: ["not_null", "fct_orders", "order_id"],
};

const exposures: Readonly<Record<string, readonly string[]>> = {
  crm: ["mart_customer_360"],
  finance: ["mart_revenue", "fct_payments"],
  hr: ["mart_managers", "mart_payroll"],
  support: ["mart_open_contacts"],
};

/** Where the manifest has no SQL, what the model reads. */
const reads: Readonly<Record<string, readonly string[]>> = {
  mart_payroll: ["model.shop.stg_employees"],
  mart_scores: ["model.shop.dim_customers"],
};

const idOf = (kind: string, name: string): string => (kind === "source" ? `source.analytics.shop.${name}` : `model.shop.${name}`);

/** The manifest of the project, as `dbt parse` writes it. Its sources are in the schema RAW_SHOP. */
export function shopManifest(): Readonly<Record<string, unknown>> {
  const node = (kind: string, name: string, more: object) => [
    `${kind}.shop.${name}`,
    { resource_type: kind, name, schema: "analytics", original_file_path: `models/${name}.sql`, ...more },
  ];
  const query =
    (kind: string) =>
    ([name, sql]: readonly [string, string]) =>
      node(kind, name, {
        raw_code: sql.replaceAll(/\b(source|ref)\.(\w+)/gu, (_, of: string, to: string) =>
          of === "ref" ? `{{ ref('${to}') }}` : `{{ source('shop', '${to}') }}`,
        ),
        language: sql.startsWith("def ") ? "python" : "sql",
        depends_on: { nodes: reads[name] ?? [...sql.matchAll(/\b(source|ref)\.(\w+)/gu)].map(([, of = "", to = ""]) => idOf(of, to)) },
      });
  const test = ([name, [kind, model, column, to]]: readonly [string, (typeof tests)[string]]) =>
    node("test", name, {
      ...{ column_name: column, attached_node: `model.shop.${model}` },
      test_metadata: { name: kind, kwargs: { column_name: column, ...(to === undefined ? {} : { to: `ref('${to}')`, field: column }) } },
      depends_on: { nodes: [...(to === undefined ? [] : [`model.shop.${to}`]), `model.shop.${model}`] },
    });
  const exposure = ([name, of]: readonly [string, readonly string[]]) =>
    node("exposure", name, { owner: { email: `${name}@example.com` }, depends_on: { nodes: of.map((model) => `model.shop.${model}`) } });
  return {
    ...JSON.parse(dbtManifest(Object.fromEntries(sources.map((name) => [name, {}])))),
    nodes: Object.fromEntries([
      ...Object.entries(models).map(query("model")),
      ...Object.entries(snapshots).map(query("snapshot")),
      ...Object.entries(tests).map(test),
    ]),
    exposures: Object.fromEntries(Object.entries(exposures).map(exposure)),
  };
}
