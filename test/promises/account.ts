import type { AccountState, ColumnEntry, IntegrationRecord, SchemaMap } from "../../src/embedded/index.ts";

// What an independent reader sees in an account. Nothing here knows what dimsync means by its words.

/** A schema, a table or a column of an integration: `["a1", "public", "users", "email"]`. */
export type Node = readonly string[];

export type Field = "enabled" | "hashed";

/** The value of one field of one node: `undefined` if the service does not show it. */
export interface Leaf {
  readonly node: Node;
  readonly field: Field;
  readonly value: boolean | undefined;
}

export const leafKey = (node: Node, field: Field): string => [...node, field].join("/");

/** Every value of the account. `shown`: as the service shows it; `stored`: as it is. */
export function leavesOf(account: AccountState, how: "stored" | "shown"): ReadonlyMap<string, Leaf> {
  const leaves = new Map<string, Leaf>();
  const add = (node: Node, entry: { readonly unshown?: string[] } & Partial<ColumnEntry>): void => {
    for (const field of ["enabled", "hashed"] as const) {
      const value = entry[field];
      if (value === undefined) continue;
      const isShown = how === "stored" || entry.unshown?.includes(field) !== true;
      leaves.set(leafKey(node, field), { node, field, value: isShown ? value : undefined });
    }
  };
  for (const { id, schemas } of account.integrations)
    for (const [schema, ofSchema] of Object.entries(schemas)) {
      add([id, schema], ofSchema);
      for (const [table, ofTable] of Object.entries(ofSchema.tables)) {
        add([id, schema, table], ofTable);
        for (const [column, ofColumn] of Object.entries(ofTable.columns)) add([id, schema, table, column], ofColumn);
      }
    }
  return leaves;
}

/** The columns of which somebody can read the values: it, its table and its schema are enabled, and it is not hashed. What is not known counts as readable. */
export function readableColumns(leaves: ReadonlyMap<string, Leaf>): ReadonlySet<string> {
  const columns = [...leaves.values()].filter(({ node, field }) => node.length === 4 && field === "enabled");
  const isOn = (node: Node): boolean => leaves.get(leafKey(node, "enabled"))?.value !== false;
  return new Set(
    columns
      .filter(({ node }) => isOn(node) && isOn(node.slice(0, 3)) && isOn(node.slice(0, 2)))
      .filter(({ node }) => leaves.get(leafKey(node, "hashed"))?.value !== true)
      .map(({ node }) => node.join("/")),
  );
}

/** What is in the first set and not in the second. */
export const without = (all: ReadonlySet<string>, others: ReadonlySet<string>): readonly string[] =>
  [...all].filter((one) => !others.has(one)).sort();

/** Whether a field with this value lets less be read than with the other one. */
export const isProtecting = (field: Field, value: boolean): boolean => (field === "hashed" ? value : !value);

export const columnOf = (name: string, { enabled, hashed }: Pick<ColumnEntry, Field>): ColumnEntry => ({
  nameInDestination: name,
  enabled,
  hashed,
  isPrimaryKey: false,
});

/** An account with one user and these integrations. */
export function accountOf(integrations: Readonly<Record<string, SchemaMap>>): AccountState {
  const warehouse = { id: "d-12", name: "Warehouse", type: "snowflake" };
  return {
    users: [{ id: "u-3", email: "bot@example.com", name: "Bot", createdAt: "2026-01-05T08:00:00.000Z" }],
    assets: [{ ...warehouse, description: "", connectionType: "destination", connection: {} }],
    tags: [],
    auditLogs: [],
    catalogue: {},
    sequence: 100,
    nextIntegrationNumber: "9007199254742000",
    integrations: Object.entries(integrations).map(
      ([id, schemas], index): IntegrationRecord => ({
        ...{
          id,
          number: String(9007199254740900 + index),
          name: `Shop ${id}`,
          createdAt: "2026-02-02T09:30:00.000Z",
          paused: false,
          schemas,
        },
        source: { id: `s-${id}`, name: `shop-${id}`, type: "postgres" },
        destination: warehouse,
        settings: {
          ...{ destinationSchema: `raw_${id}`, replicationFrequency: "60", onSchemaUpdate: "enableAll", sourceSettings: {} },
          sourceConfig: { type: "postgres", name: `shop-${id}`, authMethod: "direct", connectionType: "source", owners: [] },
        },
      }),
    ),
  };
}
