import { type AccountState, type IntegrationRecord, type SchemaMap, seedAccount, type TagRecord } from "../../src/embedded/index.ts";
import fc from "../support/fast-check.ts";
import { type ServiceForm, serviceForms } from "../support/service.ts";

// Random accounts, each with manifests for a part of them. One tree has both: the live and the
// declared values.

/** A live boolean and the declared one; undefined: not declared. */
export interface LeafState {
  readonly live: boolean;
  readonly declared: boolean | undefined;
}

export interface ColumnNode {
  readonly enabled: LeafState;
  readonly hashed: LeafState;
}

export interface TableNode {
  readonly enabled: LeafState;
  readonly columns: Readonly<Record<string, ColumnNode>>;
}

export interface SchemaNode {
  readonly enabled: LeafState;
  readonly tables: Readonly<Record<string, TableNode>>;
}

export interface TagNode {
  readonly description: string;
  readonly owner: string;
  readonly declaredDescription: string | undefined;
  readonly declaredOwner: string | undefined;
  /** By position of the integrations: whether each has the tag, and whether it should have it. */
  readonly resources: readonly LeafState[];
}

/** One account with its manifests. */
export interface RandomAccount {
  readonly integrations: readonly Readonly<Record<string, SchemaNode>>[];
  readonly tags: readonly TagNode[];
  /** The declared replication frequency of each integration. Only the observed service has a request for it. */
  readonly schedules: readonly (string | undefined)[];
  /**
   * Whether the manifests declare a new asset, a new integration with it as destination, and its
   * SchemaConfig.
   */
  readonly creates: boolean;
  readonly form: ServiceForm;
}

const names = ["public", "orders", "a/b", "a.b", "__proto__", "constructor", "toString", "100%", "..", " x ", "ü", "~1", "?#", "no", "1"];
const ids = ["8f1c", "a/b", "100%", "ü"];

const leaf: fc.Arbitrary<LeafState> = fc.record({ live: fc.boolean(), declared: fc.option(fc.boolean(), { nil: undefined }) });

function keyed<T>(node: fc.Arbitrary<T>, most: number): fc.Arbitrary<Readonly<Record<string, T>>> {
  return fc
    .uniqueArray(fc.tuple(fc.constantFrom(...names), node), { maxLength: most, selector: ([name]) => name })
    .map((entries) => Object.fromEntries(entries));
}

const column = fc.record({ enabled: leaf, hashed: leaf });
const table = fc.record({ enabled: leaf, columns: keyed(column, 4) });
const schema = fc.record({ enabled: leaf, tables: keyed(table, 3) });
const text = fc.constantFrom("", "plain", 'with "quotes" and ü', "${not a variable", "null", "1", "#");
const tag = fc.record({
  description: text,
  owner: fc.constantFrom("u-1", "dana@example.com", "Dana", "u-2"),
  declaredDescription: fc.option(
    text.filter((one) => !one.includes("${")),
    { nil: undefined },
  ),
  declaredOwner: fc.option(fc.constantFrom("dana@example.com", "privacy@example.com"), { nil: undefined }),
  resources: fc.array(fc.record({ live: fc.boolean(), declared: fc.option(fc.constant(true), { nil: undefined }) }), {
    minLength: 3,
    maxLength: 3,
  }),
});

export const randomAccount: fc.Arbitrary<RandomAccount> = fc.record({
  integrations: fc.array(
    keyed(schema, 3).filter((schemas) => Object.keys(schemas).length > 0),
    { minLength: 1, maxLength: 3 },
  ),
  tags: fc.array(tag, { maxLength: 2 }),
  schedules: fc.array(fc.constantFrom(undefined, "15", "60"), { minLength: 3, maxLength: 3 }),
  creates: fc.boolean(),
  form: fc.constantFrom(...serviceForms),
});

const mapped = <A, B>(record: Readonly<Record<string, A>>, change: (value: A, key: string) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));

function schemasOf(nodes: RandomAccount["integrations"][number], after: boolean, form: RandomAccount["form"]): SchemaMap {
  const value = ({ live, declared }: LeafState): boolean => (after ? (declared ?? live) : live);
  return mapped(nodes, ({ enabled, tables }, name) => ({
    nameInDestination: name,
    // The live value is never shown, so one that exposes is not sent.
    enabled: form === "observed" ? value(enabled) && enabled.live : value(enabled),
    tables: mapped(tables, (one, tableName) => {
      // If the response has no columns, those of a table that is and stays disabled are ignored.
      const unseen = form === "snake" && !one.enabled.live && !value(one.enabled);
      return {
        nameInDestination: tableName,
        enabled: value(one.enabled),
        syncMode: "full_refresh",
        columns: mapped(one.columns, (columnNode, columnName) => ({
          nameInDestination: columnName,
          enabled: unseen ? columnNode.enabled.live : value(columnNode.enabled),
          hashed: unseen ? columnNode.hashed.live : value(columnNode.hashed),
          isPrimaryKey: false,
        })),
      };
    }),
  }));
}

