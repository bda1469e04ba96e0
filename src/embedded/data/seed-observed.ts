import { createHash } from "node:crypto";
import type { AccountState, AssetRecord, IntegrationRecord, SchemaMap, TableEntry } from "./account.ts";
import { untouched } from "./seed-schemas.ts";

/** Ids of 24 hexadecimal digits; some look like numbers. */
const longIds: Readonly<Record<string, string>> = { "8f1c": "650000000000000000000001", b27d: "65e100000000000000000002" };
const longId = (id: string): string => longIds[id] ?? createHash("sha256").update(id).digest("hex").slice(0, 24);

/**
 * The seed as the public descriptions of the service would show it: long ids, a subtable, columns and a cursor that are only shown in part,
 * a keyless stream without a namespace, a draft, an integration from the warehouse to an application, an agent, and an asset with a
 * connection per purpose. Changes the account that it gets.
 */
export function asObserved(account: AccountState): AccountState {
  const renamed = withLongIds(account);
  const [orders] = renamed.integrations;
  const [warehouse] = renamed.assets;
  if (orders === undefined || warehouse === undefined) return renamed;
  warehouse.connectionType = "multi_purpose";
  warehouse.connection = { etl: warehouse.connection, reverseEtl: warehouse.connection };
  orders.settings.agentId = "5b0d3c1e-8c53-4d2f-9a68-2f1f3c0b7a11";
  showInPart(orders.schemas);
  renamed.integrations = [...renamed.integrations, ...others(orders, warehouse), ...draftsLike(orders, 1)];
  addAssets(renamed);
  renamed.catalogue["google_analytics_4/undefined"] = untouched(streams());
  renamed.tags.push({ ...emptyTag, id: longId("t-4") });
  renamed.users.push({ id: longId("u-6"), email: "guest@example.com", createdAt: "2026-03-01T08:00:00.000Z", name: "" });
  renamed.auditLogs.push({
    id: "0b9c2a52-3d0c-8d0e-a3a1-5f6f0d1f7a10",
    timestamp: "2026-03-04T02:00:00.000Z",
    event: "integration.schema_updated",
    actor: { type: "system", email: "" },
    context: { ipAddress: "", userAgent: "" },
  });
  return renamed;
}

const emptyTag = {
  name: "Draft",
  description: "",
  owner: "",
  origin: "",
  createdAt: "2026-03-02T08:00:00.000Z",
  lastUpdatedAt: "",
  relations: [],
};

/** The ids are in references, relations and the texts of the audit log, so the JSON text is changed: they are words of their own there. */
function withLongIds(account: AccountState): AccountState {
  const ids = [...account.integrations, ...account.assets, ...account.tags, ...account.users].map(({ id }) => id);
  const words = new RegExp(`(?<![\\w-])(${ids.join("|")})(?![\\w-])`, "g");
  return JSON.parse(JSON.stringify(account).replace(words, longId));
}

/** A subtable of orders, a table whose cursor cannot be chosen, and columns whose entries lack members. */
function showInPart(schemas: SchemaMap): void {
  const tables = schemas["public"]?.tables ?? {};
  tables["orders__discounts"] = { ...subtable };
  const { payments, users } = tables;
  if (payments !== undefined) payments.unshown = ["cursorField"];
  const displayName = users?.columns["display_name"];
  if (displayName !== undefined) displayName.unshown = ["hashed", "isPrimaryKey", "nameInDestination"];
}

const subtable: TableEntry = {
  nameInDestination: "orders__discounts",
  enabled: true,
  syncMode: "incremental",
  isSubtable: true,
  columns: {
    order_id: { nameInDestination: "order_id", enabled: true, hashed: false, isPrimaryKey: false },
    voucher_email: { nameInDestination: "voucher_email", enabled: true, hashed: false, isPrimaryKey: false },
  },
};

/** Streams have no namespace and no keys. */
function streams(): SchemaMap {
  const column = (name: string) => ({ nameInDestination: name, enabled: true, hashed: false, isPrimaryKey: false });
  const names = ["date", "session_source", "user_email", "sessions"];
  const sessions: TableEntry = {
    nameInDestination: "sessions",
    enabled: true,
    syncMode: "Full Refresh",
    columns: Object.fromEntries(names.map((name) => [name, column(name)])),
  };
  return { schema: { nameInDestination: "web", enabled: true, tables: { sessions } } };
}

function others(like: IntegrationRecord, { id, name, type }: AssetRecord): IntegrationRecord[] {
  const application = { id: longId("application"), name: "CRM", type: "salesforce" };
  return [
    { ...other(like, { id: "web", name: "Web analytics", source: "ga4", type: "google_analytics_4" }), schemas: streams() },
    {
      ...other(like, { id: "reverse", name: "Customers → CRM", source: name, type }),
      kind: "reverse",
      source: { id, name, type },
      destination: application,
    },
  ];
}

function other(like: IntegrationRecord, { id, name, source, type }: Readonly<Record<"id" | "name" | "source" | "type", string>>) {
  return {
    ...structuredClone(like),
    id: longId(id),
    number: "0",
    name,
    source: { id: longId(`source of ${id}`), name: source, type },
    settings: { ...structuredClone(like.settings), agentId: null, replicationFrequency: "manual" },
    schemas: {},
  } satisfies IntegrationRecord;
}

/** The forms in which a list shows a draft: parts of the record that are not there yet, or only in part. */
const draftForms: readonly Pick<IntegrationRecord, "unshown" | "shownAs">[] = [
  { unshown: ["destination", "paused"], shownAs: { isDraft: true } },
  { shownAs: { source: null, destination: null } },
  { unshown: ["destination"], shownAs: { source: { type: "shopify" } } },
  { shownAs: { name: null, destination: {} } },
  { unshown: ["source", "createdAt"], shownAs: { name: "", destination: { id: "", name: null } } },
];

/** So many drafts, of one form after the other, with what else an integration has. */
export function draftsLike(like: IntegrationRecord, count: number): IntegrationRecord[] {
  return draftForms.slice(0, count).map((form, i) => ({
    ...other(like, {
      id: i === 0 ? "draft" : `draft ${i + 1}`,
      name: i === 0 ? "Untitled" : `Untitled ${i + 1}`,
      source: "draft-pg",
      type: "postgres",
    }),
    ...form,
    kind: "draft",
  }));
}

/** Adds an asset for each reference that has none. */
function addAssets({ assets, integrations }: AccountState): void {
  const ends = integrations.flatMap(({ source, destination }) => [
    { ...source, connectionType: "source" as const },
    { ...destination, connectionType: "destination" as const },
  ]);
  for (const end of ends) if (assets.every(({ id }) => id !== end.id)) assets.push({ ...end, description: "", connection: {} });
}
