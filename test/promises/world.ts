import type { AccountState, SchemaMap, StoredSchema, TableEntry } from "../../src/embedded/index.ts";
import fc from "../support/fast-check.ts";
import { accountOf, columnOf, type Field, isProtecting, type Leaf, leafKey, leavesOf, type Node } from "./account.ts";

// Generated accounts with manifests, and what the manifests want of each value: read from the documentation of rules, not from the program.

const ids = ["a1", "b2"] as const;
const names = [
  ["public", "crm"],
  ["users", "orders"],
  ["email", "phone", "note"],
] as const;

type Values = Partial<Record<Field, boolean>>;

/** A pattern for each level: names, or all if it is absent. */
export interface Rule {
  readonly match: readonly (readonly string[] | undefined)[];
  readonly set: Values;
}

export interface Config {
  /** One integration, or all of them. */
  readonly of: (typeof ids)[number] | "all";
  readonly rules: readonly Rule[];
  readonly literals: readonly { readonly path: Node; readonly set: Values & { readonly syncMode?: string } }[];
  readonly unmatched: Partial<Record<"schemas" | "tables", "ignore" | "enable" | "disable">>;
}

export interface World {
  readonly account: AccountState;
  /** By rising priority. */
  readonly configs: readonly Config[];
  readonly form: "camel" | "observed";
  readonly entries: "changed" | "complete";
  readonly maxExposedColumns: number;
}

const oneOrBoth: fc.Arbitrary<Values> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ enabled: fc.boolean(), hashed: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ enabled: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ hashed: fc.boolean() }) },
);
const onlyEnabled: fc.Arbitrary<Values> = fc.record({ enabled: fc.boolean() });
/** Most nodes above columns are on. */
const mostlyOn = fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.boolean() });
const unshownOf = <F extends Field>(...fields: readonly F[]): fc.Arbitrary<F[]> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant<F[]>([]) }, { weight: 1, arbitrary: fc.subarray([...fields]) });

const recordOf = <T>(keys: readonly string[], value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc.record(Object.fromEntries(keys.map((key) => [key, value])));

const column = fc
  .record({ enabled: fc.boolean(), hashed: fc.boolean(), unshown: unshownOf("enabled", "hashed") })
  .map(({ unshown, ...values }) => ({ ...columnOf("x", values), unshown }));
const table: fc.Arbitrary<TableEntry> = fc
  .record({ enabled: mostlyOn, unshown: unshownOf("enabled"), columns: recordOf(names[2], column) })
  .map((of) => ({ ...of, nameInDestination: "x", syncMode: "Full Refresh" }));
const schema: fc.Arbitrary<StoredSchema> = fc
  .record({ enabled: mostlyOn, tables: recordOf(names[1], table) })
  .map((of) => ({ ...of, nameInDestination: "x" }));
const schemas: fc.Arbitrary<SchemaMap> = recordOf(names[0], schema);

const pattern = (level: 0 | 1 | 2): fc.Arbitrary<readonly string[] | undefined> =>
  fc.option(fc.subarray([...names[level]], { minLength: 1 }), { nil: undefined });
const some = (level: 0 | 1 | 2): fc.Arbitrary<readonly string[]> => fc.subarray([...names[level]], { minLength: 1 });

const rule: fc.Arbitrary<Rule> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ match: fc.tuple(pattern(0), pattern(1), some(2)), set: oneOrBoth }) },
  { weight: 1, arbitrary: fc.record({ match: fc.tuple(pattern(0), some(1)), set: onlyEnabled }) },
  { weight: 1, arbitrary: fc.record({ match: fc.tuple(some(0)), set: onlyEnabled }) },
);
const one = (level: 0 | 1 | 2): fc.Arbitrary<string> => fc.constantFrom(...names[level]);
const literal: fc.Arbitrary<Config["literals"][number]> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ path: fc.tuple(one(0), one(1), one(2)), set: oneOrBoth }) },
  { weight: 1, arbitrary: fc.record({ path: fc.tuple(one(0), one(1)), set: onlyEnabled }) },
  { weight: 1, arbitrary: fc.record({ path: fc.tuple(one(0)), set: onlyEnabled }) },
);
const mode = fc.constantFrom("ignore", "enable", "disable");

const config: fc.Arbitrary<Config> = fc.record({
  of: fc.constantFrom("all", ...ids),
  rules: fc.array(rule, { minLength: 1, maxLength: 3 }),
  literals: fc.uniqueArray(literal, { maxLength: 2, selector: ({ path }) => path.join("/") }),
  unmatched: fc.oneof(
    { weight: 3, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.record({ schemas: mode, tables: mode }, { requiredKeys: [] }) },
  ),
});

export const world: fc.Arbitrary<World> = fc
  .record({
    trees: fc.tuple(schemas, schemas),
    configs: fc.array(config, { minLength: 1, maxLength: 2 }),
    form: fc.constantFrom("camel", "observed"),
    entries: fc.constantFrom("changed", "complete"),
    maxExposedColumns: fc.integer({ min: 0, max: 4 }),
  })
  .map(({ trees, form, ...others }) => {
    const account = accountOf(Object.fromEntries(trees.map((tree, index) => [ids[index] ?? "", tree])));
    for (const one of account.integrations) hideIn(one.schemas, form);
    return { account, form, ...others };
  });

