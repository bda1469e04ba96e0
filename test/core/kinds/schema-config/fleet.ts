import { eachChange } from "../../../../src/core/base/model/changes.ts";
import type { LiveColumn, LiveIntegration, LiveSchema, LiveSchemas, LiveTable } from "../../../../src/core/base/model/live.ts";
import type { Manifest, RuleSetSpec, SchemaConfigSpec } from "../../../../src/core/base/model/manifest.ts";
import type { Problem } from "../../../../src/core/base/model/problem.ts";
import type { Reads } from "../../../../src/core/base/model/service.ts";
import { type Account, type DiffResult, emptyDiff } from "../../../../src/core/kinds/kind.ts";
import { accountLists, indexed } from "../../../../src/core/kinds/lookup.ts";
import { compileConfig, makeRuleProgram } from "../../../../src/core/kinds/schema-config/compiled-config.ts";
import { schemaConfig } from "../../../../src/core/kinds/schema-config/index.ts";
import { type ObservedSchemas, observedAt } from "../../../../src/core/kinds/schema-config/read.ts";
import { newRuleCache, type RuleCache } from "../../../../src/core/kinds/schema-config/rules/rule-cache.ts";
import { ruleSetsIn } from "../../../../src/core/kinds/schema-config/rules/rule-sets.ts";
import type { UnitTally } from "../../../../src/core/kinds/schema-config/rules/rule-stats.ts";
import { ruleWarnings } from "../../../../src/core/kinds/schema-config/rules/rule-warnings.ts";
import type { SchemaConfigUnit } from "../../../../src/core/kinds/schema-config/units.ts";
import { withIdentities } from "../../../../src/core/kinds/select.ts";
import { nothingElse, type OverlaidAccount, withOverlay } from "../../../support/accounts/view.ts";
import { inLists, type Lists } from "../../../support/steps.ts";

// Valid accounts and manifests for tests of schema configurations; each test changes one thing.

export const column = (more: Partial<LiveColumn> = {}): LiveColumn => ({
  nameInDestination: "c",
  enabled: true,
  hashed: false,
  isPrimaryKey: false,
  ...more,
});

export const table = (columns: Readonly<Record<string, LiveColumn>> | undefined, more: Partial<LiveTable> = {}): LiveTable => ({
  nameInDestination: "t",
  enabled: true,
  syncMode: "incremental",
  ...(columns === undefined ? {} : { columns }),
  ...more,
});

export const schema = (tables: Readonly<Record<string, LiveTable>>, more: Partial<LiveSchema> = {}): LiveSchema => ({
  nameInDestination: "s",
  enabled: true,
  tables,
  ...more,
});

/** public: orders (id key, updated_at cursor, email, note), order_items, audit_log; sales: customers. Everything enabled, nothing hashed. */
export const shop = (): LiveSchemas => ({
  public: schema({
    orders: table(
      { id: column({ isPrimaryKey: true }), updated_at: column(), email: column(), note: column() },
      { cursorField: "updated_at" },
    ),
    order_items: table({ id: column({ isPrimaryKey: true }), sku: column() }),
    audit_log: table({ id: column({ isPrimaryKey: true }), email: column() }, { syncMode: "full" }),
  }),
  sales: schema({ customers: table({ id: column({ isPrimaryKey: true }), email: column(), phone: column() }) }),
});

function resource<Spec>(kind: string, name: string, spec: Spec): Manifest<Spec> {
  return {
    kind,
    name,
    address: `${kind}/${name}`,
    id: undefined,
    labels: {},
    lifecycle: { create: "ifMissing" },
    spec,
    place: { file: `${name}.yaml`, document: 0, pointer: "" },
  };
}

/** Selects the integration "shop" unless the spec says otherwise. */
export const config = (spec: SchemaConfigSpec, name = "shops"): Manifest<SchemaConfigSpec> =>
  resource(
    "SchemaConfig",
    name,
    spec.integration === undefined && spec.integrations === undefined ? { integration: "shop", ...spec } : spec,
  );

export const ruleSet = (name: string, rules: RuleSetSpec["rules"]): Manifest<RuleSetSpec> => resource("RuleSet", name, { rules });

