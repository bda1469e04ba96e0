import { requestMode } from "../../src/core/base/model/sync-mode.ts";
import {
  type AccountState,
  type AssetRecord,
  type IntegrationRecord,
  type SchemaMap,
  seedAccount,
  type TagRecord,
} from "../../src/embedded/index.ts";
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
  /** The live sync mode, and the declared one in another spelling. */
  readonly mode: { readonly live: string; readonly declared: string | undefined };
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
  readonly exclusive: boolean;
}

/** Declared settings of an integration that a request can change. Each has another live value in some of the accounts. */
type Settings = Partial<Pick<IntegrationRecord, "paused"> & Pick<IntegrationRecord["settings"], "replicationFrequency" | "onSchemaUpdate">>;

/** One account with its manifests. */
export interface RandomAccount {
  readonly integrations: readonly Readonly<Record<string, SchemaNode>>[];
  readonly tags: readonly TagNode[];
  /** The declared settings of each integration. */
  readonly settings: readonly Settings[];
  /** Declared members of the asset of the seed that no integration uses. */
  readonly asset: Partial<Pick<AssetRecord, "description" | "owners">>;
  /**
   * Whether the manifests declare a new asset, a new integration with it as destination, its SchemaConfig, and
   * a new tag on it.
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
const mode = fc.record({
  live: fc.constantFrom("Full Refresh", "Change Stream"),
  declared: fc.option(fc.constantFrom("full_refresh", "CHANGE STREAM"), { nil: undefined }),
});
const table = fc.record({ enabled: leaf, mode, columns: keyed(column, 4) });
const schema = fc.record({ enabled: leaf, tables: keyed(table, 3) });
const text = fc.constantFrom("", "plain", 'with "quotes" and ü', "${not a variable", "null", "1", "#");
const declaredText = text.filter((one) => !one.includes("${"));
const tag = fc.record({
  description: text,
  owner: fc.constantFrom("u-1", "dana@example.com", "Dana", "u-2"),
  declaredDescription: fc.option(declaredText, { nil: undefined }),
  declaredOwner: fc.option(fc.constantFrom("dana@example.com", "privacy@example.com"), { nil: undefined }),
  resources: fc.array(fc.record({ live: fc.boolean(), declared: fc.option(fc.constant(true), { nil: undefined }) }), {
    minLength: 3,
    maxLength: 3,
  }),
  exclusive: fc.boolean(),
});
const settings: fc.Arbitrary<Settings> = fc.record(
  {
    paused: fc.boolean(),
    replicationFrequency: fc.constantFrom("15", "60"),
    onSchemaUpdate: fc.constantFrom("ignoreAll", "enableColumnChanges"),
  },
  // An empty map is an error.
  { requiredKeys: ["paused"] },
);
const asset = fc.record({ description: declaredText, owners: fc.constant(["u-1", "u-2"]) }, { requiredKeys: [] });

export const randomAccount: fc.Arbitrary<RandomAccount> = fc.record({
  integrations: fc.array(
    keyed(schema, 3).filter((schemas) => Object.keys(schemas).length > 0),
    { minLength: 1, maxLength: 3 },
  ),
  tags: fc.array(tag, { maxLength: 2 }),
  settings: fc.array(settings, { minLength: 3, maxLength: 3 }),
  asset,
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
        syncMode: (after && form === "observed" ? requestMode(one.mode.declared ?? "") : undefined) ?? one.mode.live,
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

/** Only the observed service has requests for settings, sync modes, exclusive tags, and tags and assets that are read. */
const isExtended = ({ form }: RandomAccount): boolean => form === "observed";

const settingsOf = (random: RandomAccount, index: number): Settings => (isExtended(random) ? (random.settings[index] ?? {}) : {});

/** The account before apply, or as it must be after it, without created objects. */
export function accountOf(random: RandomAccount, after: boolean): AccountState {
  const account = seedAccount();
  const [model] = account.integrations;
  if (model === undefined) throw new Error("The seeded account has no integration.");
  account.integrations = random.integrations.map((nodes, index): IntegrationRecord => {
    const { paused = model.paused, ...settings } = after ? settingsOf(random, index) : {};
    return {
      ...structuredClone(model),
      ...{ id: ids[index] ?? "", number: String(index), name: `live ${index}`, paused },
      source: { id: `sx-${index}`, name: `source ${index}`, type: "postgres" },
      settings: { ...model.settings, sourceSettings: { incremental_mode: "Change Stream" }, ...settings },
      schemas: schemasOf(nodes, after, random.form),
    };
  });
  const lake = account.assets.find(({ id }) => id === "d-13");
  Object.assign(lake ?? {}, { owners: ["u-1"] }, after && isExtended(random) ? random.asset : {});
  account.tags = random.tags.map((node, index): TagRecord => {
    const user = account.users.find(({ email }) => email === node.declaredOwner);
    const same = user === undefined || [user.id, user.email, user.name].includes(node.owner);
    const removes = node.exclusive && isExtended(random);
    const related = node.resources.flatMap(({ live, declared }, at) =>
      (after ? (declared ?? (live && !removes)) : live) && at < random.integrations.length ? [at] : [],
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

/** The manifests, one document each. A target without extended requests refuses manifests with sync modes. */
export function manifestsOf(random: RandomAccount, withModes: boolean = isExtended(random)): readonly object[] {
  const document = (
    kind: string,
    name: string,
    spec: object,
    { id, ...more }: { readonly id?: string; readonly lifecycle?: object } = {},
  ): object => ({
    apiVersion: "dimsync/v1",
    kind,
    metadata: { name, ...(id === undefined ? {} : { id }) },
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
      ...(isExtended(random) ? { settings: { paused: false } } : {}),
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
    ...(isExtended(random)
      ? [
          document(
            "Tag",
            "fresh",
            { name: "Fresh", owner: { user: "dana@example.com" }, taggedBy: "u-3", exclusive: true, resources: [{ integration: "fresh" }] },
            { lifecycle: { create: "ifMissing" } },
          ),
        ]
      : []),
  ];
  // A manifest with settings gets another name than its integration.
  const nameOf = (index: number): string => (isExtended(random) ? `declared-${index}` : `live ${index}`);
  return [
    ...(isExtended(random) ? [document("Asset", "declared", { name: "Lake", type: "s3", ...random.asset }, { id: "d-13" })] : []),
    ...random.integrations.flatMap((_, index) => {
      const spec = { match: { sourceName: `source ${index}` }, settings: settingsOf(random, index) };
      return isExtended(random) ? [document("Integration", nameOf(index), spec)] : [];
    }),
    ...random.integrations.map((nodes, index) =>
      document("SchemaConfig", `config-${index}`, { integration: nameOf(index), schemas: declaredSchemas(nodes, withModes) }),
    ),
    ...random.tags.map(({ declaredDescription, declaredOwner, resources, exclusive }, index) =>
      document("Tag", `tag-${index}`, {
        name: `Tag ${index}`,
        ...(declaredDescription === undefined ? {} : { description: declaredDescription }),
        ...(declaredOwner === undefined ? {} : { owner: { user: declaredOwner } }),
        taggedBy: { user: "bot@example.com" },
        resources: resources.flatMap(({ declared }, at) =>
          declared === true && at < random.integrations.length ? [{ integration: nameOf(at) }] : [],
        ),
        ...(isExtended(random) ? { exclusive } : {}),
      }),
    ),
    ...(random.creates ? created : []),
  ];
}

function declaredSchemas(nodes: RandomAccount["integrations"][number], withModes: boolean): object {
  const entry = (key: string, { declared }: LeafState): object => (declared === undefined ? {} : { [key]: declared });
  return mapped(nodes, ({ enabled, tables }) => ({
    ...entry("enabled", enabled),
    tables: mapped(tables, (one) => ({
      ...entry("enabled", one.enabled),
      ...(withModes && one.mode.declared !== undefined ? { syncMode: one.mode.declared } : {}),
      columns: mapped(one.columns, (columnNode) => ({ ...entry("enabled", columnNode.enabled), ...entry("hashed", columnNode.hashed) })),
    })),
  }));
}