/** The interface document shows every member; the public descriptions show no `enabled` of a schema. */
function hideIn(tree: SchemaMap, form: World["form"]): void {
  for (const ofSchema of Object.values(tree)) {
    if (form === "observed") ofSchema.unshown = ["enabled"];
    for (const ofTable of Object.values(ofSchema.tables))
      for (const entry of [ofTable, ...Object.values(ofTable.columns)]) if (form === "camel") delete entry.unshown;
  }
}

/** The SchemaConfigs as a manifest file; JSON is YAML. */
export const manifestsOf = ({ configs }: Pick<World, "configs">): string =>
  configs
    .map(({ of, rules, literals, unmatched }, index) => ({
      apiVersion: "dimsync/v1",
      kind: "SchemaConfig",
      metadata: { name: `c${index}` },
      spec: {
        ...(of === "all" ? { integrations: { names: ["*"] } } : { integration: { id: of } }),
        priority: index + 1,
        unmatched,
        rules: rules.map(({ match, set }, position) => ({ id: `r${index}-${position}`, match: matchOf(match), set })),
        schemas: literalTree(literals),
      },
    }))
    .map((document) => `${JSON.stringify(document)}\n`)
    .join("---\n");

const matchOf = (match: Rule["match"]): object =>
  Object.fromEntries(["schema", "table", "column"].flatMap((level, depth) => (match[depth] === undefined ? [] : [[level, match[depth]]])));

interface LiteralNode extends Values {
  tables?: Record<string, LiteralNode>;
  columns?: Record<string, LiteralNode>;
}

function literalTree(literals: Config["literals"]): Record<string, LiteralNode> {
  const tree: Record<string, LiteralNode> = {};
  for (const { path, set } of literals) {
    let [node, below]: [LiteralNode, Record<string, LiteralNode>] = [{}, tree];
    for (const [depth, name] of path.entries()) {
      below[name] ??= {};
      node = below[name];
      if (depth === 0) below = node.tables ??= {};
      else if (depth === 1) below = node.columns ??= {};
    }
    Object.assign(node, set);
  }
  return tree;
}

/** One value that the manifests want otherwise. */
export interface Wanted {
  readonly leaf: Leaf;
  readonly after: boolean;
  readonly protects: boolean;
}

/** What must change, by `leafKey`. A value that the service does not show may only be sent if it protects. */
export function wantedChanges({ account, configs }: Pick<World, "account" | "configs">): ReadonlyMap<string, Wanted> {
  const changes = new Map<string, Wanted>();
  for (const [key, leaf] of leavesOf(account, "shown")) {
    const after = desiredValue(configs, leaf.node, leaf.field);
    if (after === undefined || after === leaf.value) continue;
    const protects = isProtecting(leaf.field, after);
    if (leaf.value !== undefined || protects) changes.set(key, { leaf, after, protects });
  }
  return changes;
}

/** Later rules win, field by field; then the literal entries; then the SchemaConfig with the next priority. */
function desiredValue(configs: World["configs"], [id = "", ...path]: Node, field: Field): boolean | undefined {
  let value: boolean | undefined;
  let isCovered = false;
  let unmatched: string | undefined;
  for (const { of, rules, literals, unmatched: modes } of configs) {
    if (of !== "all" && of !== id) continue;
    const matching = [
      ...rules.filter(
        ({ match }) => match.length === path.length && match.every((some, depth) => some?.includes(path[depth] ?? "") ?? true),
      ),
      ...literals.filter((one) => one.path.join("/") === path.join("/")),
    ];
    for (const { set } of matching) {
      isCovered = true;
      value = set[field] ?? value;
    }
    unmatched = (path.length === 1 ? modes.schemas : path.length === 2 ? modes.tables : undefined) ?? unmatched;
  }
  if (isCovered || field === "hashed") return value;
  return unmatched === "enable" ? true : unmatched === "disable" ? false : undefined;
}

/** Whether manifests keep the column hashed or disabled. */
export const isKept = ({ configs }: Pick<World, "configs">, node: Node): boolean =>
  desiredValue(configs, node, "enabled") === false || desiredValue(configs, node, "hashed") === true;

/** The leaves with these changes. */
export function changedBy(leaves: ReadonlyMap<string, Leaf>, changes: Iterable<Wanted>): ReadonlyMap<string, Leaf> {
  const changed = new Map(leaves);
  for (const { leaf, after } of changes) changed.set(leafKey(leaf.node, leaf.field), { ...leaf, value: after });
  return changed;
}

/** A rule with two equal values, and two columns that differ from it, each in one of them. */
export function mirrored(first: string, second: string, value = true): World {
  const columns = {
    [first]: columnOf(first, { enabled: value, hashed: !value }),
    [second]: columnOf(second, { enabled: !value, hashed: value }),
  };
  const customers = { nameInDestination: "customers", enabled: true, syncMode: "incremental", columns };
  const rule = { match: [["public"], undefined, [first, second]], set: { enabled: value, hashed: value } };
  return {
    account: accountOf({ a1: { public: { nameInDestination: "shop", enabled: true, tables: { customers } } } }),
    configs: [{ of: "a1", rules: [rule], literals: [], unmatched: {} }],
    ...{ form: "camel", entries: "changed", maxExposedColumns: 0 },
  };
}

/** In both directions. */
export const mirroredWorlds = [true, false].flatMap((value) => [mirrored("email", "phone", value), mirrored("phone", "email", value)]);