const scheduleOf = ({ form, schedules }: RandomAccount, index: number): string | undefined =>
  form === "observed" ? schedules[index] : undefined;

/** The account before apply, or as it must be after it, without created objects. */
export function accountOf(random: RandomAccount, after: boolean): AccountState {
  const account = seedAccount();
  const [model] = account.integrations;
  if (model === undefined) throw new Error("The seeded account has no integration.");
  account.integrations = random.integrations.map(
    (nodes, index): IntegrationRecord => ({
      ...structuredClone(model),
      id: ids[index] ?? "",
      number: String(index),
      name: `live ${index}`,
      source: { id: `sx-${index}`, name: `source ${index}`, type: "postgres" },
      settings: { ...model.settings, replicationFrequency: (after ? scheduleOf(random, index) : undefined) ?? "60" },
      schemas: schemasOf(nodes, after, random.form),
    }),
  );
  account.tags = random.tags.map((node, index): TagRecord => {
    const user = account.users.find(({ email }) => email === node.declaredOwner);
    const same = user === undefined || [user.id, user.email, user.name].includes(node.owner);
    const related = node.resources.flatMap(({ live, declared }, at) =>
      (after ? (declared ?? live) : live) && at < random.integrations.length ? [at] : [],
    );
    return {
      ...{
        id: `t/${index}`,
        name: `Tag ${index}`,
        origin: "custom",
        createdAt: "2026-01-01T00:00:00Z",
        lastUpdatedAt: "2026-01-01T00:00:00Z",
      },
      description: after ? (node.declaredDescription ?? node.description) : node.description,
      owner: after && !same ? user.id : node.owner,
      relations: related.map((at) => ({
        resourceId: ids[at] ?? "",
        resourceType: "Integration",
        taggedBy: node.resources[at]?.live === true ? "u-1" : "u-3",
      })),
    };
  });
  return account;
}

/** The manifests, one document each. */
export function manifestsOf(random: RandomAccount): readonly object[] {
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
        ...{ destinationSchema: "fresh", replicationFrequency: "60", onSchemaUpdate: "enableColumnChanges", enabled: false },
        sourceConfig: {
          ...{ type: "postgres", name: "fresh-pg", authMethod: "direct", connectionType: "source", owners: ["u-1"] },
          connection: {
            ...{ hostname: "db.internal", port: 5432, database: "orders", username: "u", slot: "s", publication: "p" },
            password: { $secret: { env: "CANARY" } },
          },
        },
        sourceSettings: { max_clients: 1, incremental_mode: "Change Stream" },
      },
    }),
    document("SchemaConfig", "fresh", {
      integration: "fresh",
      schemas: { public: { enabled: true, tables: { customers: { enabled: true, columns: { email: { hashed: true } } } } } },
    }),
  ];
  return [
    ...random.integrations.flatMap((_, index) => {
      const replicationFrequency = scheduleOf(random, index);
      const spec = { match: { name: `live ${index}` }, settings: { replicationFrequency } };
      return replicationFrequency === undefined ? [] : [document("Integration", `scheduled-${index}`, spec)];
    }),
    ...random.integrations.map((nodes, index) =>
      document("SchemaConfig", `config-${index}`, { integration: `live ${index}`, schemas: declaredSchemas(nodes) }),
    ),
    ...random.tags.map(({ declaredDescription, declaredOwner, resources }, index) =>
      document("Tag", `tag-${index}`, {
        name: `Tag ${index}`,
        ...(declaredDescription === undefined ? {} : { description: declaredDescription }),
        ...(declaredOwner === undefined ? {} : { owner: { user: declaredOwner } }),
        taggedBy: { user: "bot@example.com" },
        resources: resources.flatMap(({ declared }, at) =>
          declared === true && at < random.integrations.length ? [{ integration: `live ${at}` }] : [],
        ),
      }),
    ),
    ...(random.creates ? created : []),
  ];
}

function declaredSchemas(nodes: RandomAccount["integrations"][number]): object {
  const entry = (key: string, { declared }: LeafState): object => (declared === undefined ? {} : { [key]: declared });
  return mapped(nodes, ({ enabled, tables }) => ({
    ...entry("enabled", enabled),
    tables: mapped(tables, (one) => ({
      ...entry("enabled", one.enabled),
      columns: mapped(one.columns, (columnNode) => ({ ...entry("enabled", columnNode.enabled), ...entry("hashed", columnNode.hashed) })),
    })),
  }));
}
