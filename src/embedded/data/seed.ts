import { record } from "../handlers/audit.ts";
import type { AccountState, AssetRecord, IntegrationRecord, ResourceType, SchemaMap, TagRecord } from "./account.ts";
import { asObserved } from "./seed-observed.ts";
import { seedSchemas, untouched } from "./seed-schemas.ts";

const people = [
  ["u-1", "dana@example.com", "Dana"],
  ["u-2", "privacy@example.com", "Privacy team"],
  ["u-3", "bot@example.com", "Automation"],
  ["u-4", "data-platform@example.com", "Data platform"],
  ["u-5", "sam@example.com", "Sam"],
] as const;

const destination = { connectionType: "destination" } as const;
const loader = { account: "example", role: "LOADER" };
const destinations: readonly AssetRecord[] = [
  { ...destination, id: "d-12", name: "Warehouse", type: "snowflake", description: "Central warehouse", connection: loader },
  { ...destination, id: "d-13", name: "Lake", type: "s3", description: "Raw files", connection: { bucket: "example-lake" } },
];

/** id, name, source type, source name, database. */
const integrations = [
  ["8f1c", "Orders", "postgres", "orders-pg", "orders"],
  ["b27d", "Billing", "mysql", "billing-mysql", "billing"],
  ["51a1", "shop-shard-01", "postgres", "shop-shard-01-pg", "shop_01"],
  ["51a2", "shop-shard-02", "postgres", "shop-shard-02-pg", "shop_02"],
] as const;

/**
 * The initial account of a new embedded service: five users, two destinations, four integrations, three tags, two weeks of
 * history; more with `observed`, see `asObserved`. Each call returns a new copy with the same ids and times.
 */
export function seedAccount(observed = false): AccountState {
  const schemas = seedSchemas();
  const mapById: Readonly<Record<string, SchemaMap>> = {
    "8f1c": schemas.orders,
    b27d: schemas.billing,
    "51a1": schemas.shard,
    "51a2": seedSchemas().shard,
  };
  const sources = integrations.map(([, , type, name, database], i): AssetRecord => {
    const connection = { hostname: "db.internal", port: type === "mysql" ? 3306 : 5432, database, username: "replicator" };
    return { id: `s-${i + 1}`, name, type, description: "", connectionType: "source", connection };
  });
  const account: AccountState = {
    users: people.map(([id, email, name]) => ({ id, email, createdAt: "2026-01-05T08:00:00.000Z", name })),
    assets: [...structuredClone(destinations), ...sources],
    integrations: integrations.map((seed, index) => integration(seed, index, mapById)),
    tags: tags(),
    auditLogs: [],
    catalogue: catalogue(),
    sequence: 100,
    nextIntegrationNumber: "9007199254741093",
  };
  writeHistory(account);
  return observed ? asObserved(account) : account;
}

function integration(
  [id, name, type, sourceName]: (typeof integrations)[number],
  index: number,
  schemasById: Readonly<Record<string, SchemaMap>>,
): IntegrationRecord {
  return {
    id,
    number: `${9007199254740993n + 2n * BigInt(index)}`,
    name,
    createdAt: `2026-02-0${index + 2}T09:30:00.000Z`,
    paused: id === "51a2",
    source: { id: `s-${index + 1}`, name: sourceName, type },
    destination: { id: "d-12", name: "Warehouse", type: "snowflake" },
    settings: {
      destinationSchema: name.toLowerCase().replaceAll("-", "_"),
      replicationFrequency: "60",
      onSchemaUpdate: "enableColumnChanges",
      sourceConfig: { type, name: sourceName, authMethod: "direct", connectionType: "source", owners: ["dana@example.com"] },
      sourceSettings: type === "postgres" ? { max_clients: 4, incremental_mode: "Incremental" } : {},
    },
    schemas: schemasById[id] ?? {},
  };
}

function tags(): TagRecord[] {
  const all = { origin: "custom", createdAt: "2026-02-10T10:00:00.000Z", lastUpdatedAt: "2026-03-02T14:20:00.000Z" };
  const relation = (resourceId: string, resourceType: ResourceType, taggedBy: string) => ({ resourceId, resourceType, taggedBy });
  const ofPii = [relation("8f1c", "Integration", "u-2"), relation("da-7", "DataAsset", "u-1")];
  return [
    { ...all, id: "t-1", name: "PII", description: "Contains personal data", owner: "u-2", relations: ofPii },
    {
      ...all,
      id: "t-2",
      name: "Finance",
      description: "Owned by finance",
      owner: "u-1",
      relations: [relation("b27d", "Integration", "u-1")],
    },
    { ...all, id: "t-3", name: "Gold", description: "", owner: "u-4", relations: [] },
  ];
}

function catalogue(): Record<string, SchemaMap> {
  const { orders, billing, shard, generic } = seedSchemas();
  return {
    "postgres/orders": untouched(orders),
    "mysql/billing": untouched(billing),
    "postgres/shop": untouched(shard),
    default: untouched(generic),
  };
}

function writeHistory(account: AccountState): void {
  const browser = { ipAddress: "203.0.113.7", userAgent: "Mozilla/5.0" };
  const events: readonly (readonly [at: string, email: string, event: string])[] = [
    ...integrations.map(([id, name, type, source], i) => {
      const event = `Integration ${id} "${name}" created, from ${type} "${source}" to d-12 "Warehouse"`;
      return [`2026-02-0${i + 2}T09:30:00Z`, "dana@example.com", event] as const;
    }),
    ["2026-02-10T10:00:00Z", "privacy@example.com", 'Tag t-1 "PII" created'],
    ["2026-02-10T10:05:00Z", "dana@example.com", 'Tag t-2 "Finance" created'],
    ["2026-02-10T10:06:00Z", "data-platform@example.com", 'Tag t-3 "Gold" created'],
    ["2026-02-11T08:15:00Z", "privacy@example.com", 'Tag t-1 "PII" attached to Integration 8f1c "Orders"'],
    ["2026-02-11T08:20:00Z", "dana@example.com", 'Tag t-2 "Finance" attached to Integration b27d "Billing"'],
    ["2026-02-12T16:40:00Z", "privacy@example.com", 'Schema configuration of integration b27d "Billing" changed'],
    ["2026-03-02T14:20:00Z", "privacy@example.com", 'Tag t-1 "PII" updated'],
    ["2026-03-03T07:55:00Z", "sam@example.com", 'Integration 51a2 "shop-shard-02" paused'],
  ];
  for (const [at, email, event] of events) record(account, { email, ...browser }, new Date(at), event);
}
