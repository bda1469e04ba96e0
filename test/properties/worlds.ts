import fc from "fast-check";
import { type AccountState, type IntegrationRecord, type SchemaMap, seedAccount, type TagRecord } from "../../src/embedded/index.ts";

// Random accounts, each with manifests for a part of them. One tree holds both: what a node is and what it is wished to be.

/** A boolean and what a manifest says of it; absent: nothing. */
export interface Wished {
  readonly is: boolean;
  readonly wish: boolean | undefined;
}

export interface ColumnNode {
  readonly enabled: Wished;
  readonly hashed: Wished;
}

export interface TableNode {
  readonly enabled: Wished;
  readonly columns: Readonly<Record<string, ColumnNode>>;
}

export interface SchemaNode {
  readonly enabled: Wished;
  readonly tables: Readonly<Record<string, TableNode>>;
}

export interface TagNode {
  readonly description: string;
  readonly owner: string;
  readonly wishedDescription: string | undefined;
  readonly wishedOwner: string | undefined;
  /** Positions of integrations, and whether each is tagged already and is to be. */
  readonly resources: readonly Wished[];
}

/** One account with its manifests. */
export interface RandomWorld {
  readonly integrations: readonly Readonly<Record<string, SchemaNode>>[];
  readonly tags: readonly TagNode[];
  /** Whether an asset, an integration into it and a configuration of that one are declared that don't exist. */
  readonly creates: boolean;
  readonly form: "camel" | "snake";
}

const names = ["public", "orders", "a/b", "a.b", "__proto__", "constructor", "toString", "100%", "..", " x ", "ü", "~1", "?#", "no", "1"];
const ids = ["8f1c", "a/b", "100%", "ü"];

const wished: fc.Arbitrary<Wished> = fc.record({ is: fc.boolean(), wish: fc.option(fc.boolean(), { nil: undefined }) });

function keyed<T>(node: fc.Arbitrary<T>, most: number): fc.Arbitrary<Readonly<Record<string, T>>> {
  return fc
    .uniqueArray(fc.tuple(fc.constantFrom(...names), node), { maxLength: most, selector: ([name]) => name })
    .map((entries) => Object.fromEntries(entries));
}

const column = fc.record({ enabled: wished, hashed: wished });
const table = fc.record({ enabled: wished, columns: keyed(column, 4) });
const schema = fc.record({ enabled: wished, tables: keyed(table, 3) });
const text = fc.constantFrom("", "plain", 'with "quotes" and ü', "${not a variable", "null", "1", "#");
const tag = fc.record({
  description: text,
  owner: fc.constantFrom("u-1", "dana@example.com", "Dana", "u-2"),
  wishedDescription: fc.option(
    text.filter((one) => !one.includes("${")),
    { nil: undefined },
  ),
  wishedOwner: fc.option(fc.constantFrom("dana@example.com", "privacy@example.com"), { nil: undefined }),
  resources: fc.array(fc.record({ is: fc.boolean(), wish: fc.option(fc.constant(true), { nil: undefined }) }), {
    minLength: 3,
    maxLength: 3,
  }),
});

export const randomWorld: fc.Arbitrary<RandomWorld> = fc.record({
  integrations: fc.array(
    keyed(schema, 3).filter((schemas) => Object.keys(schemas).length > 0),
    { minLength: 1, maxLength: 3 },
  ),
  tags: fc.array(tag, { maxLength: 2 }),
  creates: fc.boolean(),
  form: fc.constantFrom("camel" as const, "snake" as const),
});

const mapped = <A, B>(record: Readonly<Record<string, A>>, change: (value: A, key: string) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));

function schemasOf(nodes: RandomWorld["integrations"][number], after: boolean, form: RandomWorld["form"]): SchemaMap {
  const value = ({ is, wish }: Wished): boolean => (after ? (wish ?? is) : is);
  return mapped(nodes, ({ enabled, tables }, name) => ({
    nameInDestination: name,
    enabled: value(enabled),
    tables: mapped(tables, (one, tableName) => {
      // Without columns in the answer, those of a table that is and stays off are nobody's business (product §3.1).
      const unseen = form === "snake" && !one.enabled.is && !value(one.enabled);
      return {
        nameInDestination: tableName,
        enabled: value(one.enabled),
        syncMode: "full_refresh",
        columns: mapped(one.columns, (columnNode, columnName) => ({
          nameInDestination: columnName,
          enabled: unseen ? columnNode.enabled.is : value(columnNode.enabled),
          hashed: unseen ? columnNode.hashed.is : value(columnNode.hashed),
          isPrimaryKey: false,
        })),
      };
    }),
  }));
}

