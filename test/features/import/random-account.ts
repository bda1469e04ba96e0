import type { AccountState, ColumnEntry, SchemaMap, StoredSchema, TableEntry } from "../../../src/embedded/index.ts";
import fc from "../../support/fast-check.ts";

// Accounts with difficult names and states: hostile names, duplicate names, tables that are similar
// to others and tables that are not.

const plainNames = ["users", "orders", "email", "id", "phone", "created_at", "status"];
const hostileNames = [
  "__proto__",
  "constructor",
  "toString",
  "a/b",
  "a.b",
  "100%",
  "..",
  " x ",
  "ü",
  "*",
  "a*b",
  "[a]",
  "{a,b}",
  "!x",
  "\\",
  "x y",
  "\u0024{var.x}",
  "\u0024\u0024{y}",
  "#c",
  "yes",
  "1",
  "~",
  "null",
  "- a",
  "a: b",
  "'",
  '"',
  "é\u2028",
  "",
];
const name = fc.oneof({ arbitrary: fc.constantFrom(...plainNames), weight: 4 }, { arbitrary: fc.constantFrom(...hostileNames), weight: 1 });
const title = fc.oneof(
  fc.constantFrom("Orders", "orders", "Orders EU", "orders-eu", "Shop 1", "日本", "ü", "a\u0024{b}", "constructor", "..", "x".repeat(80)),
  fc.string({ minLength: 1, maxLength: 8, unit: "grapheme" }),
);

const entries = <T>(value: fc.Arbitrary<T>, max: number, min = 0): fc.Arbitrary<Record<string, T>> =>
  fc.uniqueArray(name, { minLength: min, maxLength: max }).chain((names) =>
    fc.tuple(...names.map(() => value)).map((values) => {
      const record = Object.create(null) as Record<string, T>;
      names.forEach((key, index) => {
        const entry = values[index];
        if (entry !== undefined) record[key] = entry;
      });
      return record;
    }),
  );

export const columnEntry: fc.Arbitrary<ColumnEntry> = fc.record({
  nameInDestination: fc.constant("c"),
  enabled: fc.oneof({ arbitrary: fc.constant(true), weight: 3 }, { arbitrary: fc.boolean(), weight: 1 }),
  hashed: fc.oneof({ arbitrary: fc.constant(false), weight: 3 }, { arbitrary: fc.boolean(), weight: 1 }),
  isPrimaryKey: fc.oneof({ arbitrary: fc.constant(false), weight: 5 }, { arbitrary: fc.boolean(), weight: 1 }),
});
/** Columns with equal states. */
const uniform = fc.tuple(columnEntry, entries(fc.constant(true), 5)).map(([column, names]) => {
  const record = Object.create(null) as Record<string, ColumnEntry>;
  for (const key of Object.keys(names)) record[key] = { ...column };
  return record;
});
const tableOf = (enabled: fc.Arbitrary<boolean>): fc.Arbitrary<TableEntry> =>
  fc
    .record({
      nameInDestination: fc.constant("t"),
      enabled,
      syncMode: fc.constantFrom("incremental", "full_refresh"),
      columns: fc.oneof({ arbitrary: entries(columnEntry, 6), weight: 4 }, { arbitrary: uniform, weight: 1 }),
      hasCursor: fc.boolean(),
    })
    .map(({ hasCursor, ...table }): TableEntry => {
      const [cursorField] = Object.keys(table.columns);
      return hasCursor && cursorField !== undefined ? { ...table, cursorField } : table;
    });
const mostlyOn = fc.oneof({ arbitrary: fc.constant(true), weight: 2 }, { arbitrary: fc.boolean(), weight: 1 });
const mostlyOff = fc.oneof({ arbitrary: fc.constant(false), weight: 4 }, { arbitrary: fc.boolean(), weight: 1 });
export const tableEntry: fc.Arbitrary<TableEntry> = tableOf(mostlyOn);
export const schemaEntry: fc.Arbitrary<StoredSchema> = fc.record({
  nameInDestination: fc.constant("s"),
  enabled: fc.oneof({ arbitrary: fc.constant(true), weight: 2 }, { arbitrary: fc.boolean(), weight: 1 }),
  // Tables, sometimes disabled by default.
  tables: fc.oneof({ arbitrary: entries(tableEntry, 6), weight: 3 }, { arbitrary: entries(tableOf(mostlyOff), 9, 4), weight: 1 }),
});
const schemas: fc.Arbitrary<SchemaMap> = entries(schemaEntry, 3);