/** The rules of SchemaConfigs that select one integration, lowest priority first. */
export const rulesOf = (configs: readonly Manifest<SchemaConfigSpec>[], others: readonly Manifest[] = []): RuleCache =>
  newRuleCache(makeRuleProgram(configs.map((one) => compileConfig(one, ruleSetsIn(others)))));

const observed = (tree: LiveSchemas | undefined) => (tree === undefined ? undefined : observedAt(tree));

export interface Fleet {
  readonly manifests: readonly Manifest[];
  /** Live schemas by the name of the integration, which is its id too; "shop" alone unless given. */
  readonly live?: Readonly<Record<string, LiveSchemas | undefined>>;
  /** How "shop" was read, instead of `live`. */
  readonly read?: ObservedSchemas | undefined;
  readonly view?: OverlaidAccount;
  /** The units to compare. Default: all. */
  readonly only?: (label: string) => boolean;
}

export interface Compared {
  readonly units: readonly SchemaConfigUnit[];
  readonly found: readonly (Omit<DiffResult, "steps"> & Lists)[];
  /** "E_MISSING_NAME /spec/rules/0/match/table" of everything, in order. */
  readonly problems: readonly string[];
  readonly problemsInFull: readonly Problem[];
  /** "public.orders.email hashed true" of all integrations. */
  readonly changes: readonly string[];
}

/** Reads that fail, except for these. */
export function readsOf(allowed: Partial<Reads>): Reads {
  const refuse = () => Promise.reject(new Error("unexpected read"));
  const none = { list: refuse, one: refuse, auditLogs: refuse };
  return { ...none, schemas: refuse, columns: refuse, ...allowed };
}

const integration = (id: string): LiveIntegration => ({
  id,
  name: id,
  createdAt: undefined,
  paused: false,
  source: { id: `s-${id}`, name: id, type: "postgres" },
  destination: { id: "d", name: "d", type: "snowflake" },
});

export function accountViewOf(manifests: readonly Manifest[], names: readonly string[]): Account {
  const list = accountLists(new Map([["integrations", names.map(integration)]]));
  return indexed({ ...nothingElse, manifests, comparable: manifests, identities: new Map(), list });
}

/**
 * The engine's steps for schema configurations, without reads: units, their differences, and the
 * conclusion over all.
 */
export function compareFleet({ manifests, live = { shop: shop() }, read, view: more = {}, only = () => true }: Fleet): Compared {
  const account = { ...accountViewOf(manifests, Object.keys(live)), ...withOverlay(more) };
  const view = withIdentities(account, account.identities);
  const { units, problems, steps } = schemaConfig.units(
    manifests.filter(({ kind }) => kind === "SchemaConfig"),
    view,
  );
  const compared = units.filter(({ name }) => only(name));
  const found = compared.map((unit) => inLists(schemaConfig.diff(unit, read ?? observed(live[unit.liveId]), view)));
  // The kind's own tallies, passed back to it.
  const concluded = ruleWarnings(found.flatMap(({ tally }) => (tally === undefined ? [] : [tally as UnitTally])));
  const all = [...problems, ...found.flatMap((difference) => difference.problems), ...concluded];
  return {
    units: compared,
    found: [...found, inLists({ ...emptyDiff, steps })],
    problems: all
      .map(({ code, place }) => `${code} ${place === undefined ? "" : `${place.file === "shops.yaml" ? "" : place.file}${place.pointer}`}`)
      .sort(),
    problemsInFull: [...all].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    changes: found.flatMap(({ items }) =>
      items.flatMap((item) =>
        [...eachChange(item)]
          .sort((a, b) => (byNode(a.path) < byNode(b.path) ? -1 : 1))
          .map(({ path, after }) => `${Object.keys(live).length > 1 ? `${item.liveName}: ` : ""}${readable(path)} ${after}`),
      ),
    ),
  };
}

/** A node before those below it. */
const byNode = (path: string): string => path.replace(/\/(enabled|hashed)$/u, "\n$1");

const readable = (pointer: string): string =>
  pointer
    .replace(/^\/schemas\//u, "")
    .replace("/tables/", ".")
    .replace("/columns/", ".")
    .replace(/\/(enabled|hashed)$/u, " $1");