/** The account as it is (`after` false), or as it must be when the manifests are applied, without what is created. */
export function accountOf(world: RandomWorld, after: boolean): AccountState {
  const account = seedAccount();
  const [model] = account.integrations;
  if (model === undefined) throw new Error("The seeded account has no integration.");
  account.integrations = world.integrations.map(
    (nodes, index): IntegrationRecord => ({
      ...structuredClone(model),
      id: ids[index] ?? "",
      number: String(index),
      name: `live ${index}`,
      source: { id: `sx-${index}`, name: `source ${index}`, type: "postgres" },
      schemas: schemasOf(nodes, after, world.form),
    }),
  );
  account.tags = world.tags.map((node, index): TagRecord => {
    const user = account.users.find(({ email }) => email === node.wishedOwner);
    const same = user === undefined || [user.id, user.email, user.name].includes(node.owner);
    const related = node.resources.flatMap(({ is, wish }, at) =>
      (after ? (wish ?? is) : is) && at < world.integrations.length ? [at] : [],
    );
    return {
      ...{
        id: `t/${index}`,
        name: `Tag ${index}`,
        origin: "custom",
        createdAt: "2026-01-01T00:00:00Z",
        lastUpdatedAt: "2026-01-01T00:00:00Z",
      },
      description: after ? (node.wishedDescription ?? node.description) : node.description,
      owner: after && !same ? user.id : node.owner,
      relations: related.map((at) => ({
        resourceId: ids[at] ?? "",
        resourceType: "Integration",
        taggedBy: node.resources[at]?.is === true ? "u-1" : "u-3",
      })),
    };
  });
  return account;
}

/** The manifests, one document each. */
export function manifestsOf(world: RandomWorld): readonly object[] {
  const document = (kind: string, name: string, spec: object, more: object = {}): object => ({
    apiVersion: "dimsync/v1",
    kind,
    metadata: { name },
    spec,
    ...more,
  });
  const created = [
    document(
      "Asset",
      "lake",
      {
        name: "New lake",
        type: "s3",
        connectionType: "destination",
        connection: { bucket: "b", secret_key: { $secret: { env: "CANARY" } } },
      },
      { lifecycle: { create: "ifMissing" } },
    ),
    document("Integration", "fresh", {
      destination: { asset: "lake" },
      create: {
        ...{ destinationSchema: "fresh", replicationFrequency: "1h", onSchemaUpdate: "allow_columns", enabled: false },
        sourceConfig: {
          ...{ type: "postgres", name: "fresh-pg", authMethod: "password", connectionType: "source", owners: ["u-1"] },
          connection: {
            ...{ hostname: "db.internal", port: 5432, database: "orders", username: "u", slot: "s", publication: "p" },
            password: { $secret: { env: "CANARY" } },
          },
        },
        sourceSettings: { max_clients: 1, incremental_mode: "xmin" },
      },
    }),
    document("SchemaConfig", "fresh", {
      integration: "fresh",
      schemas: { public: { enabled: true, tables: { customers: { enabled: true, columns: { email: { hashed: true } } } } } },
    }),
  ];
  return [
    ...world.integrations.map((nodes, index) =>
      document("SchemaConfig", `config-${index}`, { integration: `live ${index}`, schemas: wishesOf(nodes) }),
    ),
    ...world.tags.map(({ wishedDescription, wishedOwner, resources }, index) =>
      document("Tag", `tag-${index}`, {
        name: `Tag ${index}`,
        ...(wishedDescription === undefined ? {} : { description: wishedDescription }),
        ...(wishedOwner === undefined ? {} : { owner: { user: wishedOwner } }),
        taggedBy: { user: "bot@example.com" },
        resources: resources.flatMap(({ wish }, at) =>
          wish === true && at < world.integrations.length ? [{ integration: `live ${at}` }] : [],
        ),
      }),
    ),
    ...(world.creates ? created : []),
  ];
}

function wishesOf(nodes: RandomWorld["integrations"][number]): object {
  const said = (key: string, { wish }: Wished): object => (wish === undefined ? {} : { [key]: wish });
  return mapped(nodes, ({ enabled, tables }) => ({
    ...said("enabled", enabled),
    tables: mapped(tables, (one) => ({
      ...said("enabled", one.enabled),
      columns: mapped(one.columns, (columnNode) => ({ ...said("enabled", columnNode.enabled), ...said("hashed", columnNode.hashed) })),
    })),
  }));
}