const users = [
  { id: "u-1", email: "dana@example.com", createdAt: "2026-01-05T08:00:00.000Z", name: "Dana" },
  { id: "u-2", email: "sam@example.com", createdAt: "2026-01-05T08:00:00.000Z", name: "Sam" },
  { id: "u-3", email: "sam.two@example.com", createdAt: "2026-01-05T08:00:00.000Z", name: "Sam" },
  { id: "u-4", email: "bot@example.com", createdAt: "2026-01-05T08:00:00.000Z", name: "" },
];

/**
 * Destinations d-0, d-1; integrations i-0…, each with its own source or a shared one; tags t-0….
 */
export const accountState: fc.Arbitrary<AccountState> = fc
  .record({
    integrations: fc.array(
      fc.record({
        name: title,
        paused: fc.boolean(),
        destination: fc.nat(1),
        source: fc.constantFrom("own", "own", "shared", "a destination"),
        sourceName: title,
        schemas,
      }),
      { maxLength: 4 },
    ),
    tags: fc.array(
      fc.record({
        name: title,
        description: fc.constantFrom("", "as it is", "a \u0024{var} b"),
        owner: fc.constantFrom("u-1", "sam@example.com", "Sam", "Dana", "nobody", ""),
        related: fc.uniqueArray(fc.constantFrom("i-0", "i-1", "d-0", "s-0", "da-7", "m- x", "ü"), { maxLength: 4 }),
      }),
      { maxLength: 3 },
    ),
    destinationNames: fc.tuple(title, title),
  })
  .map(({ integrations, tags, destinationNames }): AccountState => {
    const destinations = destinationNames.map((one, index) => ({ id: `d-${index}`, name: one, type: index === 0 ? "snowflake" : "s3" }));
    const made = integrations.map((one, index) => {
      const destination = destinations[one.destination] ?? { id: "d-0", name: "x", type: "s3" };
      const source = {
        own: { id: `s-${index}`, name: one.sourceName, type: "postgres" },
        shared: { id: "s-shared", name: "Shared", type: "postgres" },
        // The destination of one integration may be the source of another.
        "a destination": destinations[1 - one.destination] ?? destination,
      }[one.source] ?? { id: "s-none", name: "None", type: "" };
      return {
        id: `i-${index}`,
        number: String(1000 + index),
        name: one.name,
        createdAt: "2026-02-01T00:00:00.000Z",
        paused: one.paused,
        source: { ...source },
        destination: { ...destination },
        settings: {
          destinationSchema: "x",
          replicationFrequency: "60",
          onSchemaUpdate: "enableColumnChanges",
          sourceConfig: {},
          sourceSettings: {},
        },
        schemas: one.schemas,
      };
    });
    const times = { createdAt: "2026-02-10T10:00:00.000Z", lastUpdatedAt: "2026-02-10T10:00:00.000Z", origin: "custom" };
    return {
      users,
      assets: [],
      integrations: made,
      tags: tags.map(({ related, ...tag }, index) => ({
        ...{ id: `t-${index}`, ...tag, ...times },
        relations: related.map((resourceId) => ({ resourceId, resourceType: "DataAsset" as const, taggedBy: "u-1" })),
      })),
      auditLogs: [],
      catalogue: {},
      sequence: 100,
      nextIntegrationNumber: "2000",
    };
  });

