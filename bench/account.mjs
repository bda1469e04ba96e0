// Accounts and manifests of a given size. Integrations share one schema map, so that the service
// does not hold fifteen million columns.

const two = (n) => String(n).padStart(2, "0");
const three = (n) => String(n).padStart(3, "0");

/**
 * A schema map (docs/service-interface.md). Column 3 is a hashed e-mail address, unless `hashed` is
 * false, and column 4 an unhashed phone number.
 */
export function schemaMap({ schemas, tables, columns, hashed = true }) {
  const named = (count, name, entry) => Object.fromEntries(Array.from({ length: count }, (_, i) => [name(i), entry(i)]));
  const column = (i) => ({ nameInDestination: columnName(i), enabled: true, hashed: hashed && i % 10 === 3, isPrimaryKey: i === 0 });
  return named(schemas, schemaName, (s) => ({
    nameInDestination: schemaName(s),
    enabled: true,
    tables: named(tables, tableName, (t) => ({
      nameInDestination: tableName(t),
      enabled: true,
      syncMode: "incremental",
      columns: named(columns, columnName, column),
    })),
  }));
}

const schemaName = (i) => (i === 0 ? "public" : `schema_${two(i)}`);
const tableName = (i) => `table_${three(i)}`;
const columnName = (i) => `${i % 10 === 3 ? "email" : i % 10 === 4 ? "phone" : "column"}_${two(i)}`;
export const integrationName = (i) => `shop-shard-${three(i)}`;
export const integrationId = (i) => `int-${three(i)}`;
export const tagName = (i) => `Tag ${i}`;

/** The account of the embedded service (src/embedded/data/account.ts). */
export function account({ integrations, schemas, tags = 0 }) {
  return {
    users: [{ id: "u-1", email: "bot@example.com", createdAt: "2026-01-01T00:00:00.000Z", name: "Bot" }],
    assets: [],
    integrations: Array.from({ length: integrations }, (_, i) => ({
      id: integrationId(i),
      number: String(1000 + i),
      name: integrationName(i),
      createdAt: "2026-01-01T00:00:00.000Z",
      paused: false,
      source: { id: `src-${i}`, name: `source-${i}`, type: "postgres" },
      destination: { id: "d-1", name: "Warehouse", type: "snowflake" },
      settings: { destinationSchema: "", replicationFrequency: "60", onSchemaUpdate: "", sourceConfig: {}, sourceSettings: {} },
      schemas,
    })),
    tags: Array.from({ length: tags }, (_, i) => ({
      id: `tag-${i}`,
      name: tagName(i),
      description: "",
      owner: "u-1",
      origin: "ui",
      createdAt: "2026-01-01T00:00:00.000Z",
      lastUpdatedAt: "2026-01-01T00:00:00.000Z",
      relations: [],
    })),
    auditLogs: [],
    catalogue: {},
    sequence: 1,
    nextIntegrationNumber: "5000",
  };
}

/** The schema map as a literal tree with one key per line, as users and exporters write it. */
export function literalManifest(name, reference, map) {
  const lines = [
    "apiVersion: dimsync/v1",
    "kind: SchemaConfig",
    "metadata:",
    `  name: ${name}`,
    "spec:",
    `  integration: ${reference}`,
    "  schemas:",
  ];
  for (const [schema, { enabled, tables }] of Object.entries(map)) {
    lines.push(`    ${schema}:`, `      enabled: ${enabled}`, "      tables:");
    for (const [table, entry] of Object.entries(tables)) {
      lines.push(`        ${table}:`, `          enabled: ${entry.enabled}`, "          columns:");
      for (const [column, { enabled: on, hashed }] of Object.entries(entry.columns))
        lines.push(`            ${column}:`, `              enabled: ${on}`, `              hashed: ${hashed}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

/** A dbt manifest whose sources mark every column of `schemaMap` as personal. */
export function dbtManifest(shape) {
  const sources = Object.values(schemaMap(shape)).flatMap(({ nameInDestination: schema, tables }) =>
    Object.values(tables).map(({ nameInDestination: name, columns }) => {
      const marked = Object.keys(columns).map((column) => [column, { name: column, meta: { contains_pii: true }, tags: [] }]);
      const id = `source.bench.${schema}.${name}`;
      return [
        id,
        {
          database: "raw",
          schema,
          name,
          identifier: name,
          source_name: schema,
          original_file_path: "models/sources.yml",
          columns: Object.fromEntries(marked),
          meta: {},
          tags: [],
          config: {},
        },
      ];
    }),
  );
  const metadata = { dbt_schema_version: "https://schemas.getdbt.com/dbt/manifest/v12.json" };
  return JSON.stringify({
    metadata,
    nodes: {},
    sources: Object.fromEntries(sources),
  });
}

/** A Classification of that manifest, and the rules of `rulesManifest` with one more that matches by label. */
export const labelledRules = () => `apiVersion: dimsync/v1
kind: Classification
metadata: { name: personal }
spec: { from: [{ dbt: { manifest: dbt.json, label: pii, where: { meta: { contains_pii: true } } } }] }
---
${rulesManifest}    - { id: pii, match: { label: pii, column: "email_*" }, set: { hashed: true } }
`;

/** Five rules that match every integration of `schemaMap`. */
export const rulesManifest = `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: fleet }
spec:
  integrations: { names: ["shop-shard-*"] }
  rules:
    - { id: all-tables, match: { table: "*" }, set: { enabled: true } }
    - { id: all-columns, match: { column: "*" }, set: { enabled: true } }
    - { id: readable, match: { column: ["*", "!email_*"] }, set: { hashed: false } }
    - { id: email, match: { column: "email_*" }, set: { hashed: true } }
    - { id: keys, match: { table: "table_*", column: "*_00" }, set: { hashed: false } }
`;