/** One change by a user in the service, chosen by numbers. Missing objects are skipped. */
export interface LiveChange {
  readonly what:
    | "column-enabled"
    | "column-hashed"
    | "table"
    | "schema"
    | "paused"
    | "rename"
    | "description"
    | "owner"
    | "asset-rename"
    | "new-integration"
    | "relate"
    | "unrelate"
    | "new-column"
    | "drop-column"
    | "new-table"
    | "drop-table"
    | "new-schema";
  readonly at: number;
  readonly column: ColumnEntry;
  readonly table: TableEntry;
  readonly schema: StoredSchema;
  readonly name: string;
}

export const liveChange: fc.Arbitrary<LiveChange> = fc.record({
  what: fc.constantFrom(
    "column-enabled",
    "column-hashed",
    "table",
    "schema",
    "paused",
    "rename",
    "description",
    "owner",
    "asset-rename",
    "new-integration",
    "relate",
    "unrelate",
    "new-column",
    "drop-column",
    "new-table",
    "drop-table",
    "new-schema",
  ),
  at: fc.nat(1000),
  column: columnEntry,
  table: tableEntry,
  schema: schemaEntry,
  name: fc.oneof(name, fc.constantFrom("zip", "zone")),
});

export function makeChange(account: AccountState, { what, at, column, table, schema, name: given }: LiveChange): void {
  const pick = <T>(list: readonly T[]): T | undefined => list[at % Math.max(1, list.length)];
  const integration = pick(account.integrations);
  const schemaMap = integration?.schemas ?? {};
  const inSchema = pick(Object.values(schemaMap));
  const inTable = pick(Object.values(inSchema?.tables ?? {}));
  const columnName = pick(Object.keys(inTable?.columns ?? {}));
  const inColumn = inTable?.columns[columnName ?? ""];
  const tag = pick(account.tags);
  // An integration without schemas gets no SchemaConfig yet; discovery is tested elsewhere.
  const put = <T>(map: Record<string, T> | undefined, value: T): void => {
    if (map !== undefined && !Object.hasOwn(map, given))
      Object.defineProperty(map, given, { value: structuredClone(value), enumerable: true, writable: true, configurable: true });
  };
  if (what === "column-enabled" && inColumn !== undefined) inColumn.enabled = !inColumn.enabled;
  if (what === "column-hashed" && inColumn !== undefined) inColumn.hashed = !inColumn.hashed;
  if (what === "table" && inTable !== undefined) inTable.enabled = !inTable.enabled;
  if (what === "schema" && inSchema !== undefined) inSchema.enabled = !inSchema.enabled;
  if (what === "paused" && integration !== undefined) integration.paused = !integration.paused;
  if (what === "rename" && integration !== undefined) integration.name = `Renamed ${at}`;
  if (what === "description" && tag !== undefined) tag.description = `changed ${at}`;
  if (what === "owner" && tag !== undefined) tag.owner = at % 2 === 0 ? "u-3" : "someone";
  if (what === "asset-rename" && integration !== undefined) {
    const { id } = integration.destination;
    for (const { source, destination } of account.integrations)
      for (const reference of [source, destination]) if (reference.id === id) reference.name = `Renamed asset ${at}`;
  }
  if (what === "new-integration" && integration !== undefined && !account.integrations.some(({ id }) => id === `n-${at}`))
    account.integrations.push({
      ...structuredClone(integration),
      id: `n-${at}`,
      number: String(5000 + at),
      schemas: { [`s${at}`]: structuredClone(schema) },
    });
  if (
    what === "relate" &&
    tag !== undefined &&
    integration !== undefined &&
    !tag.relations.some(({ resourceId }) => resourceId === integration.id)
  )
    tag.relations.push({ resourceId: integration.id, resourceType: "Integration", taggedBy: "u-1" });
  if (what === "unrelate") tag?.relations.pop();
  if (what === "new-column") put(inTable?.columns, column);
  if (what === "drop-column" && inTable !== undefined && columnName !== undefined) delete inTable.columns[columnName];
  if (what === "new-table") put(inSchema?.tables, table);
  if (what === "drop-table" && inSchema !== undefined) delete inSchema.tables[pick(Object.keys(inSchema.tables)) ?? ""];
  if (what === "new-schema") put(integration?.schemas, schema);
}
